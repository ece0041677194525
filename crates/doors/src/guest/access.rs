//! An access of the guest.

use std::time::Duration;

use pericore_registers::{Operation, Outcome};

use crate::log::Entry;

/// An access that reached the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// Guest time.
    pub at: Duration,
    /// The machine's time.
    pub ticks: u64,
    /// What was asked.
    pub operation: Operation,
    /// The value read, or 0 for a write.
    pub outcome: Outcome<u64>,
}

impl Access {
    /// The access in the notation of all logs.
    pub fn entry(&self) -> Entry {
        Entry::of(self.operation, &self.outcome)
    }
}
