//! A description that only repeats the name helps nobody.

use std::collections::HashSet;

use crate::schema::Unit;
use crate::{Diagnostics, Place};

/// Checks events, subevents, registers and metrics.
pub fn say_more_than_the_name(unit: &Unit, diagnostics: &mut Diagnostics) {
    let mut check = |name: &str, description: &str, place: Place| {
        if letters(name) == letters(description) || words(description).is_subset(&words(name)) {
            diagnostics.report(
                place,
                format!("the description of {name} only repeats its name"),
                "say what is counted",
            );
        }
    };
    for event in &unit.events {
        check(&event.name, &event.description, event.place);
        for subevent in &event.subevents {
            check(&format!("{}.{}", event.name, subevent.name), &subevent.description, subevent.place);
        }
    }
    for register in &unit.registers {
        check(&register.name, &register.description, register.place);
    }
    for metric in &unit.metrics {
        check(&metric.name, &metric.description, metric.place);
    }
}

fn letters(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

fn words(text: &str) -> HashSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect()
}
