//! What a channel is sent, and what it tells whom it serves.

use crate::facts::Pending;

/// A request on its way to the channel.
#[derive(Debug, Clone, Copy)]
pub struct Arrival {
    /// DRAM cycle of arrival; one request arrives in a cycle.
    pub cycle: u64,
    /// The request.
    pub owner: u16,
    /// Line number.
    pub line: u32,
    /// Bank of the channel.
    pub bank: u8,
    /// Row of the bank.
    pub row: u32,
    /// Reads or writes.
    pub queue: Pending,
    /// A write of a part of the line: the rest must be read first.
    pub partial: bool,
    /// It has a deadline. While such a read waits, nothing else is served; writes are taken over at once anyway.
    pub isochronous: bool,
}

/// What the channel tells whom it serves.
#[derive(Debug, Clone, Copy)]
pub enum Outcome {
    /// The last data of a read will be there at `cycle`; its queue entry is free.
    Data {
        /// The request.
        owner: u16,
        /// DRAM cycle after the last data.
        cycle: u64,
    },
    /// A write has been taken over.
    Posted {
        /// The request.
        owner: u16,
    },
    /// A write's queue entry is free.
    WriteCredit {
        /// The line that was written, or given to a write of it that came before.
        line: u32,
        /// It was an isochronous write's.
        isochronous: bool,
    },
}
