//! Totals in closed form: they change when something happens, and are brought up to a moment when asked.

/// A number of entries over time.
#[derive(Debug, Clone, Copy, Default)]
pub struct Gauge {
    /// Entries that came.
    pub entries: u64,
    /// Entries that are there.
    pub live: u64,
    /// Entries, added up over cycles.
    pub occupied: u64,
    /// Cycles with at least one entry.
    pub nonempty: u64,
    /// Cycles with as many entries as there is room for.
    pub full: u64,
    last: u64,
}

impl Gauge {
    /// Brings the sums up to the start of `cycle`. `room` is the capacity.
    #[inline]
    pub const fn settle(&mut self, cycle: u64, room: u64) {
        let cycles = cycle - self.last;
        self.occupied += self.live * cycles;
        if self.live > 0 {
            self.nonempty += cycles;
        }
        if self.live >= room {
            self.full += cycles;
        }
        self.last = cycle;
    }

    /// An entry comes.
    #[inline]
    pub const fn enter(&mut self, cycle: u64, room: u64) {
        self.settle(cycle, room);
        self.entries += 1;
        self.live += 1;
    }

    /// An entry goes.
    #[inline]
    pub const fn leave(&mut self, cycle: u64, room: u64) {
        self.settle(cycle, room);
        self.live -= 1;
    }
}

/// Entries of one class: as a gauge, but nobody asks whether it is empty or full.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stay {
    /// Entries that came.
    pub entries: u64,
    occupied: u64,
    live: u32,
    /// Low half of the cycle of the last change; the high half follows from the present.
    last: u32,
}

impl Stay {
    #[inline]
    const fn settle(&mut self, cycle: u64) {
        self.occupied += self.live as u64 * (cycle as u32).wrapping_sub(self.last) as u64;
        self.last = cycle as u32;
    }

    /// An entry comes.
    #[inline]
    pub const fn enter(&mut self, cycle: u64) {
        self.settle(cycle);
        self.entries += 1;
        self.live += 1;
    }

    /// An entry goes.
    #[inline]
    pub const fn leave(&mut self, cycle: u64) {
        self.settle(cycle);
        self.live -= 1;
    }

    /// Entries, added up over cycles, at the start of `cycle`.
    pub const fn occupied(&self, cycle: u64) -> u64 {
        self.occupied + self.live as u64 * (cycle as u32).wrapping_sub(self.last) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::{Gauge, Stay};

    #[test]
    fn a_gauge_adds_up_entries_over_cycles() {
        let mut gauge = Gauge::default();
        gauge.enter(10, 2);
        gauge.enter(12, 2);
        gauge.leave(15, 2);
        gauge.leave(20, 2);
        gauge.settle(30, 2);
        // One entry for 10 to 12 and 15 to 20, two for 12 to 15.
        assert_eq!((gauge.entries, gauge.occupied, gauge.nonempty, gauge.full), (2, 13, 10, 3));
    }

    #[test]
    fn a_stay_counts_what_is_still_there() {
        let mut stay = Stay::default();
        stay.enter(5);
        stay.enter(7);
        stay.leave(9);
        assert_eq!((stay.entries, stay.occupied(9), stay.occupied(11)), (2, 6, 8));
    }
}
