//! What PMON hardware does between accesses: statuses that software clears, freezes whose rate changes, levels that a
//! model reports without arrivals. Raw addresses and values, by hand from the guides.

use pericore_hardware::chassis::{Chassis, Shape};
use pericore_hardware::signal::{SignalSink, Wire, Wiring};
use pericore_registers::{Address, Bdf, RegisterSpace, Width};

/// Ticks of a cycle of every clock.
const CYCLE: u64 = 8;
/// What a counter of 48 bits cannot hold.
const EMPTY: u64 = 1 << 48;

struct Raw {
    machine: Chassis,
    wiring: Wiring,
}

impl Raw {
    fn new(family: &str) -> Self {
        Self::of_sockets(family, 1)
    }

    fn of_sockets(family: &str, sockets: u16) -> Self {
        let family = pericore_catalog::family(family).expect("the family is in the catalogue");
        let shape = Shape::new(family, sockets, 8, 2).expect("a machine of that size");
        let wiring = || Wiring::new(family, sockets);
        Self { machine: Chassis::new(shape, wiring(), |_| CYCLE), wiring: wiring() }
    }

    fn wire(&mut self, unit: &str, signal: &str) -> Wire {
        self.wiring.signal(0, unit, 0, signal).expect("the signal")
    }

    fn at(&mut self, cycle: u64) {
        self.machine.set_now(cycle * CYCLE);
    }

    /// The model reports what is in a queue.
    fn occupancy(&mut self, wire: Wire, entries: &[(u64, u32)], cycle: u64) {
        self.machine.occupancy(wire, entries, cycle * CYCLE);
    }

    fn rdmsr(&mut self, msr: u32) -> u64 {
        self.machine.read(Address::Msr { cpu: 0, msr }, Width::B8).expect("the MSR exists")
    }

    fn wrmsr(&mut self, msr: u32, value: u64) {
        self.machine.write(Address::Msr { cpu: 0, msr }, Width::B8, value).expect("the MSR exists");
    }
}

/// Channel 0 of an E5-2600: device 16, function 0 (2.5.2).
fn channel(offset: u16) -> Address {
    Address::Pci { bdf: Bdf::new(0xff, 16, 0), offset }
}

/// Emerald Rapids 1.4.0.2: software that clears a status bit clears what has happened, although it did not look before.
#[test]
fn an_overflow_before_a_write_is_over_with_it() {
    let mut raw = Raw::new("emerald-rapids");
    raw.wrmsr(0x2002, 0x01); // agent 0, counter 0: clocks
    raw.wrmsr(0x2008, EMPTY - 50);
    raw.at(100);
    raw.wrmsr(0x2001, 0x1);
    raw.at(200);
    assert_eq!((raw.rdmsr(0x2001), raw.rdmsr(0x2008)), (0, 150), "cleared after the wrap, and no other wrap since");
    // A wrap without notice does not freeze because frz_ovf (bit 20) is set later.
    let mut raw = Raw::new("emerald-rapids");
    raw.wrmsr(0x2002, 0x01);
    raw.wrmsr(0x2008, EMPTY - 50);
    raw.at(100);
    raw.wrmsr(0x2002, 0x10_0001);
    raw.at(300);
    assert_eq!((raw.rdmsr(0x2001), raw.rdmsr(0x2ff0), raw.rdmsr(0x2008)), (0x1, 0, 250));
    assert!(raw.machine.take_interrupts().is_empty());
}

/// A freeze on overflow comes in its cycle although the queue has filled since the counter was programmed: ten requests
/// wait from cycle 20 on, so 100 are reached within cycle 29, not in cycle 110.
#[test]
fn a_freeze_comes_sooner_when_a_queue_fills() {
    let mut raw = Raw::new("emerald-rapids");
    let tor = raw.wire("cha", "tor");
    let sub = raw.wiring.attribute("cha", "tor", "sub").expect("the attribute");
    let core = sub.set(0, 0x01);
    raw.wrmsr(0x2002, 0x10_0136); // TOR_OCCUPANCY, umask 0x01, frz_ovf
    raw.wrmsr(0x2008, EMPTY - 100);
    raw.wrmsr(0x2012, 0x01); // agent 1: clocks
    raw.machine.enter(tor, core, 10 * CYCLE);
    // A look at the counter in between changes nothing.
    raw.at(15);
    assert_eq!(raw.rdmsr(0x2008), EMPTY - 95);
    for _ in 0..9 {
        raw.machine.enter(tor, core, 20 * CYCLE);
    }
    raw.at(500);
    assert_eq!(raw.rdmsr(0x2018), 29);
    assert_eq!(raw.rdmsr(0x2008), 0);
    assert_eq!(raw.rdmsr(0x2001), 0x1);
    let interrupts = raw.machine.take_interrupts();
    assert_eq!(interrupts.iter().map(|interrupt| interrupt.tick).collect::<Vec<_>>(), [29 * CYCLE]);
}

/// An overflow reaches the UBox of its own socket: there are the global freeze (0x2FF0 bit 0) and the interrupt.
#[test]
fn an_overflow_freezes_its_own_socket() {
    let mut raw = Raw::of_sockets("emerald-rapids", 2);
    let access = |cpu, msr| Address::Msr { cpu, msr };
    for cpu in [0, 8] {
        raw.machine.write(access(cpu, 0x2012), Width::B8, 0x01).expect("a control"); // agent 1: clocks
    }
    raw.machine.write(access(8, 0x2008), Width::B8, EMPTY - 50).expect("a counter");
    raw.machine.write(access(8, 0x2002), Width::B8, 0x10_0001).expect("a control");
    raw.at(200);
    let mut read = |cpu, msr| raw.machine.read(access(cpu, msr), Width::B8).expect("a register");
    assert_eq!([0, 8].map(|cpu| read(cpu, 0x2ff0) & 1), [0, 1]);
    assert_eq!([0, 8].map(|cpu| read(cpu, 0x2018)), [200, 50]);
    assert_eq!([0, 8].map(|cpu| read(cpu, 0x2ff2) | read(cpu, 0x2ff3) != 0), [false, true]);
    // An interrupt that nobody has taken is part of a snapshot.
    let mut loaded = Chassis::load(&raw.machine.dump()).expect("a snapshot");
    for machine in [&mut loaded, &mut raw.machine] {
        let interrupts = machine.take_interrupts();
        assert_eq!(interrupts.iter().map(|one| (one.socket, one.tick)).collect::<Vec<_>>(), [(1, 50 * CYCLE)]);
    }
}

/// What a pulse adds behind a threshold or an edge detector counts when its cycle is over: the freeze comes then,
/// however late software looks (DIR_LOOKUP 0x53, umask 0x01; threshold 31:24, edge detect 18).
#[test]
fn a_freeze_after_a_pulse_comes_when_its_cycle_is_over() {
    for control in [0x0210_0153, 0x0114_0153] {
        let mut raw = Raw::new("emerald-rapids");
        let lookups = raw.wire("cha", "DIR_LOOKUP");
        let sub = raw.wiring.attribute("cha", "DIR_LOOKUP", "sub").expect("the attribute");
        raw.wrmsr(0x2002, control);
        raw.wrmsr(0x2008, EMPTY - 1);
        raw.wrmsr(0x2012, 0x01); // agent 1: clocks
        raw.machine.pulse(lookups, sub.set(0, 0x01), 10 * CYCLE, 3);
        raw.at(500);
        assert_eq!((raw.rdmsr(0x2008), raw.rdmsr(0x2018)), (0, 11), "{control:#x}");
    }
}

/// A model that kept silent about a queue reports what is in it: occupancies and cycles not empty (E5-2600 2.5.8, Table
/// 2-64) go on from there, and nothing has arrived.
#[test]
fn what_is_in_a_queue_counts_from_the_report_on() {
    let mut raw = Raw::new("e5-2600");
    let reads = raw.wire("imc", "rpq");
    let controls = [(0xd8, 0x40_0080), (0xdc, 0x40_0011), (0xe0, 0x40_0010)];
    for (offset, value) in controls {
        raw.machine.write(channel(offset), Width::B4, value).expect("a control");
    }
    raw.occupancy(reads, &[(0, 3)], 10);
    raw.occupancy(reads, &[(0, 1)], 20);
    raw.machine.enter(reads, 0, 30 * CYCLE);
    raw.occupancy(reads, &[], 40);
    raw.at(60);
    let counters = [0xa0, 0xa8, 0xb0].map(|offset| raw.machine.read(channel(offset), Width::B8).expect("a counter"));
    assert_eq!(counters, [3 * 10 + 10 + 2 * 10, 30, 1]);
}

/// The same of a counter that shows what counter 0 sees (E5-2600 2.3.7, COUNTER0_OCCUPANCY, 0x1F).
#[test]
fn a_report_reaches_what_follows_counter_0() {
    let mut raw = Raw::new("e5-2600");
    let tor = raw.wire("cbo", "tor");
    raw.wrmsr(0xd10, 0x40_0836); // TOR_OCCUPANCY.ALL
    raw.wrmsr(0xd11, 0x40_001f);
    raw.occupancy(tor, &[(0, 2)], 10);
    raw.at(25);
    assert_eq!((raw.rdmsr(0xd16), raw.rdmsr(0xd17)), (30, 30));
}

/// Many requests, all different, wait at once: each counts, and none when they have left.
#[test]
fn a_queue_of_many_different_requests_counts_each() {
    let mut raw = Raw::new("e5-2600");
    let tor = raw.wire("cbo", "tor");
    raw.wrmsr(0xd10, 0x40_0836); // TOR_OCCUPANCY.ALL
    (0..2000).for_each(|tag| raw.machine.enter(tor, tag, 10 * CYCLE));
    (0..2000).for_each(|tag| raw.machine.leave(tor, tag, 13 * CYCLE));
    raw.at(50);
    assert_eq!(raw.rdmsr(0xd16), 3 * 2000);
}
