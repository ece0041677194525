//! Whether the blocks of discovery tables fit together, and into their socket.

use pericore_catalog::{Family, Location, Role, SocketBus};
use pericore_registers::Bdf;

use super::table::{Block, BlockPlace, RecordFault, Table};

/// The believable blocks of a socket's tables, and what is wrong with the others. A processor of several dies may have
/// several tables.
///
/// `bus` is the socket's uncore bus, with its segment.
pub(super) fn blocks(
    family: &'static Family,
    bus: Option<(u16, u8)>,
    tables: &[Table],
) -> (Vec<Block>, Vec<RecordFault>) {
    let mut blocks: Vec<Block> = Vec::new();
    let mut faults = Vec::new();
    for table in tables {
        for record in &table.records {
            match record.block(family).and_then(|block| fits(family, &blocks, bus, block)) {
                Ok(block) => blocks.push(block),
                Err(what) => faults.push(RecordFault { record: record.number, what, beyond: record.beyond(family) }),
            }
        }
    }
    (blocks, faults)
}

/// Checks a block against those before it and against the socket.
fn fits(family: &'static Family, known: &[Block], bus: Option<(u16, u8)>, block: Block) -> Result<Block, String> {
    let (name, instance) = (block.unit.name, block.instance);
    if known.iter().any(|other| other.unit.id == block.unit.id && other.instance == instance) {
        return Err(format!("{name} {instance} has a record already"));
    }
    if let Some(other) = known.iter().find(|other| other.place == block.place) {
        return Err(format!(
            "{name} {instance} and {} {} cannot both lie at {}",
            other.unit.name, other.instance, block.place
        ));
    }
    if let Some(what) = is_of_another(family, bus, &block) {
        return Err(if instance < block.unit.instances {
            format!("{name} {instance} does not lie at {}: {what}", block.place)
        } else {
            format!("{name} {instance} is in no document, and {what}")
        });
    }
    let expected = block.unit.placements.first().and_then(|placement| bus_of(bus, placement.bus));
    if let (BlockPlace::Pci(bdf, _), Some(expected)) = (block.place, expected)
        && (bdf.segment, bdf.bus) != expected
    {
        return Err(format!("{name} {instance} would lie on bus {:02x}, which is not this socket's", bdf.bus));
    }
    Ok(block)
}

/// A bus of a socket with this uncore bus, with its segment.
fn bus_of(uncore: Option<(u16, u8)>, bus: SocketBus) -> Option<(u16, u8)> {
    let (segment, first) = uncore?;
    match bus {
        SocketBus::Uncore(after) => Some((segment, first.checked_add(after)?)),
        SocketBus::Stack(_) => None,
    }
}

/// What keeps a block from lying where its record says. A record decides which registers a session writes, so it leads
/// to no register that is not a PMON unit's: not beyond the MSRs of the units that tables list, to no place of a PCI
/// function but where the documents have the unit's control, and not to a place where the documents have another
/// block, which is found there whether it has a record or not. An instance that the documents have may lie where they
/// have another one of its unit. Of memory they do not say where windows lie.
fn is_of_another(family: &'static Family, bus: Option<(u16, u8)>, block: &Block) -> Option<String> {
    let is_documented = block.instance < block.unit.instances;
    match block.place {
        BlockPlace::Mmio(_) if is_documented => return None,
        BlockPlace::Mmio(_) => return Some("memory may be that of any other block".to_owned()),
        BlockPlace::Msr(first) => {
            let (lowest, highest) = listed_msrs(family)?;
            if first < lowest || last_msr(block, first).is_none_or(|last| last > highest) {
                return Some(format!("PMON units have MSRs {lowest:#x} to {highest:#x}"));
            }
        }
        BlockPlace::Pci(_, offset) => {
            let control = block.unit.register(Role::UnitControl)?;
            if u32::from(offset) != control.offset {
                return Some(format!("its unit control is at {:#x} of its function", control.offset));
            }
        }
    }
    for unit in family.units.iter().filter(|unit| !is_documented || unit.id != block.unit.id) {
        let (Some(control), Some(placement)) = (unit.register(Role::UnitControl), unit.placements.first()) else {
            continue;
        };
        let documented = |location: &Location| match *location {
            Location::Msr { base } => Some(BlockPlace::Msr(base + control.offset)),
            Location::Pci { device, function } => {
                let (segment, bus) = bus_of(bus, placement.bus)?;
                let bdf = Bdf { segment, bus, device, function };
                Some(BlockPlace::Pci(bdf, u16::try_from(control.offset).ok()?))
            }
            Location::Mmio { .. } => None,
        };
        let found = placement.instances.iter().position(|location| documented(location) == Some(block.place));
        if let Some(number) = found {
            return Some(format!("{} {number} lies at {}", unit.name, block.place));
        }
    }
    None
}

/// The last MSR of a block: of its controls and counters, or of what lies beside them.
fn last_msr(block: &Block, first: u32) -> Option<u32> {
    let Block { unit, control, counter, status, .. } = *block;
    let beside = unit.registers.iter().filter(|register| register.placement == 0).filter_map(|register| {
        let last = register.member_offset(register.count.saturating_sub(1));
        last.checked_sub(unit.register(Role::UnitControl)?.offset)
    });
    let listed = control.max(counter) + u32::from(unit.counters).saturating_sub(1);
    first.checked_add(beside.fold(listed.max(status), u32::max))
}

/// MSRs come in stretches of so many: where the documents give some of one to PMON units, all of it is theirs.
const STRETCH: u32 = 0x1000;

/// The first and the last MSR of the stretches in which the documents have units of discovery tables.
fn listed_msrs(family: &'static Family) -> Option<(u32, u32)> {
    let units = family.units.iter().filter(|unit| unit.discovery_type.is_some());
    let msrs = units.filter_map(|unit| Some((*unit, unit.placements.first()?))).flat_map(|(unit, placement)| {
        let registers = unit.registers.iter().filter(|register| register.placement == 0);
        registers.flat_map(|register| {
            placement.instances.iter().flat_map(|location| {
                let ends = [0, register.count.saturating_sub(1)].map(|member| register.member_offset(member));
                ends.into_iter().filter_map(|offset| match *location {
                    Location::Msr { base } => Some(base + offset),
                    _ => None,
                })
            })
        })
    });
    let (lowest, highest) = msrs.fold((u32::MAX, 0), |(lowest, highest), msr| (msr.min(lowest), msr.max(highest)));
    (lowest <= highest).then_some((lowest / STRETCH * STRETCH, highest | (STRETCH - 1)))
}
