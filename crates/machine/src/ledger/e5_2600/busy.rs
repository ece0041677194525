//! How long something had entries, and how long it had all that it can have.

/// Cycles of a level that is not zero, and of one that is at its most.
#[derive(Debug, Clone, Copy, Default)]
pub struct Busy {
    live: u64,
    some: u64,
    some_since: u64,
    all: u64,
    all_since: u64,
}

impl Busy {
    /// Entries come in a cycle; `most` is what there can be.
    #[inline]
    pub const fn enter(&mut self, cycle: u64, count: u64, most: u64) {
        if self.live == 0 {
            self.some_since = cycle;
        }
        self.live += count;
        if self.live == most {
            self.all_since = cycle;
        }
    }

    /// Entries go in a cycle.
    #[inline]
    pub const fn leave(&mut self, cycle: u64, count: u64, most: u64) {
        if self.live == most {
            self.all += cycle - self.all_since;
        }
        self.live -= count;
        if self.live == 0 {
            self.some += cycle - self.some_since;
        }
    }

    /// Brings the sums up to the start of a cycle.
    pub const fn settle(&mut self, cycle: u64, most: u64) {
        if self.live > 0 {
            self.some += cycle - self.some_since;
            self.some_since = cycle;
        }
        if self.live == most {
            self.all += cycle - self.all_since;
            self.all_since = cycle;
        }
    }

    /// Cycles with at least one entry.
    pub const fn some(&self) -> u64 {
        self.some
    }

    /// Cycles with all entries.
    pub const fn all(&self) -> u64 {
        self.all
    }
}

#[cfg(test)]
mod tests {
    use super::Busy;

    #[test]
    fn cycles_with_some_and_with_all_entries() {
        let mut busy = Busy::default();
        busy.enter(10, 1, 3);
        busy.enter(12, 2, 3);
        busy.leave(15, 3, 3);
        busy.enter(20, 3, 3);
        assert_eq!((busy.some(), busy.all()), (5, 3));
        busy.settle(24, 3);
        assert_eq!((busy.some(), busy.all()), (9, 7));
    }
}
