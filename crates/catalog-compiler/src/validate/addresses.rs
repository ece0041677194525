//! No two registers of a socket share an address.

use std::collections::BTreeMap;

use pericore_catalog_schema::SocketBus;

use crate::Diagnostics;
use crate::schema::{Family, Locations, Placement, Register};

/// Checks all registers of all instances of a family against each other.
pub fn disjoint(family: &Family, diagnostics: &mut Diagnostics) {
    // Space and location, then first address -> (last address, owner, place).
    let mut taken: BTreeMap<(String, u64), (u64, String, crate::Place)> = BTreeMap::new();
    for unit in &family.units {
        for register in &unit.registers {
            let Some(placement) = unit.placements.iter().find(|p| p.name == register.placement) else { continue };
            for (instance, (space, base)) in bases(placement).into_iter().enumerate() {
                for member in 0..register.count {
                    let first = base + u64::from(register.offset) + u64::from(register.stride) * u64::from(member);
                    let last = first + cells(placement, register) - 1;
                    let owner = format!("{}{instance} {}{member}", unit.name, register.name);
                    let before = taken.range(..=(space.clone(), last)).next_back();
                    if let Some(((_, _), (_, other, place))) = before
                        .filter(|((other_space, _), (other_last, _, _))| *other_space == space && *other_last >= first)
                    {
                        let message = format!("{owner} shares {space} {first:#x} with {other}");
                        let fix = format!("correct the offset here or at {}", diagnostics.show(*place));
                        diagnostics.report(register.place, message, fix);
                    }
                    taken.insert((space.clone(), first), (last, owner, register.place));
                }
            }
        }
    }
}

fn cells(placement: &Placement, register: &Register) -> u64 {
    match placement.locations {
        Locations::Msr(_) => 1,
        Locations::Pci(_) | Locations::Mmio(_) => u64::from(register.width / 8).max(1),
    }
}

fn bases(placement: &Placement) -> Vec<(String, u64)> {
    match &placement.locations {
        Locations::Msr(bases) => bases.iter().map(|&base| ("msr".to_owned(), u64::from(base))).collect(),
        Locations::Pci(functions) => {
            let bus = match placement.bus {
                SocketBus::Uncore(0) => String::new(),
                SocketBus::Uncore(after) => format!("bus +{after} "),
                SocketBus::Stack(stack) => format!("stack {stack} "),
            };
            functions.iter().map(|(device, function)| (format!("pci {bus}{device:02x}.{function}"), 0)).collect()
        }
        Locations::Mmio(bars) => bars.iter().map(|(bar, index, offset)| (format!("{bar}{index}"), *offset)).collect(),
    }
}
