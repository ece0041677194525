//! Whether unit instances answer.

use pericore_catalog::{Location, Register, Role, Unit};
use pericore_registers::{AccessError, Address, Bdf, RegisterSpace, Width};

use super::{DiscoverError, Presence, Socket};

/// Asks each instance of a unit once: a PCI function for its identity, an MSR unit for its first control register.
pub(super) fn probe(
    space: &mut impl RegisterSpace,
    socket: &Socket,
    unit: &'static Unit,
) -> Result<Vec<Presence>, DiscoverError> {
    let Some(main) = unit.placements.first() else { return Ok(Vec::new()) };
    let mut found = Vec::with_capacity(main.instances.len());
    for (number, location) in (0..).zip(main.instances) {
        let presence = match *location {
            Location::Pci { device, function } => {
                let device_id = main.device_ids.get(usize::from(number)).or(main.device_ids.first()).copied();
                match socket.bus_of(Some(main)) {
                    Some(bus) => pci(space, Bdf::new(bus, device, function), device_id),
                    None => Ok(Presence::Absent { why: "the socket's uncore bus is not known".to_owned() }),
                }
            }
            Location::Msr { .. } => msr(space, socket, unit, number),
            Location::Mmio { .. } => {
                Ok(Presence::Absent { why: "memory-mapped units are not looked for yet".to_owned() })
            }
        };
        found.push(presence?);
    }
    Ok(found)
}

fn pci(space: &mut impl RegisterSpace, bdf: Bdf, device_id: Option<u16>) -> Result<Presence, DiscoverError> {
    let identity = match space.read(Address::Pci { bdf, offset: 0 }, Width::B4) {
        Ok(identity) => identity,
        Err(error) => return refused(error),
    };
    if identity == Width::B4.mask() {
        return Ok(Presence::Absent { why: format!("no PCI function at {bdf}") });
    }
    match device_id {
        Some(expected) if identity >> 16 != u64::from(expected) => {
            let why =
                format!("the PCI function at {bdf} has device ID {:04x} instead of {expected:04x}", identity >> 16);
            Ok(Presence::Absent { why })
        }
        _ => Ok(Presence::Present),
    }
}

fn msr(
    space: &mut impl RegisterSpace,
    socket: &Socket,
    unit: &'static Unit,
    number: u16,
) -> Result<Presence, DiscoverError> {
    let Some(register) = witness(unit) else {
        return Ok(Presence::Absent { why: "the catalogue gives the unit no control register".to_owned() });
    };
    let Ok(place) = socket.locate(unit, number, register, 0) else {
        return Ok(Presence::Absent { why: format!("the catalogue gives {} no place", register.name) });
    };
    match space.read(place.address, place.width) {
        Ok(_) => Ok(Presence::Present),
        Err(error) => refused(error),
    }
}

/// A register of the main placement that every instance must have.
fn witness(unit: &'static Unit) -> Option<&'static Register> {
    let roles = [Role::UnitControl, Role::Control, Role::FixedControl, Role::GlobalControl];
    roles.into_iter().find_map(|role| unit.with_role(role).find(|register| register.placement == 0))
}

/// Missing rights concern all accesses and are the user's to solve; anything else means that this instance is not there.
fn refused(error: AccessError) -> Result<Presence, DiscoverError> {
    match error {
        AccessError::Permission { .. } => Err(error.into()),
        other => Ok(Presence::Absent { why: other.to_string() }),
    }
}
