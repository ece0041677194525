//! A family of a user's folder whose stacks have PCI buses of their own, which an MSR holds: found on software
//! machines, and on the buses of a real machine. Addresses are written by hand from Linux's driver.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::LazyLock;

use pericore_catalog::{Family, Unit, lasting};
use pericore_machine::chassis::{Chassis, Shape};
use pericore_machine::signal::{SignalSink, Wiring};
use pericore_observe::discover::{Cpu, DiscoverError, Presence, Topology, discover};
use pericore_observe::plan::Plan;
use pericore_observe::selection::Selection;
use pericore_observe::session::{Moment, Options, Session};
use pericore_registers::{Address, Bdf, Outcome, RegisterSpace, Width};

/// Ticks of a cycle of every clock.
const CYCLE: u64 = 10;

/// MSR with the buses of the stacks (Linux, `SKX_MSR_CPU_BUS_NUMBER`); bit 63: they are set.
const BUSES: u32 = 0x300;
const VALID: u64 = 1 << 63;

fn family() -> &'static Family {
    static FAMILY: LazyLock<Family> = LazyLock::new(|| {
        let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/own-data"));
        let user = fs::metadata(&folder).expect("the folder is there").uid();
        let families = pericore_catalog::own::compile(lasting(), &[folder], user);
        let mut families = families.unwrap_or_else(|error| panic!("{error}")).into_iter();
        families.find(|family| family.name == "six-stacks").expect("the folder has the family")
    });
    &FAMILY
}

fn unit(name: &str) -> &'static Unit {
    family().unit(name).expect("the family has the unit")
}

/// The base of stack `stack` in the value of the MSR: eight bits each from bit 0.
const fn bus(value: u64, stack: u32) -> u8 {
    (value >> (8 * stack)) as u8
}

#[test]
fn units_of_every_socket_are_found_on_the_buses_of_their_stacks() {
    for sockets in [1, 2, 4, 8] {
        let shape = Shape::new(family(), sockets, 4, 2).expect("a machine of this size");
        let mut machine = Chassis::new(shape, Wiring::new(family(), sockets), |_| CYCLE);
        let cpus: Vec<Cpu> = (0..sockets).map(|package| Cpu { number: u32::from(package) * 4, package }).collect();
        let topology = discover(&mut machine, family(), &cpus, |_| true).expect("the uncore is found");
        assert_eq!(topology.sockets.len(), usize::from(sockets));
        let mut buses = Vec::new();
        for socket in &topology.sockets {
            let msr = Address::Msr { cpu: u32::from(socket.number) * 4, msr: BUSES };
            let value = machine.read(msr, Width::B8).expect("every socket has it");
            assert_ne!(value & VALID, 0);
            assert_eq!(socket.stacks, (0..6).map(|stack| Some(bus(value, stack))).collect::<Vec<_>>());
            buses.extend((0..6).map(|stack| bus(value, stack)));
            assert_eq!([socket.present(unit("imc")).len(), socket.present(unit("m2pcie")).len()], [6, 1]);
            // Channel 4 is D12:F6 of stack 2; unit control at 0xF4 as on earlier families.
            let control = unit("imc").register_named("unit_ctl").expect("it has a control");
            let place = socket.locate(unit("imc"), 4, control, 0).expect("it has a place");
            assert_eq!(place.address, Address::Pci { bdf: Bdf::new(bus(value, 2), 12, 6), offset: 0xf4 });
            let identity = Address::Pci { bdf: Bdf::new(bus(value, 5), 21, 1), offset: 0 };
            assert_eq!(machine.read(identity, Width::B4), Ok(0x2088_8086));
            // Stack 3 has none of these functions.
            let none = Address::Pci { bdf: Bdf::new(bus(value, 3), 12, 6), offset: 0 };
            assert_eq!(machine.read(none, Width::B4), Ok(0xffff_ffff));
        }
        buses.sort_unstable();
        buses.dedup();
        assert_eq!(buses.len(), 6 * usize::from(sockets), "each stack has a bus of its own");
    }
}

#[test]
fn what_a_channel_of_a_socket_sends_is_counted_there_alone() {
    let shape = Shape::new(family(), 2, 4, 1).expect("a machine of this size");
    let mut chassis = Chassis::new(shape, Wiring::new(family(), 2), |_| CYCLE);
    let cpus = [Cpu { number: 0, package: 0 }, Cpu { number: 4, package: 1 }];
    let topology = discover(&mut chassis, family(), &cpus, |unit| unit.name == "imc").expect("the uncore is found");
    let mut selection = Selection::new(family());
    selection.add_events("imc/DRAM_REFRESH.HIGH/").expect("the block has it");
    let plan = Plan::new(&topology, selection).expect("it can be counted");
    let moment = |machine: &mut &mut Chassis| Moment { seconds: machine.now() as f64 / 1e9, tsc: machine.now() };
    let mut session = Session::start(&mut chassis, plan, Options::default(), moment).expect("counters are free");
    let mut wiring = Wiring::new(family(), 2);
    let wire = wiring.signal(1, "imc", 3, "DRAM_REFRESH").expect("the block has the signal");
    let tag = wiring.attribute("imc", "DRAM_REFRESH", "sub").expect("it has the attribute").set(0, 0x04);
    session.space_mut().pulse(wire, tag, CYCLE, 5);
    session.space_mut().set_now(1000 * CYCLE);
    let sample = session.sample(moment);
    assert_eq!(sample.counts.len(), 12);
    for count in &sample.counts {
        let expected = if (count.socket, count.instance) == (1, 3) { 5 } else { 0 };
        assert_eq!(count.count, Some(expected), "{count:?}");
    }
    session.stop().expect("everything is put back");
}

/// Registers of a machine as they were read: MSRs by package, dwords of functions on PCI segments.
#[derive(Default)]
struct Recorded {
    buses: Vec<u64>,
    dwords: HashMap<(Bdf, u16), u64>,
    segments: Vec<u16>,
}

impl Recorded {
    /// Two packages whose stacks have the buses that `lspci` shows of two Xeons 8180: memory controllers on 3a and ae,
    /// and no stacks 4 and 5.
    fn two_sockets() -> Self {
        let buses = vec![VALID | 0x5d_3a_17_00, VALID | 0xd7_ae_85_80];
        let mut recorded = Self { buses, dwords: HashMap::new(), segments: vec![0] };
        recorded.memory_controllers(0, 0x3a);
        recorded.memory_controllers(0, 0xae);
        recorded
    }

    /// Device IDs of the channels (Linux, `skx_uncore_pci_ids`).
    fn memory_controllers(&mut self, segment: u16, bus: u8) {
        for (device, function, id) in
            [(10, 2, 0x2042), (10, 6, 0x2046), (11, 2, 0x204a), (12, 2, 0x2042), (12, 6, 0x2046), (13, 2, 0x204a)]
        {
            let bdf = Bdf { segment, ..Bdf::new(bus, device, function) };
            self.dwords.insert((bdf, 0), id << 16 | 0x8086);
        }
    }

    fn find(&mut self) -> Result<Topology, DiscoverError> {
        let cpus = [Cpu { number: 0, package: 0 }, Cpu { number: 1, package: 1 }];
        discover(self, family(), &cpus, |unit| unit.name != "ubox")
    }
}

impl RegisterSpace for Recorded {
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
        match address {
            Address::Msr { cpu, msr: BUSES } => Ok(self.buses[cpu as usize]),
            Address::Pci { bdf, offset } if self.dwords.contains_key(&(bdf, 0)) => {
                Ok(self.dwords.get(&(bdf, offset)).copied().unwrap_or(0))
            }
            Address::Pci { .. } => Ok(width.mask()),
            other => panic!("{other} is not needed"),
        }
    }

    fn write(&mut self, address: Address, _: Width, _: u64) -> Outcome<()> {
        panic!("discovery only reads, not {address}")
    }

    fn pci_segments(&mut self) -> Vec<u16> {
        self.segments.clone()
    }
}

#[test]
fn buses_of_a_real_machine_lead_to_its_memory_controllers() {
    let topology = Recorded::two_sockets().find().expect("the uncore is found");
    let stacks: Vec<_> = topology.sockets.iter().map(|socket| socket.stacks.clone()).collect();
    let real = |buses: [u8; 4]| buses.into_iter().map(Some).chain([None, None]).collect::<Vec<_>>();
    assert_eq!(stacks, [real([0x00, 0x17, 0x3a, 0x5d]), real([0x80, 0x85, 0xae, 0xd7])]);
    let control = unit("imc").register_named("unit_ctl").expect("it has a control");
    for (socket, bus) in topology.sockets.iter().zip([0x3a, 0xae]) {
        assert_eq!(socket.present(unit("imc")), [0, 1, 2, 3, 4, 5]);
        let place = socket.locate(unit("imc"), 2, control, 0).expect("it has a place");
        assert_eq!(place.address, Address::Pci { bdf: Bdf::new(bus, 11, 2), offset: 0xf4 });
        // Firmware leaves out the bus of a stack that the part does not have.
        let absent = &socket.presence(unit("m2pcie"))[0];
        assert!(matches!(absent, Presence::Absent { why } if why.contains("stack 5")), "{absent:?}");
    }
}

#[test]
fn buses_that_firmware_did_not_set_or_gave_twice_are_refused() {
    let refusal = |buses: [u64; 2]| {
        let mut recorded = Recorded { buses: buses.to_vec(), ..Recorded::two_sockets() };
        recorded.find().expect_err("nothing tells the buses").to_string()
    };
    let real = Recorded::two_sockets().buses;
    let unset = refusal([real[0], real[1] & !VALID]);
    assert!(unset.contains("socket 1 (cpu 1): cpubusno") && unset.contains("valid is 0"), "{unset}");
    let absent = refusal([u64::MAX, real[1]]);
    assert!(absent.contains("socket 0 (cpu 0)") && absent.contains("all ones"), "{absent}");
    let twice = refusal([real[0], VALID | 0xd7_3a_85_80]);
    assert!(twice.contains("bus 3a is one of socket 0, too"), "{twice}");
}

/// The MSR does not have the segment: it is the one that has the functions; of two, nothing decides.
#[test]
fn the_segment_is_the_one_that_has_the_functions() {
    let mut recorded = Recorded { segments: vec![0, 1], ..Recorded::two_sockets() };
    recorded.buses[1] = VALID | 0x5d_3b_17_00;
    recorded.memory_controllers(1, 0x3b);
    let topology = recorded.find().expect("the uncore is found");
    assert_eq!(topology.sockets.iter().map(|socket| socket.segment).collect::<Vec<_>>(), [0, 1]);
    recorded.memory_controllers(0, 0x3b);
    let refused = recorded.find().expect_err("two segments have them").to_string();
    assert!(refused.contains("socket 1: its buses are on PCI segment 0 or 1"), "{refused}");
}
