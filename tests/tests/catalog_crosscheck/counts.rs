//! Events and subevents per unit, against numbers counted in the documents' tables (`counts.toml`).

use std::collections::{BTreeMap, BTreeSet};

use pericore_catalog::families;

use super::table::{Table, number, sections, text};

struct Counts(BTreeMap<String, String>);

impl Counts {
    fn get(&self, key: &str) -> usize {
        self.0.get(key).map_or(0, |value| number(value) as usize)
    }

    fn pair(&self, what: &str) -> [usize; 2] {
        [self.get(&format!("{what}events")), self.get(&format!("{what}subevents"))]
    }
}

fn counts() -> BTreeMap<(String, String), Counts> {
    let split = |name: String| {
        let (family, unit) = name.rsplit_once('.').unwrap_or_else(|| panic!("[{name}]"));
        (family.to_owned(), unit.to_owned())
    };
    sections(&text("counts.toml")).into_iter().map(|(name, values)| (split(name), Counts(values))).collect()
}

#[test]
fn each_unit_has_what_the_tables_have() {
    let mut counts = counts();
    // Of the guide of both families that have the mesh.
    let mesh = counts.remove(&("emerald-rapids".to_owned(), "mesh".to_owned())).expect("the mesh stop").pair("guide_");
    for (family, unit) in families().flat_map(|family| family.units.iter().map(move |unit| (family, unit))) {
        let place = format!("{} {}", family.name, unit.name);
        let key = (family.name.to_owned(), unit.name.to_owned());
        let counts = counts.remove(&key).unwrap_or_else(|| panic!("counts.toml has no {place}"));
        let subevents = unit.events.iter().map(|event| event.subevents.len()).sum();
        assert_eq!([unit.events.len(), subevents], counts.pair(""), "{place}: events and subevents");
        let with_mesh = usize::from(counts.0.contains_key("mesh"));
        let sum = |index: usize| {
            let parts = ["guide_", "intel_", "other_"].map(|part| counts.pair(part)[index]);
            parts.iter().sum::<usize>() + with_mesh * mesh[index]
        };
        assert_eq!([sum(0), sum(1)], counts.pair(""), "{place}: the parts and the whole");
    }
    assert!(counts.is_empty(), "units of counts.toml that are not there: {:?}", counts.keys());
}

/// The second reading has as many rows as were counted.
#[test]
fn the_second_reading_has_what_the_tables_have() {
    for (family, file) in [("emerald-rapids", "emerald-rapids-guide.csv"), ("e5-2600", "e5-2600-guide.csv")] {
        let table = Table::read(file);
        for ((_, unit), counts) in counts().iter().filter(|((name, _), _)| name == family) {
            let rows: BTreeSet<_> = table
                .rows()
                .filter(|row| row.text("unit") == unit)
                .map(|row| (row.text("event"), row.text("subevent")))
                .collect();
            let subevents = rows.iter().filter(|(_, subevent)| !subevent.is_empty()).count();
            assert_eq!([rows.len() - subevents, subevents], counts.pair("guide_"), "{family} {unit}");
        }
    }
}
