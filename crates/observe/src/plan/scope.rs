//! The controls that a gate concerns, whoever counts with them.

use pericore_catalog::{Family, Register, Role, Unit};

use crate::discover::{Place, Socket};

/// A counter's control in a unit instance.
#[derive(Debug, Clone, Copy)]
pub struct Control {
    /// Unit.
    pub unit: &'static Unit,
    /// Instance within the socket.
    pub number: u16,
    /// The register array.
    pub register: &'static Register,
    /// Member of the array.
    pub member: u8,
    /// Where it is.
    pub place: Place,
}

/// The controls of those instances of a socket for which `concerns` holds, as far as they are present and have an address.
pub fn controls_of(family: &Family, socket: &Socket, concerns: impl Fn(&Unit, u16) -> bool) -> Vec<Control> {
    let mut found = Vec::new();
    for &unit in family.units {
        for number in socket.present(unit).into_iter().filter(|&number| concerns(unit, number)) {
            for register in unit.with_role(Role::Control).chain(unit.with_role(Role::FixedControl)) {
                for member in 0..register.count {
                    let place = socket.locate(unit, number, register, member).ok();
                    found.extend(place.map(|place| Control { unit, number, register, member, place }));
                }
            }
        }
    }
    found
}
