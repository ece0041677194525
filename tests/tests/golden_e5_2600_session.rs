//! E5-2600, by hand from the guide (327043-001): raw values through raw addresses, signals injected under their names.
//! Nothing here reads a code, mask or address from the catalogue.

use pericore_machine::chassis::{Chassis, Shape};
use pericore_machine::signal::{SignalSink, Wire, Wiring};
use pericore_registers::{Address, Bdf, RegisterSpace, Width};

/// Ticks of a uclk and of a dclk in these tests.
const UCLK: u64 = 8;
const DCLK: u64 = 27;

/// Line states as the filter register numbers them (Table 2-12).
const I: u64 = 0;
const S: u64 = 1;
const E: u64 = 2;
const M: u64 = 3;

fn machine() -> (Chassis, Wiring) {
    let family = pericore_catalog::family("e5-2600").expect("the family is in the catalogue");
    let shape = Shape::new(family, 1, 8, 2).expect("one socket");
    let period = |clock: &str| if clock == "dclk" { DCLK } else { UCLK };
    (Chassis::new(shape, Wiring::new(family, 1), period), Wiring::new(family, 1))
}

fn wrmsr(machine: &mut Chassis, msr: u32, value: u64) {
    machine.write(Address::Msr { cpu: 0, msr }, Width::B8, value).expect("the MSR exists");
}

fn rdmsr(machine: &mut Chassis, msr: u32) -> u64 {
    machine.read(Address::Msr { cpu: 0, msr }, Width::B8).expect("the MSR exists")
}

fn imc(function: u8, offset: u16) -> Address {
    Address::Pci { bdf: Bdf::new(0xff, 16, function), offset }
}

fn home(offset: u16) -> Address {
    Address::Pci { bdf: Bdf::new(0xff, 14, 1), offset }
}

/// A victim line in a state, at a uclk cycle.
fn victim(machine: &mut Chassis, wire: Wire, wiring: &Wiring, state: u64, cycle: u64) {
    let tag = wiring.attribute("cbo", "llc_victim", "state").expect("signal llc_victim").set(0, state);
    machine.pulse(wire, tag, cycle * UCLK, 1);
}

/// 2.1.1 a to f and 2.1.2 with LLC_VICTIMS.M_STATE on counter 1 of CBo 0. The guide's example prints code 0x03 on counter 2; its own
/// tables have 0x37 on counters 0-1 (catalog/blocks/cbo-v1/deviations.toml).
#[test]
fn the_steps_of_2_1_1_count_modified_victims() {
    let (mut machine, mut wiring) = machine();
    let wire = wiring.signal(0, "cbo", 0, "llc_victim").expect("signal llc_victim");
    wrmsr(&mut machine, 0xd04, 0x1_0000); // a) frz_en
    wrmsr(&mut machine, 0xd04, 0x1_0100); // b) frz
    wrmsr(&mut machine, 0xd11, 0x0040_0000); // c) en
    wrmsr(&mut machine, 0xd11, 0x0040_0137); // d) ev_sel 0x37, umask 0x01
    wrmsr(&mut machine, 0xd17, 0x123);
    wrmsr(&mut machine, 0xd04, 0x1_0102); // e) Cn_MSR_PMON_BOX_CTL[1:0] = 2 resets the counters
    assert_eq!(rdmsr(&mut machine, 0xd17), 0, "e) resets the counters");
    assert_eq!(rdmsr(&mut machine, 0xd11), 0x0040_0137, "and leaves the controls");
    victim(&mut machine, wire, &wiring, M, 5);
    assert_eq!(rdmsr(&mut machine, 0xd17), 0, "frozen counters stand still");
    machine.set_now(10 * UCLK);
    wrmsr(&mut machine, 0xd04, 0x1_0000); // f) unfreeze
    for (cycle, state) in [(11, M), (12, E), (13, S), (14, M), (15, I), (16, M)] {
        victim(&mut machine, wire, &wiring, state, cycle);
    }
    machine.set_now(20 * UCLK);
    wrmsr(&mut machine, 0xd04, 0x1_0100); // 2.1.2 a) freeze, then read
    assert_eq!(rdmsr(&mut machine, 0xd17), 3);
    victim(&mut machine, wire, &wiring, M, 21);
    machine.set_now(30 * UCLK);
    assert_eq!(rdmsr(&mut machine, 0xd17), 3);
    wrmsr(&mut machine, 0xd04, 0x1_0000); // resume without reset
    victim(&mut machine, wire, &wiring, M, 31);
    machine.set_now(40 * UCLK);
    assert_eq!(rdmsr(&mut machine, 0xd17), 4);
    // The other slices and counters saw nothing.
    for msr in [0xd16, 0xd18, 0xd19, 0xd36, 0xd37] {
        assert_eq!(rdmsr(&mut machine, msr), 0);
    }
}

/// Unit masks of LLC_VICTIMS are or'd (Table 2-17): 0x03 counts M and E.
#[test]
fn unit_masks_are_alternatives() {
    let (mut machine, mut wiring) = machine();
    let wire = wiring.signal(0, "cbo", 3, "llc_victim").expect("signal llc_victim");
    wrmsr(&mut machine, 0xd70, 0x0040_0337); // CBo 3, counter 0
    wrmsr(&mut machine, 0xd71, 0x0040_0437); // counter 1: S_STATE
    for (cycle, state) in [(1, M), (2, E), (3, S), (4, E), (5, I)] {
        victim(&mut machine, wire, &wiring, state, cycle);
    }
    machine.set_now(6 * UCLK);
    assert_eq!(rdmsr(&mut machine, 0xd76), 3);
    assert_eq!(rdmsr(&mut machine, 0xd77), 1);
}

/// An event on a counter that may not take it counts nothing (2.3.2: counters 2 and 3 track ring events and the companion only).
#[test]
fn counter_2_takes_no_cache_event() {
    let (mut machine, mut wiring) = machine();
    let wire = wiring.signal(0, "cbo", 0, "llc_victim").expect("signal llc_victim");
    wrmsr(&mut machine, 0xd12, 0x0040_0137);
    victim(&mut machine, wire, &wiring, M, 1);
    machine.set_now(10 * UCLK);
    assert_eq!(rdmsr(&mut machine, 0xd18), 0);
}

/// 2.3.2.1, first trick: RxR_OCCUPANCY.IRQ (0x11, umask 0x01) on counter 0 with threshold 1, and OCCUPANCY_COUNTER0 (0x1F) on
/// counters 1 to 3 with thresholds 7, 14 and 18.
#[test]
fn four_thresholds_on_one_queue() {
    let (mut machine, mut wiring) = machine();
    let wire = wiring.signal(0, "cbo", 0, "ingress").expect("signal ingress");
    let irq = wiring.attribute("cbo", "ingress", "sub").expect("attribute sub").set(0, 0x01);
    wrmsr(&mut machine, 0xd10, 0x0140_0111);
    wrmsr(&mut machine, 0xd11, 0x0740_001f);
    wrmsr(&mut machine, 0xd12, 0x0e40_001f);
    wrmsr(&mut machine, 0xd13, 0x1240_001f);
    // One entry more each ten cycles up to 20, then one less each ten cycles.
    for entry in 0..20 {
        machine.enter(wire, irq, (100 + 10 * entry) * UCLK);
    }
    for entry in 0..20 {
        machine.leave(wire, irq, (300 + 10 * entry) * UCLK);
    }
    machine.set_now(1000 * UCLK);
    // At least 1: from cycle 100 to 490. At least 7: 160 to 430. At least 14: 230 to 360. At least 18: 270 to 320.
    assert_eq!(rdmsr(&mut machine, 0xd16), 390);
    assert_eq!(rdmsr(&mut machine, 0xd17), 270);
    assert_eq!(rdmsr(&mut machine, 0xd18), 130);
    assert_eq!(rdmsr(&mut machine, 0xd19), 50);
}

/// 2.3.2.1, second trick: occupancy on counter 0, allocations (RxR_INSERTS.IRQ, 0x13) on counter 1, cycles not empty on counter 2: latency is
/// counter 0 / counter 1, occupancy counter 0 / counter 2.
#[test]
fn mean_latency_and_mean_occupancy() {
    let (mut machine, mut wiring) = machine();
    let wire = wiring.signal(0, "cbo", 0, "ingress").expect("signal ingress");
    let irq = wiring.attribute("cbo", "ingress", "sub").expect("attribute sub").set(0, 0x01);
    wrmsr(&mut machine, 0xd10, 0x0040_0111);
    wrmsr(&mut machine, 0xd11, 0x0040_0113);
    wrmsr(&mut machine, 0xd12, 0x0140_001f);
    // Entries of 30, 20 and 10 cycles: 60 entry cycles, 3 arrivals; not empty for 40 cycles.
    machine.enter(wire, irq, 10 * UCLK);
    machine.enter(wire, irq, 20 * UCLK);
    machine.leave(wire, irq, 40 * UCLK);
    machine.leave(wire, irq, 40 * UCLK);
    machine.enter(wire, irq, 50 * UCLK);
    machine.leave(wire, irq, 60 * UCLK);
    machine.set_now(100 * UCLK);
    assert_eq!(rdmsr(&mut machine, 0xd16), 60);
    assert_eq!(rdmsr(&mut machine, 0xd17), 3);
    assert_eq!(rdmsr(&mut machine, 0xd18), 40);
}

/// TOR_INSERTS.MISS_OPCODE (0x35, 0x03) with the filter's opc = DRd (0x182), and TOR_OCCUPANCY.MISS_OPCODE (0x36, 0x03) beside it; NID_MISS_OPCODE
/// (0x43) takes nid = 0x2, node 1 (Tables 2-12, 2-30, 2-31).
#[test]
fn the_cbo_filter_matches_opcode_and_node() {
    let (mut machine, mut wiring) = machine();
    let wire = wiring.signal(0, "cbo", 1, "tor").expect("signal tor");
    let tag = |opcode: u64, miss: u64, nid: u64| {
        let set = |tag: u64, name: &str, value: u64| wiring.attribute("cbo", "tor", name).expect("tor").set(tag, value);
        set(set(set(set(0, "opc", opcode), "irq", 1), "miss", miss), "nid", nid)
    };
    wrmsr(&mut machine, 0xd34, 0x182 << 23 | 0x2 << 10);
    wrmsr(&mut machine, 0xd30, 0x0040_0336);
    wrmsr(&mut machine, 0xd31, 0x0040_4335);
    let entries = [tag(0x182, 1, 0), tag(0x182, 1, 1), tag(0x182, 0, 1), tag(0x180, 1, 1), tag(0x182, 1, 1)];
    for (index, entry) in (0u64..).zip(entries) {
        machine.enter(wire, entry, (10 + index) * UCLK);
    }
    for (index, entry) in (0u64..).zip(entries) {
        machine.leave(wire, entry, (30 + index) * UCLK);
    }
    machine.set_now(100 * UCLK);
    assert_eq!(rdmsr(&mut machine, 0xd36), 60, "three data reads missed, twenty cycles each");
    assert_eq!(rdmsr(&mut machine, 0xd37), 2, "two of them for node 1");
}

/// The tid filter (Table 2-10 bit 19, Table 2-12 bits 4:0): core 2, thread 1 is 0b00101.
#[test]
fn the_cbo_filter_matches_a_thread() {
    let (mut machine, mut wiring) = machine();
    let wire = wiring.signal(0, "cbo", 0, "llc_lookup").expect("signal llc_lookup");
    let tag = |thread: u64, state: u64| {
        let set = |tag: u64, name: &str, value: u64| {
            wiring.attribute("cbo", "llc_lookup", name).expect("lookup").set(tag, value)
        };
        set(set(set(0, "read", 1), "tid", thread), "state", state)
    };
    wrmsr(&mut machine, 0xd14, 0x1f << 18 | 0b00101);
    wrmsr(&mut machine, 0xd10, 0x0048_0334); // DATA_READ of that thread, any state
    wrmsr(&mut machine, 0xd11, 0x0040_0334); // DATA_READ of all
    for (cycle, thread, state) in [(1, 0b00101, E), (2, 0b00100, E), (3, 0b00101, I), (4, 0b01101, M)] {
        machine.pulse(wire, tag(thread, state), cycle * UCLK, 1);
    }
    machine.set_now(10 * UCLK);
    assert_eq!(rdmsr(&mut machine, 0xd16), 2);
    assert_eq!(rdmsr(&mut machine, 0xd17), 4);
    // State I only: misses (2.3.7, note of LLC_LOOKUP).
    wrmsr(&mut machine, 0xd14, 0x01 << 18);
    machine.pulse(wire, tag(0, I), 11 * UCLK, 1);
    machine.pulse(wire, tag(0, S), 12 * UCLK, 1);
    machine.set_now(20 * UCLK);
    assert_eq!(rdmsr(&mut machine, 0xd17), 5);
    // Without bit 0 of the umask nothing counts.
    wrmsr(&mut machine, 0xd11, 0x0040_0234);
    machine.pulse(wire, tag(0, I), 21 * UCLK, 1);
    machine.set_now(30 * UCLK);
    assert_eq!(rdmsr(&mut machine, 0xd17), 5);
}

/// Memory channel 2 is D16:F4. Its box control has no reset bits (Table 2-60): software writes zeros into the counters (2.1.1 e). Counters are
/// 48 bits wide, in two dwords, the low one first; the fixed counter is at D0, its control at F0 with enable 22 and reset 19.
#[test]
fn a_memory_channel_counts_reads_and_clocks() {
    let (mut machine, mut wiring) = machine();
    let (wire, read) = wiring.subevent(0, "imc", 2, "CAS_COUNT", "RD_REG").expect("CAS_COUNT.RD_REG");
    let (_, write) = wiring.subevent(0, "imc", 2, "CAS_COUNT", "WR_WMM").expect("CAS_COUNT.WR_WMM");
    let mut write_register =
        |offset, width, value| machine.write(imc(4, offset), width, value).expect("the function exists");
    write_register(0xf4, Width::B4, 0x1_0100);
    write_register(0xd8, Width::B4, 0x0040_0304); // CAS_COUNT.RD
    write_register(0xdc, Width::B4, 0x0040_0c04); // CAS_COUNT.WR
    write_register(0xa0, Width::B4, 0xffff_fffe);
    write_register(0xa4, Width::B4, 0xffff_ffff); // bits above 47 do not exist
    write_register(0xf0, Width::B4, 0x0048_0000); // fixed: en and rst
    write_register(0xf4, Width::B4, 0x1_0102); // no reset bits here: clients write them all the same
    write_register(0xf4, Width::B4, 0x1_0000);
    for cycle in 0..5 {
        machine.pulse(wire, read, (10 + cycle) * DCLK, 1);
        machine.pulse(wire, write, (10 + cycle) * DCLK, 1);
    }
    machine.set_now(1000 * DCLK);
    let mut read_register = |offset, width| machine.read(imc(4, offset), width).expect("the function exists");
    assert_eq!(read_register(0xa0, Width::B4), 3, "48 bits wrapped: 2^48 - 2 + 5");
    assert_eq!(read_register(0xa4, Width::B4), 0);
    assert_eq!(read_register(0xa8, Width::B8), 5);
    assert_eq!(read_register(0xd0, Width::B8), 1000);
    assert_eq!(read_register(0xf4, Width::B4), 0x1_0000);
    assert_eq!(read_register(0xd8, Width::B2), 0x0304, "narrow cycles work");
    assert_eq!(read_register(0xda, Width::B1), 0x40);
}

/// The home agent at D14:F1: REQUESTS (0x01) READS 0x03 and WRITES 0x0c, TRACKER_INSERTS.ALL (0x06, 0x03); HA counts uclks.
#[test]
fn the_home_agent_counts_requests() {
    let (mut machine, mut wiring) = machine();
    let (requests, reads) = wiring.subevent(0, "ha", 0, "REQUESTS", "READS").expect("REQUESTS.READS");
    let (_, writes) = wiring.subevent(0, "ha", 0, "REQUESTS", "WRITES").expect("REQUESTS.WRITES");
    for (offset, value) in [(0xd8, 0x0040_0301), (0xdc, 0x0040_0c01), (0xe0, 0x0040_0000)] {
        machine.write(home(offset), Width::B4, value).expect("the function exists");
    }
    for cycle in 0..7 {
        machine.pulse(requests, if cycle % 3 == 0 { writes } else { reads }, (cycle + 1) * UCLK, 1);
    }
    machine.set_now(50 * UCLK);
    let mut counts =
        [0xa0, 0xa8, 0xb0].map(|offset| machine.read(home(offset), Width::B8).expect("the function exists"));
    assert_eq!(counts, [4, 3, 50]);
    counts[0] = machine.read(Address::Pci { bdf: Bdf::new(0xff, 14, 1), offset: 0 }, Width::B4).expect("header");
    assert_eq!(counts[0], 0x3c46_8086);
}

/// Bus rules: an MSR that does not exist is #GP, an absent function reads all ones, and MSRs are 8 bytes.
#[test]
fn what_is_not_there() {
    let (mut machine, _) = machine();
    assert!(machine.read(Address::Msr { cpu: 0, msr: 0xd15 }, Width::B8).is_err());
    assert!(machine.read(Address::Msr { cpu: 0, msr: 0xd16 }, Width::B4).is_err());
    assert!(machine.read(Address::Msr { cpu: 999, msr: 0xd16 }, Width::B8).is_err());
    let absent = Address::Pci { bdf: Bdf::new(0xff, 3, 3), offset: 0 };
    assert_eq!(machine.read(absent, Width::B4), Ok(0xffff_ffff));
    assert_eq!(machine.read(absent, Width::B8), Ok(u64::MAX));
    assert_eq!(machine.write(absent, Width::B4, 1), Ok(()));
    assert!(machine.read(imc(0, 0xa1), Width::B4).is_err(), "a cycle that crosses a dword");
}
