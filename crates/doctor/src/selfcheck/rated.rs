//! What documents say of a family's clocks: `catalog/selfcheck`.

use std::fmt;

use pericore_catalog::Family;
use toml::de::{DeTable, DeValue};

/// The files, by family.
const FILES: [(&str, &str); 3] = [
    ("e5-2600", include_str!("../../../../catalog/selfcheck/e5-2600.toml")),
    ("emerald-rapids", include_str!("../../../../catalog/selfcheck/emerald-rapids.toml")),
    ("nehalem", include_str!("../../../../catalog/selfcheck/nehalem.toml")),
];

/// A family's file.
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
    /// The file of a family; nothing for a family without one.
    pub fn of(family: &Family) -> Option<Self> {
        let (_, text) = FILES.iter().find(|(name, _)| *name == family.name)?;
        let table = DeTable::parse(text).ok()?.into_inner();
        let rows = table.get("clock").and_then(|rows| rows.get_ref().as_array().cloned()).unwrap_or_default();
        let clocks = rows.iter().filter_map(|row| Range::read(row.get_ref())).collect();
        Some(Self { clocks })
    }

    /// What is said of a clock.
    pub fn clock(&self, name: &str) -> Option<&Range> {
        self.clocks.iter().find(|range| range.name == name)
    }
}

impl Range {
    fn read(row: &DeValue<'_>) -> Option<Self> {
        let text = |key: &str| row.get(key)?.get_ref().as_str().map(str::to_owned);
        let number = |at: usize| -> Option<f64> {
            let value = row.get("mhz")?.get_ref().as_array()?.get(at)?;
            value.get_ref().as_integer()?.as_str().parse().ok()
        };
        let is = |key: &str| row.get(key).is_some_and(|value| value.get_ref().as_bool() == Some(true));
        let (is_constant, is_of_links) = (is("constant"), is("links"));
        let mhz = number(0).zip(number(1));
        Some(Self { name: text("name")?, mhz, is_constant, is_of_links, source: text("source")? })
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
