//! A description that only repeats the name helps nobody.

use crate::schema::Unit;
use crate::{Diagnostics, Place};

/// Checks events, subevents, registers and metrics.
pub fn say_more_than_the_name(unit: &Unit, diagnostics: &mut Diagnostics) {
    let mut check = |name: &str, description: &str, place: Place| {
        if words(name) == words(description) {
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
            check(&subevent.name, &subevent.description, subevent.place);
        }
    }
    for register in &unit.registers {
        check(&register.name, &register.description, register.place);
    }
    for metric in &unit.metrics {
        check(&metric.name, &metric.description, metric.place);
    }
}

fn words(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}
