//! Emerald Rapids, how software finds the monitors: 1.7, 1.9, 1.10.1 to 1.10.3, by hand from the guide (817509-001).

use pericore_machine::chassis::{Chassis, DiscoveryFault, Faults, Shape, Variant};
use pericore_machine::signal::Wiring;
use pericore_registers::{Address, RegisterSpace, Width};
use pericore_tests::pmon::discovery::{Unit, walk};
use pericore_tests::pmon::raw::{B30, Raw};

/// Unit types of Linux's and PCM's tables.
const CHA: u16 = 0;
const IIO: u16 = 1;
const IRP: u16 = 2;
const M2PCIE: u16 = 3;
const PCU: u16 = 4;
const UBOX: u16 = 5;
const IMC: u16 = 6;
const M2M: u16 = 7;
const UPI: u16 = 8;
const M3UPI: u16 = 9;
const MDF: u16 = 11;
const CXLCM: u16 = 12;
const CXLDP: u16 = 13;

fn find(units: &[Unit], kind: u16, id: u16) -> Unit {
    *units.iter().find(|unit| (unit.kind, unit.id) == (kind, id)).unwrap_or_else(|| panic!("no unit {kind}.{id}"))
}

/// 1.10.1: the walk of PCI functions to the DVSEC, its BAR, and the table behind it.
#[test]
fn the_discovery_table_lists_every_block() {
    let mut raw = Raw::new("emerald-rapids", 1);
    let mut tables = walk(&mut raw);
    assert_eq!(tables.len(), 1);
    let (_, table) = tables.remove(0);
    // Tables 1-8 and 1-13: global control 0x2FF0 in MSR space, status at 0x2FF2 and 0x2FF3.
    assert_eq!(
        (table.global_access, table.global_ctl, table.global_status_offset, table.num_status),
        (0, 0x2ff0, 2, 128)
    );
    // Table 1-7: how many of each.
    let counts = [
        (CHA, 64),
        (IIO, 10),
        (IRP, 10),
        (M2PCIE, 10),
        (PCU, 1),
        (UBOX, 1),
        (IMC, 8),
        (M2M, 4),
        (UPI, 4),
        (M3UPI, 4),
        (MDF, 14),
        (CXLCM, 6),
        (CXLDP, 6),
    ];
    for (kind, count) in counts {
        let mut ids: Vec<u16> = table.units.iter().filter(|unit| unit.kind == kind).map(|unit| unit.id).collect();
        ids.sort_unstable();
        assert_eq!(ids, (0..count).collect::<Vec<u16>>(), "unit type {kind}");
    }
    assert_eq!(table.units.len(), counts.iter().map(|&(_, count)| usize::from(count)).sum::<usize>());
    // Tables 1-9 and 1-12; PCI addresses packed as bus, device, function, offset.
    let pci = |device: u64, function: u64, offset: u64| u64::from(B30) << 20 | device << 15 | function << 12 | offset;
    let rows = [
        (CHA, 0, 0, 0x2000, 4, 0x2, 0x8, 0x1),
        (CHA, 63, 0, 0x23f0, 4, 0x2, 0x8, 0x1),
        (IIO, 9, 0, 0x3090, 4, 0x2, 0x8, 0x1),
        (IRP, 0, 0, 0x3400, 2, 0x2, 0x8, 0x1),
        (M2PCIE, 1, 0, 0x3210, 4, 0x2, 0x8, 0x1),
        (PCU, 0, 0, 0x2fc0, 4, 0x2, 0x8, 0x1),
        (UBOX, 0, 0, 0x2fd0, 2, 0x2, 0x8, 0x1),
        (M2M, 0, 2, pci(12, 0, 0x438), 4, 0x30, 0x8, 0x70),
        (UPI, 3, 2, pci(4, 1, 0x318), 4, 0x38, 0x8, 0x74),
        (M3UPI, 1, 2, pci(6, 1, 0xa0), 4, 0x38, 0x8, 0x58),
        (MDF, 13, 0, 0x29f0, 4, 0x2, 0x8, 0x1),
    ];
    for (kind, id, access, unit_ctl, num_regs, ctl_offset, ctr_offset, status_offset) in rows {
        let unit = find(&table.units, kind, id);
        let layout = (unit.access, unit.unit_ctl, unit.num_regs, unit.ctl_offset, unit.ctr_offset, unit.status_offset);
        assert_eq!(layout, (access, unit_ctl, num_regs, ctl_offset, ctr_offset, status_offset), "unit {kind}.{id}");
        assert_eq!(unit.bit_width, 48);
    }
    let channel = find(&table.units, IMC, 1);
    assert_eq!((channel.access, channel.ctl_offset, channel.ctr_offset, channel.status_offset), (1, 0x40, 0x8, 0x5c));
    // A status position for each block, as long as the bits last; the rest share the last.
    let mut positions: Vec<u16> = table.units.iter().map(|unit| unit.status_position).collect();
    positions.sort_unstable();
    let expected: Vec<u16> = (0..table.units.len() as u16).map(|position| position.min(127)).collect();
    assert_eq!(positions, expected);
}

/// What the table says is where the registers are: a control written through the record's address reads back there.
#[test]
fn the_records_lead_to_the_registers() {
    let mut raw = Raw::new("emerald-rapids", 2);
    for (_, table) in walk(&mut raw) {
        for unit in table.units {
            let control = unit.unit_ctl + unit.ctl_offset;
            let (address, width) = match unit.access {
                0 => (Address::Msr { cpu: 0, msr: control as u32 }, Width::B8),
                1 => (Address::Mmio { physical: control }, Width::B4),
                _ => {
                    let bdf = pericore_registers::Bdf::new(
                        (control >> 20) as u8,
                        (control >> 15 & 31) as u8,
                        (control >> 12 & 7) as u8,
                    );
                    (Address::Pci { bdf, offset: control as u16 & 0xfff }, Width::B4)
                }
            };
            raw.machine.write(address, width, 0x0700_0101).expect("the control is there");
            assert_eq!(raw.machine.read(address, width), Ok(0x0700_0101), "{unit:x?}");
            raw.machine.write(address, width, 0).expect("the control is there");
        }
    }
}

/// One table a socket, up to eight sockets.
#[test]
fn each_socket_has_its_table() {
    for sockets in [1, 2, 4, 8] {
        let mut raw = Raw::new("emerald-rapids", sockets);
        let tables = walk(&mut raw);
        let buses: Vec<u8> = tables.iter().map(|(bus, _)| *bus).collect();
        assert_eq!(buses, (0..sockets).map(|socket| (socket * (256 / sockets)) as u8).collect::<Vec<u8>>());
    }
}

/// 1.10.2: the U-Box of each socket, its node number, and the map from it to the socket.
#[test]
fn bus_numbers_come_from_the_ubox() {
    for sockets in [1, 2, 4, 8] {
        let mut raw = Raw::new("emerald-rapids", sockets);
        let mut package_to_bus = Vec::new();
        for bus in 0..=255 {
            for (device, function) in (0..32).flat_map(|device| (0..8).map(move |function| (device, function))) {
                // 0x3250, and its offsets 0xC0 and 0xD4: blank in the guide, from Linux.
                if raw.pci(bus, device, function, 0) == 0x3250_8086 {
                    let node = raw.pci(bus, device, function, 0xc0) & 7;
                    let mapping = raw.pci(bus, device, function, 0xd4);
                    let package = (0..8).find(|i| node == mapping >> (3 * i) & 7).expect("the node is mapped");
                    package_to_bus.push((package, bus));
                }
            }
        }
        package_to_bus.sort_unstable();
        let share = 256 / u32::from(sockets);
        let expected: Vec<(u32, u8)> =
            (0..sockets.into()).map(|socket| (socket, ((socket + 1) * share - 2) as u8)).collect();
        assert_eq!(package_to_bus, expected);
    }
}

/// 1.10.3: MMIO_BASE at 0xD0, MEMn_BAR from 0xD8, of device 0x3251 on the U-Box's bus; a channel's registers 0x8000 apart.
#[test]
fn memory_controllers_lie_behind_two_registers() {
    let mut raw = Raw::new("emerald-rapids", 2);
    for bus in [0x7e, 0xfe] {
        assert_eq!(raw.pci(bus, 0, 1, 0), 0x3251_8086);
        let base = u64::from(raw.pci(bus, 0, 1, 0xd0) & 0x1fff_ffff) << 23;
        for controller in 0..4 {
            let bar = base | u64::from(raw.pci(bus, 0, 1, 0xd8 + 4 * controller) & 0x7ff) << 12;
            for channel in 0..2 {
                let unit_ctl = bar + 0x22800 + channel * 0x8000;
                // Table 1-12: control 0 at +0x40, counter 0 at +8.
                raw.memory_write(unit_ctl + 0x40, Width::B4, 0x5a5a_0000);
                raw.memory_write(unit_ctl + 0x8, Width::B8, 0x1234_5678_9abc);
                // Bits 22 and 19 are reserved, 17 is write-only (Table 1-5).
                assert_eq!(raw.memory(unit_ctl + 0x40, Width::B4), 0x5a10_0000);
                assert_eq!(raw.memory(unit_ctl + 0x8, Width::B8), 0x1234_5678_9abc);
                assert_eq!(raw.memory(unit_ctl + 0xc, Width::B4), 0x1234);
            }
        }
    }
}

/// 1.7.1 and 1.7.2: CAPID6 and CAPID7 have a bit for each caching agent in use, CAPID2[28:23] one for each link; and MSR 0x2FFE the
/// number of agents (Linux). Agents that are not in use are not there.
#[test]
fn capabilities_tell_what_the_part_has() {
    let family = pericore_catalog::family("emerald-rapids").expect("in the catalogue");
    let shape = Shape::new(family, 1, 60, 2).and_then(|shape| shape.with_slices(60)).expect("60 slices");
    let mut raw = Raw::of(shape);
    assert_eq!(raw.pci(B30 + 1, 30, 3, 0), 0x325b_8086);
    assert_eq!(raw.pci(B30 + 1, 30, 3, 0x9c), 0xffff_ffff);
    assert_eq!(raw.pci(B30 + 1, 30, 3, 0xa0), 0x0fff_ffff);
    assert_eq!(raw.pci(B30 + 1, 30, 3, 0x94) >> 23 & 0x3f, 0xf);
    assert_eq!(raw.rdmsr(0x2ffe), 60);
    assert_eq!(raw.rdmsr(0x23b0), 0, "agent 59");
    assert!(raw.machine.read(Address::Msr { cpu: 0, msr: 0x23c0 }, Width::B8).is_err(), "agent 60");
    let (_, table) = walk(&mut raw).remove(0);
    assert_eq!(table.units.iter().filter(|unit| unit.kind == CHA).count(), 60);
    // Positions close up.
    assert_eq!(table.units.iter().filter(|unit| unit.status_position == 127).count(), table.units.len() - 127);
}

/// Firmware's mistakes.
#[test]
fn a_spoiled_table_is_spoiled_as_asked() {
    let spoiled = |discovery| {
        let family = pericore_catalog::family("emerald-rapids").expect("in the catalogue");
        let variant = Variant { faults: Faults { discovery, ..Faults::default() }, ..Variant::default() };
        let shape = Shape::new(family, 1, 8, 2).expect("one socket");
        let machine =
            Chassis::new(shape, Wiring::new(family, 1), |_| 8).with_variant(&variant).expect("no block named");
        let mut raw = Raw::new("emerald-rapids", 1);
        raw.machine = machine;
        walk(&mut raw)
    };
    let sound = walk(&mut Raw::new("emerald-rapids", 1)).remove(0).1;
    assert!(spoiled(DiscoveryFault::Absent).is_empty());
    assert_eq!(spoiled(DiscoveryFault::Zeros)[0].1.units.len(), 0);
    assert_eq!(spoiled(DiscoveryFault::WrongCount(5))[0].1.units, sound.units[..5]);
    let truncated = &spoiled(DiscoveryFault::Truncated(7))[0].1.units;
    assert_eq!(truncated.len(), sound.units.len());
    assert_eq!(truncated[..7], sound.units[..7]);
    assert!(truncated[7..].iter().all(|unit| (unit.num_regs, unit.unit_ctl) == (0, 0)));
    let wrong = &spoiled(DiscoveryFault::WrongBlocks)[0].1.units;
    assert!(
        wrong
            .iter()
            .zip(&sound.units)
            .all(|(wrong, right)| wrong.unit_ctl != right.unit_ctl && wrong.kind != right.kind)
    );
    assert_eq!(spoiled(DiscoveryFault::AllOnes)[0].1.global_ctl, u64::MAX);
    // Without a stride every record is the global one.
    let still = &spoiled(DiscoveryFault::NoStride)[0].1;
    assert!(still.units.iter().all(|unit| unit.unit_ctl == 0x2ff0));
}
