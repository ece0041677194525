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
    /// How many of them isochronous requests may have besides, and those that wait for one.
    pub high: [u8; 2],
    pub waiting_high: [Waiting; 2],
    /// When the writes in the queue came, and which are isochronous: which of them a free entry was is not known, nor
    /// does it matter.
    pub writes: VecDeque<(Tick, bool)>,
    /// The last DRAM cycle in which a request arrives; they come one in a cycle.
    pub last: u64,
}

impl Entrance {
    /// An idle channel with so many entries for reads and writes, and so many of them for isochronous ones.
    pub fn new(credits: [u8; 2], high: [u8; 2]) -> Self {
        let waiting = || [VecDeque::new(), VecDeque::new()];
        Self { credits, waiting: waiting(), high, waiting_high: waiting(), writes: VecDeque::new(), last: 0 }
    }
}
