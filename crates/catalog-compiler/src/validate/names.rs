//! Nothing has two owners.

use std::collections::HashMap;

use crate::schema::{Catalogue, Family, Unit};
use crate::{Diagnostics, Place};

/// Families and their aliases are distinct.
pub fn families(catalogue: &Catalogue, diagnostics: &mut Diagnostics) {
    let names = catalogue.families.iter().flat_map(|family| {
        std::iter::once(&family.name).chain(&family.aliases).map(|name| (name.as_str(), family.place))
    });
    distinct("family name", names, diagnostics);
}

/// Units, clocks and value sets of a family are distinct.
pub fn family(family: &Family, diagnostics: &mut Diagnostics) {
    distinct("unit", family.units.iter().map(|unit| (unit.name.as_str(), unit.listed)), diagnostics);
    distinct("clock", family.clocks.iter().map(|(name, _)| (name.as_str(), family.place)), diagnostics);
    distinct("value set", family.value_sets.iter().map(|set| (set.name.as_str(), set.place)), diagnostics);
    for set in &family.value_sets {
        distinct("value name", set.values.iter().map(|value| (value.name.as_str(), value.place)), diagnostics);
    }
}

/// Names inside a unit are distinct, each in its kind.
pub fn unit(unit: &Unit, diagnostics: &mut Diagnostics) {
    distinct("placement", unit.placements.iter().map(|p| (p.name.as_str(), p.place)), diagnostics);
    distinct("register", unit.registers.iter().map(|r| (r.name.as_str(), r.place)), diagnostics);
    distinct("field set", unit.field_sets.iter().map(|s| (s.name.as_str(), s.place)), diagnostics);
    distinct("signal", unit.signals.iter().map(|s| (s.name.as_str(), s.place)), diagnostics);
    distinct("event", unit.events.iter().map(|e| (e.name.as_str(), e.place)), diagnostics);
    distinct("metric", unit.metrics.iter().map(|m| (m.name.as_str(), m.place)), diagnostics);
    for register in &unit.registers {
        let fields = register.fields.iter().filter(|field| !field.is_reserved());
        distinct("field", fields.map(|field| (field.name.as_str(), field.place)), diagnostics);
    }
    for event in &unit.events {
        distinct("subevent", event.subevents.iter().map(|s| (s.name.as_str(), s.place)), diagnostics);
    }
}

fn distinct<'a>(kind: &str, names: impl Iterator<Item = (&'a str, Place)>, diagnostics: &mut Diagnostics) {
    let mut first: HashMap<String, Place> = HashMap::new();
    for (name, place) in names {
        if let Some(&earlier) = first.get(&name.to_ascii_lowercase()) {
            let fix = format!("rename or remove one; the other stands at {}", diagnostics.show(earlier));
            diagnostics.report(place, format!("{kind} {name:?} exists twice"), fix);
        } else {
            first.insert(name.to_ascii_lowercase(), place);
        }
    }
}
