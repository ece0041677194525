//! How long a workload goes on, in time or accesses.

use pericore_machine::Machine;
use pericore_machine::signal::Tick;

use super::numbers::float;

/// How long a workload goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// For so many ticks of virtual time.
    Time(Tick),
    /// For so many accesses.
    Accesses(u64),
}

impl Extent {
    /// How much there is of it.
    pub const fn whole(self) -> u64 {
        match self {
            Self::Time(ticks) => ticks,
            Self::Accesses(accesses) => accesses,
        }
    }

    /// How much of it a machine has run since its reset or its warm-up.
    pub fn place(self, machine: &Machine) -> u64 {
        match self {
            Self::Time(_) => machine.now(),
            Self::Accesses(_) => machine.progress().done,
        }
    }

    /// So many nanoseconds, or the other number of accesses.
    pub const fn of(self, [nanoseconds, accesses]: [u64; 2], ticks_per_second: u64) -> u64 {
        match self {
            Self::Time(_) => (nanoseconds as u128 * ticks_per_second as u128 / 1_000_000_000) as u64,
            Self::Accesses(_) => accesses,
        }
    }

    /// A part of it, for people.
    pub fn words(self, part: u64, ticks_per_second: u64) -> String {
        match self {
            Self::Time(_) => format!("{:.0} ns", float(part) * 1e9 / float(ticks_per_second)),
            Self::Accesses(_) => format!("{part} accesses"),
        }
    }
}
