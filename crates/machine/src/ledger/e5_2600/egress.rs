//! The truth about a home agent's queues towards the rings.

use super::cells::Span;

/// Messages that fill a scheduler bank: the model's assumption, written again.
const ROOM: u64 = 8;

/// One queue: messages that wait in its two banks, and for how long they were full.
#[derive(Debug, Clone, Copy, Default)]
pub struct EgressCells {
    waiting: [u64; 2],
    full: [Span; 2],
    either: Span,
}

impl EgressCells {
    /// A message comes to a bank in a cycle, or leaves it.
    pub fn change(&mut self, bank: usize, comes: bool, cycle: u64) {
        if comes {
            self.waiting[bank] += 1;
        } else {
            self.waiting[bank] -= 1;
        }
        let full = self.waiting.map(|waiting| waiting >= ROOM);
        self.full[bank].switch(full[bank], cycle);
        self.either.switch(full.contains(&true), cycle);
    }

    /// Brings the sums up to the start of a cycle.
    pub fn settle(&mut self, cycle: u64) {
        self.full.iter_mut().for_each(|span| span.settle(cycle));
        self.either.settle(cycle);
    }

    /// Cycles in which a bank was full; those in which either was, without one.
    pub const fn full(&self, bank: Option<usize>) -> u64 {
        match bank {
            Some(bank) => self.full[bank].cycles,
            None => self.either.cycles,
        }
    }
}
