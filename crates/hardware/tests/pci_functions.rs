//! PCI functions as a bus scan finds them, and the discovery tables behind them. Offsets of the header are those of PCI
//! Local Bus 3.0, 6.1 and 6.7, and PCI Express 7.5.2 (extended configuration space needs a PCI Express capability).
//! Fields of discovery records are public knowledge from Linux's driver.

use pericore_hardware::chassis::{Chassis, DiscoveryFault, Faults, MOST_FUNCTIONS, Shape, Variant};
use pericore_hardware::signal::Wiring;
use pericore_registers::{Address, Bdf, RegisterSpace, Width};

fn machine(family: &str, variant: &Variant) -> Chassis {
    of_sockets(family, 2, variant)
}

fn of_sockets(family: &str, sockets: u16, variant: &Variant) -> Chassis {
    let family = pericore_catalog::family(family).expect("the family is in the catalogue");
    let shape = Shape::new(family, sockets, 8, 2).expect("a machine of that size");
    Chassis::new(shape, Wiring::new(family, sockets), |_| 8).with_variant(variant).expect("a variant")
}

fn config(machine: &mut Chassis, bdf: Bdf, offset: u16, width: Width) -> u64 {
    machine.read(Address::Pci { bdf, offset }, width).expect("a possible cycle")
}

fn is_there(machine: &mut Chassis, bdf: Bdf) -> bool {
    config(machine, bdf, 0, Width::B2) != 0xffff
}

/// All functions of a segment.
fn functions(machine: &mut Chassis, segment: u16) -> Vec<Bdf> {
    let slots = (0..=255u8).flat_map(|bus| (0..=255u8).map(move |slot| (bus, slot)));
    let all = slots.map(|(bus, slot)| Bdf { segment, ..Bdf::new(bus, slot >> 3, slot & 7) });
    all.filter(|&bdf| is_there(machine, bdf)).collect()
}

/// The IDs and places of a function's capabilities, as `lspci` walks them.
fn capabilities(machine: &mut Chassis, bdf: Bdf) -> Vec<(u64, u16)> {
    let has_list = config(machine, bdf, 0x06, Width::B2) >> 4 & 1 == 1;
    let mut next = config(machine, bdf, 0x34, Width::B1) as u16;
    assert_eq!(has_list, next != 0, "{bdf}: the status has the list that the pointer leads to");
    let mut found = Vec::new();
    while next != 0 {
        assert!(
            next >= 0x40 && next.is_multiple_of(4) && found.len() < 48,
            "{bdf}: no place for a capability: {next:#x}"
        );
        found.push((config(machine, bdf, next, Width::B1), next));
        next = config(machine, bdf, next + 1, Width::B1) as u16;
    }
    found
}

/// Without a PCI Express capability, systems read 256 bytes of a function: whatever lies beyond would be out of reach.
#[test]
fn a_scan_finds_all_that_registers_need() {
    for family in ["e5-2600", "emerald-rapids"] {
        let mut machine = machine(family, &Variant { functions: 300, ..Variant::default() });
        let all = functions(&mut machine, 0);
        let others = all.iter().filter(|&&bdf| config(&mut machine, bdf, 0, Width::B4) == 0x1889_8086);
        assert_eq!(others.count(), 300, "{family}");
        for &bdf in &all {
            assert_eq!(config(&mut machine, bdf, 0, Width::B2), 0x8086, "{family} {bdf}");
            assert_eq!(config(&mut machine, bdf, 0x0e, Width::B1) & 0x7f, 0, "{family} {bdf}: no bridge");
            for (id, at) in capabilities(&mut machine, bdf) {
                let version = config(&mut machine, bdf, at + 2, Width::B2) & 0xf;
                assert_eq!((id, version), (0x10, 2), "{family} {bdf}");
            }
        }
        let far: Vec<Bdf> = machine
            .registers()
            .filter_map(|place| match place.address {
                Address::Pci { bdf, offset } if offset >= 0x100 => Some(bdf),
                _ => None,
            })
            .collect();
        assert!(!far.is_empty(), "{family} has registers beyond byte 256");
        for bdf in far {
            assert!(all.contains(&bdf) && !capabilities(&mut machine, bdf).is_empty(), "{family} {bdf}");
        }
    }
}

/// Functions of other devices fill buses of their own, as many as were wanted; those that a machine has without them
/// are where they were.
#[test]
fn other_functions_are_in_nobodys_way() {
    let found = |sockets, functions| {
        let mut machine = of_sockets("emerald-rapids", sockets, &Variant { functions, ..Variant::default() });
        let all = self::functions(&mut machine, 0);
        let (others, own): (Vec<Bdf>, Vec<Bdf>) =
            all.into_iter().partition(|&bdf| config(&mut machine, bdf, 0, Width::B4) == 0x1889_8086);
        (others, own)
    };
    for (sockets, count) in [(1, 2000), (2, 1), (8, MOST_FUNCTIONS)] {
        let ((none, alone), (others, own)) = (found(sockets, 0), found(sockets, count));
        assert_eq!((none.len(), others.len()), (0, usize::from(count)), "{sockets} sockets");
        assert_eq!(alone, own, "{sockets} sockets");
        assert!(others.iter().all(|other| other.bus != 0 && own.iter().all(|bdf| bdf.bus != other.bus)));
    }
}

/// Class, and vendor of the subsystem: signal processing of Intel's (guide 2.5.2), an Ethernet port, a base function
/// without a subsystem. Behind a BAR memory answers only if bit 1 of the command is set.
#[test]
fn a_header_names_what_a_function_is() {
    let variant = Variant { functions: 300, ..Variant::default() };
    let mut old = machine("e5-2600", &variant);
    let header = |machine: &mut Chassis, bdf| {
        [(0x0a, Width::B2), (0x2c, Width::B2), (0x04, Width::B2)].map(|(at, width)| config(machine, bdf, at, width))
    };
    assert_eq!(header(&mut old, Bdf::new(0xff, 16, 4)), [0x1101, 0x8086, 0]);
    assert_eq!(header(&mut old, Bdf::new(1, 0, 0)), [0x0200, 0x8086, 0]);
    let mut new = machine("emerald-rapids", &variant);
    let table = |machine: &mut Chassis, bdf| {
        // A vendor-specific extended capability (0x23) of Intel's whose entry is 1: PMON discovery.
        let words = [0x100, 0x104, 0x108].map(|at| config(machine, bdf, at, Width::B2));
        words == [0x23, 0x8086, 1]
    };
    let owners: Vec<Bdf> = functions(&mut new, 0).into_iter().filter(|&bdf| table(&mut new, bdf)).collect();
    assert_eq!(owners.len(), 2, "one in each socket: {owners:?}");
    for (bdf, base) in owners.into_iter().zip([0xe000_0000, 0xe080_0000]) {
        assert_eq!(config(&mut new, bdf, 0x10, Width::B4), base, "{bdf}");
        assert_eq!(header(&mut new, bdf)[1..], [0, 6], "{bdf}");
    }
}

/// The qwords of a socket's discovery table.
fn table(machine: &mut Chassis, socket: u64) -> Vec<u64> {
    let base = 0xe000_0000 + 0x80_0000 * socket;
    let qwords = (0..1024).map(|n| Address::Mmio { physical: base + 8 * n });
    qwords.map(|address| machine.read(address, Width::B8).expect("the table")).collect()
}

/// A fault of firmware spoils what it is about, and nothing else.
#[test]
fn a_spoilt_table_is_otherwise_right() {
    let spoilt = |discovery| {
        let faults = Faults { discovery, ..Faults::default() };
        table(&mut machine("emerald-rapids", &Variant { faults, ..Variant::default() }), 1)
    };
    let right = spoilt(DiscoveryFault::None);
    let used = right.iter().rposition(|&qword| qword != 0).expect("a table") + 1;
    let head = |qword: u64| [&[qword], &right[1..]].concat();
    assert_eq!(spoilt(DiscoveryFault::WrongCount(5)), head(right[0] & !0x3ff_0000 | 5 << 16));
    assert_eq!(spoilt(DiscoveryFault::NoStride), head(right[0] & !0xff00));
    // Four qwords are a record; the first is the global one.
    let cut = spoilt(DiscoveryFault::Truncated(2));
    assert!(cut[..12] == right[..12] && cut[12..].iter().all(|&qword| qword == 0));
    assert!(right[12..used].iter().any(|&qword| qword != 0));
    assert!(spoilt(DiscoveryFault::AllOnes)[..used].iter().all(|&qword| qword == u64::MAX));
    assert!(spoilt(DiscoveryFault::Zeros).iter().all(|&qword| qword == 0));
}

/// Records of functions name segment (bits 30:28), bus, device, function and the unit control's offset; there it
/// answers, and on no other segment. Access type 2 (bits 63:62 of the first qword) is configuration space. Only the
/// last socket is on the segment.
#[test]
fn a_record_leads_to_its_function() {
    let mut machine = machine("emerald-rapids", &Variant { segment: 3, ..Variant::default() });
    for socket in 0..2 {
        let records = table(&mut machine, socket);
        let blocks = (records[0] >> 16 & 0x3ff) as usize;
        let mut in_pci = 0;
        for record in records.chunks(4).skip(1).take(blocks).filter(|record| record[0] >> 62 == 2) {
            let [segment, bus, slot, offset] =
                [(28, 0x7), (20, 0xff), (12, 0xff), (0, 0xfff)].map(|(low, mask)| (record[1] >> low & mask) as u16);
            let bdf = Bdf { segment, ..Bdf::new(bus as u8, (slot >> 3) as u8, (slot & 7) as u8) };
            assert_eq!(u64::from(segment), 3 * socket, "{bdf}");
            assert!(
                is_there(&mut machine, bdf) && !is_there(&mut machine, Bdf { segment: 3 - segment, ..bdf }),
                "{bdf}"
            );
            // Freezes the unit (1.3.2: bit 0), and reads so.
            let control = Address::Pci { bdf, offset };
            machine.write(control, Width::B4, 1).expect("a unit control");
            assert_eq!(machine.read(control, Width::B4), Ok(1), "{bdf} {offset:#x}");
            in_pci += 1;
        }
        assert!(in_pci > 10, "{in_pci} blocks of socket {socket} in configuration space");
    }
}
