//! Machines that differ from the documented one, and software that must not care, or must notice.

use pericore_machine::chassis::{Block, Chassis, Faults, Intrusion, Rules, Shape, Variant};
use pericore_machine::signal::Wiring;
use pericore_registers::{AccessError, Address, Bdf, RegisterSpace, Width};
use pericore_tests::pmon::raw::{CYCLE, Raw};

fn machine(family: &str, variant: &Variant) -> Raw {
    let mut raw = Raw::with_period(family, 2, CYCLE);
    let shape: Shape = raw.machine.shape().clone();
    let wiring = Wiring::new(shape.family, 2);
    raw.machine = Chassis::new(shape, wiring, |_| CYCLE).with_variant(variant).expect("the blocks are there");
    raw
}

fn faults(faults: Faults) -> Variant {
    Variant { faults, ..Variant::default() }
}

const fn channel(offset: u16) -> Address {
    Address::Pci { bdf: Bdf::new(0x7f, 16, 1), offset }
}

/// 2.1.1 as the guide has it: the same counts on every sound machine.
#[test]
fn a_documented_session_is_the_same_everywhere() {
    for rules in [Rules::Documented, Rules::Strict, Rules::Lenient] {
        let mut raw = machine("e5-2600", &Variant { rules, ..Variant::default() });
        let wire = raw.wire("cbo", 0, "llc_victim");
        let modified = raw.tag("cbo", "llc_victim", &[("state", 3)]);
        for (msr, value) in [
            (0xd04, 0x1_0000),
            (0xd04, 0x1_0100),
            (0xd11, 0x40_0000),
            (0xd11, 0x40_0137),
            (0xd04, 0x1_0102),
            (0xd04, 0x1_0000),
        ] {
            raw.wrmsr(msr, value);
        }
        raw.pulse(wire, modified, 5, 3);
        raw.at(10);
        assert_eq!(raw.rdmsr(0xd17), 3, "{rules:?}");
        assert_eq!(raw.rdmsr(0xd11), 0x40_0137);
    }
}

#[test]
fn the_strict_machine_refuses_what_is_undefined() {
    let mut raw = machine("e5-2600", &Variant { rules: Rules::Strict, ..Variant::default() });
    let msr = Address::Msr { cpu: 0, msr: 0xd10 };
    let mut refused =
        |value| raw.machine.write(msr, Width::B8, value) == Err(AccessError::GeneralProtection { address: msr });
    assert!(refused(1 << 21), "reserved");
    assert!(refused(1 << 32), "beyond the register");
    assert!(refused(0x0040_00fe), "no such event");
    assert!(refused(0x0044_0135), "edge detection without a threshold");
    assert!(!refused(0x0144_0135), "with one");
    assert!(!refused(0x0040_0000), "an enabled control may wait for its event");
    // Reset bits that the home agent does not have (Table 2-34): real drivers write them.
    let unit_ctl = Address::Pci { bdf: Bdf::new(0x7f, 14, 1), offset: 0xf4 };
    let Err(AccessError::Io { message, .. }) = raw.machine.write(unit_ctl, Width::B4, 0x1_0003) else {
        panic!("it is refused")
    };
    assert_eq!(message, "undefined: reserved bits 0x3 written as 1");
    assert_eq!(raw.machine.read(unit_ctl, Width::B4), Ok(0), "nothing was written");
}

#[test]
fn the_lenient_machine_lets_pass() {
    let mut raw = machine("e5-2600", &Variant { rules: Rules::Lenient, ..Variant::default() });
    assert_eq!(raw.rdmsr(0xd15), 0);
    raw.wrmsr(0xd15, 1);
    // TOR_OCCUPANCY belongs on counter 0.
    let tor = raw.wire("cbo", 0, "tor");
    raw.wrmsr(0xd13, 0x0040_0836);
    raw.enter(tor, 0, 10);
    raw.at(20);
    assert_eq!(raw.rdmsr(0xd19), 10);
    raw.machine.write(channel(0xa0), Width::B8, 0x1122_3344_5566).expect("a counter");
    assert_eq!(raw.machine.read(channel(0xa1), Width::B4), Ok(0x2233_4455));
    raw.machine.write(channel(0xa3), Width::B2, 0xbeef).expect("byte by byte");
    assert_eq!(raw.machine.read(channel(0xa0), Width::B8), Ok(0x11be_ef44_5566));
    assert!(raw.machine.read(channel(0xfff), Width::B4).is_err(), "not beyond the end");
}

#[test]
fn units_read_as_all_ones() {
    let mut raw =
        machine("emerald-rapids", &faults(Faults { all_ones: vec![Block::new(1, "cha", 3)], ..Faults::default() }));
    assert_eq!([0x2030, 0x2032, 0x2038].map(|msr| raw.rdmsr_on(8, msr)), [u64::MAX; 3]);
    raw.wrmsr_on(8, 0x2032, 1);
    assert_eq!(raw.rdmsr_on(8, 0x2032), u64::MAX);
    assert_eq!((raw.rdmsr_on(0, 0x2032), raw.rdmsr_on(8, 0x2042)), (0, 0), "only that one");
}

#[test]
fn hidden_units_are_not_there() {
    let hidden = vec![Block::new(0, "cha", 3), Block::new(0, "upi", 1), Block::new(0, "imc", 0)];
    let mut raw = machine("emerald-rapids", &faults(Faults { hidden, ..Faults::default() }));
    let gone = Address::Msr { cpu: 0, msr: 0x2038 };
    assert_eq!(raw.machine.read(gone, Width::B8), Err(AccessError::GeneralProtection { address: gone }));
    assert_eq!((raw.pci(0x7e, 2, 1, 0), raw.pci(0x7e, 3, 1, 0)), (u32::MAX, 0x3241_8086));
    assert_eq!(raw.memory(0xf002_2808, Width::B8), u64::MAX);
    assert_eq!(raw.memory(0xf002_a808, Width::B8), 0);
    assert_eq!(raw.rdmsr_on(8, 0x2038), 0, "the other socket has them");
}

#[test]
fn stuck_counters() {
    let mut raw =
        machine("e5-2600", &faults(Faults { stuck: vec![(Block::new(0, "cbo", 2), 1)], ..Faults::default() }));
    raw.wrmsr(0xd50, 0x0040_0000);
    raw.wrmsr(0xd51, 0x0040_0000);
    raw.wrmsr(0xd57, 5);
    raw.at(100);
    assert_eq!((raw.rdmsr(0xd56), raw.rdmsr(0xd57)), (100, 5));
}

/// CBo 2: ctr1 has 32 bits of 44 (Table 2-11), so 0xffff_fff0 and 100 cycles come to 0x54; CBo 3's clock is halved,
/// CBo 4 is frozen.
#[test]
fn counters_that_are_short_slow_or_frozen() {
    let (short, block) = ((Block::new(0, "cbo", 2), 1, 32), |number| vec![Block::new(0, "cbo", number)]);
    let variant = faults(Faults { widths: vec![short], halved: block(3), frozen: block(4), ..Faults::default() });
    let mut raw = machine("e5-2600", &variant);
    for control in [0xd50, 0xd51, 0xd70, 0xd90] {
        raw.wrmsr(control, 0x0040_0000);
    }
    raw.wrmsr(0xd56, 0xffff_fff0);
    raw.wrmsr(0xd57, 0xffff_fff0);
    raw.wrmsr(0xd96, 5);
    raw.at(100);
    assert_eq!((raw.rdmsr(0xd56), raw.rdmsr(0xd57)), (0x1_0000_0054, 0x54));
    assert_eq!((raw.rdmsr(0xd76), raw.rdmsr(0xd96)), (50, 5));
    raw.wrmsr(0xd57, 0xfff_0000_0007);
    assert_eq!(raw.rdmsr(0xd57), 7);
}

/// ctr1 of CBo 2 at the address of ctr2, too; CBo 5 at the addresses of CBo 6, CBos 0 and 1 exchanged.
#[test]
fn registers_at_wrong_addresses() {
    let block = |number| Block::new(0, "cbo", number);
    let variant = faults(Faults {
        misplaced_counters: vec![((block(2), 2), (block(2), 1))],
        misplaced: vec![(block(6), block(5))],
        swapped: vec![(block(0), block(1))],
        ..Faults::default()
    });
    let mut raw = machine("e5-2600", &variant);
    raw.wrmsr(0xd58, 5);
    assert_eq!((raw.rdmsr(0xd57), raw.rdmsr(0xd58)), (5, 5));
    // The control of CBo 6 is that of CBo 5: so its counter runs.
    raw.wrmsr(0xdd0, 0x0040_0000);
    let wire = raw.wire("cbo", 0, "llc_victim");
    let modified = raw.tag("cbo", "llc_victim", &[("state", 3)]);
    raw.wrmsr(0xd30, 0x40_0137);
    raw.wrmsr(0xd10, 0x40_0137);
    raw.pulse(wire, modified, 5, 3);
    raw.at(10);
    assert_eq!((raw.rdmsr(0xdb6), raw.rdmsr(0xdd6)), (10, 10));
    assert_eq!(
        (raw.rdmsr(0xd16), raw.rdmsr(0xd36)),
        (0, 3),
        "victims of slice 0 are counted at the addresses of slice 1"
    );
}

/// Somebody writes our control every 50 cycles; between, it is as we left it. What it counts changes at once, even between two looks.
#[test]
fn an_intruder_rewrites_controls() {
    let intrusion = Intrusion {
        first: 50 * CYCLE,
        every: 50 * CYCLE,
        address: Address::Msr { cpu: 3, msr: 0xd10 },
        width: Width::B8,
        value: 0,
    };
    let mut raw = machine("e5-2600", &faults(Faults { intrusions: vec![intrusion], ..Faults::default() }));
    raw.wrmsr(0xd10, 0x0040_0000);
    raw.at(40);
    assert_eq!((raw.rdmsr(0xd10), raw.rdmsr(0xd16)), (0x0040_0000, 40));
    raw.at(80);
    assert_eq!((raw.rdmsr(0xd10), raw.rdmsr(0xd16)), (0, 50));
    raw.wrmsr(0xd10, 0x0040_0000);
    raw.at(90);
    assert_eq!(raw.rdmsr(0xd16), 60);
    raw.at(1000);
    assert_eq!((raw.rdmsr(0xd10), raw.rdmsr(0xd16)), (0, 70));
}

/// Writes that take 10 cycles: a read straight after shows the old value, a freeze comes late, order is kept.
#[test]
fn delayed_writes() {
    let mut raw = machine("e5-2600", &faults(Faults { write_delay: 10 * CYCLE, ..Faults::default() }));
    raw.wrmsr(0xd10, 0x0040_0000);
    assert_eq!(raw.rdmsr(0xd10), 0);
    raw.at(10);
    assert_eq!(raw.rdmsr(0xd10), 0x0040_0000);
    raw.at(100);
    raw.wrmsr(0xd04, 0x1_0100);
    raw.wrmsr(0xd16, 7);
    raw.at(105);
    assert_eq!(raw.rdmsr(0xd16), 95);
    raw.at(500);
    assert_eq!(raw.rdmsr(0xd16), 7, "frozen at 110, then written");
    let absent = Address::Msr { cpu: 0, msr: 0xd15 };
    assert!(raw.machine.write(absent, Width::B8, 0).is_err(), "what is not there is refused at once");
}

/// The hostile machine is the same for the same seed, and stands any access.
#[test]
fn hostile_machines_stand() {
    for family in ["nehalem", "e5-2600", "emerald-rapids"] {
        let raw = Raw::with_period(family, 2, CYCLE);
        for seed in 0..20 {
            let variant = Variant::hostile(raw.machine.wiring(), seed);
            assert_eq!(variant, Variant::hostile(raw.machine.wiring(), seed));
            assert_ne!(variant, Variant::hostile(raw.machine.wiring(), seed + 1));
            let mut raw = machine(family, &variant);
            let places: Vec<_> = raw.machine.registers().collect();
            for place in places {
                let _ = raw.machine.poke(&place, place.width.mask());
                let _ = raw.machine.peek(&place);
            }
            raw.at(1_000_000);
        }
    }
}

/// A fault names a block that is not there.
#[test]
fn unknown_blocks_are_refused() {
    for block in [Block::new(0, "cbx", 0), Block::new(0, "cbo", 8), Block::new(2, "cbo", 0)] {
        let family = pericore_catalog::family("e5-2600").expect("in the catalogue");
        let shape = Shape::new(family, 2, 8, 1).expect("two sockets");
        let variant = faults(Faults { hidden: vec![block.clone()], ..Faults::default() });
        assert!(Chassis::new(shape, Wiring::new(family, 2), |_| 8).with_variant(&variant).is_err(), "{block:?}");
    }
}
