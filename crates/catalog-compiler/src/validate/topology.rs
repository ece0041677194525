//! What software finds sockets, memory controllers and slices by.

use std::collections::HashMap;

use pericore_catalog_schema::{Identity, OnePer, Role, SocketBus};

use crate::Diagnostics;
use crate::schema::{Family, Locations, Placement, Register, Unit};

/// Each identity has one register in a family, with that role, and a field that holds it.
pub fn identities(family: &Family, diagnostics: &mut Diagnostics) {
    let mut first: HashMap<Identity, &Register> = HashMap::new();
    for register in family.units.iter().flat_map(|unit| &unit.registers) {
        let Some(identity) = register.identity else { continue };
        if register.role != Role::Identity {
            let message = format!("register {} has an identity and another role", register.name);
            diagnostics.report(register.place, message, "write role = \"identity\", or leave out the identity");
        }
        if register.fields.iter().all(|field| field.is_reserved()) {
            let message = format!("register {} has no field for its identity", register.name);
            diagnostics.report(register.place, message, "describe the field that holds it; the lowest is taken");
        }
        if let Some(earlier) = first.insert(identity, register) {
            let message = format!("{} and {} have the same identity in {}", earlier.name, register.name, family.name);
            let fix = format!("correct one of them; the other stands at {}", diagnostics.show(earlier.place));
            diagnostics.report(register.place, message, fix);
        }
    }
}

/// Node number and node map stand in one PCI function, whose device ID is known: a bus is found by it.
pub fn node_registers(family: &Family, diagnostics: &mut Diagnostics) {
    let find = |wanted| {
        let of_unit = |unit| identity(unit, wanted).map(|register| (unit, register));
        family.units.iter().find_map(of_unit)
    };
    let (unit, register) = match (find(Identity::NodeId), find(Identity::NodeMap)) {
        (None, None) => return,
        (Some((unit, node)), Some((_, map))) => {
            if node.placement != map.placement || identity(unit, Identity::NodeMap).is_none() {
                let message = format!("node registers {} and {} stand apart", node.name, map.name);
                diagnostics.report(map.place, message, "give both the same unit and placement");
            }
            (unit, node)
        }
        (Some(alone), None) | (None, Some(alone)) => {
            let message = format!("register {} needs the other of node_id and node_map", alone.1.name);
            diagnostics.report(alone.1.place, message, "add a register with that identity");
            alone
        }
    };
    let placement = unit.placements.iter().find(|placement| placement.name == register.placement);
    let in_pci = placement.is_some_and(|placement| matches!(placement.locations, Locations::Pci(_)));
    if !in_pci || placement.is_none_or(|placement| placement.device_ids.is_empty()) {
        let message = format!("no bus of {} can be found by register {}", family.name, register.name);
        diagnostics.report(unit.listed, message, "place it in pcicfg, with device_ids");
    }
}

/// One unit counts the slices, and one the links.
pub fn one_per(family: &Family, diagnostics: &mut Diagnostics) {
    for (one_per, word) in [(OnePer::Slice, "slice"), (OnePer::Link, "link")] {
        let mut units = family.units.iter().filter(|unit| unit.one_per == Some(one_per));
        let Some(first) = units.next() else { continue };
        for other in units {
            let message =
                format!("units {} and {} of {} have an instance for each {word}", first.name, other.name, family.name);
            let fix = format!(
                "leave out one_per in one of their blocks; the other stands at {}",
                diagnostics.show(first.place)
            );
            diagnostics.report(other.place, message, fix);
        }
    }
}

/// Where a register has the buses of a socket's stacks, all PCI functions are on one of these, and else none is.
pub fn stacks(family: &Family, diagnostics: &mut Diagnostics) {
    let of_unit = |unit| identity(unit, Identity::StackBuses).map(|register| (unit, register));
    let listed = family.units.iter().find_map(of_unit);
    let stacks = listed.map(|(unit, register)| stack_buses(unit, register, diagnostics));
    let placements = family.units.iter().flat_map(|unit| unit.placements.iter().map(move |row| (unit, row)));
    for (unit, placement) in placements {
        let in_pci = matches!(placement.locations, Locations::Pci(_));
        let Some((message, fix)) = misplaced(placement.bus, in_pci, stacks) else { continue };
        let message = format!("placement {} of unit {} in {}: {message}", placement.name, unit.name, family.name);
        diagnostics.report(placement.place, message, fix);
    }
}

/// What is wrong with the bus of a placement, and how it is mended.
fn misplaced(bus: SocketBus, in_pci: bool, stacks: Option<u8>) -> Option<(String, &'static str)> {
    match (bus, stacks) {
        (SocketBus::Stack(_), _) if !in_pci => Some(("only PCI functions are on a bus".to_owned(), "remove stack")),
        (SocketBus::Stack(_), None) => {
            let message = "no register of the family has the buses of its stacks";
            Some((message.to_owned(), "add a register with identity = \"stack_buses\", or remove stack"))
        }
        (SocketBus::Stack(stack), Some(stacks)) if stack >= stacks => {
            Some((format!("there is no stack {stack}"), "write one that the register with identity stack_buses has"))
        }
        (SocketBus::Uncore(_), Some(_)) if in_pci => {
            Some(("each of the family's stacks has a bus of its own".to_owned(), "write stack = N in place of bus"))
        }
        _ => None,
    }
}

/// How many stacks a register has the buses of: a field of eight bits for each, and one that says whether they are set.
fn stack_buses(unit: &Unit, register: &Register, diagnostics: &mut Diagnostics) -> u8 {
    let placement = unit.placements.iter().find(|placement| placement.name == register.placement);
    if !placement.is_some_and(|Placement { locations, .. }| matches!(locations, Locations::Msr(_))) {
        let message = format!("register {} has the buses of stacks, and is no MSR", register.name);
        diagnostics.report(register.place, message, "place it in msr: a bus must be known before PCI is read");
    }
    let is = |name: &str, width| {
        let fields = register.fields.iter();
        fields.filter(|field| field.name == name).any(|field| field.msb - field.lsb + 1 == width)
    };
    let stacks = (0..u8::MAX).take_while(|stack| is(&format!("bus{stack}"), 8)).count() as u8;
    if stacks == 0 || !is("valid", 1) {
        let message = format!("register {} has the buses of stacks, and not the fields for them", register.name);
        diagnostics.report(register.place, message, "describe bus0, bus1, … of eight bits and valid of one");
    }
    stacks
}

fn identity(unit: &Unit, wanted: Identity) -> Option<&Register> {
    unit.registers.iter().find(|register| register.identity == Some(wanted))
}
