//! The C program with known accesses through tracer and model: lines at the LLC and at memory against figures worked out by hand.
//!
//! Only what the program does on purpose is fed, all of it between `BASE` and `BASE` + 2^45: what its C library does depends on the system.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use pericore_machine::workload::{ProgramAccess, ProgramSettings, ProgramSource};
use pericore_machine::{Machine, MachineSpec, Snapshot, Window};
use pericore_tracer::{Access, Options, Running, Source, Tracer};

use super::feed::translated;

const BASE: u64 = 0x2000_0000_0000;

static PATTERN: LazyLock<PathBuf> = LazyLock::new(|| {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs/pattern.c");
    let program = std::env::temp_dir().join(format!("pericore-pattern-{}", std::process::id()));
    let mut compiler = Command::new("cc");
    let status = compiler.args(["-O2", "-pthread", "-o"]).arg(&program).arg(source).status().expect("cc runs");
    assert!(status.success(), "cc: {status}");
    program
});

/// The program's own accesses, without those of the libraries.
struct OnPurpose {
    running: Running,
    batch: Vec<Access>,
}

impl std::fmt::Debug for OnPurpose {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OnPurpose")
    }
}

impl ProgramSource for OnPurpose {
    fn next_access(&mut self) -> Option<ProgramAccess> {
        while self.batch.is_empty() {
            if !self.running.next_batch(&mut self.batch).expect("accesses") {
                return None;
            }
            self.batch.retain(|access| (BASE..BASE + (1 << 45)).contains(&access.address));
            self.batch.reverse();
        }
        let access = self.batch.pop()?;
        let spaces: Vec<_> = self.running.threads().iter().map(|t| (t.process, t.forked_from)).collect();
        Some(translated(access, &spaces))
    }
}

/// What reached the uncore.
#[derive(Debug, PartialEq, Eq)]
struct Lines {
    /// Data reads (DRd) that slices looked up.
    loads: u64,
    /// Reads for ownership (RFO).
    stores: u64,
    /// Write-backs from cores.
    written_back: u64,
    memory_read: u64,
    memory_written: u64,
}

fn lines(before: &Snapshot, after: &Snapshot) -> Lines {
    let window = Window::between(before, after);
    let sum = |unit, instances, event, subevent, filters: &[(&str, u64)]| {
        (0..instances).map(|i| window.count(0, unit, i, event, Some(subevent), filters).expect("an event")).sum()
    };
    Lines {
        loads: sum("cbo", 8, "TOR_INSERTS", "OPCODE", &[("opc", 0x182)]),
        stores: sum("cbo", 8, "TOR_INSERTS", "OPCODE", &[("opc", 0x180)]),
        written_back: sum("cbo", 8, "TOR_INSERTS", "WB", &[]),
        memory_read: sum("imc", 4, "CAS_COUNT", "RD", &[]),
        memory_written: sum("imc", 4, "CAS_COUNT", "WR", &[]),
    }
}

fn run(arguments: &[&str], settings: &str) -> Lines {
    let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
    let running = Tracer::launch(PATTERN.as_os_str(), &arguments, Options::default())
        .expect("the tracer works: it needs Debian's package qemu-user");
    let source = Box::new(OnPurpose { running, batch: Vec::new() });
    let spec = MachineSpec::parse("e5-2600").expect("a machine");
    let settings = ProgramSettings::parse(settings).expect("settings");
    let mut machine = Machine::for_program(&spec, source, settings).expect("a machine");
    let before = machine.snapshot();
    while !machine.finished() {
        machine.run_for(1_000_000);
        assert!(machine.now() < 100_000_000_000, "the program does not end: {:?}", machine.program());
    }
    lines(&before, &machine.snapshot())
}

const PLAIN: &str = "prefetch=off";

#[test]
fn a_walk_beyond_the_llc_reads_each_line_from_memory_in_each_pass() {
    // 64 MiB are 1048576 lines; the L2 and LLC hold the last 4096 and 327680 of them, and each pass begins with the first.
    let expected = Lines { loads: 1_048_576, stores: 0, written_back: 0, memory_read: 1_048_576, memory_written: 0 };
    assert_eq!(run(&["read", "0x4000000", "64", "1"], PLAIN), expected);
    // Every fourth line.
    let expected = Lines { loads: 262_144, stores: 0, written_back: 0, memory_read: 262_144, memory_written: 0 };
    assert_eq!(run(&["read", "0x4000000", "256", "1"], PLAIN), expected);
}

#[test]
fn a_walk_between_l2_and_llc_reads_memory_once() {
    // 8192 lines, twice what the L2 holds: none is left there when its turn comes again.
    let expected = Lines { loads: 3 * 8192, stores: 0, written_back: 0, memory_read: 8192, memory_written: 0 };
    assert_eq!(run(&["read", "0x80000", "64", "3"], PLAIN), expected);
    assert_eq!(run(&["read", "0x80000", "64", "3"], "prefetch=off,pages=2M,cpi=2,misses=1"), expected);
}

#[test]
fn a_walk_within_the_l2_reaches_the_llc_once() {
    let expected = Lines { loads: 2048, stores: 0, written_back: 0, memory_read: 2048, memory_written: 0 };
    assert_eq!(run(&["read", "0x20000", "64", "5"], PLAIN), expected);
}

#[test]
fn stores_own_their_lines_and_the_l2_writes_them_back() {
    // 8192 lines are stored to; then 16384 others drive them out of L1 and L2, all within the LLC.
    let expected = Lines { loads: 16384, stores: 8192, written_back: 8192, memory_read: 24576, memory_written: 0 };
    assert_eq!(run(&["write", "0x80000"], PLAIN), expected);
    // Loads come first here: they bring the right to write with them.
    let expected = Lines { loads: 8192 + 16384, stores: 0, written_back: 8192, memory_read: 24576, memory_written: 0 };
    assert_eq!(run(&["update", "0x80000"], PLAIN), expected);
}

#[test]
fn what_is_written_beyond_the_llc_reaches_memory_once() {
    // 524288 lines are stored to, more than the LLC's 327680. The 1048576 lines that are loaded after them are 64 for each of its
    // sets of 20 ways: whatever is replaced first, no written line is left.
    let expected = Lines {
        loads: 1_048_576,
        stores: 524_288,
        written_back: 524_288,
        memory_read: 1_572_864,
        memory_written: 524_288,
    };
    assert_eq!(run(&["write", "0x2000000", "64"], PLAIN), expected);
}

#[test]
fn threads_read_and_write_their_own_lines() {
    // Four threads: each loads 512 lines and stores to 512, once.
    let lines = run(&["threads", "4", "0x10000"], PLAIN);
    assert_eq!((lines.loads, lines.stores, lines.memory_read, lines.memory_written), (2048, 2048, 4096, 0));
}

#[test]
fn non_temporal_stores_are_written_without_being_read() {
    let expected = Lines { loads: 0, stores: 0, written_back: 16384, memory_read: 0, memory_written: 16384 };
    assert_eq!(run(&["stream", "0x100000"], PLAIN), expected);
}

#[test]
fn pages_that_are_given_back_are_used_again() {
    // Four pages, ten times: the same four frames, which the L2 still has.
    let expected = Lines { loads: 256, stores: 0, written_back: 0, memory_read: 256, memory_written: 0 };
    assert_eq!(run(&["renew", "0x4000", "10"], PLAIN), expected);
}

#[test]
fn prefetches_fetch_no_line_twice() {
    // In order, everything that is prefetched is used, and nothing else is fetched: streams end with their page.
    let lines = run(&["read", "0x400000", "64", "1"], "prefetch=on");
    assert_eq!((lines.loads, lines.memory_read), (65536, 65536));
    // Every eighth line, so slowly that there always is a buffer: each brings its neighbour.
    let lines = run(&["read", "0x400000", "512", "1"], "prefetch=on,cpi=100");
    assert_eq!((lines.loads, lines.memory_read), (16384, 16384));
}
