//! Registers are whole: fields cover each bit once, and a unit that counts has what counting takes.

use pericore_catalog_schema::Role;

use crate::Diagnostics;
use crate::schema::{Family, Field, Register, Unit};

/// Widths, placements, resets and fields of every register.
pub fn layouts(family: &Family, unit: &Unit, diagnostics: &mut Diagnostics) {
    for register in &unit.registers {
        let mut report = |message: String, fix: &str| diagnostics.report(register.place, message, fix);
        if !matches!(register.width, 8 | 16 | 32 | 64) {
            report(format!("register {} is {} bits wide", register.name, register.width), "write 8, 16, 32 or 64");
            continue;
        }
        if !unit.placements.iter().any(|placement| placement.name == register.placement) {
            report(
                format!("unit {} has no placement {:?}", unit.name, register.placement),
                "add the [[placement]] or correct the name",
            );
        }
        if register.width < 64 && register.reset >> register.width != 0 {
            report(format!("reset {:#x} is wider than the register", register.reset), "correct the reset value");
        }
        if register.count == 0 || (register.count > 1 && register.stride == 0) {
            report(
                format!("register {} has {} members at stride {}", register.name, register.count, register.stride),
                "give count and stride",
            );
        }
        coverage(register, diagnostics);
        for field in &register.fields {
            field_row(family, field, diagnostics);
        }
    }
    for field in unit.field_sets.iter().flat_map(|set| &set.fields) {
        field_row(family, field, diagnostics);
    }
}

fn field_row(family: &Family, field: &Field, diagnostics: &mut Diagnostics) {
    if let Some(values) = &field.values
        && !family.value_sets.iter().any(|set| set.name == *values)
    {
        let fix = format!("add values/{values}.toml to a block of the family or correct the name");
        diagnostics.report(field.place, format!("{} has no value set {values:?}", family.name), fix);
    }
}

fn coverage(register: &Register, diagnostics: &mut Diagnostics) {
    let all = u64::MAX >> (64 - u32::from(register.width));
    let mut covered = 0;
    for (index, field) in register.fields.iter().enumerate() {
        if field.msb >= register.width {
            let message = format!(
                "field {} ({}:{}) lies outside the register's {} bits",
                field.name, field.msb, field.lsb, register.width
            );
            diagnostics.report(field.place, message, "correct the bits or the width");
        }
        if covered & field.mask() != 0 {
            let mut others = register.fields.iter().enumerate().filter(|(at, _)| *at != index);
            let other = others.find(|(_, other)| other.mask() & field.mask() != 0);
            let other = other.map_or("another field", |(_, other)| other.name.as_str());
            let message = format!("field {} ({}:{}) overlaps {other}", field.name, field.msb, field.lsb);
            diagnostics.report(field.place, message, "correct the bits of one of them");
        }
        covered |= field.mask();
    }
    let missing = all & !covered;
    if missing != 0 {
        let message = format!("no field of {} covers the bits {missing:#x}", register.name);
        diagnostics.report(register.place, message, "add them as a field, or as rsv with access RV");
    }
}

/// A unit with counters has a control and a counter for each, wide enough, a clock, and an event select.
pub fn counting(family: &Family, unit: &Unit, diagnostics: &mut Diagnostics) {
    if !family.clocks.iter().any(|(name, _)| *name == unit.clock) {
        let fix = format!("add it to clocks in families/{}.toml or correct the name", family.name);
        diagnostics.report(unit.place, format!("{} has no clock {:?}", family.name, unit.clock), fix);
    }
    if unit.counters == 0 {
        return;
    }
    for (role, name) in [(Role::Control, "control"), (Role::Counter, "counter")] {
        let found: u32 = unit.registers.iter().filter(|r| r.role == role).map(|r| u32::from(r.count)).sum();
        if found != u32::from(unit.counters) {
            let message =
                format!("unit {} has {} counters and {found} registers of role {name}", unit.name, unit.counters);
            diagnostics.report(unit.place, message, "correct counters, or the register's count");
        }
    }
    for counter in unit.registers.iter().filter(|r| r.role == Role::Counter) {
        let wide = counter.field("event_count").map(|field| field.msb - field.lsb + 1);
        if wide != Some(unit.counter_width) {
            let message =
                format!("counters of {} are {} bits wide, field event_count is not", unit.name, unit.counter_width);
            diagnostics.report(counter.place, message, "make counter_width and the field event_count agree");
        }
    }
    for name in ["ev_sel", "thresh", "edge_det", "invert"] {
        let control = unit.registers.iter().find(|r| r.role == Role::Control && r.field(name).is_none());
        if let Some(control) = control {
            diagnostics.report(
                control.place,
                format!("the control register has no field {name}"),
                "add it, by this name",
            );
        }
    }
}
