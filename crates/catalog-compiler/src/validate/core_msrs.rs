//! A family's MSRs outside the PMON: each once, none where a PMON register is, and counters with what starts them.

use std::collections::BTreeMap;

use pericore_catalog_schema::{CounterControl, FIRST_FIXED, MsrKind};

use crate::schema::{CoreMsrRow, Family, Locations, Unit};
use crate::{Diagnostics, Place};

/// Each address has one owner.
pub fn addresses(family: &Family, diagnostics: &mut Diagnostics) {
    let Some(processor) = &family.processor else { return };
    let mut first: BTreeMap<u32, &CoreMsrRow> = BTreeMap::new();
    for row in &processor.core_msrs {
        if let Some(earlier) = first.insert(row.address, row) {
            let message =
                format!("{} has MSR {:#x} twice: {} and {}", family.name, row.address, earlier.name, row.name);
            let fix = format!(
                "remove one, or move it to a set of its own; the other stands at {}",
                diagnostics.show(earlier.place)
            );
            diagnostics.report(row.place, message, fix);
        }
    }
    for (address, register, place) in family.units.iter().flat_map(pmon_msrs) {
        if let Some(row) = first.get(&address) {
            let message =
                format!("{} has MSR {address:#x} twice: {} and PMON register {register}", family.name, row.name);
            diagnostics.report(
                row.place,
                message,
                format!("remove the row; the register stands at {}", diagnostics.show(place)),
            );
        }
    }
}

/// A unit's registers that are MSRs: address, name, place.
fn pmon_msrs(unit: &Unit) -> Vec<(u32, &str, Place)> {
    let mut found = Vec::new();
    for register in &unit.registers {
        let placement = unit.placements.iter().find(|placement| placement.name == register.placement);
        let Some(Locations::Msr(bases)) = placement.map(|placement| &placement.locations) else { continue };
        for (base, member) in bases.iter().flat_map(|base| (0..register.count).map(move |member| (base, member))) {
            let address = base + register.offset + u32::from(register.stride) * u32::from(member);
            found.push((address, register.name.as_str(), register.place));
        }
    }
    found
}

/// Each counter has a bit of its own, an MSR that enables it and one that selects what it counts; nothing is controlled
/// twice.
pub fn controls(family: &Family, diagnostics: &mut Diagnostics) {
    let Some(processor) = &family.processor else { return };
    let mut controlled: Vec<(CounterControl, Place)> = Vec::new();
    for row in &processor.core_msrs {
        let Some(control) = row.controls else { continue };
        if let Some((_, earlier)) = controlled.iter().find(|(other, _)| *other == control) {
            let fix = format!("correct one of them; the other stands at {}", diagnostics.show(*earlier));
            diagnostics.report(row.place, format!("two MSRs of {} control the same counters", family.name), fix);
        }
        controlled.push((control, row.place));
    }
    let mut enabled: BTreeMap<u8, Place> = BTreeMap::new();
    for row in &processor.core_msrs {
        let MsrKind::Counter { enable } = row.kind else { continue };
        if let Some(earlier) = enabled.insert(enable, row.place) {
            let fix = format!("correct one of them; the other stands at {}", diagnostics.show(earlier));
            diagnostics.report(row.place, format!("bit {enable} enables two counters of {}", family.name), fix);
        }
        let has = |control| controlled.iter().any(|(other, _)| *other == control);
        if !has(CounterControl::Global) {
            let message = format!("no MSR of {} enables {}", family.name, row.name);
            diagnostics.report(row.place, message, "add one with controls = \"global\"");
        }
        let (select, key) = if enable < FIRST_FIXED {
            (CounterControl::EventSelect { counter: enable }, format!("\"event_select\", counter = {enable}"))
        } else {
            (CounterControl::Fixed, "\"fixed\"".to_owned())
        };
        if !has(select) {
            let message = format!("no MSR of {} selects what {} counts", family.name, row.name);
            diagnostics.report(row.place, message, format!("add one with controls = {key}"));
        }
    }
}
