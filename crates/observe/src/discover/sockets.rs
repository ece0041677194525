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

#[cfg(test)]
mod tests {
    use super::*;

    use crate::discover::{discover, owns};
    use crate::testing::{CPUS, Fake, e5_2600};

    /// Guide, 2.1: the node ID is the lowest three bits of D11:F0 0x40, and the map at 0x54 has the node of each of
    /// eight sockets in three bits. A bus without the function belongs to none.
    #[test]
    fn a_bus_belongs_to_the_socket_that_the_map_has_for_its_node() {
        let node = NodeRegisters::of(e5_2600()).unwrap();
        for (id, map, socket) in [
            (0, 0o10, Some(0)),
            (1, 0o10, Some(1)),
            (5, 0o0123_4567 & !0o7000_0000, Some(2)),
            (5, 0o5012_3467, Some(7)),
            (0xffff_fff3, 0o3210, Some(3)),
            (0, 0o1111_1111, None),
        ] {
            let mut space = Fake::two_sockets();
            space.set_pci((0x7f, 11, 0), 0x40, id);
            space.set_pci((0x7f, 11, 0), 0x54, map);
            let found = node.socket_of(&mut space, 0, 0x7f);
            match socket {
                Some(socket) => assert_eq!(found, Ok(Some(socket)), "{id} in {map:o}"),
                None => assert!(found.unwrap_err().to_string().contains("node ID 0 is not in the map of node IDs")),
            }
            assert_eq!(node.socket_of(&mut space, 0, 0x7e), Ok(None));
            assert_eq!(node.socket_of(&mut space, 1, 0x7f).is_ok(), socket.is_some(), "the fake has one segment");
        }
    }

    /// What firmware got wrong is told with the bus and the socket.
    #[test]
    fn buses_that_contradict_the_packages_are_refused() {
        let refused = |node: u32, map: u32, cpus: &[Cpu]| {
            let mut space = Fake::two_sockets();
            space.set_pci((0x7f, 11, 0), 0x40, node);
            space.set_pci((0x7f, 11, 0), 0x54, map);
            discover(&mut space, e5_2600(), cpus, |_| true).unwrap_err().to_string()
        };
        assert_eq!(refused(0, 0o10, &CPUS), "buses 7f and ff both claim socket 0; report the firmware fault");
        let absent = refused(2, 0o210, &CPUS);
        assert!(absent.contains("bus 7f belongs to socket 2, but no online CPU is in that socket"), "{absent}");
        let none = refused(1, 0o10, &[]);
        assert!(none.contains("no logical CPU is online"), "{none}");
        let three = [&CPUS[..], &[Cpu { number: 9, package: 2 }]].concat();
        let hidden = refused(1, 0o10, &three);
        assert!(
            hidden.contains("socket 2 (cpu 9) shows no uncore: no bus of PCI segment 0 has function 0b.0"),
            "{hidden}"
        );
    }

    /// The first CPU of each package, by package.
    #[test]
    fn a_package_is_a_socket_with_its_first_cpu() {
        let cpus = [(7, 3), (2, 1), (9, 3), (1, 1), (4, 0)].map(|(number, package)| Cpu { number, package });
        let sockets = by_package(&cpus).unwrap();
        let found: Vec<_> = sockets.iter().map(|socket| (socket.number, socket.cpu, socket.bus)).collect();
        assert_eq!(found, [(0, 4, None), (1, 2, None), (3, 7, None)]);
    }

    /// Emerald Rapids (1.7, Table 1-12): two channels share the free-running counters of their controller, which are
    /// the first one's; each has its own control.
    #[test]
    fn what_channels_share_belongs_to_the_first() {
        let imc = pericore_catalog::family("emerald-rapids").unwrap().unit("imc").unwrap();
        let register = |name: &str| imc.registers.iter().find(|register| register.name == name).unwrap();
        let own = |name: &str| (0..8).filter(|&number| owns(imc, number, register(name))).collect::<Vec<u16>>();
        assert_eq!((own("free_dclk"), own("ctl")), (vec![0, 2, 4, 6], (0..8).collect()));
    }
}
