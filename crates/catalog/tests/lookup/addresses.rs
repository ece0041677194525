//! Registers by address.

use pericore_catalog::Family;
use pericore_catalog::decode::{AddressQuery, find_address};

use crate::{e5_2600, emerald_rapids};

fn at(family: &'static Family, address: &str) -> String {
    let query = AddressQuery::parse(address).unwrap_or_else(|error| panic!("{error}"));
    let found = find_address(family, &query).into_iter().map(|place| {
        let instance = place.instance.map_or_else(|| "*".to_owned(), |instance| instance.to_string());
        format!("{}{instance}.{}+{}", place.unit.name, place.register.member_name(place.member), place.byte)
    });
    found.collect::<Vec<_>>().join(" ")
}

/// Table 2-9: slice 0 at 0xD04 to 0xD19, the next 0x20 further on, eight in all. An MSR is a whole register.
#[test]
fn slices_are_found_by_their_msrs() {
    for (address, place) in [
        ("0xd04", "cbo0.unit_ctl+0"),
        ("0xd10", "cbo0.ctl0+0"),
        ("0xd13", "cbo0.ctl3+0"),
        ("0xd14", "cbo0.filter+0"),
        ("0xd15", ""),
        ("0xd16", "cbo0.ctr0+0"),
        ("0xd19", "cbo0.ctr3+0"),
        ("0xd1a", ""),
        ("0xd24", "cbo1.unit_ctl+0"),
        ("0xdf9", "cbo7.ctr3+0"),
        ("0xe04", ""),
        ("0xc0f", ""),
        ("0", ""),
    ] {
        assert_eq!(at(e5_2600(), address), place, "{address}");
    }
}

/// Table 2-33: the home agent at device 14, function 1: counters at 0xA0, 8 bytes each, controls at 0xD8, 4 bytes each.
#[test]
fn parts_of_a_register_are_found_by_their_bytes() {
    for (address, place) in [
        ("D14:F1+0x9f", ""),
        ("D14:F1+0xa0", "ha0.ctr0+0"),
        ("D14:F1+0xa4", "ha0.ctr0+4"),
        ("D14:F1+0xa7", "ha0.ctr0+7"),
        ("D14:F1+0xa8", "ha0.ctr1+0"),
        ("D14:F1+0xbf", "ha0.ctr3+7"),
        ("D14:F1+0xc0", ""),
        ("D14:F1+0xd8", "ha0.ctl0+0"),
        ("D14:F1+0xdb", "ha0.ctl0+3"),
        ("D14:F1+0xdc", "ha0.ctl1+0"),
        ("0e.1+0xe7", "ha0.ctl3+3"),
        ("0e.1+0xe8", ""),
        ("0e.2+0xd8", ""),
        ("0f.1+0xd8", ""),
        // The channels of the memory controller: device 16, functions 4, 5, 0, 1 (2.5.3).
        ("10.0+0xd0", "imc2.fixed_ctr+0"),
    ] {
        let found = at(e5_2600(), address);
        let of_channel = place.starts_with("imc");
        assert!(
            if of_channel { found.ends_with(".fixed_ctr+0") && found.starts_with("imc") } else { found == place },
            "{address}: {found}"
        );
    }
}

/// 1.8.1 of Emerald Rapids' guide: a channel's block at 0x22800 of its controller's window, the next channel's 0x8000 further on.
#[test]
fn windows_are_told_apart_and_all_are_meant_without_one() {
    assert_eq!(at(emerald_rapids(), "mmio:mem0+0x22800"), "imc0.unit_ctl+0");
    assert_eq!(at(emerald_rapids(), "MEM0+0x22803"), "imc0.unit_ctl+3");
    assert_eq!(at(emerald_rapids(), "mmio:mem0+0x2a800"), "imc1.unit_ctl+0");
    assert_eq!(at(emerald_rapids(), "mmio:mem1+0x22800"), "imc2.unit_ctl+0");
    assert_eq!(at(emerald_rapids(), "mmio:0x22800"), "imc0.unit_ctl+0 imc2.unit_ctl+0 imc4.unit_ctl+0 imc6.unit_ctl+0");
    assert_eq!(at(emerald_rapids(), "mmio:mem9+0x22800"), "");
    assert_eq!(at(emerald_rapids(), "mmio:xyz0+0x22800"), "");
    assert_eq!(at(emerald_rapids(), "mmio:0x227ff"), "");
}

#[test]
fn the_limits_of_an_address_are_exact() {
    fn parsed(text: &str) -> Result<AddressQuery<'_>, String> {
        AddressQuery::parse(text).map_err(|error| error.to_string())
    }
    assert_eq!(parsed("1f.7+0xfff"), Ok(AddressQuery::Pci { device: 31, function: 7, offset: 0xfff }));
    assert_eq!(parsed("D31:F7+0"), Ok(AddressQuery::Pci { device: 31, function: 7, offset: 0 }));
    assert_eq!(parsed("0xffffffff"), Ok(AddressQuery::Msr(0xffff_ffff)));
    assert_eq!(parsed("ffff:ff:1.0+1"), Ok(AddressQuery::Pci { device: 1, function: 0, offset: 1 }));
    assert_eq!(parsed("pcicfg:1.0+1"), Ok(AddressQuery::Pci { device: 1, function: 0, offset: 1 }));
    let forms = "write 0xd10 or msr:0xd10, pci:10.0+0xd8 or 0000:ff:10.0+0xd8, mmio:mem0+0x22840";
    for (text, problem) in [
        ("0x100000000", "MSR numbers have 32 bits"),
        ("msr:d10", "it is no number"),
        ("abc", "it is no number"),
        ("mmio:mem0+x", "the offset is no number"),
        ("mem+4", "the memory window needs its number, as in mem0"),
        ("mem300+4", "the memory window needs its number, as in mem0"),
        ("pci:10.0", "the offset after a \"+\" is missing"),
        ("10.0+y", "the offset is no number"),
        ("10.0+0x1000", "offsets end at 0xfff"),
        ("20.0+0", "devices end at 31 (0x1f) and functions at 7"),
        ("D32:F0+0", "devices end at 31 (0x1f) and functions at 7"),
        ("D0:F8+0", "devices end at 31 (0x1f) and functions at 7"),
        ("10.8+0", "devices end at 31 (0x1f) and functions at 7"),
        ("10.10+0", "it names no PCI function"),
        ("100.0+0", "it names no PCI function"),
        ("fff:10.0+0", "it names no PCI function"),
        ("10000:ff:10.0+0", "it names no PCI function"),
        ("g:10.0+0", "it names no PCI function"),
        ("0:g:10.0+0", "it names no PCI function"),
        ("pci:D1+0", "it names no PCI function"),
        ("D1:G0+0", "it names no PCI function"),
        ("E1:F0+0", "it names no PCI function"),
        ("DA:F0+0", "it names no PCI function"),
    ] {
        assert_eq!(parsed(text), Err(format!("{text:?} is no address: {problem}; {forms}")), "{text}");
    }
}
