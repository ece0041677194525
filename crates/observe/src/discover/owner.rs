//! Finding the PCI functions that lead to discovery tables (Emerald Rapids 1.10.1).

use pericore_registers::{AccessError, Address, Bdf, Operation, Outcome, RegisterSpace, Width};

use super::function::VENDOR_INTEL;
use super::table::TableError;

/// Where extended capabilities start.
const FIRST_CAPABILITY: u16 = 0x100;
/// Extended capability: designated vendor-specific (DVSEC).
const DVSEC: u64 = 0x23;
/// The DVSEC's ID, in its third dword, that means "PMON discovery".
const PMON_DISCOVERY: u64 = 1;
/// The first base address register.
const FIRST_BAR: u16 = 0x10;
/// Extended capabilities that fit in configuration space; a longer list runs in a circle.
const MOST_CAPABILITIES: usize = 480;
/// Functions of a bus.
const FUNCTIONS: u8 = u8::MAX;

/// A PCI function that leads to a table, and the table's physical address.
pub(super) type Owner = (Bdf, Result<u64, TableError>);

/// All functions that lead to a table, by bus.
///
/// Function 0 may be hidden while others are there, so each is asked.
pub(super) fn find(space: &mut impl RegisterSpace) -> Result<Vec<Owner>, AccessError> {
    let mut owners = Vec::new();
    let buses = |segment: u16| (0..=u8::MAX).map(move |bus| (segment, bus));
    for (segment, bus) in space.pci_segments().into_iter().flat_map(buses) {
        for bdf in intel_functions(space, segment, bus)? {
            if let Some(indicator) = discovery_capability(space, bdf)? {
                let base = base_address(space, bdf, indicator)?;
                owners.push((bdf, base));
            }
        }
    }
    Ok(owners)
}

fn intel_functions(space: &mut impl RegisterSpace, segment: u16, bus: u8) -> Result<Vec<Bdf>, AccessError> {
    let function = |number: u8| Bdf { segment, bus, device: number >> 3, function: number & 7 };
    let functions: Vec<Bdf> = (0..=FUNCTIONS).map(function).collect();
    let identity = |&bdf: &Bdf| Operation::Read { address: Address::Pci { bdf, offset: 0 }, width: Width::B4 };
    let reads: Vec<Operation> = functions.iter().map(identity).collect();
    let mut outcomes: Vec<Outcome<u64>> = Vec::with_capacity(reads.len());
    space.batch(&reads, &mut outcomes);
    let mut found = Vec::new();
    for (bdf, outcome) in functions.into_iter().zip(outcomes) {
        match outcome {
            Ok(identity) if identity & Width::B2.mask() == VENDOR_INTEL => found.push(bdf),
            Err(denied @ AccessError::Permission { .. }) => return Err(denied),
            _ => {}
        }
    }
    Ok(found)
}

/// The dword of the discovery capability that tells which base address register leads to the table.
fn discovery_capability(space: &mut impl RegisterSpace, bdf: Bdf) -> Result<Option<u64>, AccessError> {
    let mut offset = FIRST_CAPABILITY;
    for _ in 0..MOST_CAPABILITIES {
        let Some(header) = dword(space, bdf, offset)? else { return Ok(None) };
        if header == 0 || header == Width::B4.mask() {
            return Ok(None);
        }
        if header & Width::B2.mask() == DVSEC
            && let Some(id) = dword(space, bdf, offset + 8)?
            && id & Width::B2.mask() == PMON_DISCOVERY
        {
            return dword(space, bdf, offset + 12);
        }
        // The list's end, or a pointer back into the header, which no list has.
        offset = (header >> 20) as u16 & !3;
        if offset < FIRST_CAPABILITY {
            return Ok(None);
        }
    }
    Ok(None)
}

/// The address in the base address register that the capability's `indicator` names in bits 2:0.
fn base_address(
    space: &mut impl RegisterSpace,
    owner: Bdf,
    indicator: u64,
) -> Result<Result<u64, TableError>, AccessError> {
    let fault = |what| Ok(Err(TableError::BaseAddress { owner, what }));
    let number = (indicator & 7) as u16;
    if number > 5 {
        return fault("its discovery capability names a base address register that does not exist");
    }
    let offset = FIRST_BAR + 4 * number;
    let Some(low) = dword(space, owner, offset)? else {
        return fault("its base address register cannot be read");
    };
    if low == Width::B4.mask() {
        return fault("its base address register reads as all ones");
    }
    if low & 1 != 0 {
        return fault("its base address register is for I/O ports, not for memory");
    }
    // Bits 2:1 tell whether the next register holds the upper half of the address.
    let high = if low & 6 == 4 { dword(space, owner, offset + 4)?.unwrap_or(0) } else { 0 };
    let base = (low & !0xfff) | high << 32;
    if base == 0 {
        return fault("its base address register was never set");
    }
    Ok(Ok(base))
}

/// A dword of configuration space; nothing where there is none.
fn dword(space: &mut impl RegisterSpace, bdf: Bdf, offset: u16) -> Result<Option<u64>, AccessError> {
    if offset > 0xffc {
        return Ok(None);
    }
    match space.read(Address::Pci { bdf, offset }, Width::B4) {
        Ok(value) => Ok(Some(value)),
        Err(denied @ AccessError::Permission { .. }) => Err(denied),
        Err(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Fake;

    /// A DVSEC (0x23) of ID 1 names base address register 0 (1.10.1). A list that points back into the header, where
    /// the same dwords stand, ends there: it would never end else.
    #[test]
    fn a_list_of_capabilities_is_followed_and_ends_in_the_header() {
        let function = |first: u32| {
            let mut space = Fake::default();
            let mut put = |offset: u16, value: u32| space.set_pci((0x10, 3, 1), offset, value);
            put(0, 0x3258_8086);
            put(0x10, 0xe080_0000);
            put(0x100, first);
            for capability in [0x40, 0x200] {
                put(capability, 0x23);
                put(capability + 8, 1);
            }
            find(&mut space).unwrap()
        };
        let owner = Bdf::new(0x10, 3, 1);
        // Capability 0x0b, and behind it the one at 0x200, at 0x40, or none.
        assert_eq!(function(0x2000_000b), [(owner, Ok(0xe080_0000))]);
        assert_eq!(function(0x0400_000b), []);
        assert_eq!(function(0x000b), []);
    }

    /// What a function whose capability (DVSEC 0x23 with this ID) has an indicator leads to, with these base address
    /// registers from 0x10 on.
    fn leads_to(identity: u32, dvsec: (u32, u32), indicator: u32, bars: &[(u16, u32)]) -> Vec<Owner> {
        let mut space = Fake::default();
        let all = [(0, identity), (0x100, dvsec.0), (0x108, dvsec.1), (0x10c, indicator)];
        all.iter().chain(bars).for_each(|&(offset, value)| space.set_pci((0x10, 3, 1), offset, value));
        find(&mut space).unwrap()
    }

    /// PCI: bit 0 of a base address register is for I/O ports, bits 2:1 are 2 where the next register has the upper
    /// half. Indicators of bits 2:0 name one of six registers.
    #[test]
    fn a_base_address_is_read_where_the_indicator_points() {
        let base = |indicator: u32, bars: &[(u16, u32)]| {
            let [(bdf, base)] = &leads_to(0x3258_8086, (0x23, 1), indicator, bars)[..] else { panic!("one owner") };
            assert_eq!(*bdf, Bdf::new(0x10, 3, 1));
            base.clone()
        };
        for (indicator, bars, expected) in [
            (0, &[(0x10, 0xe080_0000)][..], 0xe080_0000),
            (8, &[(0x10, 0xe080_0000)], 0xe080_0000),
            (2, &[(0x10, 0x1000), (0x18, 0xe090_0000)], 0xe090_0000),
            (5, &[(0x24, 0xe0a0_0008)], 0xe0a0_0000),
            (0, &[(0x10, 0xe080_000c), (0x14, 0x12)], 0x12_e080_0000),
            (1, &[(0x14, 0x0000_0004), (0x18, 1)], 1 << 32),
            (0, &[(0x10, 0xe080_0000), (0x14, 0x12)], 0xe080_0000),
            (0, &[(0x10, 0xe080_0006), (0x14, 0x12)], 0xe080_0000),
        ] {
            assert_eq!(base(indicator, bars), Ok(expected), "{indicator}: {bars:x?}");
        }
        for (indicator, bars, words) in [
            (6, &[(0x28, 0xe080_0000)][..], "does not exist"),
            (7, &[(0x2c, 0xe080_0000)], "does not exist"),
            (0, &[(0x10, 0xffff_ffff)], "reads as all ones"),
            (0, &[(0x10, 0x0000_1001)], "is for I/O ports"),
            (3, &[(0x10, 0xe080_0000)], "was never set"),
            (0, &[(0x10, 0x0000_000c)], "was never set"),
        ] {
            let Err(TableError::BaseAddress { owner, what }) = base(indicator, bars) else { panic!("{bars:x?}") };
            assert!(owner == Bdf::new(0x10, 3, 1) && what.contains(words), "{what}");
        }
    }

    /// Another maker's function, another capability and another ID lead nowhere.
    #[test]
    fn only_intels_discovery_capability_leads_to_a_table() {
        let bars = [(0x10, 0xe080_0000)];
        for (identity, dvsec, is_owner) in [
            (0x3258_8086, (0x23, 1), true),
            (0x3258_8086, (0x0001_0023, 0xabcd_0001), true),
            (0x3258_1022, (0x23, 1), false),
            (0x3258_8086, (0x24, 1), false),
            (0x3258_8086, (0x23, 2), false),
            (0x3258_8086, (0xffff_ffff, 1), false),
            (0x3258_8086, (0, 1), false),
        ] {
            assert_eq!(leads_to(identity, dvsec, 0, &bars).len(), usize::from(is_owner), "{identity:x} {dvsec:x?}");
        }
    }
}
