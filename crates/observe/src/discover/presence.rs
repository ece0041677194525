//! Whether unit instances answer.

use pericore_catalog::{Register, Role, Unit};
use pericore_registers::{AccessError, Address, Bdf, RegisterSpace, Width};

use super::error::DiscoverError;
use super::table::RecordFault;
use super::topology::{LocateError, Place, Presence, Socket};

/// Asks each instance of a unit: a PCI function for its identity, and every instance for its first control register.
pub(super) fn probe(
    space: &mut impl RegisterSpace,
    socket: &mut Socket,
    unit: &'static Unit,
) -> Result<Vec<Presence>, DiscoverError> {
    let Some(main) = unit.placements.first() else { return Ok(Vec::new()) };
    let Some(register) = witness(unit) else {
        let why = "the catalogue gives the unit no control register";
        return Ok(vec![Presence::Absent { why: why.to_owned() }; main.instances.len()]);
    };
    let beyond = socket.beyond_the_documents(unit);
    let documented = main.instances.len() as u16;
    let mut found = Vec::with_capacity(main.instances.len() + beyond.len());
    for number in (0..documented).chain(beyond) {
        while found.len() < usize::from(number) {
            let why = format!("the documents have {documented}, and the discovery table has no record of this one");
            found.push(Presence::Absent { why });
        }
        found.push(ask(space, socket, unit, number, register)?);
    }
    Ok(found)
}

/// Asks where the discovery record has the instance, if there is one; a record that leads nowhere hides no instance
/// that is where the documents have it.
fn ask(
    space: &mut impl RegisterSpace,
    socket: &mut Socket,
    unit: &'static Unit,
    number: u16,
    register: &'static Register,
) -> Result<Presence, DiscoverError> {
    if let Some(why) = socket.slices().and_then(|slices| slices.excludes(unit, number)) {
        return Ok(Presence::Absent { why });
    }
    let listed = socket.locate(unit, number, register, 0);
    let presence = look_at(space, unit, number, register, &listed)?;
    let Presence::Absent { why } = &presence else { return Ok(presence) };
    let Some(block) = socket.take_block(unit, number) else { return Ok(presence) };
    let documented = socket.locate(unit, number, register, 0);
    if documented.is_err()
        || documented == listed
        || look_at(space, unit, number, register, &documented)? != Presence::Present
    {
        socket.put_block(block);
        return Ok(presence);
    }
    let what = format!("{} {number} is not there ({why}), but at its documented place", unit.name);
    socket.note_fault(RecordFault { record: block.record, what, beyond: None });
    Ok(Presence::Present)
}

/// Whether an instance answers at a place.
fn look_at(
    space: &mut impl RegisterSpace,
    unit: &'static Unit,
    number: u16,
    register: &'static Register,
    place: &Result<Place, LocateError>,
) -> Result<Presence, DiscoverError> {
    let place = match place {
        Ok(place) => *place,
        Err(error) => return Ok(Presence::Absent { why: error.to_string() }),
    };
    if let Address::Pci { bdf, .. } = place.address {
        let ids = unit.placements.first().map_or(&[][..], |placement| placement.device_ids);
        let device_id = ids.get(usize::from(number)).or(ids.first()).copied();
        let presence = pci(space, bdf, device_id)?;
        if presence != Presence::Present {
            return Ok(presence);
        }
    }
    match space.read(place.address, place.width) {
        // Memory has no identity to ask for. Elsewhere all ones mean a block that is there and broken: a session names it, so that
        // its count does not silently miss from a sum.
        Ok(value) if value == place.width.mask() && matches!(place.address, Address::Mmio { .. }) => {
            Ok(Presence::Absent { why: format!("{} reads as all ones at {}", register.name, place.address) })
        }
        Ok(_) => Ok(Presence::Present),
        Err(error) => refused(error),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    use crate::testing::{Fake, e5_2600};

    /// Guide, Table 2-66: channel 1 is function 16.1 with device ID 3cb1. Another device there is not it; a function
    /// that refuses its control is not there either. A missing right is the user's to solve, and no absence.
    #[test]
    fn an_instance_is_there_if_its_function_and_its_control_can_be_read() {
        let imc = e5_2600().unit("imc").unwrap();
        let channel = |function, offset| Address::Pci { bdf: Bdf::new(0xff, 16, function), offset };
        let look = |change: &dyn Fn(&mut Fake)| {
            let mut space = Fake::two_sockets();
            change(&mut space);
            let mut socket = Socket::new(0, 0, Some(0xff));
            let found = probe(&mut space, &mut socket, imc).unwrap();
            found
                .into_iter()
                .map(|presence| match presence {
                    Presence::Present => String::new(),
                    Presence::Absent { why } => why,
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(look(&|_| {}), [""; 4]);
        let other = look(&|space| space.set_pci((0xff, 16, 1), 0, 0x3cb4_8086));
        assert_eq!(other[1], "the PCI function at 0000:ff:10.1 has device ID 3cb4 instead of 3cb1");
        assert_eq!([&other[0], &other[2], &other[3]], [""; 3]);
        let refused = look(&|space| space.broken.push(channel(5, 0xf4)));
        assert!(refused[3].contains("protection") && refused[..3].iter().all(String::is_empty), "{refused:?}");
        // All ones in configuration space are a channel that is there and broken: a session names it.
        assert_eq!(look(&|space| space.set_pci((0xff, 16, 0), 0xf4, 0xffff_ffff)), [""; 4]);
        let denied = AccessError::Permission { address: channel(0, 0), remedy: "ask" };
        assert_eq!(super::refused(denied.clone()), Err(DiscoverError::Access(denied)));
    }
}
