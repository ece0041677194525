//! Credits before a memory channel.

use std::collections::VecDeque;

use pericore_engine::Tick;

use super::request::Waiting;

/// The entrance of one channel.
#[derive(Debug)]
pub struct Entrance {
    /// Free entries of the reads' and writes' queues.
    pub credits: [u8; 2],
    pub waiting: [Waiting; 2],
    /// When the writes in the queue came: which of them a free entry was is not known, nor does it matter.
    pub writes: VecDeque<Tick>,
    /// The last DRAM cycle in which a request arrives; they come one in a cycle.
    pub last: u64,
}

impl Entrance {
    /// An idle channel with so many entries for reads and writes.
    pub fn new(reads: u8, writes: u8) -> Self {
        Self { credits: [reads, writes], waiting: [VecDeque::new(), VecDeque::new()], writes: VecDeque::new(), last: 0 }
    }
}
