//! Discovery on software machines of 1, 2 and 8 sockets, whole and with bad firmware: what is found, where, and that counters
//! of the right socket count. Addresses and signals are written by hand from the guides.

mod stacks;

use pericore_catalog::{Family, Unit};
use pericore_machine::chassis::{Block, Chassis, DiscoveryFault, Faults, Shape, Variant};
use pericore_machine::signal::{SignalSink, Wiring};
use pericore_observe::discover::{Cpu, Presence, Socket, TableError, Topology, discover};
use pericore_observe::plan::Plan;
use pericore_observe::selection::Selection;
use pericore_observe::session::{Moment, Options, Session};
use pericore_registers::{AccessError, Address, Outcome, RegisterSpace, Width};

/// Ticks of a cycle of every clock.
const CYCLE: u64 = 10;

fn family(name: &str) -> &'static Family {
    pericore_catalog::family(name).expect("the family is in the catalogue")
}

fn machine(name: &str, sockets: u16) -> Chassis {
    let shape = Shape::new(family(name), sockets, 4, 2).expect("a machine of this size");
    Chassis::new(shape, Wiring::new(family(name), sockets), |_| CYCLE)
}

fn with_discovery(sockets: u16, discovery: DiscoveryFault) -> Chassis {
    let variant = Variant { faults: Faults { discovery, ..Faults::default() }, ..Variant::default() };
    machine("emerald-rapids", sockets).with_variant(&variant).expect("the blocks are there")
}

fn cpus(machine: &Chassis) -> Vec<Cpu> {
    let shape = machine.shape();
    let package = |number| shape.socket_of_cpu(number).map(|package| Cpu { number, package });
    (0..shape.cpus()).filter_map(package).collect()
}

fn find(machine: &mut Chassis) -> Topology {
    let (cpus, family) = (cpus(machine), machine.shape().family);
    discover(machine, family, &cpus, |_| true).expect("the uncore is found")
}

fn found(socket: &Socket) -> Vec<(&'static str, usize)> {
    let family = socket_family();
    family.units.iter().map(|unit| (unit.name, socket.present(unit).len())).collect()
}

fn socket_family() -> &'static Family {
    family("emerald-rapids")
}

fn unit(name: &str) -> &'static Unit {
    socket_family().unit(name).expect("the unit is in the catalogue")
}

/// Blocks of a whole Emerald Rapids socket: Tables 1-9 to 1-12, and six CXL ports of two halves.
const WHOLE: [(&str, usize); 13] = [
    ("ubox", 1),
    ("cha", 64),
    ("imc", 8),
    ("m2m", 4),
    ("iio", 10),
    ("irp", 10),
    ("m2pcie", 10),
    ("upi", 4),
    ("m3upi", 4),
    ("pcu", 1),
    ("mdf", 0),
    ("cxlcm", 0),
    ("cxldp", 0),
];

/// The units whose number the tables above do not fix.
fn is_fixed(&(name, _): &(&'static str, usize)) -> bool {
    !matches!(name, "mdf" | "cxlcm" | "cxldp")
}

#[test]
fn every_block_of_every_socket_is_found() {
    for sockets in [1, 2, 8] {
        let topology = find(&mut machine("emerald-rapids", sockets));
        assert_eq!(topology.sockets.len(), usize::from(sockets));
        for (number, socket) in (0..).zip(&topology.sockets) {
            let share = 256 / sockets;
            assert_eq!((socket.number, socket.cpu), (number, u32::from(number) * 4));
            assert_eq!(socket.bus, Some(((number + 1) * share - 2) as u8));
            let counted: Vec<_> = found(socket).into_iter().filter(is_fixed).collect();
            assert_eq!(counted, WHOLE.into_iter().filter(is_fixed).collect::<Vec<_>>());
            for name in ["mdf", "cxlcm", "cxldp"] {
                assert_eq!(socket.present(unit(name)).len(), usize::from(unit(name).instances), "{name}");
            }
            let table = socket.table().expect("tables were looked for");
            assert!(table.is_sound(), "{table:?}");
            assert_eq!(table.owners.iter().map(|owner| u16::from(owner.bus)).collect::<Vec<_>>(), [number * share]);
        }
    }
}

/// The same blocks in other numbers: 60 caching agents, 40 blocks of the fabric (LIKWID), twelve I/O stacks (PCM).
#[test]
fn sapphire_rapids_is_found_like_its_successor() {
    let topology = find(&mut machine("sapphire-rapids", 2));
    for socket in &topology.sockets {
        let count = |name: &str| socket.present(topology.family.unit(name).expect("the unit is there")).len();
        let counts = ["cha", "imc", "m2m", "iio", "irp", "m2pcie", "upi", "m3upi", "mdf"].map(count);
        assert_eq!(counts, [60, 8, 4, 12, 12, 12, 4, 4, 40]);
        assert!(socket.table().expect("tables were looked for").is_sound());
    }
    assert_eq!(topology.sockets[1].bus, Some(0xfe));
}

#[test]
fn registers_lie_where_the_guide_says() {
    let topology = find(&mut machine("emerald-rapids", 2));
    let place = |socket: usize, name: &str, instance: u16, register: &str, member: u8| {
        let register = unit(name).register_named(register).expect("the register is in the catalogue");
        topology.sockets[socket].locate(unit(name), instance, register, member).expect("it has a place").address
    };
    // Table 1-8 and 1-9.
    assert_eq!(place(1, "cha", 5, "ctr", 3), Address::Msr { cpu: 4, msr: 0x205b });
    assert_eq!(place(0, "pcu", 0, "ctl", 1), Address::Msr { cpu: 0, msr: 0x2fc3 });
    // Table 1-11: M2M 2 is D14:F0, controls at 0x468, counters at 0x440.
    let Address::Pci { bdf, offset } = place(1, "m2m", 2, "ctl", 3) else { panic!("M2M lies in PCI space") };
    assert_eq!((bdf.bus, bdf.device, bdf.function, offset), (0xfe, 14, 0, 0x480));
    // Capability registers lie on the next bus.
    let Address::Pci { bdf, offset } = place(0, "ubox", 0, "capid6", 0) else { panic!("CAPID6 lies in PCI space") };
    assert_eq!((bdf.bus, bdf.device, bdf.function, offset), (0x7f, 30, 3, 0x9c));
    // Table 1-12: channel 1 of controller 2; control 0 at +0x40, counter 0 at +0x8, DCLK control and counter.
    let at = |register: &str, member| match place(1, "imc", 5, register, member) {
        Address::Mmio { physical } => physical,
        other => panic!("the memory controllers lie in memory, not at {other}"),
    };
    let unit_control = at("unit_ctl", 0);
    let within = [at("ctl", 1), at("ctr", 2), at("fixed_ctl", 0), at("fixed_ctr", 0)].map(|place| place - unit_control);
    assert_eq!((unit_control & 0x7_ffff, within), (0x2_a800, [0x44, 0x18, 0x54, 0x38]));
    // The free-running counters of controller 2, channels 4 and 5, at 0x22b0 of its window.
    assert_eq!(unit_control - at("free_dclk", 0), 0x2_a800 - 0x22b0);
    assert!(!pericore_observe::discover::owns(unit("imc"), 5, unit("imc").register_named("free_dclk").unwrap()));
}

#[test]
fn msr_units_need_neither_pci_nor_memory() {
    struct MsrsOnly(Chassis);
    impl RegisterSpace for MsrsOnly {
        fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
            assert!(matches!(address, Address::Msr { .. }), "{address} is not needed");
            self.0.read(address, width)
        }
        fn write(&mut self, address: Address, _: Width, _: u64) -> Outcome<()> {
            panic!("discovery only reads, not {address}")
        }
    }
    let machine = machine("emerald-rapids", 2);
    let cpus = cpus(&machine);
    let msr_units = ["ubox", "cha", "iio", "irp", "m2pcie", "pcu", "mdf"];
    let wanted = |unit: &Unit| msr_units.contains(&unit.name);
    let topology = discover(&mut MsrsOnly(machine), socket_family(), &cpus, wanted).expect("the uncore is found");
    assert_eq!(topology.sockets.len(), 2);
    assert!(topology.sockets.iter().all(|socket| socket.present(unit("cha")).len() == 64 && socket.bus.is_none()));
}

/// 1.7.1: parts with fewer slices.
#[test]
fn slices_that_the_part_does_not_have_are_absent() {
    let shape = Shape::new(socket_family(), 1, 4, 2).and_then(|shape| shape.with_slices(40)).expect("40 slices");
    let mut machine = Chassis::new(shape, Wiring::new(socket_family(), 1), |_| CYCLE);
    let topology = find(&mut machine);
    let socket = &topology.sockets[0];
    assert_eq!(socket.present(unit("cha")), (0..40).collect::<Vec<_>>());
    let slices = socket.slices().expect("the hardware counts them");
    assert_eq!((slices.slices, &slices.contradicted), (40, &None));
    assert!(matches!(&socket.presence(unit("cha"))[40], Presence::Absent { why } if why.contains("40")));
}

/// Bad tables: what has a documented place is found all the same, the CXL blocks are not, and the report says why.
#[test]
fn bad_tables_leave_the_documented_places() {
    type IsRight = fn(&TableError) -> bool;
    let cases: [(DiscoveryFault, IsRight); 4] = [
        (DiscoveryFault::Absent, |error| *error == TableError::NoOwner),
        (DiscoveryFault::AllOnes, |error| matches!(error, TableError::AllOnes { .. })),
        (DiscoveryFault::Zeros, |error| matches!(error, TableError::Empty { .. })),
        (DiscoveryFault::NoStride, |error| matches!(error, TableError::Stride { stride: 0, .. })),
    ];
    for (fault, is_right) in cases {
        for socket in &find(&mut with_discovery(2, fault)).sockets {
            let table = socket.table().expect("tables were looked for");
            assert!(matches!(&table.errors[..], [error] if is_right(error)), "{fault:?}: {:?}", table.errors);
            assert!(!table.is_sound(), "{fault:?}");
            let counted: Vec<_> = found(socket).into_iter().filter(is_fixed).collect();
            assert_eq!(counted, WHOLE.into_iter().filter(is_fixed).collect::<Vec<_>>(), "{fault:?}");
            for name in ["cxlcm", "cxldp"] {
                let absent = |presence: &Presence| matches!(presence, Presence::Absent { why } if why.contains("discovery table"));
                assert!(socket.presence(unit(name)).iter().all(absent), "{fault:?}: {name}");
            }
        }
    }
}

#[test]
fn records_that_lie_are_not_believed() {
    let socket = |fault| find(&mut with_discovery(1, fault)).sockets.remove(0);
    let truncated = socket(DiscoveryFault::Truncated(10));
    let table = truncated.table().expect("tables were looked for");
    assert_eq!((table.blocks.len(), table.announced - table.blank), (10, 10));
    assert_eq!(truncated.present(unit("m2m")).len(), 4);
    let wrong = socket(DiscoveryFault::WrongBlocks);
    let table = wrong.table().expect("tables were looked for");
    assert_eq!((table.blocks.len(), table.faults.len() as u64), (0, table.announced));
    assert!(!table.is_sound() && table.errors.is_empty());
    assert_eq!((wrong.present(unit("imc")).len(), wrong.present(unit("cxlcm")).len()), (8, 0));
    let long = socket(DiscoveryFault::WrongCount(1000));
    let table = long.table().expect("tables were looked for");
    assert!(table.blank > 0 && table.faults.is_empty());
    assert_eq!(long.present(unit("cxlcm")).len(), usize::from(unit("cxlcm").instances));
}

#[test]
fn blocks_that_are_hidden_or_memory_of_all_ones_are_absent() {
    let faults = Faults {
        all_ones: vec![Block::new(1, "m2m", 1), Block::new(1, "imc", 3), Block::new(1, "cha", 7)],
        hidden: vec![Block::new(0, "upi", 2), Block::new(0, "cha", 9), Block::new(0, "imc", 0)],
        ..Faults::default()
    };
    let variant = Variant { faults, ..Variant::default() };
    let mut machine = machine("emerald-rapids", 2).with_variant(&variant).expect("the blocks are there");
    let topology = find(&mut machine);
    let missing = |socket: usize, name: &str| -> Vec<u16> {
        let present = topology.sockets[socket].present(unit(name));
        (0..unit(name).instances).filter(|number| !present.contains(number)).collect()
    };
    assert_eq!([missing(0, "upi"), missing(0, "cha"), missing(0, "imc")], [vec![2], vec![9], vec![0]]);
    // In PCI and MSR space such a block is there and broken: a session says so with its counts.
    assert_eq!([missing(1, "m2m"), missing(1, "imc"), missing(1, "cha")], [vec![], vec![3], vec![]]);
    assert_eq!([missing(0, "m2m"), missing(1, "upi")], [Vec::<u16>::new(), vec![]]);
}

/// Refused access to memory costs the CXL blocks and the memory controllers, nothing else, unless they are what is wanted.
#[test]
fn without_rights_to_memory_units_in_pci_space_are_found() {
    struct Locked(Chassis);
    impl RegisterSpace for Locked {
        fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
            match address {
                Address::Mmio { .. } => Err(AccessError::Permission { address, remedy: "unlock the kernel" }),
                _ => self.0.read(address, width),
            }
        }
        fn write(&mut self, address: Address, _: Width, _: u64) -> Outcome<()> {
            panic!("discovery only reads, not {address}")
        }
    }
    let machine = || machine("emerald-rapids", 2);
    let cpus = cpus(&machine());
    let seek = |name: &'static str| discover(&mut Locked(machine()), socket_family(), &cpus, |unit| unit.name == name);
    let topology = seek("m2m").expect("M2M lies in PCI space");
    assert!(topology.sockets.iter().all(|socket| socket.present(unit("m2m")).len() == 4));
    let denied = seek("cxlcm").expect_err("only the table tells where CXL lies");
    assert!(denied.to_string().contains("unlock the kernel"), "{denied}");
}

/// Firmware may put the function that leads to a table on another socket's buses: the table belongs to the socket on
/// whose uncore bus it puts blocks, and counters to that socket.
#[test]
fn a_table_belongs_to_the_socket_whose_blocks_it_lists() {
    /// Each socket has the other's first bus, on which the owner of its table lies.
    struct Crossed(Chassis);
    impl RegisterSpace for Crossed {
        fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
            let Address::Pci { mut bdf, offset } = address else { return self.0.read(address, width) };
            if bdf.bus & 0x7f == 0 {
                bdf.bus ^= 0x80;
            }
            self.0.read(Address::Pci { bdf, offset }, width)
        }
        fn write(&mut self, address: Address, _: Width, _: u64) -> Outcome<()> {
            panic!("discovery only reads, not {address}")
        }
    }
    let mut plain = machine("emerald-rapids", 2);
    let cpus = cpus(&plain);
    let usual = find(&mut plain);
    let crossed = discover(&mut Crossed(plain), socket_family(), &cpus, |_| true).expect("the uncore is found");
    for (usual, crossed) in usual.sockets.iter().zip(&crossed.sockets) {
        let table = |socket: &Socket| socket.table().expect("tables were looked for").clone();
        let (usual_table, table) = (table(usual), table(crossed));
        assert!(table.is_sound(), "{:?}, {} records are not believed", table.errors, table.faults.len());
        assert_eq!(table.bases, usual_table.bases);
        assert_eq!((usual_table.owners[0].bus ^ table.owners[0].bus, crossed.bus), (0x80, usual.bus));
        // Only the table tells where the CXL blocks are.
        let port = unit("cxlcm");
        let control = port.register_named("unit_ctl").expect("it has a control");
        assert_eq!(crossed.locate(port, 3, control, 0), usual.locate(port, 3, control, 0));
    }
}

#[test]
fn other_families_need_no_tables() {
    for sockets in [1, 2, 8] {
        let topology = find(&mut machine("nehalem", sockets));
        let uncore = family("nehalem").unit("uncore").expect("Nehalem has one unit");
        assert!(topology.sockets.iter().all(|socket| socket.present(uncore) == [0] && socket.table().is_none()));
        assert_eq!(topology.sockets.len(), usize::from(sockets));
    }
    let topology = find(&mut machine("e5-2600", 2));
    let found: Vec<_> = topology.sockets.iter().map(|socket| (socket.number, socket.bus)).collect();
    assert_eq!(found, [(0, Some(0x7f)), (1, Some(0xff))]);
}

/// What is counted: an event, and the signal and tag attributes that make it count.
struct Known {
    event: &'static str,
    unit: &'static str,
    signal: &'static str,
    tag: &'static [(&'static str, u64)],
    pulses: u32,
}

const fn known(
    event: &'static str,
    unit: &'static str,
    signal: &'static str,
    tag: &'static [(&'static str, u64)],
    pulses: u32,
) -> Known {
    Known { event, unit, signal, tag, pulses }
}

/// Plans the events, sends each its signal in the last instance of the last socket, and looks at every count.
fn count(name: &str, sockets: u16, events: &[Known]) {
    let mut chassis = machine(name, sockets);
    let topology = find(&mut chassis);
    let mut selection = Selection::new(family(name));
    for known in events {
        selection.add_events(known.event).unwrap_or_else(|error| panic!("{}: {error}", known.event));
    }
    let plan = Plan::new(&topology, selection).unwrap_or_else(|error| panic!("{name}: {error}"));
    let moment = |machine: &mut &mut Chassis| Moment { seconds: machine.now() as f64 / 1e9, tsc: machine.now() };
    let mut session = Session::start(&mut chassis, plan, Options::default(), moment).expect("counters are free");
    let mut wiring = Wiring::new(family(name), sockets);
    for (tick, known) in (CYCLE..).step_by(CYCLE as usize).zip(events) {
        let last = family(name).unit(known.unit).expect("the unit is in the catalogue").instances - 1;
        let wire = wiring.signal(sockets - 1, known.unit, last, known.signal).expect("the signal is in the catalogue");
        let tag = known.tag.iter().fold(0, |tag, &(attribute, value)| {
            wiring.attribute(known.unit, known.signal, attribute).expect("it has the attribute").set(tag, value)
        });
        session.space_mut().pulse(wire, tag, tick, known.pulses);
    }
    session.space_mut().set_now(1000 * CYCLE);
    let sample = session.sample(moment);
    for (index, known) in events.iter().enumerate() {
        let last = family(name).unit(known.unit).expect("the unit is in the catalogue").instances - 1;
        let mut counts = sample.counts.iter().filter(|count| count.event == index);
        let mut seen = 0;
        for count in &mut counts {
            let here = (count.socket, count.instance) == (sockets - 1, last);
            let expected = if here { u64::from(known.pulses) } else { 0 };
            assert_eq!(count.count, Some(expected), "{name}: {} of socket {}: {count:?}", known.event, count.socket);
            seen += u16::from(here);
        }
        assert_eq!(seen, 1, "{}", known.event);
    }
    session.stop().expect("everything is put back");
}

#[test]
fn counts_of_e5_2600_are_the_signals_sent() {
    for sockets in [1, 2, 8] {
        let events = [
            known("cbo/LLC_VICTIMS.M_STATE/", "cbo", "llc_victim", &[("state", 3)], 7),
            known("imc/DRAM_REFRESH.HIGH/", "imc", "DRAM_REFRESH", &[("sub", 0x04)], 5),
        ];
        count("e5-2600", sockets, &events);
    }
}

#[test]
fn counts_of_nehalem_are_the_signals_sent() {
    for sockets in [1, 2, 8] {
        count("nehalem", sockets, &[known("uncore/LLC_HITS.READ/", "uncore", "LLC_HITS", &[("sub", 0x01)], 9)]);
    }
}

#[test]
fn counts_of_emerald_rapids_are_the_signals_sent() {
    for sockets in [1, 2, 8] {
        let events = [
            known("cha/DIR_LOOKUP.SNP/", "cha", "DIR_LOOKUP", &[("sub", 0x01)], 3),
            known("m2m/DIRECTORY_LOOKUP.STATE_S/", "m2m", "DIRECTORY_LOOKUP", &[("sub", 0x04)], 4),
            known("imc/PRE_COUNT.WR_PCH1/", "imc", "PRE_COUNT", &[("sub", 0x20)], 6),
            known("cxlcm/RxC_AGF_INSERTS.MEM_DATA/", "cxlcm", "RxC_AGF_INSERTS", &[("sub", 0x20)], 8),
        ];
        count("emerald-rapids", sockets, &events);
    }
}
