//! PCI functions without PMON registers: numbers that a bus has, each once; and the one that leads to discovery tables.

use crate::Diagnostics;
use crate::schema::{Family, FunctionRow, Locations};

/// Functions have numbers and a class that there can be, and a stub is in nobody's way.
pub fn numbers(family: &Family, diagnostics: &mut Diagnostics) {
    for row in family.stubs.iter().chain(&family.discovery) {
        if row.device > 31 || row.function > 7 {
            let message = format!("a bus has no function {}", number(row));
            diagnostics.report(row.place, message, "write a device up to 31 and a function up to 7");
        }
        if row.class > 0xff_ffff {
            let message = format!("class {:#x} of function {} has more than 24 bits", row.class, number(row));
            diagnostics.report(row.place, message, "leave out the revision: it has a key of its own");
        }
    }
    for (index, row) in family.stubs.iter().enumerate() {
        if let Some(earlier) = family.stubs[..index].iter().find(|other| number(other) == number(row)) {
            let fix = format!("remove one; the other stands at {}", diagnostics.show(earlier.place));
            diagnostics.report(row.place, format!("{} has stub {} twice", family.name, number(row)), fix);
        }
        let placements =
            family.units.iter().flat_map(|unit| unit.placements.iter().map(move |placement| (unit, placement)));
        for (unit, placement) in placements.filter(|(_, placement)| placement.bus.number() == 0) {
            let Locations::Pci(functions) = &placement.locations else { continue };
            if functions.contains(&(row.device, row.function)) {
                let message = format!("stub {} of {} is a function of unit {}", number(row), family.name, unit.name);
                let fix = format!("remove it; the unit's placement stands at {}", diagnostics.show(placement.place));
                diagnostics.report(row.place, message, fix);
            }
        }
    }
}

/// There is a function that leads to discovery tables if, and only if, the tables list a unit.
pub fn discovery(family: &Family, diagnostics: &mut Diagnostics) {
    let listed = family.units.iter().find(|unit| unit.discovery_type.is_some());
    match (&family.discovery, listed) {
        (None, Some(unit)) => {
            let message =
                format!("discovery tables of {} list unit {}, and no function leads to them", family.name, unit.name);
            diagnostics.report(
                family.place,
                message,
                "add [discovery] with the function's device, function and device_id",
            );
        }
        (Some(row), None) => {
            let message =
                format!("function {} leads to discovery tables of {}, which list no unit", number(row), family.name);
            diagnostics.report(row.place, message, "remove it, or give the units' blocks a discovery_type");
        }
        _ => {}
    }
}

fn number(row: &FunctionRow) -> String {
    format!("{:02x}.{:x}", row.device, row.function)
}
