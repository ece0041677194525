//! How many entries a structure had, and for how long.

use pericore_engine::{NEVER, Period, Tick};

/// Entries of a structure: how many came, and the cycles that they stayed, added up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stay {
    /// Entries.
    pub entries: u64,
    /// Cycles in the unit's clock.
    pub cycles: u64,
}

impl Stay {
    /// Adds a stay over the cycles `[from, to)`, if it has begun, and of it what lies before `now`.
    #[inline]
    pub fn add(&mut self, from: u64, to: u64, now: u64) {
        if from != NEVER {
            self.entries += 1;
            self.cycles += to.min(now) - from;
        }
    }

    /// The same for a stay over ticks, in cycles of a clock.
    pub fn add_ticks(&mut self, from: Tick, to: Tick, now: Tick, clock: Period) {
        if from != NEVER {
            self.entries += 1;
            self.cycles += clock.cycles_between(from, to.min(now));
        }
    }
}

impl std::iter::Sum for Stay {
    fn sum<I: Iterator<Item = Self>>(stays: I) -> Self {
        let plus =
            |sum: Self, stay: Self| Self { entries: sum.entries + stay.entries, cycles: sum.cycles + stay.cycles };
        stays.fold(Self::default(), plus)
    }
}
