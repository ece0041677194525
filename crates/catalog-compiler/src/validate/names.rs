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
    let events = unit.events.iter().map(|event| ("event", event.name.as_str(), event.place, ""));
    let subevents = unit.events.iter().flat_map(|event| &event.subevents);
    let subevents = subevents.map(|subevent| ("subevent", subevent.name.as_str(), subevent.place, ".-+"));
    let metrics = unit.metrics.iter().map(|metric| ("metric", metric.name.as_str(), metric.place, "."));
    for (kind, name, place, besides) in events.chain(subevents).chain(metrics) {
        speakable(kind, name, place, besides, diagnostics);
    }
    for event in &unit.events {
        distinct("subevent", event.subevents.iter().map(|s| (s.name.as_str(), s.place)), diagnostics);
    }
}

/// A name can be written on a command line, where other characters have a meaning of their own.
fn speakable(kind: &str, name: &str, place: Place, besides: &str, diagnostics: &mut Diagnostics) {
    let is_one = |c: char| c.is_ascii_alphanumeric() || c == '_' || besides.contains(c);
    if let Some(other) = name.chars().find(|&c| !is_one(c)) {
        let message = format!("{kind} {name:?}: no name has {other:?}");
        diagnostics.report(place, message, "give it letters, digits and _");
    } else if name.is_empty() {
        diagnostics.report(place, format!("a {kind} has no name"), "give it one");
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
