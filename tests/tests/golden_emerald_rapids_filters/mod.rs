//! Emerald Rapids, every filter: threads, opcodes, extended umasks, headers, channels, thresholds; by hand from the guide (817509-001).

mod table_of_requests;

use pericore_machine::signal::SignalSink;
use pericore_registers::Width;
use pericore_tests::pmon::raw::{B30, DCLK, Raw};

/// A request in the table of requests of agent 0: queue, opcode, and what else is said of it.
fn request(raw: &Raw, queue: u64, opcode: u64, more: &[(&str, u64)]) -> u64 {
    let plain = raw.tag("cha", "tor", &[("sub", queue), ("opc", opcode), ("premorph_opc", opcode), ("target", 1)]);
    raw.tag("cha", "tor", more) | plain
}

/// Umask bits of the queues (Table 2-124): requests of cores, of I/O.
const IA: u64 = 0x01;
const IO: u64 = 0x04;

/// Opcodes of Table 3-1.
const DRD: u64 = 0x102;
const RFO: u64 = 0x100;

/// The filter at 0x200E and tid_en, bit 16 (Tables 2-72, 2-75): core in 9:3, thread in 2:0; TOR_INSERTS, LLC_LOOKUP and LLC_VICTIMS. An event
/// without threads counts nothing with tid_en.
#[test]
fn threads() {
    let mut raw = Raw::new("emerald-rapids", 1);
    let thread = 37 << 3 | 1;
    raw.wrmsr(0x200e, 0xffff_ffff_ffff_fc00 | thread);
    assert_eq!(raw.rdmsr(0x200e), thread, "ten bits");
    let tor = raw.wire("cha", 0, "tor");
    let victims = raw.wire("cha", 0, "LLC_VICTIMS");
    let pushes = raw.wire("cha", 0, "WB_PUSH_MTOI");
    raw.wrmsr(0x2002, 0x0001_0135); // TOR_INSERTS.IA of the thread
    raw.wrmsr(0x2003, 0x0000_0135);
    raw.wrmsr(0x2004, 0x0001_0137); // LLC_VICTIMS.M_STATE of the thread
    raw.wrmsr(0x2005, 0x0001_0156); // WB_PUSH_MTOI.LLC
    for (cycle, tid) in (10..).zip([thread, thread ^ 1, 36 << 3 | 1, thread]) {
        let tag = request(&raw, IA, DRD, &[("tid", tid)]);
        raw.enter(tor, tag, cycle);
        raw.leave(tor, tag, cycle + 10);
        let tag = raw.tag("cha", "LLC_VICTIMS", &[("sub", 0x01), ("tid", tid)]);
        raw.pulse(victims, tag, cycle, 1);
        let tag = raw.tag("cha", "WB_PUSH_MTOI", &[("sub", 0x01)]);
        raw.pulse(pushes, tag, cycle, 1);
    }
    raw.at(100);
    assert_eq!([0x2008, 0x2009, 0x200a, 0x200b].map(|msr| raw.rdmsr(msr)), [2, 4, 2, 0]);
}

/// LLC_LOOKUP (Table 2-74; the states as its rows have them): request AND state AND home AND port, alternatives within each; no state
/// counts nothing.
#[test]
fn extended_umask_of_llc_lookup() {
    let mut raw = Raw::new("emerald-rapids", 1);
    let lookups = raw.wire("cha", 0, "llc_lookup");
    let lookup = |raw: &Raw, state: u64, kind: u64, origin: u64, home: u64, port: u64| {
        let attributes = [("sub", state), ("kind", kind), ("origin", origin), ("home", home), ("port", port)];
        raw.tag("cha", "llc_lookup", &attributes)
    };
    // Kinds: 1 DRd, 2 write, 8 RFO, 16 CRd. Origins as bits 42:37: 2 local, 4 LLC prefetch, 8 core prefetch, 16 remote, 32 remote snoop.
    let rows = [
        lookup(&raw, 0x01, 1, 2, 1, 0),      // a data read misses, homed here
        lookup(&raw, 0x20, 1, 2, 2, 0),      // a data read hits E, homed elsewhere
        lookup(&raw, 0x40, 2, 2, 1, 0),      // a write hits M
        lookup(&raw, 0x01, 8, 16, 1, 0),     // an RFO of another socket misses
        lookup(&raw, 0x10, 1, 32, 1, 0),     // a snoop hits S
        lookup(&raw, 0x01, 1, 2, 1, 1 << 3), // a read of I/O stack 3 misses
        lookup(&raw, 0x80, 16, 4, 1, 0),     // a code prefetch of the LLC hits F
    ];
    let mut now = 0;
    let mut check = |umask: u64, extension: u64, expected: [u64; 7]| {
        raw.wrmsr(0x2004, extension << 32 | umask << 8 | 0x34);
        for (row, expected) in rows.into_iter().zip(expected) {
            raw.wrmsr(0x200a, 0);
            raw.pulse(lookups, row, now + 1, 1);
            now += 4;
            raw.at(now);
            assert_eq!(raw.rdmsr(0x200a), expected, "umask {umask:#x}, extension {extension:#x}, look-up {row:#x}");
        }
    };
    check(0xff, 0x1fff, [1; 7]);
    check(0x01, 0x0, [1, 0, 0, 1, 0, 1, 0]); // state I
    check(0x00, 0x1fff, [0; 7]);
    check(0x01, 0x1fe0, [1, 0, 0, 1, 0, 1, 0]); // MISS_ALL
    check(0xff, 0x1fc1, [1, 1, 0, 0, 1, 1, 0]); // DATA_READ_ALL
    check(0x01, 0x1fc1, [1, 0, 0, 0, 0, 1, 0]); // DATA_READ_MISS
    check(0xff, 0x0841, [1, 0, 0, 0, 0, 1, 0]); // DATA_READ_LOCAL
    check(0xff, 0x1bc8, [0, 0, 0, 1, 0, 0, 0]); // RFO
    check(0xff, 0x0842, [0, 0, 1, 0, 0, 0, 0]); // WRITE_LOCAL
    check(0xff, 0x1c19, [0, 0, 0, 0, 1, 0, 0]); // REMOTE_SNP
    check(0xff, 0x0800, [1, 0, 1, 1, 1, 1, 1]); // LOCAL_F
    check(0xff, 0x1000, [0, 1, 0, 0, 0, 0, 0]); // REMOTE_F
    check(0xff, 0x1_0000, [0, 0, 0, 0, 0, 1, 0]); // IIO_PORT3
    check(0xff, 0x189d, [0, 0, 0, 0, 0, 0, 1]); // LOCAL_LLC_PF
    check(0x61, 0x43, [1, 1, 1, 0, 0, 1, 0]); // states I, E and M; reads and writes of this socket
}

/// LLC_VICTIMS (Table 2-90): states 3:0, fills for I/O or cores 5:4, homes in the extension's bits 5 and 7.
#[test]
fn victims() {
    let mut raw = Raw::new("emerald-rapids", 1);
    let victims = raw.wire("cha", 0, "LLC_VICTIMS");
    let victim = |raw: &Raw, sub: u64, home: u64| raw.tag("cha", "LLC_VICTIMS", &[("sub", sub), ("umask_ext", home)]);
    let rows = [victim(&raw, 0x21, 0x20), victim(&raw, 0x11, 0x80), victim(&raw, 0x24, 0x80)];
    let mut now = 0;
    for (umask, extension, expected) in [
        (0x01, 0x00, [1, 1, 0]),
        (0x01, 0x20, [1, 0, 0]),
        (0x04, 0x80, [0, 0, 1]),
        (0x0f, 0x00, [1, 1, 1]),
        (0x11, 0x00, [0, 1, 0]), // IO_M
        (0x20, 0x00, [1, 0, 1]), // IA
        (0x00, 0x80, [0, 1, 1]),
    ] {
        raw.wrmsr(0x2005, extension << 32 | umask << 8 | 0x37);
        for (row, expected) in rows.into_iter().zip(expected) {
            raw.wrmsr(0x200b, 0);
            raw.pulse(victims, row, now + 1, 1);
            now += 4;
            raw.at(now);
            assert_eq!(raw.rdmsr(0x200b), expected, "umask {umask:#x}, extension {extension:#x}");
        }
    }
}

/// 2.2.1.1: COUNTER0_OCCUPANCY (0x1F) on counters 1 to 3, with the thresholds of the example, beside RxC_OCCUPANCY.IRQ (0x11, 0x01) on
/// counter 0 with threshold 1.
#[test]
fn counter0_occupancy() {
    let mut raw = Raw::new("emerald-rapids", 1);
    let queue = raw.wire("cha", 0, "ingress");
    let irq = raw.tag("cha", "ingress", &[("sub", 0x01)]);
    for (msr, value) in [(0x2002, 0x0100_0111), (0x2003, 0x0700_001f), (0x2004, 0x0e00_001f), (0x2005, 0x1200_001f)] {
        raw.wrmsr(msr, value);
    }
    for entry in 0..20 {
        raw.enter(queue, irq, 100 + 10 * entry);
    }
    for entry in 0..20 {
        raw.leave(queue, irq, 300 + 10 * entry);
    }
    raw.at(1000);
    assert_eq!([0x2008, 0x2009, 0x200a, 0x200b].map(|msr| raw.rdmsr(msr)), [390, 270, 130, 50]);
    // Occupancies count on counter 0 only (2.2.1.1).
    raw.wrmsr(0x2003, 0x0111);
    raw.wrmsr(0x2009, 0);
    raw.enter(queue, irq, 1001);
    raw.at(1100);
    assert_eq!(raw.rdmsr(0x2009), 0);
}

/// TxL and RxL_BASIC_HDR_MATCH (0x04, 0x05; Tables 2-222, 2-229): class in umask bits 2:0 with bit 3 set, opcode in bits 7:4 if bit 32 is set.
#[test]
fn upi_headers() {
    let mut raw = Raw::new("emerald-rapids", 1);
    let (sent, received) = (raw.wire("upi", 1, "tx_headers"), raw.wire("upi", 1, "rx_headers"));
    // Link 1 is D2:F1: requests (class 0); data responses (class 4) of opcode 0x3; the same, received; class bit without bit 3.
    for (offset, value) in [(0x350, 0x0804), (0x358, 0x1_0000_3c04), (0x360, 0x1_0000_3c05), (0x368, 0x0404)] {
        raw.pci_write_long(B30, 2, 1, offset, value);
    }
    let header = |raw: &Raw, mc, opc| raw.tag("upi", "tx_headers", &[("mc", mc), ("opc", opc)]);
    for (cycle, (mc, opc)) in (1..).zip([(0, 0), (0, 9), (4, 3), (4, 2), (1, 3), (4, 3)]) {
        let tag = header(&raw, mc, opc);
        raw.pulse(sent, tag, cycle, 1);
    }
    let tag = header(&raw, 4, 3);
    raw.pulse(received, tag, 10, 1);
    raw.at(20);
    assert_eq!([0x320, 0x328, 0x330, 0x338].map(|offset| raw.pci_count(B30, 2, 1, offset)), [2, 2, 1, 0]);
}

/// TxL_FLITS (0x02, Table 2-230): slots in umask bits 2:0, contents in 7:3; slots alone count nothing.
#[test]
fn upi_flits() {
    let mut raw = Raw::new("emerald-rapids", 1);
    let flits = raw.wire("upi", 0, "tx_flits");
    for (offset, umask) in [(0x350, 0x0f), (0x358, 0x09), (0x360, 0x97), (0x368, 0x07)] {
        raw.pci_write(B30, 1, 1, offset, umask << 8 | 0x02);
    }
    for (cycle, (kind, slot)) in (1..).zip([(0, 0), (0, 1), (0, 2), (4, 0), (1, 1), (2, 2)]) {
        let tag = raw.tag("upi", "tx_flits", &[("kind", kind), ("slot", slot)]);
        raw.pulse(flits, tag, cycle, 1);
    }
    raw.at(20);
    // Data in all slots, in slot 0; bits 4 and 7 in all slots; nothing.
    assert_eq!([0x320, 0x328, 0x330, 0x338].map(|offset| raw.pci_count(B30, 1, 1, offset)), [3, 1, 2, 0]);
}

/// IMC_READS and IMC_WRITES of M2M (0x24, 0x25; Tables 2-268, 2-269): kind and channel must both match; for writes some kinds stand
/// in the extension. Controls are two dwords.
#[test]
fn m2m_kinds_and_channels() {
    let mut raw = Raw::new("emerald-rapids", 1);
    let (reads, writes) = (raw.wire("m2m", 2, "IMC_READS"), raw.wire("m2m", 2, "IMC_WRITES"));
    for (offset, value) in [
        (0x468, 0x1_0000_0124),  // CH0_NORMAL
        (0x470, 0x3_0000_0424),  // ALL
        (0x478, 0x10_0000_0125), // CH1_FULL
        (0x480, 0x1a_0000_0025), // NI, both channels
    ] {
        raw.pci_write_long(B30, 14, 0, offset, value);
    }
    for (cycle, (kind, channel)) in (1..).zip([(0x05, 1), (0x05, 2), (0x06, 1)]) {
        let tag = raw.tag("m2m", "IMC_READS", &[("sub", kind), ("umask_ext", channel)]);
        raw.pulse(reads, tag, cycle, 1);
    }
    for (cycle, (kind, extension)) in (1..).zip([(0x11, 0x10), (0x11, 0x08), (0x12, 0x10), (0x10, 0x0a), (0x10, 0x0c)])
    {
        let tag = raw.tag("m2m", "IMC_WRITES", &[("sub", kind), ("umask_ext", extension)]);
        raw.pulse(writes, tag, cycle, 1);
    }
    raw.at(20);
    assert_eq!([0x440, 0x448, 0x450, 0x458].map(|offset| raw.pci_count(B30, 14, 0, offset)), [1, 3, 1, 1]);
}

/// Bit 55 of M2M's control selects the events of the mesh stop (2.7): 0x80 is AG0_AD_CRD_ACQUIRED0 with it, and nothing without.
#[test]
fn m2m_mesh_stop() {
    let mut raw = Raw::new("emerald-rapids", 1);
    let credits = raw.wire("m2m", 0, "AG0_AD_CRD_ACQUIRED0");
    raw.pci_write_long(B30, 12, 0, 0x468, 1 << 55 | 0x0180);
    raw.pci_write_long(B30, 12, 0, 0x470, 0x0180);
    let tag = raw.tag("m2m", "AG0_AD_CRD_ACQUIRED0", &[("sub", 0x01)]);
    raw.pulse(credits, tag, 1, 4);
    raw.at(10);
    assert_eq!([0x440, 0x448].map(|offset| raw.pci_count(B30, 12, 0, offset)), [4, 0]);
}

/// The match registers of M2M keep what is written (Tables 2-231 to 2-234); no document has a code for their event.
#[test]
fn m2m_match_registers() {
    let mut raw = Raw::new("emerald-rapids", 1);
    for (offset, kept) in
        [(0x4a0, 0x0fff_ffff), (0x498, 0xffff_ffff), (0x49c, 0x7fff), (0x490, 0xffff_ffff), (0x494, 0x7fff)]
    {
        raw.pci_write(B30, 15, 0, offset, 0xffff_ffff);
        assert_eq!(raw.pci(B30, 15, 0, offset), kept, "{offset:#x}");
    }
}

/// DATA_REQ_OF_CPU (0x83, Table 2-184): kind in the umask, channels in ch_mask 47:36, flow classes in fc_mask 50:48; all must match. The
/// threshold has twelve bits, 35:24.
#[test]
fn iio_masks() {
    let mut raw = Raw::new("emerald-rapids", 1);
    let data = raw.wire("iio", 3, "DATA_REQ_OF_CPU");
    let control = |umask: u64, channels: u64, classes: u64, thresh: u64| {
        classes << 48 | channels << 36 | thresh << 24 | umask << 8 | 0x83
    };
    raw.wrmsr(0x3032, control(0x01, 0xff, 0x7, 0)); // MEM_WRITE, all parts
    raw.wrmsr(0x3033, control(0x05, 0x02, 0x1, 0)); // writes and reads of part 1, posted
    for (cycle, (sub, channel, class)) in (1..).zip([(1, 1, 1), (1, 2, 1), (4, 2, 1), (4, 2, 2), (4, 1, 1)]) {
        let tag = raw.tag("iio", "DATA_REQ_OF_CPU", &[("sub", sub), ("ch_mask", channel), ("fc_mask", class)]);
        raw.pulse(data, tag, cycle, 3);
    }
    raw.at(10);
    assert_eq!([0x3038, 0x3039].map(|msr| raw.rdmsr(msr)), [6, 6]);
    // No flow class; a threshold of 2048. The event counts on counters 0 and 1 only.
    raw.wrmsr(0x3032, control(0x01, 0xff, 0x0, 0));
    raw.wrmsr(0x3033, control(0x01, 0xff, 0x7, 0x800));
    raw.wrmsr(0x3034, control(0x01, 0xff, 0x7, 0));
    let tag = raw.tag("iio", "DATA_REQ_OF_CPU", &[("sub", 1), ("ch_mask", 1), ("fc_mask", 1)]);
    raw.pulse(data, tag, 11, 0x7ff);
    raw.pulse(data, tag, 12, 0x800);
    raw.at(20);
    assert_eq!([0x3038, 0x3039, 0x303a].map(|msr| raw.rdmsr(msr)), [6, 7, 0]);
}

/// Cores in C0 and C6 (0x35, 0x37) with thresholds, inversion and edges: cases 2 to 4 of Table 2-420 with the codes of Table 2-421; cases 5 and
/// 6 take two counters on this family.
#[test]
fn pcu_occupancies() {
    let mut raw = Raw::new("emerald-rapids", 1);
    let (c0, c6) =
        (raw.wire("pcu", 0, "POWER_STATE_OCCUPANCY_CORES_C0"), raw.wire("pcu", 0, "POWER_STATE_OCCUPANCY_CORES_C6"));
    raw.wrmsr(0x2fc2, 0x35); // case 2: core cycles in C0
    raw.wrmsr(0x2fc3, 0x0500_0035); // case 3: cycles with more than 4
    raw.wrmsr(0x2fc4, 0x0504_0035); // case 4: transitions into more than 4
    raw.wrmsr(0x2fc5, 0x0480_0037); // cycles with fewer than 4 in C6
    (0..4).for_each(|_| raw.enter(c0, 0, 0));
    (0..4).for_each(|_| raw.enter(c6, 0, 0));
    for (cycle, into_c0) in [(100, true), (200, false), (250, true), (300, true), (400, false)] {
        if into_c0 {
            raw.leave(c6, 0, cycle);
            raw.enter(c0, 0, cycle);
        } else {
            raw.leave(c0, 0, cycle);
            raw.enter(c6, 0, cycle);
        }
    }
    raw.at(500);
    // Cores in C0: 4 to 100, 5 to 200, 4 to 250, 5 to 300, 6 to 400, 5 to 500.
    let counts = [0x2fc8, 0x2fc9, 0x2fca, 0x2fcb].map(|msr| raw.rdmsr(msr));
    assert_eq!(counts, [400 + 500 + 200 + 250 + 600 + 500, 350, 2, 350]);
}

/// CAS_COUNT of the iMC (0x05, Table 2-138): kinds in umask bits 5:0, pseudo-channels in 7:6.
#[test]
fn imc_pseudo_channels() {
    let mut raw = Raw::new("emerald-rapids", 1);
    let channel = 0xf002_2800;
    let wire = raw.wire("imc", 0, "cas");
    for (offset, umask) in [(0x40, 0xff), (0x44, 0xcf), (0x48, 0x4f), (0x4c, 0xf0)] {
        raw.memory_write(channel + offset, Width::B4, umask << 8 | 0x05);
    }
    for (cycle, (kind, pch)) in (1..).zip([(0, 0), (0, 1), (2, 0), (4, 0), (4, 1), (5, 1)]) {
        let tag = raw.tag("imc", "cas", &[("kind", kind), ("pch", pch)]);
        raw.machine.pulse(wire, tag, cycle * DCLK, 1);
    }
    raw.at_dclk(100);
    let counts = [0x8, 0x10, 0x18, 0x20].map(|offset| raw.memory(channel + offset, Width::B8));
    assert_eq!(counts, [6, 3, 2, 3], "all, reads, reads of pseudo-channel 0, writes");
}
