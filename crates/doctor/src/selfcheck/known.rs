//! What is known of a family, to hold counts against: `catalog/selfcheck`.

use pericore_catalog::Family;
use pericore_catalog::tables::SELFCHECK;
use serde::Deserialize;

/// A family's file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    #[serde(rename = "clock", default)]
    pub clocks: Vec<KnownClock>,
    pub traffic: Vec<TrafficEvents>,
    pub lines: Vec<ReadLines>,
    #[serde(rename = "law")]
    pub laws: Vec<KnownLaw>,
}

/// A clock.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownClock {
    pub name: String,
    /// The least and the greatest frequency in MHz, if a document has them.
    pub mhz: Option<(f64, f64)>,
    /// The same in all sockets.
    #[serde(rename = "constant", default)]
    pub is_constant: bool,
    /// It is the clock of links between sockets.
    #[serde(rename = "links", default)]
    pub is_of_links: bool,
    pub source: String,
}

/// Events that are counted while known traffic runs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrafficEvents {
    pub events: Vec<String>,
}

/// The event of them that counts the lines which a program reads from memory.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadLines {
    pub reads: String,
    pub source: String,
}

/// Two sums of counts that must agree.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownLaw {
    pub text: String,
    pub left: Vec<String>,
    pub right: Vec<String>,
    /// But for so many per cent.
    pub within: f64,
    pub source: String,
}

impl Known {
    /// What is known of a family; nothing of one without a file.
    ///
    /// # Panics
    /// A file of ours is not understood: the test below reads all.
    pub fn of(family: &Family) -> Self {
        let text = SELFCHECK.iter().find(|(known, _)| *known == family.name).map(|(_, text)| *text);
        text.map_or_else(Self::default, |text| toml::from_str(text).expect("a test reads all files"))
    }

    /// The names of all events that are counted.
    pub fn events(&self) -> impl Iterator<Item = &str> {
        self.traffic.iter().flat_map(|row| &row.events).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use pericore_observe::selection::Selection;

    use super::*;
    use crate::selfcheck::laws::Law;

    /// A law whose events are not counted is never held against anything, and nobody would see it.
    #[test]
    fn every_file_is_read_and_every_law_is_of_events_that_are_counted() {
        for (name, _) in SELFCHECK {
            let family = pericore_catalog::family(name).expect(name);
            let known = Known::of(family);
            let mut selection = Selection::new(family);
            for event in known.events() {
                selection.add_events(event).unwrap_or_else(|error| panic!("{name}: {error}"));
            }
            assert_eq!(Law::of(&selection).len(), known.laws.len(), "{name}: a law has an event that is not counted");
            assert!(known.lines.iter().all(|row| known.events().any(|event| event == row.reads)), "{name}");
            let clocks = family.units.iter().map(|unit| unit.clock).collect::<Vec<_>>();
            assert!(known.clocks.iter().all(|clock| clocks.contains(&clock.name.as_str())), "{name}: {clocks:?}");
        }
    }
}
