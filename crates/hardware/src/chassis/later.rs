//! Writes that take effect later: delayed ones, and those of intruders.

use pericore_registers::{Address, Width};

use super::variant::Intrusion;
use crate::signal::Tick;

/// A write that is due.
#[derive(Debug, Clone, Copy)]
pub struct Write {
    pub due: Tick,
    pub address: Address,
    pub width: Width,
    pub value: u64,
    /// Ticks until it comes again; 0 for never.
    every: Tick,
}

/// Writes to come, in the order in which they are due.
#[derive(Debug, Default)]
pub struct Later {
    writes: Vec<Write>,
}

impl Later {
    /// The intruders' writes.
    pub fn new(intrusions: &[Intrusion]) -> Self {
        let mut later = Self::default();
        for &Intrusion { first, every, address, width, value } in intrusions {
            later.insert(Write { due: first, address, width, value, every });
        }
        later
    }

    /// When the next write is due.
    pub fn next_due(&self) -> Tick {
        self.writes.first().map_or(Tick::MAX, |write| write.due)
    }

    /// Puts off a write.
    pub fn put_off(&mut self, due: Tick, address: Address, width: Width, value: u64) {
        self.insert(Write { due, address, width, value, every: 0 });
    }

    fn insert(&mut self, write: Write) {
        // Behind those that are due at the same time: writes stay in order.
        let at = self.writes.partition_point(|other| other.due <= write.due);
        self.writes.insert(at, write);
    }

    /// Takes the next write that is due by `now`.
    pub fn take(&mut self, now: Tick) -> Option<Write> {
        if self.next_due() > now {
            return None;
        }
        let write = self.writes.remove(0);
        if let Some(missed) = (now - write.due).checked_div(write.every) {
            // If time has leapt, it came in between as well: the last time is what matters.
            self.insert(Write { due: write.due.saturating_add((missed + 1).saturating_mul(write.every)), ..write });
        }
        Some(write)
    }
}
