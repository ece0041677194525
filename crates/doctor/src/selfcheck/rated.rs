//! What documents say of a family's clocks: `catalog/selfcheck`.

use std::fmt;

use pericore_catalog::Family;

use super::known::{KnownRow, rows};

/// A family's clocks.
#[derive(Debug)]
pub struct Rated {
    clocks: Vec<Range>,
}

/// A clock's frequencies.
#[derive(Debug, Clone)]
pub struct Range {
    name: String,
    mhz: Option<(f64, f64)>,
    /// The same in all sockets.
    pub is_constant: bool,
    /// It is the clock of links between sockets.
    pub is_of_links: bool,
    source: String,
}

impl Rated {
    /// The clocks of a family.
    pub fn of(family: &Family) -> Self {
        Self { clocks: rows(family, "clock").iter().map(Range::read).collect() }
    }

    /// What is said of a clock.
    pub fn clock(&self, name: &str) -> Option<&Range> {
        self.clocks.iter().find(|range| range.name == name)
    }
}

impl Range {
    fn read(row: &KnownRow) -> Self {
        let mhz = match row.numbers("mhz")[..] {
            [least, most] => Some((least, most)),
            _ => None,
        };
        let (is_constant, is_of_links) = (row.is("constant"), row.is("links"));
        Self { name: row.text("name"), mhz, is_constant, is_of_links, source: row.text("source") }
    }

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

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mhz {
            Some((least, most)) => write!(f, "{least} to {most} MHz are documented ({})", self.source),
            None => f.write_str(&self.source),
        }
    }
}
