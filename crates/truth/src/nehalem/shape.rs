//! What of a machine the truth depends on, and what the catalogue has of it.

use pericore_facts::nehalem::{Record, Source, Tracker};

/// Sizes that the truth of "full" depends on.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Sockets of the machine, each with what follows.
    pub sockets: u8,
    /// Entries of the trackers, by [`Tracker`].
    pub trackers: [u8; 3],
    /// Entries of the home logic's trackers, by [`Source`].
    pub home_entries: [u8; 3],
    /// Entries of a channel's queue of reads.
    pub reads: u8,
    /// Entries of a channel's queue of writes.
    pub writes: u8,
    /// Entries of either that isochronous requests can have.
    pub high_priority: [u8; 2],
}

/// Values of the messages that the match register selects, from the catalogue's value set `qpi-messages`.
#[derive(Debug, Clone, Copy)]
pub struct Opcodes {
    /// Passed on, a shared copy stays.
    pub forward_shared: u64,
    /// Passed on, no copy stays.
    pub forward: u64,
    /// Written back, no copy stays.
    pub write_back: u64,
}

impl Shape {
    /// Entries of a tracker.
    #[inline]
    pub const fn tracker(&self, tracker: Tracker) -> u64 {
        self.trackers[tracker as usize] as u64
    }

    /// Entries of a home tracker.
    #[inline]
    pub const fn home(&self, source: Source) -> u64 {
        self.home_entries[source as usize] as u64
    }

    /// Entries that a request's queue has for its like.
    #[inline]
    pub const fn room(&self, record: &Record) -> u64 {
        let reads = record.kind.reads();
        if reads && record.is_isochronous() { self.high_priority[0] as u64 } else { self.queue(reads) }
    }

    /// Entries of a channel's queue.
    #[inline]
    pub const fn queue(&self, reads: bool) -> u64 {
        if reads { self.reads as u64 } else { self.writes as u64 }
    }
}
