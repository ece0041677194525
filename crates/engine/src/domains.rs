//! The clocks of a whole machine, by the names that the catalogue gives them.

use super::Clocks;
use crate::Tick;

/// Every clock domain of a machine on its grid of ticks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClockDomains {
    ticks_per_second: u64,
    /// Ticks per cycle. The first domain serves those that are not listed.
    periods: Vec<(&'static str, u64)>,
    timestamp: u64,
}

impl ClockDomains {
    /// Domains by the catalogue's names with their ticks per cycle, the main one first; `timestamp` is the period of the
    /// processor's time-stamp counter.
    pub fn new(ticks_per_second: u64, periods: &[(&'static str, u64)], timestamp: u64) -> Self {
        Self { ticks_per_second, periods: periods.to_vec(), timestamp }
    }

    /// Ticks in a second.
    pub const fn ticks_per_second(&self) -> u64 {
        self.ticks_per_second
    }

    /// Ticks per cycle of a clock. One without a period of its own on the grid runs with the main clock.
    pub fn period(&self, clock: &str) -> u64 {
        let own = self.periods.iter().find(|(name, _)| *name == clock).or(self.periods.first());
        own.map_or(1, |&(_, ticks)| ticks)
    }

    /// Complete cycles of a clock before a tick.
    pub fn cycles(&self, clock: &str, tick: Tick) -> u64 {
        tick / self.period(clock)
    }

    /// What the time-stamp counter reads at a tick: it runs with the nominal core clock from reset.
    pub const fn timestamp(&self, tick: Tick) -> u64 {
        tick / self.timestamp
    }

    /// Virtual seconds between two ticks.
    pub fn seconds(&self, from: Tick, to: Tick) -> f64 {
        (to - from) as f64 / self.ticks_per_second as f64
    }
}

impl From<&Clocks> for ClockDomains {
    /// The cores' domain first.
    fn from(clocks: &Clocks) -> Self {
        let periods = [
            ("uclk", clocks.uclk.ticks()),
            ("dclk", clocks.dclk.ticks()),
            ("qclk", clocks.qclk.ticks()),
            ("pclk", clocks.pclk().ticks()),
        ];
        Self::new(clocks.ticks_per_second, &periods, clocks.uclk.ticks())
    }
}

#[cfg(test)]
mod tests {
    use super::ClockDomains;

    #[test]
    fn a_clock_without_a_period_runs_with_the_main_one() {
        let domains = ClockDomains::new(88_000_000_000, &[("uclk", 11), ("dclk", 44)], 10);
        assert_eq!((domains.period("uclk"), domains.period("dclk"), domains.period("qclk")), (11, 44, 11));
        assert_eq!((domains.cycles("dclk", 87), domains.timestamp(99)), (1, 9));
        assert_eq!(domains.seconds(44_000_000_000, 88_000_000_000), 0.5);
    }
}
