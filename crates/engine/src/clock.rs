//! Clock domains on one tick grid: every clock's period is a whole number of ticks, so virtual time never rounds.

use crate::Tick;

/// Ticks beyond which [`Period::cycles`] would no longer be exact: 2^56 ticks are 38 days of virtual time at 21.6 GHz.
pub const HORIZON: Tick = 1 << 56;

/// Period of a clock in ticks. Edges lie at multiples of the period; cycle `k` is `[k, k + 1)` periods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    ticks: u64,
    /// `floor(2^64 / ticks) + 1`: a multiplication replaces the division that every stamp would need.
    reciprocal: u64,
}

impl Period {
    /// The longest period, in ticks: it keeps [`Period::cycles`] exact up to [`HORIZON`].
    pub const LONGEST: u64 = 255;

    /// A period of 2 to [`Period::LONGEST`] ticks.
    ///
    /// # Panics
    /// If the period is shorter or longer.
    pub const fn new(ticks: u64) -> Self {
        assert!(ticks >= 2 && ticks <= Self::LONGEST);
        Self { ticks, reciprocal: u64::MAX / ticks + 1 }
    }

    /// Length in ticks.
    #[inline]
    pub const fn ticks(self) -> u64 {
        self.ticks
    }

    /// Edges in `(0, tick]`: the number of complete cycles before `tick`.
    #[inline]
    pub const fn cycles(self, tick: Tick) -> u64 {
        ((tick as u128 * self.reciprocal as u128) >> 64) as u64
    }

    /// The first cycle that does not begin before `tick`.
    #[inline]
    pub const fn next_cycle(self, tick: Tick) -> u64 {
        self.cycles(tick + self.ticks - 1)
    }

    /// The first edge at or after `tick`.
    #[inline]
    pub const fn align_up(self, tick: Tick) -> Tick {
        self.next_cycle(tick) * self.ticks
    }

    /// Cycles that an entry living over `[from, to)` is seen in.
    #[inline]
    pub const fn cycles_between(self, from: Tick, to: Tick) -> u64 {
        self.cycles(to) - self.cycles(from)
    }
}

/// Two frequencies that share no grid coarse enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "clocks of {uclk_mhz} and {dclk_mhz} MHz share no tick grid: their common multiple must be 2 to 255 times each; \
     choose frequencies in steps of 100 MHz, or 133 MHz for both"
)]
pub struct ClockError {
    /// Uncore clock, MHz.
    pub uclk_mhz: u64,
    /// DRAM clock, MHz.
    pub dclk_mhz: u64,
}

/// The clock domains of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clocks {
    /// Ticks in a second.
    pub ticks_per_second: u64,
    /// Uncore clock: cores, ring, LLC slices, home agent.
    pub uclk: Period,
    /// DRAM clock: memory channels.
    pub dclk: Period,
    /// Clock of the links between sockets; the uncore clock where there are none.
    pub qclk: Period,
}

impl Clocks {
    /// The coarsest grid on which both clocks have whole periods.
    ///
    /// # Errors
    /// [`ClockError`] if a period would be shorter than 2 or longer than 255 ticks.
    pub const fn new(uclk_mhz: u64, dclk_mhz: u64) -> Result<Self, ClockError> {
        if uclk_mhz == 0 || dclk_mhz == 0 {
            return Err(ClockError { uclk_mhz, dclk_mhz });
        }
        let mut grid = uclk_mhz / greatest_common_divisor(uclk_mhz, dclk_mhz) * dclk_mhz;
        // A period of one tick has no reciprocal.
        if grid == uclk_mhz || grid == dclk_mhz {
            grid *= 2;
        }
        let (uclk, dclk) = (grid / uclk_mhz, grid / dclk_mhz);
        if uclk > 255 || dclk > 255 {
            return Err(ClockError { uclk_mhz, dclk_mhz });
        }
        let uclk = Period::new(uclk);
        Ok(Self { ticks_per_second: grid * 1_000_000, uclk, dclk: Period::new(dclk), qclk: uclk })
    }

    /// The same for three clocks, the last one that of the links between sockets.
    ///
    /// # Errors
    /// As [`Clocks::new`].
    pub const fn with_links(uclk_mhz: u64, dclk_mhz: u64, qclk_mhz: u64) -> Result<Self, ClockError> {
        let Self { ticks_per_second, uclk, dclk, .. } = match Self::new(uclk_mhz, dclk_mhz) {
            Ok(two) => two,
            Err(error) => return Err(error),
        };
        let grid = ticks_per_second / 1_000_000;
        let mut finer = if qclk_mhz == 0 { 0 } else { qclk_mhz / greatest_common_divisor(qclk_mhz, grid) };
        if grid * finer == qclk_mhz {
            finer *= 2;
        }
        if finer == 0 || finer * uclk.ticks() > 255 || finer * dclk.ticks() > 255 || grid * finer / qclk_mhz > 255 {
            return Err(ClockError { uclk_mhz, dclk_mhz: qclk_mhz });
        }
        Ok(Self {
            ticks_per_second: ticks_per_second * finer,
            uclk: Period::new(finer * uclk.ticks()),
            dclk: Period::new(finer * dclk.ticks()),
            qclk: Period::new(grid * finer / qclk_mhz),
        })
    }

    /// The clock of the power unit, 800 MHz (guide 2.6); the uncore clock if the grid has no such period.
    pub const fn pclk(&self) -> Period {
        let ticks = self.ticks_per_second / 800_000_000;
        if ticks >= 2 && ticks <= 255 && ticks * 800_000_000 == self.ticks_per_second {
            Period::new(ticks)
        } else {
            self.uclk
        }
    }

    /// Virtual seconds between two ticks.
    pub fn seconds(&self, from: Tick, to: Tick) -> f64 {
        (to - from) as f64 / self.ticks_per_second as f64
    }
}

/// The least common multiple of two numbers above 0.
pub const fn common_multiple(a: u64, b: u64) -> u64 {
    a / greatest_common_divisor(a, b) * b
}

const fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::{Clocks, HORIZON, Period};

    #[test]
    fn the_e5_2680_has_periods_of_8_and_27_ticks() {
        let clocks = Clocks::new(2700, 800).unwrap();
        assert_eq!(clocks.ticks_per_second, 21_600_000_000);
        assert_eq!((clocks.uclk.ticks(), clocks.dclk.ticks()), (8, 27));
    }

    #[test]
    fn links_at_8_gt_make_the_grid_five_times_finer() {
        let clocks = Clocks::with_links(2700, 800, 1000).unwrap();
        assert_eq!(clocks.ticks_per_second, 108_000_000_000);
        assert_eq!((clocks.uclk.ticks(), clocks.dclk.ticks(), clocks.qclk.ticks()), (40, 135, 108));
        assert!(Clocks::with_links(2700, 800, 0).is_err());
        assert!(Clocks::with_links(2700, 800, 997).is_err());
    }

    #[test]
    fn cycles_equal_division_up_to_the_horizon() {
        for ticks in 2..=255 {
            let period = Period::new(ticks);
            for tick in
                [0, 1, ticks - 1, ticks, ticks + 1, 1_000_003, HORIZON / ticks * ticks - 1, HORIZON - 1, HORIZON]
            {
                assert_eq!(period.cycles(tick), tick / ticks, "{tick} / {ticks}");
            }
            assert_eq!(period.align_up(ticks + 1), 2 * ticks);
            assert_eq!(period.align_up(ticks), ticks);
        }
    }

    #[test]
    fn clocks_without_a_grid_are_refused() {
        assert!(Clocks::new(2701, 800).is_err());
        assert!(Clocks::new(0, 800).is_err());
    }
}
