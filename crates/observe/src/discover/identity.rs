//! What registers of role `identity` tell of a socket: where its memory controllers lie, and how many LLC slices it has.

use pericore_catalog::{AddressSpace, Family, Identity, Location, OnePer, Register, Unit};
use pericore_registers::{AccessError, Address, RegisterSpace, Width};

use super::topology::Socket;

/// Address bits that a unit of `mem_base` stands for (1.10.3: bits 51:23).
const MEM_BASE_SHIFT: u32 = 23;
/// Address bits that a unit of `mem_offset` stands for (1.10.3: bits 22:12).
const MEM_OFFSET_SHIFT: u32 = 12;

/// The name under which the catalogue places registers behind the memory controllers' base addresses.
pub(super) const MEMORY_BAR: &str = "mem";

/// True if a unit has registers behind the memory controllers' base addresses.
pub(super) fn needs_memory(unit: &Unit) -> bool {
    let mut places = unit.placements.iter().flat_map(|placement| placement.instances);
    places.any(|location| matches!(location, Location::Mmio { bar, .. } if *bar == MEMORY_BAR))
}

/// True if a unit has a part for each LLC slice, as far as something counts those.
pub(super) fn has_slices(unit: &Unit) -> bool {
    unit.one_per == Some(OnePer::Slice)
}

/// The base addresses of a socket's memory controllers (1.10.3), by number; nothing for one that firmware never set.
pub(super) fn memory_bases(
    space: &mut impl RegisterSpace,
    family: &'static Family,
    socket: &Socket,
) -> Result<Vec<Option<u64>>, AccessError> {
    let (Some((unit, base)), Some((_, bars))) =
        (family.identity(Identity::MemoryBase), family.identity(Identity::MemoryOffset))
    else {
        return Ok(Vec::new());
    };
    let Some(base) = field(space, socket, (unit, base), 0)? else { return Ok(Vec::new()) };
    let mut bases = Vec::new();
    for member in 0..bars.count {
        let offset = field(space, socket, (unit, bars), member)?;
        let address = offset.map(|offset| (base << MEM_BASE_SHIFT) + (offset << MEM_OFFSET_SHIFT));
        bases.push(address.filter(|&address| address != 0));
    }
    Ok(bases)
}

/// How many LLC slices of a socket are in use, and who says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SliceCount {
    /// Slices.
    pub slices: u16,
    /// Register that tells.
    pub register: String,
    /// What another register tells, if it disagrees.
    pub contradicted: Option<(String, u16)>,
}

impl SliceCount {
    /// Why an instance of a unit cannot be there.
    pub(super) fn excludes(&self, unit: &Unit, instance: u16) -> Option<String> {
        let beyond = has_slices(unit) && instance >= self.slices;
        beyond.then(|| format!("this part has {} of these ({})", self.slices, self.register))
    }
}

/// Counts the slices: the count that the hardware keeps, else the capability bits (1.7.1). The bits follow the place on the die;
/// units are numbered without gaps, so only their number matters.
pub(super) fn slices(
    space: &mut impl RegisterSpace,
    family: &'static Family,
    socket: &Socket,
) -> Result<Option<SliceCount>, AccessError> {
    let Some(most) = family.unit_per(OnePer::Slice).map(|unit| unit.instances) else { return Ok(None) };
    let plausible = |count: &u16| (1..=most).contains(count);
    let count = family.identity(Identity::SliceCount);
    let counted = match count {
        Some(row) => field(space, socket, row, 0)?.and_then(|count| u16::try_from(count).ok()),
        None => None,
    };
    let counted =
        counted.filter(plausible).zip(count).map(|(slices, (_, register))| (slices, register.name.to_owned()));
    let mut capable = None;
    if socket.has_buses()
        && let (Some(low), Some(high)) = (family.identity(Identity::SlicesLow), family.identity(Identity::SlicesHigh))
    {
        let both = field(space, socket, low, 0)?.zip(field(space, socket, high, 0)?);
        let slices = both.map(|(low, high)| (low.count_ones() + high.count_ones()) as u16).filter(plausible);
        capable = slices.map(|slices| (slices, format!("{} and {}", low.1.name, high.1.name)));
    }
    Ok(match (counted, capable) {
        (Some((slices, register)), capable) => {
            let contradicted =
                capable.filter(|(other, _)| *other != slices).map(|(other, registers)| (registers, other));
            Some(SliceCount { slices, register, contradicted })
        }
        (None, Some((slices, register))) => Some(SliceCount { slices, register, contradicted: None }),
        (None, None) => None,
    })
}

/// What an identity register holds, or nothing if the register does not answer or reads as all ones.
fn field(
    space: &mut impl RegisterSpace,
    socket: &Socket,
    (unit, register): (&'static Unit, &'static Register),
    member: u8,
) -> Result<Option<u64>, AccessError> {
    let (Ok(place), Some(field)) = (socket.locate(unit, 0, register, member), register.lowest_field()) else {
        return Ok(None);
    };
    match space.read(place.address, place.width) {
        // An MSR of 32 bits still moves 64.
        Ok(u64::MAX) => Ok(None),
        Ok(value) if field.bits.width < 32 && value == Width::for_bits(register.width).mask() => Ok(None),
        // Thirty-two slices in use read as 32 ones: an absent function says the same in its identity.
        Ok(value) => Ok(present(space, socket, unit, register)?.then(|| field.bits.get(value))),
        Err(denied @ AccessError::Permission { .. }) => Err(denied),
        Err(_) => Ok(None),
    }
}

/// Whether the PCI function that holds a register is there at all.
fn present(
    space: &mut impl RegisterSpace,
    socket: &Socket,
    unit: &'static Unit,
    register: &'static Register,
) -> Result<bool, AccessError> {
    let Some(placement) = unit.placements.get(usize::from(register.placement)) else { return Ok(false) };
    if placement.space != AddressSpace::PciConfig {
        return Ok(true);
    }
    let Ok(place) = socket.locate(unit, 0, register, 0) else { return Ok(false) };
    let Address::Pci { bdf, .. } = place.address else { return Ok(false) };
    let identity = space.read(Address::Pci { bdf, offset: 0 }, Width::B4)?;
    Ok(placement.device_ids.first().is_none_or(|&id| identity >> 16 == u64::from(id)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A part with 4 LLC slices has none of number 4, and all eight channels all the same: only slices are numbered by
    /// it.
    #[test]
    fn few_slices_leave_no_other_unit_out() {
        let counted = SliceCount { slices: 4, register: "capid6".to_owned(), contradicted: None };
        let family = pericore_catalog::family("emerald-rapids").unwrap();
        let excluded = |unit: &str, instance| counted.excludes(family.unit(unit).unwrap(), instance);
        assert_eq!(excluded("cha", 3), None);
        assert_eq!(excluded("cha", 4).as_deref(), Some("this part has 4 of these (capid6)"));
        assert_eq!((excluded("imc", 4), excluded("imc", 7)), (None, None));
    }
}
