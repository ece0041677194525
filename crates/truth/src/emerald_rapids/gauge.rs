//! Totals in closed form: they change when something happens, and are brought up to a moment when asked.
//!
//! Cycles are summed as those of all ends less those of all beginnings, modulo 2^64; what is under way at the moment
//! that is asked for ends there.

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
}

impl Gauge {
    /// Its sums up to the start of `cycle`. `room` is the capacity.
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

    /// An entry comes.
    #[inline]
    pub const fn enter(&mut self, cycle: u64, room: u64) {
        self.entries += 1;
        self.occupied = self.occupied.wrapping_sub(cycle);
        if self.live == 0 {
            self.nonempty = self.nonempty.wrapping_sub(cycle);
        }
        self.live += 1;
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
        self.live -= 1;
        if self.live == 0 {
            self.nonempty = self.nonempty.wrapping_add(cycle);
        }
    }
}

/// Entries of one class: as a gauge, but nobody asks whether it is empty or full.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stay {
    /// Entries that came.
    pub entries: u64,
    /// Entries that are there.
    pub live: u64,
    occupied: u64,
}

impl Stay {
    /// An entry comes.
    #[inline]
    pub const fn enter(&mut self, cycle: u64) {
        self.entries += 1;
        self.live += 1;
        self.occupied = self.occupied.wrapping_sub(cycle);
    }

    /// An entry goes.
    #[inline]
    pub const fn leave(&mut self, cycle: u64) {
        self.live -= 1;
        self.occupied = self.occupied.wrapping_add(cycle);
    }

    /// Entries, added up over cycles, at the start of `cycle`.
    pub const fn occupied(&self, cycle: u64) -> u64 {
        self.occupied.wrapping_add(self.live.wrapping_mul(cycle))
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
        let gauge = gauge.at(30, 2);
        // One entry for 10 to 12 and 15 to 20, two for 12 to 15.
        assert_eq!((gauge.entries, gauge.occupied, gauge.nonempty, gauge.full), (2, 13, 10, 3));
    }

    #[test]
    fn what_is_under_way_counts_up_to_now() {
        let mut gauge = Gauge::default();
        gauge.enter(10, 2);
        gauge.enter(12, 2);
        let now = gauge.at(15, 2);
        assert_eq!((now.live, now.occupied, now.nonempty, now.full), (2, 8, 5, 3));
        // More than there is room for is full as well.
        gauge.enter(20, 2);
        gauge.leave(21, 2);
        gauge.leave(30, 2);
        let now = gauge.at(40, 2);
        assert_eq!((now.live, now.occupied, now.nonempty, now.full), (1, 49, 30, 18));
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

/// Numbers of entries that [`Depths`] tells apart.
const NUMBERS: usize = 32;

/// For each number, the cycles with more entries than that.
#[derive(Debug, Clone, Copy, Default)]
pub struct Depths {
    live: usize,
    above: [u64; NUMBERS],
}

impl Depths {
    /// Its sums up to the start of `cycle`.
    pub fn at(mut self, cycle: u64) -> Self {
        let live = self.live.min(NUMBERS);
        self.above[..live].iter_mut().for_each(|cycles| *cycles = cycles.wrapping_add(cycle));
        self
    }

    /// An entry comes.
    #[inline]
    pub fn enter(&mut self, cycle: u64) {
        if let Some(cycles) = self.above.get_mut(self.live) {
            *cycles = cycles.wrapping_sub(cycle);
        }
        self.live += 1;
    }

    /// An entry goes.
    #[inline]
    pub fn leave(&mut self, cycle: u64) {
        self.live -= 1;
        if let Some(cycles) = self.above.get_mut(self.live) {
            *cycles = cycles.wrapping_add(cycle);
        }
    }

    /// Cycles with more than `number` entries, after [`Depths::at`].
    pub fn more_than(&self, number: u64) -> u64 {
        usize::try_from(number).ok().and_then(|number| self.above.get(number)).copied().unwrap_or_default()
    }
}
