//! Signals fit their tags, and events decode what signals carry.

use pericore_catalog_schema::{Measure, Role, SignalKind};

use crate::Diagnostics;
use crate::schema::{Selector, Unit};

/// A tag is 64 bits.
pub fn attributes(unit: &Unit, diagnostics: &mut Diagnostics) {
    for signal in &unit.signals {
        let bits: u32 = signal.attributes.iter().map(|(_, width)| u32::from(*width)).sum();
        if bits > 64 || signal.attributes.iter().any(|(_, width)| *width == 0) {
            let message = format!("the attributes of signal {} take {bits} bits", signal.name);
            diagnostics.report(signal.place, message, "give each at least one bit, and all at most 64");
        }
    }
}

/// Measures fit their signals and decode rows name attributes of the event's signal and fields of the unit's filters.
pub fn decoding(unit: &Unit, diagnostics: &mut Diagnostics) {
    for event in &unit.events {
        let Some(signal) = event.signal_index.map(|index| &unit.signals[usize::from(index)]) else { continue };
        if matches!(event.measure, Measure::Occupancy | Measure::NonEmpty) && signal.kind != SignalKind::Level {
            let message = format!("{} measures the occupancy of {}, which is no level", event.name, signal.name);
            diagnostics.report(event.place, message, "make the signal a level, or measure arrivals");
        }
        for row in &event.decode {
            if matches!(row.selector, Selector::Umask(bit) if bit >= 40) {
                let fix = "0 to 7 are the umask, 8 to 39 its extension";
                diagnostics.report(row.place, "no such bit of the umask", fix);
            }
            for term in &row.terms {
                if !signal.attributes.iter().any(|(name, _)| *name == term.attribute) {
                    let message = format!("signal {} has no attribute {:?}", signal.name, term.attribute);
                    diagnostics.report(row.place, message, "correct the name or add the attribute");
                }
            }
            for field in row.fields() {
                let in_registers = unit
                    .registers
                    .iter()
                    .any(|r| matches!(r.role, Role::Filter | Role::Control) && r.field(field).is_some());
                let set = unit.field_sets.iter().find(|set| Some(&set.name) == event.field_set.as_ref());
                if !in_registers && !set.is_some_and(|set| set.fields.iter().any(|f| f.name == field)) {
                    let message = format!(
                        "no filter or control register of unit {}, nor the event's field set, has {field:?}",
                        unit.name
                    );
                    diagnostics.report(row.place, message, "correct the name");
                }
            }
        }
    }
}
