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
