//! Whether the blocks of discovery tables fit together, and into their socket.

use pericore_catalog::{AddressSpace, Family, Location, Role};
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
    if instance >= block.unit.instances
        && let Some(what) = is_of_another(family, bus, &block)
    {
        return Err(format!("{name} {instance} is in no document, and {what}"));
    }
    let after = block.unit.placements.first().map_or(0, |placement| placement.bus);
    let expected = bus.and_then(|(segment, bus)| Some((segment, bus.checked_add(after)?)));
    if let (BlockPlace::Pci(bdf, _), Some(expected)) = (block.place, expected)
        && (bdf.segment, bdf.bus) != expected
    {
        return Err(format!("{name} {instance} would lie on bus {:02x}, which is not this socket's", bdf.bus));
    }
    Ok(block)
}

/// What keeps a block that no document has from being one more: it may lie where the documents have another, which is
/// found there whether it has a record or not. Where memory windows lie, they do not say.
fn is_of_another(family: &'static Family, bus: Option<(u16, u8)>, block: &Block) -> Option<String> {
    if block.place.space() == AddressSpace::Mmio {
        return Some("memory may be that of any other block".to_owned());
    }
    for unit in family.units {
        let (Some(control), Some(placement)) = (unit.register(Role::UnitControl), unit.placements.first()) else {
            continue;
        };
        let documented = |location: &Location| match *location {
            Location::Msr { base } => Some(BlockPlace::Msr(base + control.offset)),
            Location::Pci { device, function } => {
                let (segment, bus) = bus?;
                let bdf = Bdf { segment, bus: bus.checked_add(placement.bus)?, device, function };
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
