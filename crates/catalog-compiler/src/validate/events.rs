//! Events can be programmed, and no two are programmed alike.

use std::collections::HashMap;

use pericore_catalog_schema::Role;

use crate::schema::{Event, FilterUse, Unit};
use crate::{Diagnostics, Place};

/// Counters exist.
pub fn counters(unit: &Unit, diagnostics: &mut Diagnostics) {
    let all = ((1u32 << unit.counters.min(16)) - 1) as u16;
    let mut check = |name: &str, counters: Option<u16>, place: Place| {
        let beyond = counters.unwrap_or(0) & !all;
        if beyond != 0 {
            let message = format!("{name} names counter {}; unit {} has {}", beyond.ilog2(), unit.name, unit.counters);
            diagnostics.report(place, message, "correct the counters");
        }
    };
    for event in &unit.events {
        check(&event.name, event.counters, event.place);
        for subevent in &event.subevents {
            check(&format!("{}.{}", event.name, subevent.name), subevent.counters, subevent.place);
        }
    }
    for event in unit.events.iter().filter(|event| event.counters.is_none()) {
        let fix = "add counters = [0, 1, …]: the register restrictions of the document";
        diagnostics.report(event.place, format!("{} names no counters", event.name), fix);
    }
}

/// Two rows with one encoding would be one event under two names.
pub fn distinct_encodings(unit: &Unit, diagnostics: &mut Diagnostics) {
    let mut first: HashMap<u64, (String, Place)> = HashMap::new();
    for event in &unit.events {
        for (name, config, place, same_as) in selections(event) {
            match first.get(&config) {
                Some((other, _)) if same_as.as_deref() == Some(other) => {}
                Some((other, earlier)) => {
                    let message = format!("{name} and {other} both select {config:#x}");
                    let fix = format!(
                        "correct one (the other stands at {}), or write same_as = {other:?}",
                        diagnostics.show(*earlier)
                    );
                    diagnostics.report(place, message, fix);
                }
                None => {
                    first.insert(config, (name, place));
                }
            }
        }
    }
}

/// An event without subevents or umask is its code with any umask: no other event has subevents of that code.
pub fn whole_codes(unit: &Unit, diagnostics: &mut Diagnostics) {
    let with_subevents: HashMap<u64, &Event> =
        unit.events.iter().filter(|event| !event.subevents.is_empty()).map(|event| (event.config, event)).collect();
    let is_whole = |event: &&Event| event.subevents.is_empty() && event.select.iter().all(|(name, _)| name != "umask");
    for event in unit.events.iter().filter(is_whole) {
        let Some(other) = with_subevents.get(&event.config) else { continue };
        let message = format!(
            "{} selects {:#x}, the code of {}, whose subevents umasks tell apart",
            event.name, event.config, other.name
        );
        let fix =
            format!("correct the code, or select a umask; {} stands at {}", other.name, diagnostics.show(other.place));
        diagnostics.report(event.place, message, fix);
    }
}

/// Full name, control value, place and intended twin of everything that can be counted.
fn selections(event: &Event) -> Vec<(String, u64, Place, Option<String>)> {
    if event.subevents.is_empty() {
        return vec![(event.name.clone(), event.config, event.place, event.same_as.clone())];
    }
    let subevents = event.subevents.iter();
    subevents.map(|s| (format!("{}.{}", event.name, s.name), s.config, s.place, s.same_as.clone())).collect()
}

/// Filters are fields of a filter register, of the control register or of the event's field set.
pub fn filters(unit: &Unit, diagnostics: &mut Diagnostics) {
    for event in &unit.events {
        let set = event.field_set.as_deref();
        if let Some(set) = set
            && !unit.field_sets.iter().any(|s| s.name == set)
        {
            let fix = "add the [[field_set]] to the unit's file or correct the name";
            diagnostics.report(event.place, format!("unit {} has no field set {set:?}", unit.name), fix);
        }
        let rows = event.filters.iter().map(|f| (f, event.place));
        let rows = rows.chain(event.subevents.iter().flat_map(|s| s.filters.iter().map(|f| (f, s.place))));
        for (filter, place) in rows {
            check_filter(unit, set, filter, place, diagnostics);
        }
    }
}

fn check_filter(unit: &Unit, set: Option<&str>, filter: &FilterUse, place: Place, diagnostics: &mut Diagnostics) {
    let in_registers = unit.registers.iter().filter(|r| matches!(r.role, Role::Filter | Role::Control));
    let in_set = unit.field_sets.iter().filter(|s| Some(s.name.as_str()) == set).flat_map(|s| &s.fields);
    let mut fields = in_registers.flat_map(|r| &r.fields).chain(in_set);
    if !fields.any(|field| field.name == filter.field) {
        let message = format!("unit {} has no filter field {:?}", unit.name, filter.field);
        diagnostics.report(
            place,
            message,
            "name a field of a register with role filter or control, or of the field_set",
        );
    }
}
