//! From ticks to cycles of a unit's clock.

/// A clock whose cycles are so many ticks. Every access and every pulse needs the cycle that it falls in: the division is a
/// multiplication with the inverse.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    period: u64,
    /// `2^64 / period`, rounded down.
    inverse: u64,
}

impl Clock {
    /// A clock of `period` ticks, at least 1.
    pub const fn new(period: u64) -> Self {
        let period = if period == 0 { 1 } else { period };
        Self { period, inverse: u64::MAX / period }
    }

    /// Ticks of a cycle.
    pub const fn period(self) -> u64 {
        self.period
    }

    /// The cycle at a tick.
    #[inline]
    pub const fn cycle(self, tick: u64) -> u64 {
        // The inverse is too small by less than 1 + 1/period, so the product is at most 2 short.
        let mut cycle = ((tick as u128 * self.inverse as u128) >> 64) as u64;
        let mut rest = tick - cycle * self.period;
        while rest >= self.period {
            rest -= self.period;
            cycle += 1;
        }
        cycle
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
