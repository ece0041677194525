//! Addresses and widths of every register of every instance, against the documents' tables.

use std::collections::BTreeMap;

use pericore_catalog::{AddressSpace, Location, Register, Unit, family};

use super::table::Table;

/// Space, address and width.
type Place = (String, String, u64);

/// Registers of Emerald Rapids that no table gives: found by discovery, or known from Linux and PCM.
const WITHOUT_TABLE: [(&str, &[&str]); 3] = [
    ("cxlcm", &["unit_ctl", "unit_status", "ctl", "ctr"]),
    ("cxldp", &["unit_ctl", "unit_status", "ctl", "ctr"]),
    ("ubox", &["unit_ctl", "unit_status", "ctl", "ctr", "cha_count"]),
];

#[test]
fn nehalem_registers_lie_where_the_manual_says() {
    check("nehalem", "nehalem-registers.csv", &[]);
}

#[test]
fn e5_2600_registers_lie_where_the_guide_says() {
    check("e5-2600", "e5-2600-registers.csv", &[]);
}

#[test]
fn emerald_rapids_registers_lie_where_the_guide_says() {
    check("emerald-rapids", "emerald-rapids-registers.csv", &WITHOUT_TABLE);
}

/// Unit, register, its address in the first instance, from there to the next, and number of instances.
type Rows = (&'static str, &'static str, u32, u32, u32);

/// From Linux (uncore_snbep.c: spr_*), PCM (SPR_*) and LIKWID (numbers of CHAs and fabric blocks), not from the
/// guide of the sibling.
const SAPPHIRE_RAPIDS_MSRS: [Rows; 14] = [
    ("cha", "unit_ctl", 0x2000, 0x10, 60),
    ("cha", "ctl0", 0x2002, 0x10, 60),
    ("cha", "ctr0", 0x2008, 0x10, 60),
    ("cha", "filter", 0x200E, 0x10, 60),
    ("iio", "unit_ctl", 0x3000, 0x10, 12),
    ("iio", "ctl0", 0x3002, 0x10, 12),
    ("iio", "ctr3", 0x300B, 0x10, 12),
    ("iio", "free_ioclk", 0x340E, 0x10, 12),
    ("iio", "free_bw_in0", 0x3800, 0x10, 12),
    ("iio", "free_bw_out7", 0x380F, 0x10, 12),
    ("ubox", "unit_ctl", 0x2FD0, 0, 1),
    ("ubox", "ctr1", 0x2FD9, 0, 1),
    ("ubox", "fixed_ctr", 0x2FDF, 0, 1),
    ("ubox", "cha_count", 0x2FFE, 0, 1),
];

/// Unit, register, device of the first link, function, offset, and number of links: Linux and PCM.
const SAPPHIRE_RAPIDS_LINKS: [(&str, &str, u32, u32, u32, u32); 6] = [
    ("upi", "unit_ctl", 1, 1, 0x318, 4),
    ("upi", "ctl0", 1, 1, 0x350, 4),
    ("upi", "ctr0", 1, 1, 0x320, 4),
    ("m3upi", "unit_ctl", 5, 1, 0xA0, 4),
    ("m3upi", "ctl0", 5, 1, 0xD8, 4),
    ("m3upi", "ctr0", 5, 1, 0xA8, 4),
];

#[test]
fn sapphire_rapids_registers_lie_where_linux_and_pcm_have_them() {
    let family = family("sapphire-rapids").expect("the family is there");
    let mut ours = BTreeMap::new();
    for unit in family.units {
        unit.registers.iter().for_each(|register| collect(unit, register, &mut ours));
    }
    let of = |unit: &str, register: &str| {
        let mine = |(key, _): &(&(String, u64, String), &Place)| key.0 == unit && key.2 == register;
        ours.iter().filter(mine).map(|(_, place)| place.1.clone()).collect::<Vec<_>>()
    };
    for (unit, register, first, step, count) in SAPPHIRE_RAPIDS_MSRS {
        let expected: Vec<_> = (0..count).map(|instance| format!("0x{:X}", first + step * instance)).collect();
        assert_eq!(of(unit, register), expected, "{unit}.{register}");
    }
    for (unit, register, device, function, offset, count) in SAPPHIRE_RAPIDS_LINKS {
        let expected: Vec<_> = (0..count).map(|link| format!("{}.{function}+0x{offset:X}", device + link)).collect();
        assert_eq!(of(unit, register), expected, "{unit}.{register}");
    }
    // The discovery table of such a machine lists eight channels, and 40 blocks of the fabric between the dies.
    assert_eq!((of("imc", "unit_ctl").len(), of("mdf", "unit_ctl").len()), (8, 40));
    let ids = ["m2m", "upi", "m3upi"].map(|name| family.unit(name).expect("it is there").placements[0].device_ids);
    assert_eq!(ids, [[0x324A], [0x3241], [0x3246]]);
}

fn check(name: &str, file: &str, without_table: &[(&str, &[&str])]) {
    let mut ours = BTreeMap::new();
    for unit in family(name).expect("the family is there").units {
        let known =
            without_table.iter().find(|(other, _)| *other == unit.name).map_or(&[][..], |(_, registers)| registers);
        for register in unit.registers.iter().filter(|register| !known.contains(&register.name)) {
            collect(unit, register, &mut ours);
        }
    }
    let table = Table::read(file);
    for row in table.rows() {
        let instance = row.number("instance").expect("an instance");
        let key = (row.text("unit").to_owned(), instance, row.text("register").to_owned());
        let expected: Place =
            (row.text("space").to_owned(), row.text("address").to_owned(), row.number("width").expect("a width"));
        assert_eq!(ours.remove(&key), Some(expected), "{name} {key:?} of {}", row.text("source"));
    }
    assert!(ours.is_empty(), "{name}: registers that {file} has not: {ours:#?}");
}

fn collect(unit: &Unit, register: &Register, found: &mut BTreeMap<(String, u64, String), Place>) {
    let placement = &unit.placements[usize::from(register.placement)];
    let space = match placement.space {
        AddressSpace::Msr => "msr",
        AddressSpace::PciConfig => "pcicfg",
        AddressSpace::Mmio => "mmio",
    };
    for (instance, location) in placement.instances.iter().enumerate() {
        for member in 0..register.count {
            let offset = register.offset + u32::from(register.stride) * u32::from(member);
            let address = match location {
                Location::Msr { base } => format!("0x{:X}", base + offset),
                Location::Pci { device, function } => format!("{device}.{function}+0x{offset:X}"),
                Location::Mmio { bar, index, offset: base } => format!("{bar}{index}+0x{:X}", base + u64::from(offset)),
            };
            let key = (unit.name.to_owned(), instance as u64, register.member_name(member));
            let place = (space.to_owned(), address, u64::from(register.width));
            assert!(found.insert(key.clone(), place).is_none(), "{key:?} twice");
        }
    }
}
