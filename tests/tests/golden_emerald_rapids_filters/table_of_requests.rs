//! The table of requests: queues, opcodes, results, targets.

use pericore_tests::pmon::raw::{self, Raw};

use super::{DRD, IA, IO, RFO, request};

/// What TOR_INSERTS counts on counter 1 for a umask and its extension, when these requests arrive one each.
fn inserts(raw: &mut Raw, umask: u64, extension: u64, requests: &[u64]) -> Vec<bool> {
    raw.wrmsr(0x2003, 0); // counter 1 of agent 0
    let tor = raw.wire("cha", 0, "tor");
    raw.wrmsr(0x2003, extension << 32 | umask << 8 | 0x35);
    let mut now = raw.machine.now() / raw::CYCLE;
    let mut counted = Vec::new();
    for &request in requests {
        raw.wrmsr(0x2009, 0);
        raw.enter(tor, request, now + 1);
        raw.leave(tor, request, now + 5);
        now += 10;
        raw.at(now);
        counted.push(raw.rdmsr(0x2009) == 1);
    }
    counted
}

/// Table 2-73, and Intel's encodings: hit and miss, local and remote (39 local, 40 remote), and near memory are pairs that
/// cancel when both or neither is set; the queue must be named.
#[test]
fn extended_umask_of_the_table_of_requests() {
    let mut raw = Raw::new("emerald-rapids", 1);
    let hit = request(&raw, IA, DRD, &[("hit", 1)]);
    let miss = request(&raw, IA, DRD, &[]);
    let remote = request(&raw, IA, DRD, &[("remote", 1)]);
    let io = request(&raw, IO, DRD, &[]);
    let requests = [hit, miss, remote, io];
    let mut check = |umask, extension, expected: [bool; 4]| {
        assert_eq!(
            inserts(&mut raw, umask, extension, &requests),
            expected,
            "umask {umask:#x}, extension {extension:#x}"
        );
    };
    check(0x01, 0x00, [true, true, true, false]);
    check(0x05, 0x00, [true, true, true, true]);
    check(0x00, 0x00, [false, false, false, false]);
    check(0x00, 0x02, [false, false, false, false]);
    check(0x01, 0x01, [true, false, false, false]);
    check(0x01, 0x02, [false, true, true, false]);
    check(0x01, 0x03, [true, true, true, false]);
    check(0x01, 0x80, [true, true, false, false]);
    check(0x01, 0x100, [false, false, true, false]);
    check(0x01, 0x180, [true, true, true, false]);
    // IA_MISS_DRD, 0x00C817FE: both opcode matches and both near-memory bits are set; _LOCAL and _REMOTE.
    check(0x01, 0xc817fe, [false, true, true, false]);
    check(0x01, 0xc816fe, [false, true, false, false]);
    check(0x01, 0xc8177e, [false, false, true, false]);
    check(0x01, 0xc817fd, [true, false, false, false]);
}

/// The opcode in bits 53:43 (Table 2-73), compared with the opcode as it is, as it was before, or either (3.1.1: the matches are
/// ORed).
#[test]
fn opcodes_of_the_table_of_requests() {
    let mut raw = Raw::new("emerald-rapids", 1);
    let drd = request(&raw, IA, DRD, &[]);
    let rfo = request(&raw, IA, RFO, &[]);
    let morphed = raw.tag("cha", "tor", &[("sub", IA), ("opc", RFO), ("premorph_opc", DRD), ("target", 1)]);
    let requests = [drd, rfo, morphed];
    let field = |opcode: u64| opcode << (43 - 32);
    let (now, before) = (0x200, 0x400);
    assert_eq!(inserts(&mut raw, 0x01, field(DRD) | now, &requests), [true, false, false]);
    assert_eq!(inserts(&mut raw, 0x01, field(DRD) | before, &requests), [true, false, true]);
    assert_eq!(inserts(&mut raw, 0x01, field(RFO) | now | before, &requests), [false, true, true]);
    assert_eq!(inserts(&mut raw, 0x01, field(RFO), &requests), [true, true, true], "without a match bit opc is idle");
}

/// Targets 38:34, near memory 55:54, and the bits that stand alone: 56 non-coherent, 57 isochronous, 60 and 61 CXL.
#[test]
fn targets_of_the_table_of_requests() {
    let mut raw = Raw::new("emerald-rapids", 1);
    let target = |raw: &Raw, bit: u64| raw.tag("cha", "tor", &[("sub", IA), ("target", bit)]);
    let targets: Vec<u64> = (0..5).map(|bit| target(&raw, 1 << bit)).collect();
    for (bit, name) in (2..7).zip(["ddr", "pmm", "hbm", "mmcfg", "mmio"]) {
        let expected: Vec<bool> = (2..7).map(|other| other == bit).collect();
        assert_eq!(inserts(&mut raw, 0x01, 1 << bit, &targets), expected, "{name}");
    }
    assert_eq!(
        inserts(&mut raw, 0x01, 0b11 << 2, &targets),
        [true, true, false, false, false],
        "targets are alternatives"
    );
    let near = request(&raw, IA, DRD, &[("near", 1)]);
    let far = request(&raw, IA, DRD, &[]);
    assert_eq!(inserts(&mut raw, 0x01, 1 << 22, &[near, far]), [true, false]);
    assert_eq!(inserts(&mut raw, 0x01, 1 << 23, &[near, far]), [false, true]);
    assert_eq!(inserts(&mut raw, 0x01, 3 << 22, &[near, far]), [true, true]);
    for (bit, attribute, value) in [(24, "nc", 1), (25, "isoc", 1), (28, "cxl", 1), (29, "cxl", 2)] {
        let special = request(&raw, IA, DRD, &[(attribute, value)]);
        assert_eq!(inserts(&mut raw, 0x01, 1 << bit, &[far, special]), [false, true], "{attribute}");
    }
}
