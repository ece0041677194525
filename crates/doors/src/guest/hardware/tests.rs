use std::sync::{Arc, Mutex};

use pericore_machine::MachineSpec;

use super::*;
use crate::Idle;

const SECOND: Duration = Duration::from_secs(1);

fn machine(text: &str) -> Hardware {
    let chassis = MachineSpec::parse(text).unwrap().chassis().unwrap();
    Hardware::new(chassis, Box::new(Idle), 1_000_000_000)
}

/// A configuration read of segment 0.
fn read(place: (u8, u8, u8), offset: u16, width: Width) -> Operation {
    Operation::Read { address: Address::Pci { bdf: Bdf::new(place.0, place.1, place.2), offset }, width }
}

fn write_msr(msr: u32, value: u64) -> Operation {
    Operation::Write { address: Address::Msr { cpu: 0, msr }, width: Width::B8, value }
}

/// The base of segment GS (SDM 4: MSR 0xC0000101) is the guest CPU's, whatever the uncore's rules are: its kernel
/// ends at once without it. A counter of CBo 0 (guide of the E5-2600, Table 2-10: 0xD16) is the machine's.
#[test]
fn lenient_hardware_leaves_the_guests_cpu_its_own_registers() {
    for rules in ["documented", "strict", "lenient"] {
        let mut hardware = machine(&format!("e5-2600:rules={rules}"));
        assert_eq!(hardware.access(write_msr(0xc000_0101, 0x1234), SECOND), None, "{rules}");
        assert_eq!(hardware.access(write_msr(0xd16, 5), SECOND), Some(Ok(0)), "{rules}");
    }
}

/// The time-stamp counter (SDM 4: 0x10) is the guest CPU's, and so is what no part of the machine has.
#[test]
fn the_guests_cpu_keeps_its_clock() {
    let mut hardware = machine("e5-2600");
    for msr in [0x10, 0x1234_5678] {
        let address = Address::Msr { cpu: 0, msr };
        assert_eq!(hardware.access(Operation::Read { address, width: Width::B8 }, SECOND), None, "{msr:#x}");
    }
}

/// The home agent is D14:F1 (guide of the E5-2600, Table 2-28), the memory controller's first channel D16:F0 (Table
/// 2-57), on the socket's own bus; device 20 has nothing. Bus 0 and other segments are QEMU's where the machine has no
/// function.
#[test]
fn empty_places_of_the_machines_buses_read_as_all_ones_and_others_are_qemus() {
    let mut hardware = machine("e5-2600");
    let bus = *hardware.buses().last().unwrap();
    let mut at = |operation| hardware.access(operation, SECOND);
    let vendor = |value: Option<Outcome<u64>>| value.map(|outcome| outcome.unwrap() & 0xffff);
    assert_eq!(vendor(at(read((bus, 16, 0), 0, Width::B2))), Some(0x8086));
    assert_eq!(vendor(at(read((bus, 20, 0), 0, Width::B2))), Some(0xffff));
    assert_eq!(vendor(at(read((bus, 16, 2), 0, Width::B2))), Some(0xffff));
    assert_eq!(at(read((0, 31, 0), 0, Width::B2)), None);
    assert_eq!(at(read((bus - 1, 16, 0), 0, Width::B2)), None);
    let elsewhere = Bdf { segment: 1, ..Bdf::new(bus, 16, 0) };
    let address = Address::Pci { bdf: elsewhere, offset: 0 };
    assert_eq!(at(Operation::Read { address, width: Width::B2 }), None);
}

/// Without a function 0 that says that there are more, a scan of the bus would not look at function 1 (PCI Local Bus
/// 3.0, 6.2.1: bit 7 of the header's type, at 0xE; class at 0xB). Its byte comes out of the dword that it is in.
#[test]
fn a_slot_without_function_0_is_scanned_all_the_same() {
    let mut hardware = machine("e5-2600:hidden=imc0");
    let bus = *hardware.buses().last().unwrap();
    let mut byte = |offset| hardware.access(read((bus, 16, 0), offset, Width::B1), SECOND).unwrap().unwrap() & 0xff;
    assert_eq!([0, 1, 0xb, 0xe, 0x40].map(&mut byte), [0x86, 0x80, 0x08, 0x80, 0]);
}

/// Keeps the ticks up to which traffic is brought.
struct Ticks(Arc<Mutex<Vec<u64>>>);

impl Traffic for Ticks {
    fn advance(&mut self, _: &mut Chassis, _: &Operation, to: u64) {
        self.0.lock().unwrap().push(to);
    }
}

/// 2.5 ticks a nanosecond. Two doors read the clock, and the one that is late turns no time back.
#[test]
fn time_is_in_the_machines_ticks_and_never_goes_back() {
    let ticks = Arc::new(Mutex::new(Vec::new()));
    let chassis = MachineSpec::parse("e5-2600").unwrap().chassis().unwrap();
    let mut hardware = Hardware::new(chassis, Box::new(Ticks(Arc::clone(&ticks))), 2_500_000_000);
    for nanoseconds in [2, 4_000_000_001, 3, 4_000_000_003] {
        hardware.access(write_msr(0xd16, 1), Duration::from_nanos(nanoseconds));
    }
    assert_eq!(*ticks.lock().unwrap(), [5, 10_000_000_002, 10_000_000_002, 10_000_000_007]);
}

/// Kept are accesses that reached a register: no headers, which a scan reads by the thousand, and no MSR that is not
/// there.
#[test]
fn accesses_are_kept_but_for_headers() {
    let mut hardware = machine("e5-2600");
    let bus = *hardware.buses().last().unwrap();
    let control = read((bus, 16, 0), 0xd8, Width::B4);
    hardware.access(control, SECOND);
    assert!(hardware.accesses().is_empty(), "nothing was to be kept yet");
    hardware.keep_accesses();
    let missing = Operation::Read { address: Address::Msr { cpu: 0, msr: 0x1234_5678 }, width: Width::B8 };
    for operation in [control, read((bus, 16, 0), 0x3c, Width::B4), missing, write_msr(0xd16, 7)] {
        hardware.access(operation, SECOND);
    }
    let kept: Vec<Operation> = hardware.accesses().iter().map(|access| access.operation).collect();
    assert_eq!(kept, [control, write_msr(0xd16, 7)]);
}

/// Memory of units responds within the windows that the guest is ticks of, and nowhere beside them.
#[test]
fn windows_are_where_memory_responds() {
    let mut hardware = machine("emerald-rapids");
    let windows = hardware.windows().to_vec();
    assert!(!windows.is_empty());
    let mut responds = |physical| {
        let read = Operation::Read { address: Address::Mmio { physical }, width: Width::B4 };
        hardware.access(read, SECOND).unwrap().is_ok()
    };
    for window in windows {
        assert_eq!((window.start % 0x80_0000, window.end % 0x80_0000), (0, 0), "{window:x?}");
        assert!(responds(window.start) && responds(window.end - 0x80_0000), "{window:x?}");
        assert!(!responds(window.start - 0x80_0000) && !responds(window.end), "{window:x?}");
    }
    assert!(machine("e5-2600").windows().is_empty(), "an E5-2600 has no unit in memory");
}
