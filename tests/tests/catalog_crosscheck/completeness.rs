//! No row without what a user needs.

use std::collections::{BTreeMap, BTreeSet};

use pericore_catalog::{Family, Unit, families, family};

use super::table::Table;

#[test]
fn every_event_has_counters_a_source_and_a_description() {
    let mut gaps = Vec::new();
    for (family, unit) in families().flat_map(|family| family.units.iter().map(move |unit| (family, unit))) {
        for event in unit.events {
            let mut check = |name: &str, counters: u16, source: &str, description: &str| {
                let within = counters != 0 && u32::from(counters) < 1 << unit.counters;
                if !within || source.trim().is_empty() || description.split_whitespace().count() < 2 {
                    gaps.push(format!(
                        "{} {}/{name}/: {counters:#b}, {source:?}, {description:?}",
                        family.name, unit.name
                    ));
                }
            };
            check(event.name, event.counters, event.source, event.description);
            for subevent in event.subevents {
                check(subevent.name, subevent.counters, subevent.source, subevent.description);
                let outside = subevent.counters & !event.counters;
                assert_eq!(
                    outside, 0,
                    "{}/{}.{}: counters that the event has not",
                    unit.name, event.name, subevent.name
                );
            }
        }
    }
    assert!(gaps.is_empty(), "{} gaps:\n{}", gaps.len(), gaps.join("\n"));
}

/// A deviation cites both sides, says what we have, and why.
#[test]
fn every_deviation_is_argued() {
    for row in pericore_catalog::deviations() {
        let said = [row.guide, row.intel, row.ours, row.evidence];
        assert!(said.iter().all(|text| !text.trim().is_empty()), "{row:?}");
        assert!(![row.unit, row.subject, row.field].iter().any(|text| text.contains('*')), "no wildcards: {row:?}");
    }
}

/// A deviation is about something that exists: a misspelt name would explain nothing for ever.
#[test]
fn every_deviation_is_about_something() {
    let mut strays = Vec::new();
    let mut known = BTreeMap::new();
    for row in pericore_catalog::deviations() {
        let owner = family(row.family).unwrap_or_else(|| panic!("{row:?}"));
        let unit = owner.unit(row.unit).unwrap_or_else(|| panic!("{row:?}"));
        let known = known.entry((row.family, row.unit)).or_insert_with(|| subjects(owner, unit));
        let on_purpose = row.ours.starts_with("left out") || row.ours.starts_with("absent");
        if !on_purpose && !row.subject.starts_with("discovery.") && !known.contains(row.subject) {
            strays.push(format!("{} {}/{}/ {}", row.family, row.unit, row.subject, row.field));
        }
    }
    assert!(strays.is_empty(), "{} rows about unknown things:\n{}", strays.len(), strays.join("\n"));
}

/// All that a row for a unit may be about: events, metrics, registers, fields, named values, and what others count as events
/// and we have as registers.
fn subjects(family: &Family, unit: &Unit) -> BTreeSet<String> {
    let mut subjects = BTreeSet::new();
    for event in unit.events {
        subjects.insert(event.name.to_owned());
        subjects.extend(event.subevents.iter().map(|subevent| format!("{}.{}", event.name, subevent.name)));
    }
    subjects.extend(unit.metrics.iter().map(|metric| metric.name.to_owned()));
    for register in unit.registers {
        subjects.insert(register.name.to_owned());
        subjects.extend((0..register.count).map(|member| register.member_name(member)));
        for field in register.fields {
            let name = format!("{}.{}", register.name, field.name);
            subjects.extend(field.values.iter().map(|value| format!("{name}.{}", value.name)));
            subjects.insert(name);
        }
    }
    for (set, field) in unit.field_sets.iter().flat_map(|set| set.fields.iter().map(move |field| (set, field))) {
        subjects.insert(format!("{}.{}", set.name, field.name));
        subjects.extend(field.values.iter().map(|value| format!("{}.{}.{}", set.name, field.name, value.name)));
    }
    for set in family.value_sets {
        subjects.insert(set.name.to_owned());
        subjects.extend(set.values.iter().map(|value| format!("{}.{}", set.name, value.name)));
    }
    match family.name {
        "emerald-rapids" | "sapphire-rapids" => {
            let intel = Table::read("emerald-rapids-intel.csv");
            let free_running = intel.rows().filter(|row| row.text("type") == "FREERUN");
            subjects.extend(free_running.filter_map(|row| Some(row.text("name").strip_prefix("UNC_IIO_")?.to_owned())));
        }
        "nehalem" => {
            subjects.insert("CLK_UNHALTED".to_owned());
        }
        _ => {}
    }
    subjects
}
