//! The truth about a home agent's queues towards the rings.

use crate::census::{Census, NO_LIMIT};

/// Messages that fill a scheduler bank: the model's assumption, written again.
const ROOM: u64 = 8;

/// One queue: messages that wait in its two banks, and for how long either had one, and either was full.
#[derive(Debug, Clone, Copy, Default)]
pub struct EgressCells {
    banks: [Census; 2],
    either: [Census; 2],
}

impl EgressCells {
    /// A message comes to a bank in a cycle, or leaves it.
    pub fn change(&mut self, bank: u8, comes: bool, cycle: u64) {
        let before = self.holds();
        self.banks[usize::from(bank)].change(comes, cycle, ROOM);
        let now = self.holds();
        for (either, (before, now)) in self.either.iter_mut().zip(before.into_iter().zip(now)) {
            if before != now {
                either.change(now, cycle, NO_LIMIT);
            }
        }
    }

    /// A bank has a message; a bank is full.
    fn holds(&self) -> [bool; 2] {
        [1, ROOM].map(|least| self.banks.iter().any(|bank| bank.live >= least))
    }

    /// Brings the sums up to the start of a cycle.
    pub fn settle(&mut self, cycle: u64) {
        self.banks.iter_mut().for_each(|bank| bank.settle(cycle, ROOM));
        self.either.iter_mut().for_each(|either| either.settle(cycle, NO_LIMIT));
    }

    /// True if no message waits.
    pub fn is_empty(&self) -> bool {
        self.banks.iter().all(|bank| bank.live == 0)
    }

    /// Messages that came to a bank; to both, without one.
    pub fn came(&self, bank: Option<usize>) -> u64 {
        self.of_banks(bank, |bank| bank.entries)
    }

    /// Cycles that messages waited in a bank, each for itself; in both, without one.
    pub fn waited(&self, bank: Option<usize>) -> u64 {
        self.of_banks(bank, Census::occupied)
    }

    fn of_banks(&self, bank: Option<usize>, figure: impl Fn(&Census) -> u64) -> u64 {
        bank.map_or_else(|| self.banks.iter().map(&figure).sum(), |bank| figure(&self.banks[bank]))
    }

    /// Cycles in which a message waited in a bank; in either, without one.
    pub fn some(&self, bank: Option<usize>) -> u64 {
        bank.map_or(&self.either[0], |bank| &self.banks[bank]).nonempty()
    }

    /// Cycles in which a bank was full; those in which either was, without one.
    pub fn full(&self, bank: Option<usize>) -> u64 {
        bank.map_or_else(|| self.either[1].nonempty(), |bank| self.banks[bank].full())
    }
}

#[cfg(test)]
mod tests {
    use super::EgressCells;

    #[test]
    fn messages_wait_in_their_bank_and_count_in_both() {
        let mut queue = EgressCells::default();
        // Bank 0 has one message in cycles 10 to 13 and two in 14; bank 1 has one in 12 to 19.
        for (bank, comes, cycle) in [(0, true, 10), (1, true, 12), (0, true, 14), (0, false, 15), (0, false, 15)] {
            queue.change(bank, comes, cycle);
        }
        queue.settle(20);
        let figures = |bank| (queue.came(bank), queue.waited(bank), queue.some(bank), queue.full(bank));
        assert_eq!(figures(Some(0)), (2, 6, 5, 0));
        assert_eq!(figures(Some(1)), (1, 8, 8, 0));
        assert_eq!(figures(None), (3, 14, 10, 0));
    }
}
