//! `doctor --bundle`: what a machine's registers and discovery tables hold, as a snapshot that `--machine` begins with.
//! Everything is only read.

use pericore_catalog::{Family, Unit};
use pericore_machine::MachineSpec;
use pericore_machine::chassis::{Block, Chassis, DiscoveryFault, ReadValue, Shape, ShapeError, Variant};
use pericore_machine::signal::Wiring;
use pericore_observe::discover::{Cpu, DiscoverError, Socket, TableError, TableReport, Topology, discover};
use pericore_registers::{Address, Bdf, RegisterSpace, Width};
use pericore_text::on_one_line;

use crate::failure::Failure;

/// Bytes of a qword.
const QWORD: u64 = 8;

/// How many cores a socket has that take part, and threads a core.
#[derive(Debug, Clone, Copy)]
pub struct CoreCount {
    pub cores: u16,
    pub threads: u16,
}

/// What an instance has shown.
enum Shown {
    /// It has no place here: nothing could be located.
    Nothing,
    /// No access to it succeeds, or its PCI function is absent.
    Hidden,
    AllOnes,
    Values(Vec<ReadValue>),
}

/// The bundle of a machine: lines for people, then its snapshot.
///
/// # Errors
/// No software machine has its shape.
pub fn capture(
    space: &mut impl RegisterSpace,
    family: &'static Family,
    cpus: &[Cpu],
    cores: CoreCount,
    about: &[String],
) -> Result<String, Failure> {
    let mut text: String = about.iter().map(|line| format!("# {}\n", on_one_line(line))).collect();
    let sockets = cpus.iter().map(|cpu| cpu.package + 1).max().unwrap_or(1);
    let found: Vec<Found> = look_for_units(space, family, cpus);
    let slices = found.iter().filter_map(|(_, topology)| topology.as_ref().ok()).find_map(|topology| {
        let counts = topology.sockets.iter().filter_map(Socket::slices);
        counts.map(|count| count.slices).max()
    });
    let no_such = |error: ShapeError| {
        Failure::failed(format!("no software machine matches this one, so its bundle could not be booted: {error}"))
    };
    let shape = Shape::new(family, sockets, cores.cores, cores.threads).map_err(no_such)?;
    // Where nothing tells how many take part, as many as in the family's own software machine.
    let usual = || MachineSpec::of(family).shape().map_or(shape.all_slices(), |usual| usual.slices);
    let slices = slices.unwrap_or_else(usual).clamp(1, shape.all_slices());
    let shape = shape.with_slices(slices).map_err(no_such)?;
    let mut variant = Variant::default();
    let mut values = Vec::new();
    for (unit, topology) in &found {
        let topology = match topology {
            Ok(topology) => topology,
            Err(why) => {
                text.push_str(&format!("# {} could not be looked for: {}\n", unit.name, on_one_line(&why.to_string())));
                not_found(&mut variant, &shape, unit, why);
                continue;
            }
        };
        for socket in &topology.sockets {
            for instance in (0..unit.instances).filter(|&instance| shape.has(unit, instance)) {
                let block = Block::new(socket.number, unit.name, instance);
                match look_at(space, socket, unit, instance) {
                    Shown::Nothing => {}
                    Shown::Hidden => variant.faults.hidden.push(block),
                    Shown::AllOnes => variant.faults.all_ones.push(block),
                    Shown::Values(read) => values.push((block, read)),
                }
            }
        }
    }
    variant.segment =
        found.iter().filter_map(|(_, topology)| topology.as_ref().ok()).map(last_segment).max().unwrap_or(0);
    let reports: Vec<(u16, &TableReport)> = reports(&found);
    let leads_nowhere = |report: &TableReport| report.errors.contains(&TableError::NoOwner);
    if reports.iter().any(|(_, report)| leads_nowhere(report)) {
        variant.faults.discovery = DiscoveryFault::Absent;
    }
    let mut machine =
        Chassis::new(shape, Wiring::new(family, sockets), |_| 1).with_variant(&variant).map_err(Failure::failed)?;
    for (block, read) in values {
        machine.imprint(&block, read).map_err(Failure::failed)?;
    }
    for (socket, report) in reports {
        let Some(base) = report.memory().next().map(|memory| memory.start) else { continue };
        let qword = |index: usize| {
            let physical = base + QWORD * u64::try_from(index).ok()?;
            space.read(Address::Mmio { physical }, Width::B8).ok()
        };
        let believed = report.blocks.iter().filter_map(|block| {
            let record = usize::try_from(block.record).ok()?;
            Some((record, block.unit, block.instance))
        });
        machine.imprint_table(socket, qword, believed);
    }
    text.push_str(&machine.dump());
    Ok(text)
}

/// A unit, and where it was found.
type Found = (&'static Unit, Result<Topology, DiscoverError>);

/// Looks for all units at once, and for each by itself where something bars the others.
fn look_for_units(space: &mut impl RegisterSpace, family: &'static Family, cpus: &[Cpu]) -> Vec<Found> {
    let whole = discover(space, family, cpus, |_| true);
    let mut of = |unit: &'static Unit| match &whole {
        Ok(topology) => Ok(topology.clone()),
        Err(_) => discover(space, family, cpus, |other| other.name == unit.name),
    };
    family.units.iter().map(|unit| (*unit, of(unit))).collect()
}

/// Notes what bars a unit, where that is a unit that does not answer.
fn not_found(variant: &mut Variant, shape: &Shape, unit: &'static Unit, why: &DiscoverError) {
    let sockets = match why {
        DiscoverError::NoUncoreBus { .. } | DiscoverError::NodeId { .. } => 0..shape.sockets,
        DiscoverError::NoUncoreOf { socket, .. } => *socket..*socket + 1,
        _ => return,
    };
    let blocks = sockets.flat_map(|socket| {
        let present = (0..unit.instances).filter(|&instance| shape.has(unit, instance));
        present.map(move |instance| Block::new(socket, unit.name, instance))
    });
    if matches!(why, DiscoverError::NodeId { .. }) {
        variant.faults.all_ones.extend(blocks);
    } else {
        variant.faults.hidden.extend(blocks);
    }
}

/// Reads all registers of an instance.
fn look_at(space: &mut impl RegisterSpace, socket: &Socket, unit: &'static Unit, instance: u16) -> Shown {
    let mut functions: Vec<Bdf> = Vec::new();
    let (mut read, mut located, mut ones) = (Vec::new(), 0_usize, 0_usize);
    for (index, register) in unit.registers.iter().enumerate() {
        for member in 0..register.count {
            let Ok(place) = socket.locate(unit, instance, register, member) else { continue };
            if let Address::Pci { bdf, .. } = place.address {
                functions.push(bdf);
            }
            located += 1;
            if let Ok(value) = space.read(place.address, place.width) {
                ones += usize::from(value == place.width.mask());
                read.push((index, member, value));
            }
        }
    }
    functions.sort_unstable();
    functions.dedup();
    let mut is_absent = |bdf: &Bdf| {
        let identity = space.read(Address::Pci { bdf: *bdf, offset: 0 }, Width::B4);
        identity.is_ok_and(|identity| identity == Width::B4.mask())
    };
    match (located, read.len()) {
        (0, _) => Shown::Nothing,
        (_, 0) => Shown::Hidden,
        (_, all) if all == ones && !functions.is_empty() && functions.iter().all(&mut is_absent) => Shown::Hidden,
        (_, all) if all == ones => Shown::AllOnes,
        _ => Shown::Values(read),
    }
}

/// The segment of the last socket: software machines have the others on the first one.
fn last_segment(topology: &Topology) -> u16 {
    topology.sockets.last().map_or(0, |socket| socket.segment)
}

/// What came of the discovery table of each socket.
fn reports(found: &[Found]) -> Vec<(u16, &TableReport)> {
    let with_tables = found.iter().filter_map(|(_, topology)| topology.as_ref().ok()).find_map(|topology| {
        let reports: Vec<_> =
            topology.sockets.iter().filter_map(|socket| Some((socket.number, socket.table()?))).collect();
        (!reports.is_empty()).then_some(reports)
    });
    with_tables.unwrap_or_default()
}

#[cfg(test)]
mod tests;
