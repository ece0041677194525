//! What documents say of a family's clocks: `catalog/selfcheck`.

use std::fmt;

use pericore_catalog::Family;

use super::known::{Known, KnownClock};

/// A family's clocks.
#[derive(Debug)]
pub struct Rated {
    clocks: Vec<KnownClock>,
}

impl Rated {
    /// The clocks of a family.
    pub fn of(family: &Family) -> Self {
        Self { clocks: Known::of(family).clocks }
    }

    /// What is said of a clock.
    pub fn clock(&self, name: &str) -> Option<&KnownClock> {
        self.clocks.iter().find(|clock| clock.name == name)
    }
}

impl KnownClock {
    /// True if a document has its frequencies.
    pub const fn is_rated(&self) -> bool {
        self.mhz.is_some()
    }

    /// True if a rate, known from one to another bound in Hz, may be one of these.
    pub fn holds(&self, (low, high): (f64, f64)) -> bool {
        const ROOM: f64 = 0.005;
        self.mhz.is_none_or(|(least, most)| high >= least * 1e6 * (1.0 - ROOM) && low <= most * 1e6 * (1.0 + ROOM))
    }
}

impl fmt::Display for KnownClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mhz {
            Some((least, most)) => write!(f, "{least} to {most} MHz are documented ({})", self.source),
            None => f.write_str(&self.source),
        }
    }
}
