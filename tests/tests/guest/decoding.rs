//! What the driver wrote, taken apart by the catalogue: every address must be a known register, every bit a known field, every event
//! a row. What is not is told in one line for each kind of register, for the tests to compare with the oddities that
//! docs/interop.md explains.

use std::collections::BTreeSet;
use std::sync::Mutex;

use pericore_catalog::{Role, decode};
use pericore_doors::guest::{Access, Hardware};
use pericore_registers::Operation;

/// Writes with something unknown in them.
pub fn oddities(hardware: &Mutex<Hardware>, accesses: &[Access]) -> BTreeSet<String> {
    let hardware = hardware.lock().unwrap();
    accesses.iter().flat_map(|access| oddities_of(&hardware, access)).collect()
}

fn oddities_of(hardware: &Hardware, access: &Access) -> Vec<String> {
    let Operation::Write { address, width, value } = access.operation else { return Vec::new() };
    let Some((_, target, byte)) = hardware.chassis().locate(address) else {
        return vec![format!("no register: {}", access.entry())];
    };
    let family = hardware.shape().family;
    let unit = family.units[usize::from(target.unit)];
    let register = &unit.registers[usize::from(target.register.register)];
    let name = format!("{} {}", unit.name, register.name);
    let (value, covered) = (value << (8 * byte), width.mask() << (8 * byte));
    // What does not fit the register is zero, or an oddity too.
    let decoded = decode::register(family, unit, register, target.register.member, value & decode::largest(register));
    let decoded = decoded.unwrap_or_else(|error| panic!("{name}: {error}"));
    let fields = register.fields.iter().fold(0, |mask, field| mask | field.bits.mask());
    let mut found = Vec::new();
    for (what, bits) in [
        ("bits without a field", value & !fields),
        ("reserved bits", decoded.reserved_bits() & covered),
        ("ignored bits", decoded.ignored_bits()),
    ] {
        if bits != 0 {
            found.push(format!("{name}: {what} {bits:#x}"));
        }
    }
    if register.role == Role::Control && decoded.field("ev_sel").is_some_and(|select| select != 0) {
        match decoded.counts(|_| None) {
            None => found.push(format!("{name}: no event {value:#x}")),
            Some(counted) if counted.unnamed != 0 => {
                found.push(format!("{name}: {} has no {:#x}", counted.event.name, counted.unnamed));
            }
            Some(_) => {}
        }
    }
    found
}

/// All writes that reached the machine.
pub fn count_writes(accesses: &[Access]) -> usize {
    accesses.iter().filter(|access| matches!(access.operation, Operation::Write { .. })).count()
}
