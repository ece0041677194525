//! Registers and fields.

use std::io::{self, Write};

use pericore_catalog::{Family, FieldAccess, Location, Register, Unit};
use pericore_text::{Paint, WIDTH, wrapped};
use serde::Serialize;

use super::{Request, heading, line, paragraph};

/// A line of the contract: one register of one instance.
#[derive(Serialize)]
struct RegisterLine<'a> {
    unit: &'a str,
    instance: Option<usize>,
    register: String,
    space: &'a str,
    address: Option<String>,
    bdf: Option<String>,
    width: u8,
    reset: String,
    fields: &'a [FieldLine<'a>],
    guide_name: &'a str,
    source: &'a str,
}

#[derive(Serialize)]
struct FieldLine<'a> {
    name: &'a str,
    bits: String,
    access: &'a str,
}

/// The guides' letters for an access.
pub const fn letters(access: FieldAccess) -> &'static str {
    match access {
        FieldAccess::ReadOnly => "RO",
        FieldAccess::ReadOnlyVolatile => "RO-V",
        FieldAccess::ReadWrite => "RW",
        FieldAccess::ReadWriteVolatile => "RW-V",
        FieldAccess::WriteOnly => "WO",
        FieldAccess::ReadWriteOneClears => "RW1C",
        FieldAccess::Reserved => "RV",
        FieldAccess::Ignored => "IG",
    }
}

/// Prints a family's registers; gives the number of registers.
pub fn print(out: &mut impl Write, family: &'static Family, request: &Request<'_>) -> io::Result<usize> {
    let mut rows = 0;
    for (_, unit, _) in request.units(family) {
        let mut headed = false;
        // A register's guide name may begin as Intel's event names do: the words stay as they are.
        for register in
            unit.registers.iter().filter(|r| request.query.matches(&[r.name, r.guide_name], &[r.description]))
        {
            rows += 1;
            if request.args.json {
                json(out, unit, register)?;
                continue;
            }
            if !headed {
                heading(out, family, unit, request.paint)?;
                headed = true;
            }
            human(out, unit, register, request.paint)?;
        }
    }
    Ok(rows)
}

fn json(out: &mut impl Write, unit: &Unit, register: &Register) -> io::Result<()> {
    let placement = &unit.placements[usize::from(register.placement)];
    let fields: Vec<_> = register
        .fields
        .iter()
        .map(|field| FieldLine { name: field.name, bits: field.bits.to_string(), access: letters(field.access) })
        .collect();
    let mut row = |instance: Option<usize>, member: u8, address: Option<String>, bdf: Option<String>| {
        let row = RegisterLine {
            unit: unit.name,
            instance,
            register: register.member_name(member),
            space: placement.space.name(),
            address,
            bdf,
            width: register.width,
            reset: format!("{:#x}", register.reset),
            fields: &fields,
            guide_name: register.guide_name,
            source: register.source,
        };
        line(out, &row)
    };
    for (instance, location) in placement.instances.iter().enumerate() {
        for member in 0..register.count {
            let (address, bdf) = place(*location, register.member_offset(member));
            row(Some(instance), member, Some(address), bdf)?;
        }
    }
    if placement.instances.is_empty() {
        // Found through discovery only: no address to print.
        for member in 0..register.count {
            row(None, member, None, None)?;
        }
    }
    Ok(())
}

/// Address text, and for PCI the function on the socket's uncore bus.
fn place(location: Location, offset: u32) -> (String, Option<String>) {
    match location {
        Location::Msr { base } => (format!("{:#x}", base + offset), None),
        Location::Pci { device, function } => (format!("{offset:#x}"), Some(format!("{device:02x}.{function}"))),
        Location::Mmio { bar, index, offset: base } => {
            (format!("{:#x}", base + u64::from(offset)), Some(format!("{bar}{index}")))
        }
    }
}

fn human(out: &mut impl Write, unit: &Unit, register: &Register, paint: Paint) -> io::Result<()> {
    let placement = &unit.placements[usize::from(register.placement)];
    let first = placement.instances.first().map_or_else(
        || "found by discovery".to_owned(),
        |location| {
            let (address, bdf) = place(*location, register.offset);
            bdf.map_or_else(
                || format!("{} {address}", placement.space),
                |bdf| format!("{} {bdf}+{address}", placement.space),
            )
        },
    );
    let last = register.count.saturating_sub(1);
    let name = if last > 0 { format!("{}0-{last}", register.name) } else { register.name.to_owned() };
    let width = format!("{} bits", register.width);
    writeln!(out, "  {}{:2$} {first:<26} {width}", paint.strong(&name), "", 18_usize.saturating_sub(name.len()))?;
    paragraph(out, 4, &format!("{}. {}", register.guide_name, register.description))?;
    for field in register.fields.iter().filter(|field| !matches!(field.name, "rsv" | "ig")) {
        let (bits, access) = (field.bits.to_string(), letters(field.access));
        let front = format!("    {bits:>7}  {:<14} {access:<5} ", field.name);
        let indent = front.chars().count();
        for (index, text) in wrapped(field.description, WIDTH.saturating_sub(indent).max(20)).iter().enumerate() {
            if index == 0 { writeln!(out, "{front}{text}")? } else { writeln!(out, "{:indent$}{text}", "")? }
        }
    }
    Ok(())
}
