//! Lines that a program overwrites whole, as string instructions do, beside lines of which it stores to a part.

use pericore_machine::ledger::Question;
use pericore_machine::workload::{ProgramAccess, ProgramKind, ProgramSettings, ProgramSource};
use pericore_machine::{Machine, MachineSpec, MemoryKind, Snapshot};

/// Lines, each stored to once: far fewer than the caches have room for.
const LINES: u64 = 1000;

/// Stores of so many bytes to one line after the other.
#[derive(Debug)]
struct Stores {
    number: u64,
    bytes: u64,
}

impl ProgramSource for Stores {
    fn next_access(&mut self) -> Option<ProgramAccess> {
        let number = self.number;
        self.number += 1;
        (number < LINES).then_some(ProgramAccess {
            address: number * 64,
            size: self.bytes,
            instructions: number,
            thread: 0,
            process: 0,
            forked_from: None,
            kind: ProgramKind::Store,
            after: 0,
        })
    }
}

fn run(name: &str, settings: &str, bytes: u64) -> Snapshot {
    let spec = MachineSpec::parse(name).expect("a machine");
    let settings = ProgramSettings::parse(settings).expect("settings");
    let mut machine = Machine::for_program(&spec, Box::new(Stores { number: 0, bytes }), settings).expect("a machine");
    let second = machine.clocks().ticks_per_second();
    while !machine.finished() {
        machine.run_for(second / 10_000_000);
        assert!(machine.now() < second / 100, "{name}: the program does not end");
    }
    assert_eq!(machine.program().expect("a program").of(ProgramKind::Store), LINES);
    machine.snapshot()
}

/// Requests of one socket's slices.
fn requests(at: &Snapshot, slices: u16, question: Question<'_>) -> u64 {
    (0..slices).map(|slice| at.count(0, slice, question).expect("a truth")).sum()
}

/// Guide of the E5-2600, table 2-13: ItoM, 1C8, is for a line that is overwritten; RFO is 180. A store to a part of a
/// line reads it; one to all of it does not, and nothing is written yet.
#[test]
fn the_e5_2600_owns_lines_without_their_data() {
    let of = |code: u64| [("opc", code)];
    let (own, claim) = (of(0x180), of(0x1C8));
    let by = |filter| Question::new("cbo", "TOR_INSERTS").subevent(Some("OPCODE")).filtered(filter);
    for (bytes, expected) in [(8, [LINES, 0]), (64, [0, LINES])] {
        let at = run("e5-2680", "prefetch=off,pages=2M", bytes);
        assert_eq!([by(&own), by(&claim)].map(|question| requests(&at, 8, question)), expected, "{bytes} bytes");
        assert_eq!(at.memory_lines(MemoryKind::Dram, 1), [expected[0], 0], "{bytes} bytes");
        // Each is answered at home: with the line to the slice, or with a completion.
        let home = |event, sub| at.count(0, 0, Question::new("ha", event).subevent(sub)).expect("a truth");
        assert_eq!(home("REQUESTS", Some("READS")), expected[0], "{bytes} bytes");
        assert_eq!(home("TxR_AK_NDR", None), expected[1], "{bytes} bytes");
    }
}

/// Memory of the other socket: InvItoE goes over the link in place of RdInvOwn, and a completion comes back, no line.
#[test]
fn no_data_crosses_the_link_for_lines_that_are_overwritten() {
    for (bytes, lines) in [(8, LINES), (64, 0)] {
        let at = run("e5-2680:sockets=2", "prefetch=off,pages=2M,numa=remote", bytes);
        assert_eq!(at.memory_lines(MemoryKind::Dram, 2), [lines, 0], "{bytes} bytes");
        let flits = |sub| {
            let question = Question::new("qpi", "RxL_FLITS_G1").subevent(Some(sub));
            (0..2).map(|port| at.count(0, port, question).expect("a truth")).sum::<u64>()
        };
        // A line is eight flits of data.
        assert_eq!(flits("DRS_DATA"), 8 * lines, "{bytes} bytes");
    }
}

/// Intel's event files: TOR_INSERTS.IA_ITOM.
#[test]
fn successors_own_lines_without_their_data() {
    for (name, slices) in [("8592+", 64), ("8480+", 56)] {
        for (bytes, reads) in [(8, LINES), (64, 0)] {
            let at = run(name, "prefetch=off,pages=2M", bytes);
            let question = Question::new("cha", "TOR_INSERTS").subevent(Some("IA_ITOM"));
            assert_eq!(requests(&at, slices, question), LINES - reads, "{name}, {bytes} bytes");
            assert_eq!(at.memory_lines(MemoryKind::Dram, 1), [reads, 0], "{name}, {bytes} bytes");
        }
    }
}
