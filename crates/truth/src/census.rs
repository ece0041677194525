//! A number of entries over time, reckoned twice: by entries that come and go, and by how long each one stayed.
//!
//! Cycles are summed as those of all ends less those of all beginnings, modulo 2^64; what is there at the moment of
//! interest ends there.

/// Room of queues of which no event counts the cycles that they are full.
pub const NO_LIMIT: u64 = u64::MAX;

/// Entries of a queue, in cycles of its clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct Census {
    /// Entries that came.
    pub entries: u64,
    /// Entries that are there.
    pub live: u64,
    /// Entries added up over cycles, of all that came and went.
    occupied: u64,
    /// Cycles with at least one entry.
    nonempty: u64,
    /// Cycles with as many as there is room for.
    full: u64,
    /// The same as `occupied`, from the records of the entries.
    stays: u64,
}

impl Census {
    /// An entry comes; `room` is the capacity.
    #[inline]
    pub const fn enter(&mut self, cycle: u64, room: u64) {
        self.entries += 1;
        self.occupied = self.occupied.wrapping_sub(cycle);
        if self.live == 0 {
            self.nonempty = self.nonempty.wrapping_sub(cycle);
        }
        self.live = self.live.wrapping_add(1);
        if self.live == room {
            self.full = self.full.wrapping_sub(cycle);
        }
    }

    /// An entry goes.
    #[inline]
    pub const fn leave(&mut self, cycle: u64, room: u64) {
        self.occupied = self.occupied.wrapping_add(cycle);
        if self.live == room {
            self.full = self.full.wrapping_add(cycle);
        }
        self.live = self.live.wrapping_sub(1);
        if self.live == 0 {
            self.nonempty = self.nonempty.wrapping_add(cycle);
        }
    }

    /// An entry was there for so many cycles, by its record.
    #[inline]
    pub const fn stayed(&mut self, cycles: u64) {
        self.stays += cycles;
    }

    /// Brings the sums up to the start of a cycle, for good: a census of a moment.
    #[must_use]
    pub const fn at(mut self, cycle: u64, room: u64) -> Self {
        self.occupied = self.occupied.wrapping_add(self.live.wrapping_mul(cycle));
        if self.live > 0 {
            self.nonempty = self.nonempty.wrapping_add(cycle);
        }
        if self.live >= room {
            self.full = self.full.wrapping_add(cycle);
        }
        self
    }

    /// Brings the sums up to the start of a cycle, for good.
    pub const fn settle(&mut self, cycle: u64, room: u64) {
        *self = self.at(cycle, room);
    }

    /// An entry comes, or goes.
    #[inline]
    pub const fn change(&mut self, comes: bool, cycle: u64, room: u64) {
        if comes { self.enter(cycle, room) } else { self.leave(cycle, room) }
    }

    /// Cycles that entries were there, added up, by their coming and going.
    pub const fn occupied(&self) -> u64 {
        self.occupied
    }

    /// Cycles that entries stayed, added up, by their records.
    pub const fn cycles(&self) -> u64 {
        self.stays
    }

    /// Cycles with at least one entry.
    pub const fn nonempty(&self) -> u64 {
        self.nonempty
    }

    /// Cycles with as many entries as there is room for.
    pub const fn full(&self) -> u64 {
        self.full
    }

    /// The law of a moment: both sums are the same.
    pub const fn is_sound(&self) -> bool {
        self.occupied == self.stays
    }
}

#[cfg(test)]
mod tests {
    use super::Census;

    #[test]
    fn entries_are_added_up_over_cycles() {
        let mut census = Census::default();
        census.enter(10, 2);
        census.enter(12, 2);
        census.leave(15, 2);
        census.leave(20, 2);
        census.enter(24, 2);
        let mut census = census.at(30, 2);
        // One entry for 10 to 12, 15 to 20 and from 24; two for 12 to 15.
        assert_eq!((census.entries, census.live, census.nonempty(), census.full()), (3, 1, 16, 3));
        census.stayed(10);
        census.stayed(3);
        assert!(!census.is_sound(), "the record of the third is missing");
        census.stayed(6);
        assert!(census.is_sound());
        assert_eq!(census.cycles(), 19);
    }
}
