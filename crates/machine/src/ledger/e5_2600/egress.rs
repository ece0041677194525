//! The truth about a home agent's queues towards the rings.

use super::cells::Span;

/// Messages that fill a scheduler bank: the model's assumption, written again.
const ROOM: u64 = 8;

/// A bank of a queue: messages that came, and for how long they waited together.
#[derive(Debug, Clone, Copy, Default)]
struct Bank {
    waiting: u64,
    came: u64,
    waited: u64,
    /// The cycle up to which the wait of those that are there has been added.
    added: u64,
}

impl Bank {
    const fn settle(&mut self, cycle: u64) {
        self.waited += self.waiting * (cycle - self.added);
        self.added = cycle;
    }
}

/// One queue: messages that wait in its two banks, and for how long each, and either, had one or was full.
#[derive(Debug, Clone, Copy, Default)]
pub struct EgressCells {
    banks: [Bank; 2],
    some: [Span; 2],
    some_in_either: Span,
    full: [Span; 2],
    either_full: Span,
}

impl EgressCells {
    /// A message comes to a bank in a cycle, or leaves it.
    pub fn change(&mut self, bank: usize, comes: bool, cycle: u64) {
        let changed = &mut self.banks[bank];
        changed.settle(cycle);
        if comes {
            changed.came += 1;
            changed.waiting += 1;
        } else {
            changed.waiting -= 1;
        }
        let (some, full) = (self.banks.map(|bank| bank.waiting > 0), self.banks.map(|bank| bank.waiting >= ROOM));
        self.some[bank].switch(some[bank], cycle);
        self.some_in_either.switch(some.contains(&true), cycle);
        self.full[bank].switch(full[bank], cycle);
        self.either_full.switch(full.contains(&true), cycle);
    }

    /// Brings the sums up to the start of a cycle.
    pub fn settle(&mut self, cycle: u64) {
        self.banks.iter_mut().for_each(|bank| bank.settle(cycle));
        let spans = self.some.iter_mut().chain(&mut self.full);
        spans.chain([&mut self.some_in_either, &mut self.either_full]).for_each(|span| span.settle(cycle));
    }

    /// Messages that came to a bank; to both, without one.
    pub fn came(&self, bank: Option<usize>) -> u64 {
        self.of_banks(bank, |bank| bank.came)
    }

    /// Cycles that messages waited in a bank, each for itself; in both, without one.
    pub fn waited(&self, bank: Option<usize>) -> u64 {
        self.of_banks(bank, |bank| bank.waited)
    }

    fn of_banks(&self, bank: Option<usize>, figure: impl Fn(&Bank) -> u64) -> u64 {
        bank.map_or_else(|| self.banks.iter().map(&figure).sum(), |bank| figure(&self.banks[bank]))
    }

    /// Cycles in which a message waited in a bank; in either, without one.
    pub const fn some(&self, bank: Option<usize>) -> u64 {
        match bank {
            Some(bank) => self.some[bank].cycles,
            None => self.some_in_either.cycles,
        }
    }

    /// Cycles in which a bank was full; those in which either was, without one.
    pub const fn full(&self, bank: Option<usize>) -> u64 {
        match bank {
            Some(bank) => self.full[bank].cycles,
            None => self.either_full.cycles,
        }
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
