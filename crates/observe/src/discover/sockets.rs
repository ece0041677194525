//! Which sockets there are, and which uncore bus is whose.

use pericore_catalog::{Family, FieldAccess, Identity, Location, Register, SocketBus, Unit};
use pericore_registers::{AccessError, Address, Bdf, RegisterSpace, Width};

use super::error::DiscoverError;
use super::function::{VENDOR_INTEL, identity};
use super::topology::{Cpu, Socket};

/// One socket for each package that has a CPU; the first of them is the one from which its MSRs are reached.
pub(super) fn by_package(cpus: &[Cpu]) -> Result<Vec<Socket>, DiscoverError> {
    let mut sockets: Vec<Socket> = Vec::new();
    for cpu in cpus {
        if !sockets.iter().any(|socket| socket.number == cpu.package) {
            sockets.push(Socket::new(cpu.package, cpu.number, None));
        }
    }
    sockets.sort_by_key(|socket| socket.number);
    if sockets.is_empty() { Err(DiscoverError::NoCpus) } else { Ok(sockets) }
}

/// One socket for each bus that has the function with the node registers; the one bus without is that of the one
/// socket that is left.
pub(super) fn by_node_registers(
    space: &mut impl RegisterSpace,
    family: &'static Family,
    cpus: &[Cpu],
) -> Result<Vec<Socket>, DiscoverError> {
    let packages = by_package(cpus)?;
    let Some(node) = NodeRegisters::of(family) else {
        let unit = family.units.first().map_or("the uncore", |unit| unit.name);
        return Err(DiscoverError::NoNodeRegisters { family: family.name, unit });
    };
    let mut sockets: Vec<Socket> = Vec::new();
    let segments = space.pci_segments();
    for (segment, bus) in segments.iter().flat_map(|&segment| (0..=u8::MAX).map(move |bus| (segment, bus))) {
        let Some(number) = node.socket_of(space, segment, bus)? else { continue };
        if let Some(other) = sockets.iter().find(|socket| socket.number == number) {
            let first = other.bus.unwrap_or(bus);
            return Err(DiscoverError::TwoBuses { socket: number, first, second: bus });
        }
        let package = packages.iter().find(|package| package.number == number);
        let cpu = package.ok_or(DiscoverError::NoCpuInSocket { bus, socket: number })?.cpu;
        sockets.push(Socket::new(number, cpu, Some(bus)).on_segment(segment));
    }
    let missing: Vec<Socket> =
        packages.into_iter().filter(|package| sockets.iter().all(|socket| socket.number != package.number)).collect();
    match &missing[..] {
        [] => {}
        // Of one socket and one bus that are left, there is no doubt.
        [package] if let [(segment, bus)] = buses_without_node_registers(space, family, &sockets)?[..] => {
            sockets.push(Socket::new(package.number, package.cpu, Some(bus)).on_segment(segment));
        }
        [package, ..] => {
            let NodeRegisters { device, function, device_id, .. } = node;
            let (socket, cpu) = (package.number, package.cpu);
            return Err(if sockets.is_empty() {
                DiscoverError::NoUncoreBus { family: family.name, segments, device, function, device_id }
            } else {
                DiscoverError::NoUncoreOf { socket, cpu, segments, device, function, device_id }
            });
        }
    }
    sockets.sort_by_key(|socket| socket.number);
    Ok(sockets)
}

/// The buses that have PMON functions of the family and belong to none of these sockets: firmware hides the function
/// with the node registers there.
fn buses_without_node_registers(
    space: &mut impl RegisterSpace,
    family: &'static Family,
    sockets: &[Socket],
) -> Result<Vec<(u16, u8)>, AccessError> {
    let main = family.units.iter().filter_map(|unit| unit.placements.first());
    let main = main.filter(|placement| placement.bus == SocketBus::Uncore(0));
    let functions: Vec<(u8, u8, u16)> = main
        .flat_map(|placement| {
            let ids = placement.device_ids;
            placement.instances.iter().enumerate().filter_map(move |(number, location)| {
                let Location::Pci { device, function } = *location else { return None };
                Some((device, function, *ids.get(number).or(ids.first())?))
            })
        })
        .collect();
    let mut found = Vec::new();
    for (segment, bus) in
        space.pci_segments().into_iter().flat_map(|segment| (0..=u8::MAX).map(move |bus| (segment, bus)))
    {
        if sockets.iter().any(|socket| (socket.segment, socket.bus) == (segment, Some(bus))) {
            continue;
        }
        for &(device, function, device_id) in &functions {
            let bdf = Bdf { segment, ..Bdf::new(bus, device, function) };
            if identity(space, bdf)? == Some(u64::from(device_id) << 16 | VENDOR_INTEL) {
                found.push((segment, bus));
                break;
            }
        }
    }
    Ok(found)
}

/// The registers of a function that tell which socket its bus belongs to.
pub(super) struct NodeRegisters {
    pub(super) bus: SocketBus,
    device: u8,
    function: u8,
    device_id: u16,
    node_id: &'static Register,
    map: &'static Register,
}

impl NodeRegisters {
    pub(super) fn of(family: &'static Family) -> Option<Self> {
        family.units.iter().find_map(|unit| Self::of_unit(unit))
    }

    fn of_unit(unit: &'static Unit) -> Option<Self> {
        let (node_id, map) = (unit.identity(Identity::NodeId)?, unit.identity(Identity::NodeMap)?);
        let placement = unit.placements.get(usize::from(node_id.placement))?;
        let Location::Pci { device, function } = *placement.instances.first()? else { return None };
        let device_id = *placement.device_ids.first()?;
        Some(Self { bus: placement.bus, device, function, device_id, node_id, map })
    }

    /// The socket of a bus, or nothing if the bus does not have the function.
    pub(super) fn socket_of(
        &self,
        space: &mut impl RegisterSpace,
        segment: u16,
        bus: u8,
    ) -> Result<Option<u16>, DiscoverError> {
        let bdf = Bdf { segment, ..Bdf::new(bus, self.device, self.function) };
        if identity(space, bdf)? != Some(u64::from(self.device_id) << 16 | VENDOR_INTEL) {
            return Ok(None);
        }
        let node_id = self.read(space, bdf, self.node_id)?;
        let map = self.read(space, bdf, self.map)?;
        let fault = |what: String| DiscoverError::NodeId { bdf, what };
        let Some(node_bits) = self.node_id.lowest_field().map(|field| field.bits) else {
            return Err(fault(format!("the catalogue describes no node ID in {}", self.node_id.name)));
        };
        let node = node_bits.get(node_id);
        // The map's entries are node IDs, packed from bit 0; the socket is the number of the entry with this node.
        let mapped = self
            .map
            .fields
            .iter()
            .filter(|field| field.access != FieldAccess::Reserved)
            .map(|field| field.bits.msb() + 1);
        let entries = u16::from(mapped.max().unwrap_or(0) / node_bits.width);
        let entry = (0..entries).find(|entry| (map >> (entry * u16::from(node_bits.width))) & node_bits.max() == node);
        match entry {
            Some(entry) => Ok(Some(entry)),
            None => Err(fault(format!("node ID {node} is not in the map of node IDs ({map:#x})"))),
        }
    }

    fn read(&self, space: &mut impl RegisterSpace, bdf: Bdf, register: &Register) -> Result<u64, DiscoverError> {
        let width = Width::for_bits(register.width);
        let offset = u16::try_from(register.offset).unwrap_or(u16::MAX);
        let value = space.read(Address::Pci { bdf, offset }, width)?;
        if value == width.mask() {
            return Err(DiscoverError::NodeId { bdf, what: format!("{} reads as all ones", register.name) });
        }
        Ok(value)
    }
}
