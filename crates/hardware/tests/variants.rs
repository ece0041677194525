//! Machines that deny, and machines that are strict: what a client of raw registers gets. Addresses and values by hand
//! from the guides.

use pericore_hardware::chassis::{Chassis, Denied, Rules, Shape, Variant};
use pericore_hardware::signal::Wiring;
use pericore_registers::{AccessError, Address, Bdf, RegisterSpace, Width};

fn machine(family: &str, variant: &Variant) -> Chassis {
    let family = pericore_catalog::family(family).expect("the family is in the catalogue");
    let shape = Shape::new(family, 1, 8, 2).expect("a machine of that size");
    Chassis::new(shape, Wiring::new(family, 1), |_| 8).with_variant(variant).expect("a variant")
}

/// A unit control in an MSR, a function's header and a register behind it, the clock's control of a memory controller
/// (0x22854, Table 1-12).
const MSR: Address = Address::Msr { cpu: 0, msr: 0x2000 };
const MEMORY: Address = Address::Mmio { physical: 0xf002_2854 };
const fn link(offset: u16) -> Address {
    Address::Pci { bdf: Bdf::new(0xfe, 1, 1), offset }
}

/// As Linux under lockdown: PCI configuration space can be read by everybody up to byte 64 and written by nobody, MSRs
/// can be read.
#[test]
fn what_is_denied_fails_and_changes_nothing() {
    let reads =
        [(MSR, Width::B8), (link(0), Width::B4), (link(60), Width::B4), (link(64), Width::B4), (MEMORY, Width::B4)];
    let writes = [(MSR, Width::B8, 1), (link(0x318), Width::B4, 1), (MEMORY, Width::B4, 1 << 22)];
    for (word, read, written) in [
        ("mem", [true, true, true, true, false], [true, true, false]),
        ("pci", [true, true, true, false, true], [true, false, true]),
        ("msr-write", [true; 5], [false, true, true]),
    ] {
        let mut denied = Denied::default();
        assert_eq!((denied.add(word), denied.add("everything")), (Some(()), None));
        let mut machine = machine("emerald-rapids", &Variant { denied, ..Variant::default() });
        let is_permission = |error: &AccessError| matches!(error, AccessError::Permission { .. });
        for ((address, width), is_read) in reads.into_iter().zip(read) {
            let outcome = machine.read(address, width);
            assert!(outcome.as_ref().map_or_else(is_permission, |_| true), "{word} {address}: {outcome:?}");
            assert_eq!(outcome.is_ok(), is_read, "{word} {address}");
        }
        for ((address, width, value), is_written) in writes.into_iter().zip(written) {
            assert_eq!(
                machine.write(address, width, value).as_ref().err().map(is_permission),
                (!is_written).then_some(true),
                "{word} {address}"
            );
        }
        // The same state, seen past what is denied.
        let dump = machine.dump().replace(&format!("denied {word}\n"), "");
        let mut free = Chassis::load(&dump).expect("a snapshot");
        for ((address, width, value), is_written) in writes.into_iter().zip(written) {
            assert_eq!(free.read(address, width), Ok(if is_written { value } else { 0 }), "{word} {address}");
        }
    }
}

/// Bits that the guide calls ignored may be written as 1 (Tables 2-129 and 2-130: 31:23 of the clock's control, 63:48
/// of its counter at 0x22838); of a CHA's counter they are reserved.
#[test]
fn a_strict_machine_takes_ignored_bits() {
    let mut machine = machine("emerald-rapids", &Variant { rules: Rules::Strict, ..Variant::default() });
    machine.write(MEMORY, Width::B4, 0xffc0_0000).expect("ignored bits and the enable");
    assert_eq!(machine.read(MEMORY, Width::B4).map(|control| control >> 22 & 1), Ok(1));
    let counter = Address::Mmio { physical: 0xf002_2838 };
    machine.write(MEMORY, Width::B4, 0).expect("a stop");
    machine.write(counter, Width::B8, 0xffff_0000_0000_1234).expect("ignored bits");
    assert_eq!(machine.read(counter, Width::B8), Ok(0x1234));
    let counter = Address::Msr { cpu: 0, msr: 0x2008 };
    assert_eq!(machine.write(counter, Width::B8, 1 << 48), Err(AccessError::GeneralProtection { address: counter }));
}

/// A lenient machine takes cycles of any alignment: the bytes are those of aligned ones.
#[test]
fn a_lenient_machine_takes_any_alignment() {
    let mut machine = machine("e5-2600", &Variant { rules: Rules::Lenient, ..Variant::default() });
    let at = |offset| Address::Pci { bdf: Bdf::new(0xff, 16, 4), offset };
    machine.write(at(0xa0), Width::B8, 0x0000_1122_3344_5566).expect("a counter");
    assert_eq!(
        [0xa1, 0xa2, 0xa3].map(|offset| machine.read(at(offset), Width::B4)),
        [0x2233_4455, 0x1122_3344, 0x0011_2233].map(Ok)
    );
    machine.write(at(0xa1), Width::B2, 0xbeef).expect("a counter");
    assert_eq!(machine.read(at(0xa0), Width::B8), Ok(0x0000_1122_33be_ef66));
}
