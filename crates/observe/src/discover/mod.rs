//! What there is: sockets, their uncore buses, and the unit instances that answer.
//!
//! Discovery only reads. Which way it takes follows from where the catalogue puts the units that are wanted.

mod error;
mod fit;
mod function;
mod identity;
mod owner;
mod presence;
mod sockets;
mod stacks;
mod table;
mod tables;
mod topology;

use pericore_catalog::{AddressSpace, Family, Identity, Location, Unit};
use pericore_registers::RegisterSpace;

pub use error::DiscoverError;
pub use identity::SliceCount;
pub(crate) use table::may_have;
pub use table::{Block, BlockPlace, RecordFault, TableError};
pub use tables::TableReport;
pub use topology::{Cpu, LocateError, Place, Presence, Socket, Topology, owns};

/// How the sockets of a machine are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mechanism {
    /// All wanted registers are MSRs: a socket is a package with a logical CPU.
    Packages,
    /// Some lie on an uncore bus, whose socket the node registers tell.
    NodeRegisters,
    /// Some lie on buses of stacks, which a register of each socket has.
    StackBuses,
}

impl Mechanism {
    fn choose(family: &Family, wanted: &[&'static Unit]) -> Self {
        // What lies in memory is found through PCI, and a companion placement is part of its unit.
        let is_pci = |unit: &&Unit| {
            let mut main = unit.placements.iter().take(if unit.discovery_type.is_some() { 1 } else { usize::MAX });
            main.any(|placement| placement.space != AddressSpace::Msr)
        };
        match family.identity(Identity::StackBuses) {
            _ if !wanted.iter().any(is_pci) => Self::Packages,
            Some(_) => Self::StackBuses,
            None => Self::NodeRegisters,
        }
    }
}

/// True if only a discovery table tells where a unit lies.
fn only_listed(unit: &Unit) -> bool {
    let places = unit.placements.first().map_or(&[][..], |placement| placement.instances);
    places.iter().any(|place| matches!(place, Location::Mmio { bar, .. } if *bar != identity::MEMORY_BAR))
}

/// Finds the sockets, and in each the instances of those units for which `wanted` holds.
///
/// `cpus` are the online logical CPUs with their packages; MSRs of a socket are reached through its first one.
///
/// # Errors
/// [`DiscoverError`]. A unit instance that does not answer is no error: see [`Presence`].
pub fn discover(
    space: &mut impl RegisterSpace,
    family: &'static Family,
    cpus: &[Cpu],
    wanted: impl Fn(&Unit) -> bool,
) -> Result<Topology, DiscoverError> {
    let units: Vec<&'static Unit> = family.units.iter().copied().filter(|unit| wanted(unit)).collect();
    let names: Vec<&str> = units.iter().map(|unit| unit.name).collect();
    space.expect_discovery(family.name, &names);
    let mechanism = Mechanism::choose(family, &units);
    let mut sockets = match mechanism {
        Mechanism::Packages => sockets::by_package(cpus)?,
        Mechanism::NodeRegisters => sockets::by_node_registers(space, family, cpus)?,
        Mechanism::StackBuses => stacks::by_stack_buses(space, family, cpus)?,
    };
    // Units that are all MSRs are where the catalogue says, and need no access to PCI and memory.
    if mechanism != Mechanism::Packages && units.iter().any(|unit| unit.discovery_type.is_some()) {
        match tables::seek(space, family, &mut sockets) {
            Err(denied) if units.iter().any(|unit| only_listed(unit)) => return Err(denied.into()),
            Err(denied) => {
                let report = TableReport { errors: vec![TableError::Access(denied)], ..TableReport::default() };
                sockets.iter_mut().for_each(|socket| socket.set_table(report.clone()));
            }
            Ok(()) => {}
        }
    }
    for socket in &mut sockets {
        if units.iter().any(|unit| identity::needs_memory(unit)) {
            let bases = identity::memory_bases(space, family, socket)?;
            socket.set_memory(bases);
        }
        if units.iter().any(|unit| identity::has_slices(unit)) {
            let slices = identity::slices(space, family, socket)?;
            socket.set_slices(slices);
        }
        for unit in &units {
            let instances = presence::probe(space, socket, unit)?;
            socket.set_presence(unit, instances);
        }
    }
    Ok(Topology { family, sockets })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{CPUS, Fake, e5_2600};
    use pericore_registers::Address;

    #[test]
    fn two_sockets_are_told_apart_by_their_node_registers() {
        let mut space = Fake::two_sockets();
        let topology = discover(&mut space, e5_2600(), &CPUS, |_| true).unwrap();
        let found: Vec<_> = topology.sockets.iter().map(|socket| (socket.number, socket.cpu, socket.bus)).collect();
        // In the fake, the upper bus belongs to socket 0.
        assert_eq!(found, [(0, 0, Some(0xff)), (1, 2, Some(0x7f))]);
        assert!(space.writes.is_empty(), "discovery only reads");
    }

    /// The node map (D11:F0, 0x54) says which socket a node is: here node 0 is socket 1.
    #[test]
    fn a_socket_is_where_the_node_map_has_its_node() {
        let mut space = Fake::two_sockets();
        for bus in [0xff, 0x7f] {
            space.set_pci((bus, 11, 0), 0x54, 0o01);
        }
        let topology = discover(&mut space, e5_2600(), &CPUS, |_| true).unwrap();
        let found: Vec<_> = topology.sockets.iter().map(|socket| (socket.number, socket.cpu, socket.bus)).collect();
        assert_eq!(found, [(0, 0, Some(0x7f)), (1, 2, Some(0xff))]);
    }

    #[test]
    fn instances_that_do_not_answer_are_absent_and_say_why() {
        let mut space = Fake::two_sockets();
        space.functions.remove(&(0x7f, 16, 1));
        space.msrs.retain(|&(socket, msr), _| socket == 0 || !(0xD20..0xD40).contains(&msr));
        let topology = discover(&mut space, e5_2600(), &CPUS, |_| true).unwrap();
        let [whole, part] = &topology.sockets[..] else { panic!("two sockets") };
        let imc = e5_2600().unit("imc").unwrap();
        let cbo = e5_2600().unit("cbo").unwrap();
        assert_eq!((whole.present(imc), whole.present(cbo).len()), (vec![0, 1, 2, 3], 8));
        assert_eq!((part.present(imc), part.present(cbo)), (vec![0, 2, 3], vec![0, 2, 3, 4, 5, 6, 7]));
        assert!(matches!(&part.presence(imc)[1], Presence::Absent { why } if why.contains("0000:7f:10.1")));
        assert!(matches!(&part.presence(cbo)[1], Presence::Absent { why } if why.contains("protection")));
    }

    #[test]
    fn without_the_uncore_bus_the_error_says_what_was_looked_for() {
        let error = discover(&mut Fake::default(), e5_2600(), &CPUS, |_| true).unwrap_err();
        assert!(matches!(error, DiscoverError::NoUncoreBus { device: 11, function: 0, device_id: 0x3ce0, .. }));
    }

    /// The U-Box of one socket is hidden: of two buses, the other's socket is known, and so is this one's.
    #[test]
    fn the_bus_that_is_left_is_that_of_the_socket_that_is_left() {
        let mut space = Fake::two_sockets();
        space.functions.remove(&(0x7f, 11, 0));
        let topology = discover(&mut space, e5_2600(), &CPUS, |_| true).unwrap();
        let found: Vec<_> = topology.sockets.iter().map(|socket| (socket.number, socket.cpu, socket.bus)).collect();
        assert_eq!(found, [(0, 0, Some(0xff)), (1, 2, Some(0x7f))]);
    }

    /// Nothing tells which of two buses is whose, nor whose a bus is where no PMON function answers.
    #[test]
    fn two_buses_without_node_registers_are_nobodys() {
        let mut space = Fake::two_sockets();
        space.functions.retain(|&(_, device, _), _| device != 11);
        let error = discover(&mut space, e5_2600(), &CPUS, |_| true).unwrap_err();
        assert!(matches!(error, DiscoverError::NoUncoreBus { device: 11, .. }), "{error}");

        let mut space = Fake::two_sockets();
        space.functions.retain(|&(bus, ..), _| bus == 0xff);
        let error = discover(&mut space, e5_2600(), &CPUS, |_| true).unwrap_err();
        assert!(matches!(error, DiscoverError::NoUncoreOf { socket: 1, .. }), "{error}");
    }

    #[test]
    fn msr_units_need_no_bus() {
        let mut space = Fake::two_sockets();
        let topology = discover(&mut space, e5_2600(), &CPUS, |unit| unit.name == "cbo").unwrap();
        assert!(topology.sockets.iter().all(|socket| socket.bus.is_none()));
        assert!(!space.reads.iter().any(|address| matches!(address, Address::Pci { .. })));
    }

    #[test]
    fn node_registers_that_read_all_ones_are_refused() {
        let mut space = Fake::two_sockets();
        space.set_pci((0x7f, 11, 0), 0x40, 0xffff_ffff);
        let error = discover(&mut space, e5_2600(), &CPUS, |_| true).unwrap_err();
        assert!(matches!(error, DiscoverError::NodeId { .. }), "{error}");
    }
}
