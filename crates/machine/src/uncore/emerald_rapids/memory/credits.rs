//! Credits of the memory controllers' queues, and entries of prefetch CAMs.

use std::collections::VecDeque;

use pericore_engine::Tick;

use super::super::request::RequestId;

/// Writes of directory bits that wait for room in a subchannel, at the most: with so many no further read goes there,
/// so that reads cannot run ahead of what they bring about (assumption).
const MOST_WAITING_BITS: u16 = 16;

/// Credits of a subchannel's queues, and what waits for them.
#[derive(Debug)]
pub struct Credits {
    pub reads: u8,
    /// Entries of the queue of reads.
    all_reads: u8,
    pub writes: u8,
    pub waiting_reads: VecDeque<RequestId>,
    pub waiting_writes: VecDeque<RequestId>,
    /// Credits of isochronous reads and writes, which nothing else takes, and what waits for them.
    pub special: [u8; 2],
    pub waiting_special: [VecDeque<RequestId>; 2],
    /// Those among the writes that wait which write directory bits alone: nobody waits for them.
    pub waiting_bits: u16,
}

impl Credits {
    /// All credits there, of which so many of each queue are kept for isochronous requests.
    pub fn new([reads, writes]: [u8; 2], special: u8) -> Self {
        let (reads, writes) = (reads - special, writes - special);
        Self {
            special: [special; 2],
            waiting_special: Default::default(),
            reads,
            all_reads: reads,
            writes,
            waiting_reads: VecDeque::with_capacity(256),
            waiting_writes: VecDeque::with_capacity(256),
            waiting_bits: 0,
        }
    }

    /// True if a read can go to its subchannel: it has room, and so have the writes that reads bring about.
    pub const fn takes_read(&self) -> bool {
        self.reads > 0 && !self.keeps_reads_back()
    }

    /// True if so many writes of directory bits wait that no further read may come.
    pub const fn keeps_reads_back(&self) -> bool {
        self.waiting_bits >= MOST_WAITING_BITS
    }

    /// True if at most a quarter of the queue of reads is taken (assumption).
    pub const fn is_light_load(&self) -> bool {
        (self.all_reads - self.reads) as u16 * 4 <= self.all_reads as u16
    }

    /// True if at least three quarters of it are taken (assumption).
    pub const fn is_heavy_load(&self) -> bool {
        self.reads as u16 * 4 <= self.all_reads as u16
    }
}

/// A channel's prefetch CAM.
#[derive(Debug, Clone, Copy, Default)]
pub struct PrefetchCam {
    /// Entries that are taken.
    pub entries: u8,
    /// The cycle after the last prefetch came, in ticks.
    pub next: Tick,
}
