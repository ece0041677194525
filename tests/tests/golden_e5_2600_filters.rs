//! E5-2600, every filter and every case of the PCU, by hand from the guide (327043-001).

use pericore_machine::chassis::Shape;
use pericore_tests::pmon::raw::{self, Raw};

/// The uncore bus of a lone socket.
const BUS: u8 = 0xff;

/// C-states as occ_sel numbers them (Table 2-75).
const C0: u64 = 1;
const C3: u64 = 2;
const C6: u64 = 3;

/// Eight cores, of which 3, 5, 3, 6 and 2 are in C0 (from cycles 0, 100, 200, 300 and 400; the others in C6); the
/// voltage changes from 150 to 350; the socket runs at 2.4 GHz to 250, at 1.8 to 450, then at 2.0. All to cycle 500.
fn power_history(raw: &mut Raw) {
    let (cores, volts, frequency) =
        (raw.wire("pcu", 0, "cores"), raw.wire("pcu", 0, "VOLT_TRANS_CYCLES_CHANGE"), raw.wire("pcu", 0, "frequency"));
    let state = |raw: &Raw, state| raw.tag("pcu", "cores", &[("state", state)]);
    let ratio = |raw: &Raw, ratio| raw.tag("pcu", "frequency", &[("ratio", ratio)]);
    let (awake, asleep) = (state(raw, C0), state(raw, C6));
    (0..3).for_each(|_| raw.enter(cores, awake, 0));
    (0..5).for_each(|_| raw.enter(cores, asleep, 0));
    let (fast, slow, middle) = (ratio(raw, 24), ratio(raw, 18), ratio(raw, 20));
    raw.enter(frequency, fast, 0);
    let wake = |raw: &mut Raw, cycle, count: i32| {
        let (from, to) = if count > 0 { (asleep, awake) } else { (awake, asleep) };
        for _ in 0..count.abs() {
            raw.leave(cores, from, cycle);
            raw.enter(cores, to, cycle);
        }
    };
    wake(raw, 100, 2);
    raw.enter(volts, 0, 150);
    wake(raw, 200, -2);
    raw.leave(frequency, fast, 250);
    raw.enter(frequency, slow, 250);
    wake(raw, 300, 3);
    raw.leave(volts, 0, 350);
    wake(raw, 400, -4);
    raw.leave(frequency, slow, 450);
    raw.enter(frequency, middle, 450);
    raw.at(500);
}

/// What the four counters show after the history.
fn counts(controls: [u64; 4], filter: u64) -> [u64; 4] {
    let mut raw = Raw::new("e5-2600", 1);
    raw.wrmsr(0xc34, filter);
    for (msr, control) in (0xc30..).zip(controls) {
        raw.wrmsr(msr, control);
    }
    power_history(&mut raw);
    [0xc36, 0xc37, 0xc38, 0xc39].map(|msr| raw.rdmsr(msr))
}

/// Table 2-80, cases 1 to 4: a simple event; cores in C0; cycles with more than 4 of them; transitions into such
/// cycles.
#[test]
fn pcu_cases_1_to_4() {
    let cases = [0x0040_0003, 0x0040_4080, 0x0540_4080, 0x8540_4080];
    assert_eq!(counts(cases, 0), [200, 300 + 500 + 300 + 600 + 200, 200, 2]);
}

/// Cases 5 and 6: cycles of voltage transition with more than 4 cores in C0 (150 to 200, 300 to 350); cycles with fewer
/// than 4 cores in C0 below 2.0 GHz, filter 0x14 (250 to 300, 400 to 450). With edge detection: entries into the joint
/// condition; openings of the occupancy's comparison while the event holds (catalog/undefined.toml).
#[test]
fn pcu_cases_5_and_6() {
    let case_5 = 0x0540_4083;
    let case_6 = 0x44c0_408b;
    let edge_det = 1 << 18;
    let occ_edge_det = 1 << 31;
    assert_eq!(counts([case_5, case_6, case_5 | edge_det, case_5 | occ_edge_det], 0x14), [100, 100, 2, 1]);
    // Threshold 0 adds the occupancy up while the event holds; without inversion case 6 counts the other way round.
    let sum = 0x0040_4083;
    let both_high = 0x0440_408b;
    assert_eq!(counts([sum, both_high, 0, 0], 0x14), [250 + 300 + 300, 100, 0, 0]);
}

/// Cores in C0 (occ_sel 1) while the socket runs at 2.0 GHz or more (FREQ_BAND0, filter 0x14): 3 of them for 200
/// cycles. A frequency is no core, whatever its ratio: 2.5 GHz is 0x19, whose lowest bits are those of C0.
#[test]
fn pcu_a_frequency_adds_no_core() {
    let mut raw = Raw::new("e5-2600", 1);
    raw.wrmsr(0xc34, 0x14);
    raw.wrmsr(0xc30, 0x0040_408b);
    raw.wrmsr(0xc31, 0x0440_408b); // in cycles with at least 4 of them
    let (cores, frequency) = (raw.wire("pcu", 0, "cores"), raw.wire("pcu", 0, "frequency"));
    let (awake, fast) = (raw.tag("pcu", "cores", &[("state", C0)]), raw.tag("pcu", "frequency", &[("ratio", 0x19)]));
    (0..3).for_each(|_| raw.enter(cores, awake, 0));
    raw.enter(frequency, fast, 100);
    raw.leave(frequency, fast, 300);
    raw.at(500);
    assert_eq!([0xc36, 0xc37].map(|msr| raw.rdmsr(msr)), [600, 0]);
}

/// Table 2-77: FREQ_BAND0 to 3 (0x0B to 0x0E) take one byte of the filter each, in steps of 100 MHz.
#[test]
fn pcu_bands() {
    let bands = [0x0040_000b, 0x0040_000c, 0x0040_000d, 0x0040_000e];
    assert_eq!(counts(bands, 0x1912_1814), [300, 250, 500, 0]);
    // Below the bound: thresh 1 and invert; entries into the band, the first when the history begins.
    assert_eq!(counts([0x01c0_000b, 0x0144_000b, 0, 0], 0x14), [200, 2, 0, 0]);
}

/// 0x3FC and 0x3FD count cycles with some core in C3 or C6 (2.6.3.3); no freeze and no reset reaches them. All cores
/// see the same.
#[test]
fn pcu_residencies() {
    let mut raw = Raw::new("e5-2600", 2);
    let cores = raw.wire_of(1, "pcu", 0, "cores");
    let [c3, c6] = [C3, C6].map(|state| raw.tag("pcu", "cores", &[("state", state)]));
    raw.wrmsr_on(8, 0xc24, 0x1_0103);
    raw.enter(cores, c3, 100);
    raw.enter(cores, c3, 150);
    raw.leave(cores, c3, 200);
    raw.leave(cores, c3, 300);
    raw.enter(cores, c6, 250);
    raw.at(1000);
    assert_eq!([8, 15, 24].map(|cpu| raw.rdmsr_on(cpu, 0x3fc)), [200; 3]);
    assert_eq!(raw.rdmsr_on(9, 0x3fd), 750);
    assert_eq!([0x3fc, 0x3fd].map(|msr| raw.rdmsr_on(0, msr)), [0, 0], "the other socket");
}

/// ADDR_OPC_MATCH.FILT of the home agent (0x20, 0x03; Tables 2-37 to 2-39): address bits 45:12 and the opcode must
/// match; bits 11:0 never matter.
#[test]
fn home_agent_match() {
    let mut raw = Raw::new("e5-2600", 1);
    let packets = raw.wire("ha", 0, "packets");
    let page = 0x2345_6789_a000u64;
    raw.pci_write(BUS, 14, 1, 0x40, page as u32 | 0xfff);
    raw.pci_write(BUS, 14, 1, 0x44, (page >> 32) as u32);
    raw.pci_write(BUS, 14, 1, 0x48, 0x2c);
    assert_eq!([0x40, 0x44, 0x48].map(|offset| raw.pci(BUS, 14, 1, offset)), [0x6789_afc0, 0x2345, 0x2c]);
    raw.pci_write(BUS, 14, 1, 0xd8, 0x0040_0320);
    raw.pci_write(BUS, 14, 1, 0xdc, 0x0040_0120); // one bit alone is not listed: it counts nothing
    let seen = [
        (page, 0x2c),
        (page + 0xfc0, 0x2c),
        (page + 0x1000, 0x2c),
        (page, 0x2d),
        (page ^ 1 << 45, 0x2c),
        (page ^ 1 << 31, 0x2c),
    ];
    for (cycle, (address, opcode)) in (1..).zip(seen) {
        let attributes = [("opc", opcode), ("lo_addr", address >> 6 & 0x3ff_ffff), ("hi_addr", address >> 32)];
        let tag = raw.tag("ha", "packets", &attributes);
        raw.pulse(packets, tag, cycle, 1);
    }
    raw.at(20);
    assert_eq!([0xa0, 0xa8].map(|offset| raw.pci_count(BUS, 14, 1, offset)), [2, 0]);
}

/// CTO_COUNT of QPI (0x38 with bit 21; Tables 2-88 to 2-91) compares a packet's header with match where mask is 1. The
/// registers are in function 6 of the port's device; both ports have their own.
#[test]
fn qpi_match_and_mask() {
    let mut raw = Raw::new("e5-2600", 1);
    let packets = raw.wire("qpi", 1, "packets");
    let count = |raw: &mut Raw, match0, mask0, match1, mask1| {
        for (offset, value) in [(0x228, match0), (0x22c, match1), (0x238, mask0), (0x23c, mask1)] {
            raw.pci_write(BUS, 9, 6, offset, value);
        }
        raw.pci_write(BUS, 9, 2, 0xd8, 0x0062_0038);
        let now = raw.machine.now() / raw::CYCLE;
        // Data responses (class 0xE), DataC in states M (0x8) and F (0x1) to nodes 2 and 3, a write-back (class 0xE,
        // opcode 0x4), a snoop (class 0x1) of requester 0x15 in VN0.
        let headers = [
            [("mc", 0xe), ("opc", 0x0), ("dnid", 2), ("rds", 0x8), ("rnid30", 0), ("rnid4", 0), ("vnw", 2)],
            [("mc", 0xe), ("opc", 0x0), ("dnid", 3), ("rds", 0x1), ("rnid30", 0), ("rnid4", 0), ("vnw", 3)],
            [("mc", 0xe), ("opc", 0x4), ("dnid", 2), ("rds", 0x0), ("rnid30", 1), ("rnid4", 0), ("vnw", 2)],
            [("mc", 0x1), ("opc", 0x0), ("dnid", 2), ("rds", 0x0), ("rnid30", 5), ("rnid4", 1), ("vnw", 0)],
        ];
        for (cycle, header) in (now + 1..).zip(headers) {
            let tag = raw.tag("qpi", "packets", &header);
            raw.pulse(packets, tag, cycle, 1);
        }
        raw.at(now + 10);
        raw.pci_count(BUS, 9, 2, 0xa0)
    };
    assert_eq!(count(&mut raw, 0, 0, 0, 0), 4, "masks of 0 take every packet");
    assert_eq!(count(&mut raw, 0x1c00, 0x1e00, 0, 0), 3, "DRS.AnyResp, Table 2-92");
    assert_eq!(count(&mut raw, 0x1c00, 0x1f80, 0, 0), 2, "opcodes 0 to 3");
    assert_eq!(count(&mut raw, 0x1c00, 0x1fe0, 0x8_0000, 0xf_0000), 1, "DataC in state M");
    assert_eq!(count(&mut raw, 2 << 13 | 0x1c00, 0x1f << 13 | 0x1e00, 0, 0), 2, "to node 2");
    assert_eq!(count(&mut raw, 1 << 31, 1 << 31, 0x5, 0xf), 1, "requester 0x15");
    assert_eq!(count(&mut raw, 0x10, 0x18, 0, 0), 2, "virtual network 2");
    assert_eq!(count(&mut raw, 0x1c00, 0, 0, 0), 4);
    // Without bit 21 the code is another event; port 0 saw nothing.
    raw.pci_write(BUS, 9, 2, 0xdc, 0x0040_0038);
    raw.pci_write(BUS, 8, 2, 0xd8, 0x0060_0038);
    assert_eq!((raw.pci_count(BUS, 9, 2, 0xa8), raw.pci_count(BUS, 8, 2, 0xa0)), (0, 0));
    assert_eq!(raw.pci(BUS, 9, 0, 0xd4), 0x3, "QPI_RATE_STATUS of port 1, D9:F0");
}

/// Opcodes are matched for requests from the IRQ only (Table 2-12); WB and EVICTION need no opcode; combinations as in
/// Table 2-30.
#[test]
fn cbo_opcodes_from_the_irq_only() {
    let mut raw = Raw::new("e5-2600", 1);
    let tor = raw.wire("cbo", 4, "tor");
    raw.wrmsr(0xd94, 0x182 << 23 | 0x3 << 10);
    // OPCODE 0x01, EVICTION 0x04, WB 0x10, NID_ALL 0x48.
    for (msr, control) in (0xd90..).zip([0x0040_0135, 0x0040_0435]) {
        raw.wrmsr(msr, control);
    }
    let entry = |raw: &Raw, attributes: &[(&str, u64)]| raw.tag("cbo", "tor", attributes);
    let entries = [
        entry(&raw, &[("opc", 0x182), ("irq", 1)]),
        entry(&raw, &[("opc", 0x182), ("irq", 0)]),
        entry(&raw, &[("opc", 0x180), ("irq", 1)]),
        entry(&raw, &[("eviction", 1), ("nid", 2)]),
    ];
    for (cycle, &tag) in (1..).zip(&entries) {
        raw.enter(tor, tag, cycle);
        raw.leave(tor, tag, cycle + 10);
    }
    raw.at(50);
    assert_eq!([0xd96, 0xd97].map(|msr| raw.rdmsr(msr)), [1, 1]);
    // Node mask 0x3: nodes 0 and 1.
    raw.wrmsr(0xd90, 0x0042_4835);
    for (cycle, &tag) in (51..).zip(&entries) {
        raw.enter(tor, tag, cycle);
    }
    raw.at(100);
    assert_eq!(raw.rdmsr(0xd96), 3);
}

/// The special threads of Table 2-12: 0x1E is PCIe, 0xF no thread.
#[test]
fn cbo_special_threads() {
    let mut raw = Raw::new("e5-2600", 1);
    let victims = raw.wire("cbo", 0, "llc_victim");
    raw.wrmsr(0xd10, 0x0048_0f37);
    for (tid, expected) in [(0x1e, 2), (0xf, 1), (0x3, 0)] {
        raw.wrmsr(0xd14, tid);
        raw.wrmsr(0xd16, 0);
        let now = raw.machine.now() / raw::CYCLE;
        for (cycle, tid) in (now + 1..).zip([0x1e, 0xf, 0x1e, 0x0]) {
            let tag = raw.tag("cbo", "llc_victim", &[("state", 3), ("tid", tid)]);
            raw.pulse(victims, tag, cycle, 1);
        }
        raw.at(now + 10);
        assert_eq!(raw.rdmsr(0xd16), expected, "thread {tid:#x}");
    }
}

/// The state field of Table 2-12: each state alone, and several.
#[test]
fn cbo_states() {
    let mut raw = Raw::new("e5-2600", 1);
    let lookups = raw.wire("cbo", 0, "llc_lookup");
    raw.wrmsr(0xd10, 0x0040_0334); // DATA_READ
    for (filter, expected) in [(0x01, 1), (0x02, 1), (0x04, 1), (0x08, 1), (0x10, 1), (0x1f, 5), (0x1e, 4), (0x00, 0)] {
        raw.wrmsr(0xd14, filter << 18);
        raw.wrmsr(0xd16, 0);
        let now = raw.machine.now() / raw::CYCLE;
        for state in 0..5 {
            let tag = raw.tag("cbo", "llc_lookup", &[("read", 1), ("state", state)]);
            raw.pulse(lookups, tag, now + 1 + state, 1);
        }
        raw.at(now + 10);
        assert_eq!(raw.rdmsr(0xd16), expected, "states {filter:#x}");
    }
}

/// 2.3.1: a part with six slices keeps eight monitors; the last two still see the ring at their stops.
#[test]
fn fused_off_slices_count_ring_traffic() {
    let family = pericore_catalog::family("e5-2600").expect("in the catalogue");
    let shape = Shape::new(family, 1, 6, 2).and_then(|shape| shape.with_slices(6)).expect("six slices");
    let mut raw = Raw::of(shape);
    let ring = raw.wire("cbo", 7, "RING_BL_USED");
    let up_even = raw.tag("cbo", "RING_BL_USED", &[("sub", 0x01)]);
    raw.wrmsr(0xdf2, 0x0040_0f1d); // counter 2 of monitor 7
    raw.enter(ring, up_even, 10);
    raw.leave(ring, up_even, 35);
    raw.at(100);
    assert_eq!(raw.rdmsr(0xdf8), 25);
}

/// One to eight sockets: node numbers at 0x40 and the map at 0x54 of D11:F0 (3CE0), each socket on its own bus, MSRs by
/// package.
#[test]
fn sockets_are_apart() {
    for sockets in [1u16, 2, 4, 8] {
        let mut raw = Raw::new("e5-2600", sockets);
        let share = 256 / sockets;
        for socket in 0..sockets {
            let bus = ((socket + 1) * share - 1) as u8;
            assert_eq!(raw.pci(bus, 11, 0, 0), 0x3ce0_8086);
            let node = raw.pci(bus, 11, 0, 0x40) & 7;
            let map = raw.pci(bus, 11, 0, 0x54);
            assert_eq!((node, map >> (3 * socket) & 7), (socket.into(), socket.into()));
            raw.pci_write(bus, 16, 0, 0xd8, 0x0040_0000 | u32::from(socket) << 8);
            raw.wrmsr_on(u32::from(socket) * 8, 0xd34, u64::from(socket) << 10);
        }
        for socket in 0..sockets {
            let bus = ((socket + 1) * share - 1) as u8;
            assert_eq!(raw.pci(bus, 16, 0, 0xd8), 0x0040_0000 | u32::from(socket) << 8);
            let second_thread = u32::from(sockets) * 8 + u32::from(socket) * 8 + 7;
            assert_eq!(raw.rdmsr_on(second_thread, 0xd34), u64::from(socket) << 10);
        }
        assert!(raw.pci(1, 16, 0, 0) == u32::MAX, "no function on other buses");
    }
}
