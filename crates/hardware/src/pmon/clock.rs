//! From ticks to cycles of a unit's clock.

/// A clock whose cycles are so many ticks. Every access and every pulse needs the cycle that it falls in: the division is a
/// multiplication with the inverse.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    period: u64,
    /// `2^64 / period`, rounded up.
    inverse: u64,
    /// Below this tick the product is exact: the inverse is too large by less than `period / 2^64`.
    exact: u64,
}

impl Clock {
    /// A clock of `period` ticks, at least 1.
    pub const fn new(period: u64) -> Self {
        match period {
            // The inverse does not fit.
            0 | 1 => Self { period: 1, inverse: 0, exact: 0 },
            _ => Self { period, inverse: u64::MAX / period + 1, exact: u64::MAX / period },
        }
    }

    /// Ticks of a cycle.
    pub const fn period(self) -> u64 {
        self.period
    }

    /// The cycle at a tick.
    #[inline]
    pub const fn cycle(self, tick: u64) -> u64 {
        match self.early_cycle(tick) {
            Some(cycle) => cycle,
            None => tick / self.period,
        }
    }

    /// The cycle at a tick, if it takes no division: almost always.
    #[inline]
    pub const fn early_cycle(self, tick: u64) -> Option<u64> {
        if tick < self.exact { Some(((tick as u128 * self.inverse as u128) >> 64) as u64) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::Clock;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_divides(tick: u64, short in 1u64..100, long: u64) {
            for period in [short, long.max(1)] {
                for tick in [tick, tick % 1000, tick - tick % period, (tick - tick % period).wrapping_sub(1), u64::MAX] {
                    prop_assert_eq!(Clock::new(period).cycle(tick), tick / period);
                }
            }
        }
    }
}
