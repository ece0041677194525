//! Sockets whose stacks have PCI buses of their own, which a register of each socket holds: on Skylake-SP MSR 0x300
//! has the buses of six stacks (Linux, `SKX_MSR_CPU_BUS_NUMBER`).

use pericore_catalog::{Family, Identity, Location};
use pericore_registers::{AccessError, Bdf, RegisterSpace};

use super::error::DiscoverError;
use super::function::{VENDOR_INTEL, identity};
use super::sockets::{NodeRegisters, by_package};
use super::topology::{Cpu, Socket};

/// One socket for each package that has a CPU, with the buses of its stacks.
pub(super) fn by_stack_buses(
    space: &mut impl RegisterSpace,
    family: &'static Family,
    cpus: &[Cpu],
) -> Result<Vec<Socket>, DiscoverError> {
    let mut sockets: Vec<Socket> = Vec::new();
    for package in by_package(cpus)? {
        let buses = buses(space, family, &package)?;
        let socket = package.with_stacks(buses);
        let segment = segment(space, family, &socket)?;
        let socket = socket.on_segment(segment);
        let same = |other: &Socket, bus: &u8| other.segment == segment && other.stacks.contains(&Some(*bus));
        let twice = |other: &Socket| socket.stacks.iter().copied().flatten().find(|bus| same(other, bus));
        if let Some((other, bus)) = sockets.iter().find_map(|other| Some((other, twice(other)?))) {
            let what = format!("its bus {bus:02x} is one of socket {}, too", other.number);
            return Err(unusable(family, &socket, what));
        }
        sockets.push(socket);
    }
    Ok(sockets)
}

fn unusable(family: &'static Family, socket: &Socket, what: String) -> DiscoverError {
    let register = family.identity(Identity::StackBuses).map_or("no register", |(_, register)| register.name);
    DiscoverError::StackBuses { socket: socket.number, cpu: socket.cpu, register, what }
}

/// The buses of a socket's stacks, by number. Bus 0 is stack 0's: any other stack of which it is read is not there
/// (Linux, `skx_iio_mapping_visible`).
fn buses(
    space: &mut impl RegisterSpace,
    family: &'static Family,
    socket: &Socket,
) -> Result<Vec<Option<u8>>, DiscoverError> {
    let fault = |what: String| unusable(family, socket, what);
    let Some((unit, register)) = family.identity(Identity::StackBuses) else {
        return Err(fault("the catalogue has none for it".to_owned()));
    };
    let place = socket.locate(unit, 0, register, 0).map_err(|error| fault(error.to_string()))?;
    let value = match space.read(place.address, place.width) {
        Ok(value) => value,
        Err(denied @ AccessError::Permission { .. }) => return Err(denied.into()),
        Err(error) => return Err(fault(error.to_string())),
    };
    if register.field("valid").is_none_or(|valid| valid.bits.get(value) == 0) {
        return Err(fault("firmware has not set it (its field valid is 0)".to_owned()));
    }
    if value == place.width.mask() {
        return Err(fault("it reads as all ones".to_owned()));
    }
    let buses = register.stack_buses().map(|field| field.bits.get(value) as u8);
    Ok(buses.enumerate().map(|(stack, bus)| Some(bus).filter(|&bus| bus != 0 || stack == 0)).collect())
}

/// The PCI segment of a socket's buses: the register does not have it. Where several have functions of the family on
/// these buses, node registers tell whose they are.
fn segment(space: &mut impl RegisterSpace, family: &'static Family, socket: &Socket) -> Result<u16, DiscoverError> {
    let segments = space.pci_segments();
    if let [only] = segments[..] {
        return Ok(only);
    }
    let mut found = Vec::new();
    for &segment in &segments {
        if has_functions(space, family, socket, segment)? {
            found.push(segment);
        }
    }
    if found.len() > 1
        && let Some(node) = NodeRegisters::of(family)
        && let Some(bus) = socket.bus_at(node.bus)
    {
        let mut own = Vec::new();
        for &segment in &found {
            if node.socket_of(space, segment, bus)? == Some(socket.number) {
                own.push(segment);
            }
        }
        found = own;
    }
    match found[..] {
        // Without any function, units are absent, and say so.
        [] => Ok(segments.first().copied().unwrap_or(0)),
        [only] => Ok(only),
        _ => Err(DiscoverError::Segments { socket: socket.number, segments: found }),
    }
}

/// True if a unit of the family has a function on a segment where the socket's buses would have it.
fn has_functions(
    space: &mut impl RegisterSpace,
    family: &'static Family,
    socket: &Socket,
    segment: u16,
) -> Result<bool, AccessError> {
    for placement in family.units.iter().flat_map(|unit| unit.placements) {
        let Some(bus) = socket.bus_at(placement.bus) else { continue };
        for (number, location) in placement.instances.iter().enumerate() {
            let ids = placement.device_ids;
            let (Location::Pci { device, function }, Some(id)) = (*location, ids.get(number).or(ids.first())) else {
                continue;
            };
            let bdf = Bdf { segment, bus, device, function };
            if identity(space, bdf)? == Some(u64::from(*id) << 16 | VENDOR_INTEL) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
