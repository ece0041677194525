//! Every register of the tables is where they say, as wide as they say, and keeps what it may.

use pericore_registers::{AccessError, Address, Bdf, RegisterSpace, Width};
use pericore_tests::pmon::raw::{self, Raw};
use pericore_tests::pmon::rows;

fn address(text: &str, bus: u8) -> Address {
    let hex = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).expect("a number");
    if let Some(rest) = text.strip_prefix("mem") {
        let (controller, offset) = rest.split_once('+').expect("memN+0x…");
        // Where 1.10.3 finds the controllers of a lone socket (golden_emerald_rapids_discovery).
        return Address::Mmio { physical: 0xf000_0000 + 0x8_0000 * hex(controller) + hex(offset) };
    }
    match text.split_once('+') {
        Some((function, offset)) => {
            let (device, function) = function.split_once('.').expect("device.function");
            // The functions of device 30 lie on the next bus (catalog/undefined.toml).
            let bus = if device == "30" { bus + 1 } else { bus };
            Address::Pci {
                bdf: Bdf::new(bus, device.parse().expect("a device"), function.parse().expect("a function")),
                offset: hex(offset) as u16,
            }
        }
        None => Address::Msr { cpu: 0, msr: hex(text) as u32 },
    }
}

#[test]
fn every_register_is_in_its_place() {
    for (family, bus) in [("nehalem", 0xff), ("e5-2600", 0xff), ("emerald-rapids", raw::B30)] {
        let places = rows::places(family);
        assert!(places.len() > 20, "{family}");
        for ((unit, instance, register), (text, bits)) in places {
            let mut raw = Raw::new(family, 1);
            let name = format!("{family} {unit}{instance} {register} at {text}");
            let address = address(&text, bus);
            let width = if matches!(address, Address::Msr { .. }) || bits == 64 { Width::B8 } else { Width::B4 };
            let located = raw.machine.locate(address).unwrap_or_else(|| panic!("{name}: nothing there"));
            assert_eq!((located.0, located.2), (0, 0), "{name}: not its first byte");
            raw.machine.write(address, width, u64::MAX).unwrap_or_else(|error| panic!("{name}: {error}"));
            let value = raw.machine.read(address, width).unwrap_or_else(|error| panic!("{name}: {error}"));
            if bits < 64 {
                assert_eq!(value >> bits, 0, "{name}: wider than {bits}");
            }
            // The kinds of register whose kept bits follow from the tables common to all units.
            let counter = register.starts_with("ctr") || register == "fixed_ctr";
            if counter {
                let counter_bits =
                    if family == "e5-2600" && matches!(unit.as_str(), "cbo" | "ubox" | "r2pcie" | "r3qpi") {
                        44
                    } else {
                        48
                    };
                let bits = if register == "fixed_ctr" { 48 } else { counter_bits };
                assert_eq!(value, (1 << bits) - 1, "{name}");
            }
            if register.starts_with("ctl") {
                assert_eq!(value & 0xff, 0xff, "{name}: event select");
                assert_eq!(value & 1 << 17, 0, "{name}: rst reads as 0");
            }
            if register == "unit_ctl" {
                let kept = if family == "emerald-rapids" { 0x1 } else { 0x1_0100 };
                assert_eq!(value, kept, "{name}: freezes are kept, resets are not");
            }
        }
    }
}

/// Cycles that a bus has, and those that it has not.
#[test]
fn cycles() {
    let mut raw = Raw::new("emerald-rapids", 1);
    let counter = 0xf002_2808;
    let mut read = |address, width| raw.machine.read(address, width);
    let memory = |physical| Address::Mmio { physical };
    let pci = |offset| Address::Pci { bdf: Bdf::new(raw::B30, 1, 1), offset };
    assert_eq!(read(memory(counter), Width::B8), Ok(0));
    for (address, width) in [
        (memory(counter + 4), Width::B8),
        (memory(counter + 2), Width::B4),
        (memory(counter + 1), Width::B2),
        (pci(0x322), Width::B4),
        (pci(0x322), Width::B8),
        (pci(0x321), Width::B2),
        (pci(0xffc), Width::B8),
        (pci(0xffff), Width::B1),
        (Address::Msr { cpu: 0, msr: 0x2000 }, Width::B4),
    ] {
        assert_eq!(read(address, width), Err(AccessError::BadCycle { address, width }));
    }
    raw.machine.write(memory(counter), Width::B8, 0x1122_3344_5566).expect("a counter");
    raw.machine.write(memory(counter + 3), Width::B1, 0xee).expect("a byte");
    raw.machine.write(memory(counter + 4), Width::B2, 0xabcd).expect("two bytes");
    let parts = [(0, Width::B1), (1, Width::B1), (2, Width::B2), (4, Width::B4), (6, Width::B2), (0, Width::B8)];
    let parts = parts.map(|(byte, width)| raw.machine.read(memory(counter + byte), width));
    assert_eq!(parts, [0x66, 0x55, 0xee44, 0xabcd, 0, 0xabcd_ee44_5566].map(Ok));
    // Nothing in configuration space, nothing in a window of memory, nothing at all.
    assert_eq!(raw.machine.read(pci(0x700), Width::B8), Ok(0));
    assert_eq!(raw.machine.read(memory(0xf003_0000), Width::B8), Ok(0));
    let nowhere = memory(0x1000);
    assert_eq!(raw.machine.read(nowhere, Width::B4), Err(AccessError::Unreachable { address: nowhere }));
    let absent = Address::Pci { bdf: Bdf::new(0xfe, 31, 7), offset: 0 };
    assert_eq!(raw.machine.read(absent, Width::B8), Ok(u64::MAX));
}

/// Doors serve many threads: a machine can go from one to another.
#[test]
fn a_machine_can_change_threads() {
    let mut raw = Raw::new("e5-2600", 1);
    raw.wrmsr(0xd10, 0x0040_0000);
    let machine = std::thread::spawn(move || {
        let mut machine = raw.machine;
        machine.set_now(80);
        machine
    });
    let mut machine = machine.join().expect("it does not panic");
    assert_eq!(machine.read(Address::Msr { cpu: 0, msr: 0xd16 }, Width::B8), Ok(10));
}
