//! Nehalem's uncore, by hand from the SDM (18.8.2): enables, overflow, interrupt, freeze, match register.

use pericore_registers::{Address, RegisterSpace, Width};
use pericore_tests::pmon::raw::{self, Raw};

const GLOBAL_CTRL: u32 = 0x391;
const GLOBAL_STATUS: u32 = 0x392;
const GLOBAL_OVF_CTRL: u32 = 0x393;
const FIXED_CTR: u32 = 0x394;
const FIXED_CTR_CTRL: u32 = 0x395;
const ADDR_OPCODE_MATCH: u32 = 0x396;
const PMC0: u32 = 0x3b0;
const PERFEVTSEL0: u32 = 0x3c0;

const EMPTY: u64 = 1 << 48;

/// 18.8.2.2: a counter counts when its own enable, bit 22, and its bit of the global control are both set; the fixed one likewise.
#[test]
fn both_enables_are_needed() {
    let mut raw = Raw::new("nehalem", 1);
    // L3_HITS.READ: 0x08, 0x01.
    let hits = raw.wire("uncore", 0, "LLC_HITS");
    let read = raw.tag("uncore", "LLC_HITS", &[("sub", 0x01)]);
    raw.wrmsr(PERFEVTSEL0, 0x0040_0108);
    raw.wrmsr(PERFEVTSEL0 + 1, 0x0000_0108);
    raw.wrmsr(PERFEVTSEL0 + 7, 0x0040_0108);
    raw.wrmsr(FIXED_CTR_CTRL, 1);
    raw.pulse(hits, read, 1, 1);
    raw.at(10);
    assert_eq!([PMC0, PMC0 + 1, PMC0 + 7, FIXED_CTR].map(|msr| raw.rdmsr(msr)), [0; 4]);
    raw.wrmsr(GLOBAL_CTRL, 1 << 32 | 0x3);
    raw.pulse(hits, read, 11, 1);
    raw.at(30);
    assert_eq!([PMC0, PMC0 + 1, PMC0 + 7, FIXED_CTR].map(|msr| raw.rdmsr(msr)), [1, 0, 0, 20]);
    raw.wrmsr(GLOBAL_CTRL, 0x80);
    raw.pulse(hits, read, 31, 1);
    raw.at(40);
    assert_eq!([PMC0, PMC0 + 1, PMC0 + 7, FIXED_CTR].map(|msr| raw.rdmsr(msr)), [1, 0, 1, 20]);
}

/// Threshold (counter mask), inversion and edges, on a queue's occupancy.
#[test]
fn counter_mask_invert_edge() {
    let mut raw = Raw::new("nehalem", 1);
    let queue = raw.wire("uncore", 0, "qmc");
    let channel_0 = raw.tag("uncore", "qmc", &[("sub", 0x01)]);
    raw.wrmsr(GLOBAL_CTRL, 0xff);
    // QMC_OCCUPANCY.CH0: 0x2A, 0x01.
    for (msr, control) in (PERFEVTSEL0..).zip([0x0040_012a, 0x0240_012a, 0x02c0_012a, 0x0244_012a, 0x0040_012a]) {
        raw.wrmsr(msr, control);
    }
    raw.enter(queue, channel_0, 10);
    raw.enter(queue, channel_0, 20);
    raw.leave(queue, channel_0, 30);
    raw.enter(queue, channel_0, 40);
    raw.at(50);
    // 1 entry from 10, 2 from 20, 1 from 30, 2 from 40 to 50.
    assert_eq!([0, 1, 2, 3].map(|n| raw.rdmsr(PMC0 + n)), [60, 20, 30, 2]);
    // OCC_CTR_RST, bit 17, zeroes the occupancy of the event and reads as 0.
    raw.wrmsr(PERFEVTSEL0 + 4, 0x0042_012a);
    assert_eq!(raw.rdmsr(PERFEVTSEL0 + 4), 0x0040_012a);
    let before = raw.rdmsr(PMC0 + 4);
    raw.at(60);
    assert_eq!(raw.rdmsr(PMC0 + 4), before);
    raw.enter(queue, channel_0, 60);
    raw.at(70);
    assert_eq!(raw.rdmsr(PMC0 + 4), before + 10);
}

/// Overflow, interrupt and freeze: status bits, the cores that are enabled, and with pmi_frz all enables cleared (18.8.2.1); then clear
/// and go on.
#[test]
fn overflow_interrupt_and_rearm() {
    let mut raw = Raw::new("nehalem", 2);
    let hits = raw.wire_of(1, "uncore", 0, "LLC_HITS");
    let read = raw.tag("uncore", "LLC_HITS", &[("sub", 0x01)]);
    let cpu = 8; // in socket 1
    raw.wrmsr_on(cpu, PERFEVTSEL0 + 2, 0x0050_0108); // PMI, bit 20
    raw.wrmsr_on(cpu, PERFEVTSEL0 + 3, 0x0040_0108);
    raw.wrmsr_on(cpu, PMC0 + 2, EMPTY - 3);
    raw.wrmsr_on(cpu, PMC0 + 3, EMPTY - 1);
    raw.wrmsr_on(cpu, FIXED_CTR_CTRL, 1);
    raw.wrmsr_on(cpu, GLOBAL_CTRL, 1 << 63 | 0b0101 << 48 | 1 << 32 | 0xc);
    raw.pulse(hits, read, 10, 1);
    raw.at(20);
    assert_eq!(raw.rdmsr_on(cpu, GLOBAL_STATUS), 1 << 63 | 0x8, "counter 3 overflowed without a word");
    assert!(raw.machine.take_interrupts().is_empty());
    raw.pulse(hits, read, 30, 5);
    raw.at(100);
    assert_eq!(raw.rdmsr_on(cpu, GLOBAL_STATUS), 1 << 63 | 1 << 61 | 0xc);
    assert_eq!(raw.rdmsr_on(cpu, GLOBAL_CTRL), 1 << 63 | 0b0101 << 48, "software must enable again");
    assert_eq!([PMC0 + 2, PMC0 + 3, FIXED_CTR].map(|msr| raw.rdmsr_on(cpu, msr)), [3, 5, 30]);
    let interrupts = raw.machine.take_interrupts();
    assert_eq!(interrupts.len(), 1);
    assert_eq!((interrupts[0].socket, interrupts[0].cores, interrupts[0].tick), (1, 0b0101, 30 * raw::CYCLE));
    // The status is read only; the overflow control clears bit by bit.
    raw.wrmsr_on(cpu, GLOBAL_STATUS, 0);
    assert_eq!(raw.rdmsr_on(cpu, GLOBAL_STATUS), 1 << 63 | 1 << 61 | 0xc);
    raw.wrmsr_on(cpu, GLOBAL_OVF_CTRL, 1 << 61 | 0x4);
    assert_eq!(raw.rdmsr_on(cpu, GLOBAL_STATUS), 1 << 63 | 0x8);
    raw.wrmsr_on(cpu, GLOBAL_OVF_CTRL, 1 << 63 | 0x8);
    assert_eq!((raw.rdmsr_on(cpu, GLOBAL_STATUS), raw.rdmsr_on(cpu, GLOBAL_OVF_CTRL)), (0, 0));
    raw.wrmsr_on(cpu, PMC0 + 2, EMPTY - 1);
    raw.wrmsr_on(cpu, GLOBAL_CTRL, 0b1000 << 48 | 0x4);
    raw.pulse(hits, read, 110, 1);
    raw.pulse(hits, read, 120, 1);
    raw.at(200);
    assert_eq!(raw.rdmsr_on(cpu, PMC0 + 2), 1, "without pmi_frz it goes on");
    assert_eq!(raw.machine.take_interrupts()[0].cores, 0b1000);
    assert_eq!(raw.rdmsr_on(0, GLOBAL_STATUS), 0, "the other socket");
}

/// The fixed counter overflows into bit 32 and interrupts with bit 2 of its control, in its cycle.
#[test]
fn the_fixed_counter_interrupts() {
    let mut raw = Raw::new("nehalem", 1);
    raw.wrmsr(FIXED_CTR_CTRL, 0x5);
    raw.wrmsr(FIXED_CTR, EMPTY - 100);
    raw.wrmsr(PERFEVTSEL0, 0x0040_00ff); // UNC_CLK_UNHALTED is no event of a programmable counter: 0xFF counts nothing
    raw.wrmsr(GLOBAL_CTRL, 1 << 63 | 1 << 48 | 1 << 32 | 1);
    raw.at(5000);
    assert_eq!(raw.rdmsr(GLOBAL_STATUS), 1 << 63 | 1 << 61 | 1 << 32);
    assert_eq!(raw.rdmsr(FIXED_CTR), 0);
    assert_eq!(raw.machine.take_interrupts()[0].tick, 100 * raw::CYCLE);
}

/// ADDR_OPCODE_MATCH (0x35) with the match register (18.8.2.3): msel in 63:61 chooses what must agree; opcode 47:40, address 39:3.
#[test]
fn address_and_opcode_match() {
    let mut raw = Raw::new("nehalem", 1);
    let requests = raw.wire("uncore", 0, "match");
    raw.wrmsr(GLOBAL_CTRL, 0xff);
    raw.wrmsr(PERFEVTSEL0, 0x0040_0035); // LIKWID programs it with mask 0
    raw.wrmsr(PERFEVTSEL0 + 1, 0x0040_0235); // REMOTE
    let (address, opcode) = (0x12_3456_7890u64, 0x1d);
    // Both, opcode, address, either, off.
    for (msel, expected) in [(1, [1, 0]), (2, [2, 1]), (4, [2, 0]), (6, [3, 1]), (0, [0, 0])] {
        raw.wrmsr(ADDR_OPCODE_MATCH, msel << 61 | opcode << 40 | address);
        [PMC0, PMC0 + 1].into_iter().for_each(|msr| raw.wrmsr(msr, 0));
        let now = raw.machine.now() / raw::CYCLE;
        for (cycle, (sub, addr, op)) in
            (now + 1..).zip([(4, address, opcode), (2, address + 8, opcode), (1, address, 0x19), (2, 0, 0)])
        {
            let tag = raw.tag("uncore", "match", &[("sub", sub), ("opcode", op), ("addr", addr >> 3)]);
            raw.pulse(requests, tag, cycle, 1);
        }
        raw.at(now + 10);
        assert_eq!([PMC0, PMC0 + 1].map(|msr| raw.rdmsr(msr)), expected, "msel {msel}");
    }
}

/// Widths and reserved bits; MSRs that do not exist.
#[test]
fn what_is_kept() {
    let mut raw = Raw::new("nehalem", 1);
    for (msr, kept) in [
        (GLOBAL_CTRL, 1 << 63 | 0xf << 48 | 1 << 32 | 0xff),
        (FIXED_CTR, EMPTY - 1),
        (FIXED_CTR_CTRL, 0x5),
        (ADDR_OPCODE_MATCH, 7 << 61 | 0xffff_ffff_ffff & !0x7),
        (PMC0 + 5, EMPTY - 1),
        (PERFEVTSEL0 + 5, 0xffd4_ffff),
    ] {
        raw.wrmsr(msr, u64::MAX);
        assert_eq!(raw.rdmsr(msr), kept, "{msr:#x}");
    }
    for msr in [0x397, 0x3b8, 0x3c8] {
        assert!(raw.machine.read(Address::Msr { cpu: 0, msr }, Width::B8).is_err(), "{msr:#x}");
    }
}
