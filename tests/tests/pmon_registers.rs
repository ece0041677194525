//! Every register of the tables is where they say, as wide as they say, and keeps what it may.

#[path = "pmon/raw.rs"]
mod raw;
#[path = "pmon/rows.rs"]
#[allow(dead_code, reason = "only the places are needed here")]
mod rows;

use pericore_registers::{Address, Bdf, RegisterSpace, Width};
use raw::Raw;

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
