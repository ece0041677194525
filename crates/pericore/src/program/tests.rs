//! The C program with known accesses through tracer and model: lines at the LLC and at memory against figures worked out by hand.
//!
//! Only what the program does on purpose is fed, all of it between `BASE` and `BASE` + 2^45: what its C library does depends on the system.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use pericore_machine::ledger::Question;
use pericore_machine::workload::{ProgramAccess, ProgramSettings, ProgramSource};
use pericore_machine::{Machine, MachineSpec, Snapshot, Window};
use pericore_tracer::{Access, Running, Source, Tracer};

use super::feed::{options, translated};

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
    /// Nothing once it has ended.
    running: Option<Running>,
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
            let running = self.running.as_mut()?;
            if !running.next_batch(&mut self.batch).expect("accesses") {
                // One that has failed or was not seen whole has not done what is expected below.
                let finished = self.running.take()?.finish().expect("it has ended");
                assert!(finished.status.success() && finished.summary.notes.is_empty(), "{finished:?}");
                return None;
            }
            self.batch.retain(|access| (BASE..BASE + (1 << 45)).contains(&access.address));
            self.batch.reverse();
        }
        let access = self.batch.pop()?;
        let spaces: Vec<_> = self.running.as_ref()?.threads().iter().map(|t| (t.process, t.forked_from)).collect();
        Some(translated(access, &spaces))
    }
}

/// What reached the uncore.
#[derive(Debug, Default, PartialEq, Eq)]
struct Lines {
    /// Loads: data reads that slices looked up. On Nehalem, whose events tell them not apart, stores are among them.
    loads: u64,
    /// Reads for ownership.
    stores: u64,
    /// Write-backs of modified lines from cores.
    written_back: u64,
    /// Whole lines that were stored around the caches.
    streamed: u64,
    memory_read: u64,
    memory_written: u64,
}

/// Where a machine's truth has each of the lines: unit, instances, event, subevent, filter.
type Place = (&'static str, u16, &'static str, &'static str, Option<(&'static str, u64)>);

const fn cbo(opcode: u64) -> Place {
    ("cbo", 8, "TOR_INSERTS", "OPCODE", Some(("opc", opcode)))
}

const fn cha(subevent: &'static str) -> Place {
    ("cha", 64, "TOR_INSERTS", subevent, None)
}

const fn queue(event: &'static str, subevent: &'static str) -> Place {
    ("uncore", 1, event, subevent, None)
}

const fn imc(channels: u16, subevent: &'static str) -> Place {
    ("imc", channels, "CAS_COUNT", subevent, None)
}

/// In the order of the fields of [`Lines`].
fn places(machine: &str) -> [Option<Place>; 6] {
    match machine {
        "e5-2600" => [
            Some(cbo(0x182)),
            Some(cbo(0x180)),
            Some(("cbo", 8, "TOR_INSERTS", "WB", None)),
            Some(cbo(0x18C)),
            Some(imc(4, "RD")),
            Some(imc(4, "WR")),
        ],
        "nehalem" => [
            Some(queue("GQ_ALLOC", "READ_TRACKER")),
            None,
            Some(queue("LLC_HITS", "WRITE")),
            // Of writes those that miss: nothing else does here.
            Some(queue("GQ_ALLOC", "WRITE_TRACKER")),
            Some(queue("QMC_NORMAL_READS", "ANY")),
            Some(queue("QMC_WRITES", "FULL_ANY")),
        ],
        _ => [
            Some(cha("IA_DRD")),
            Some(cha("IA_RFO")),
            Some(cha("IA_WBMTOI")),
            Some(cha("IA_WCILF")),
            Some(imc(8, "RD")),
            Some(imc(8, "WR")),
        ],
    }
}

fn lines(machine: &str, before: &Snapshot, after: &Snapshot) -> Lines {
    let window = Window::between(before, after);
    let [loads, stores, written_back, streamed, memory_read, memory_written] = places(machine).map(|place| {
        let Some((unit, instances, event, subevent, filter)) = place else { return 0 };
        let filters: Vec<(&str, u64)> = filter.into_iter().collect();
        let count =
            |i| window.count(0, i, Question::new(unit, event).subevent(subevent).filtered(&filters)).expect("an event");
        (0..instances).map(count).sum()
    });
    Lines { loads, stores, written_back, streamed, memory_read, memory_written }
}

fn run(arguments: &[&str], settings: &str) -> Lines {
    run_on("e5-2600", arguments, settings)
}

fn run_on(machine: &str, arguments: &[&str], settings: &str) -> Lines {
    let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
    let spec = MachineSpec::parse(machine).expect("a machine");
    let caches = spec.parameters().expect("a model").first_level();
    let running = Tracer::launch(PATTERN.as_os_str(), &arguments, options(caches))
        .expect("the tracer works: it needs Debian's package qemu-user");
    let source = Box::new(OnPurpose { running: Some(running), batch: Vec::new() });
    let settings = ProgramSettings::parse(settings).expect("settings");
    let mut model = Machine::for_program(&spec, source, settings).expect("a machine");
    let before = model.snapshot();
    while !model.finished() {
        model.run_for(1_000_000);
        assert!(model.now() < 100_000_000_000, "the program does not end: {:?}", model.program());
    }
    // Shown if the figures are not as expected: what came from the program, and how long it took.
    println!("{arguments:?}: {:?} by {}", model.program(), model.now());
    lines(machine, &before, &model.snapshot())
}

const PLAIN: &str = "prefetch=off";

#[test]
fn a_walk_beyond_the_llc_reads_each_line_from_memory_in_each_pass() {
    // 64 MiB are 1048576 lines; the L2 and LLC hold the last 4096 and 327680 of them, and each pass begins with the first.
    let expected = Lines { loads: 1_048_576, memory_read: 1_048_576, ..Lines::default() };
    assert_eq!(run(&["read", "0x4000000", "64", "1"], PLAIN), expected);
    // Every fourth line.
    let expected = Lines { loads: 262_144, memory_read: 262_144, ..Lines::default() };
    assert_eq!(run(&["read", "0x4000000", "256", "1"], PLAIN), expected);
}

#[test]
fn a_walk_between_l2_and_llc_reads_memory_once() {
    // 8192 lines, twice what the L2 holds: none is left there when its turn comes again.
    let expected = Lines { loads: 3 * 8192, memory_read: 8192, ..Lines::default() };
    assert_eq!(run(&["read", "0x80000", "64", "3"], PLAIN), expected);
    assert_eq!(run(&["read", "0x80000", "64", "3"], "prefetch=off,pages=2M,cpi=2,misses=1"), expected);
}

#[test]
fn a_walk_within_the_l2_reaches_the_llc_once() {
    let expected = Lines { loads: 2048, memory_read: 2048, ..Lines::default() };
    assert_eq!(run(&["read", "0x20000", "64", "5"], PLAIN), expected);
}

#[test]
fn stores_own_their_lines_and_the_l2_writes_them_back() {
    // 8192 lines are stored to; then 16384 others drive them out of L1 and L2, all within the LLC.
    let expected = Lines { loads: 16384, stores: 8192, written_back: 8192, memory_read: 24576, ..Lines::default() };
    assert_eq!(run(&["write", "0x80000"], PLAIN), expected);
    // Loads come first here: they bring the right to write with them.
    let expected = Lines { loads: 8192 + 16384, written_back: 8192, memory_read: 24576, ..Lines::default() };
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
        ..Lines::default()
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
    // To this machine's event all requests that bring data from a core are write-backs.
    let expected = Lines { streamed: 16384, written_back: 16384, memory_written: 16384, ..Lines::default() };
    assert_eq!(run(&["stream", "0x100000"], PLAIN), expected);
}

#[test]
fn pages_that_are_given_back_are_used_again() {
    // Four pages, ten times: the same four frames, which the L2 still has.
    let expected = Lines { loads: 256, memory_read: 256, ..Lines::default() };
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

#[test]
fn the_newest_machine_has_a_larger_l2_and_an_llc_of_what_it_gave_up() {
    let on = |arguments: &[&str], settings: &str| run_on("emerald-rapids", arguments, settings);
    // 65536 lines, twice what the L2 holds: each is read from memory once, given up clean to the LLC, and found there.
    let expected = Lines { loads: 3 * 65536, memory_read: 65536, ..Lines::default() };
    assert_eq!(on(&["read", "0x400000", "64", "3"], PLAIN), expected);
    // Half of what the L2 holds.
    let expected = Lines { loads: 16384, memory_read: 16384, ..Lines::default() };
    assert_eq!(on(&["read", "0x100000", "64", "5"], PLAIN), expected);
    let expected = Lines { streamed: 16384, memory_written: 16384, ..Lines::default() };
    assert_eq!(on(&["stream", "0x100000"], PLAIN), expected);
}

#[test]
fn the_oldest_machine_reads_and_writes_the_same_lines() {
    let on = |arguments: &[&str], settings: &str| run_on("nehalem", arguments, settings);
    let expected = Lines { loads: 3 * 8192, memory_read: 8192, ..Lines::default() };
    assert_eq!(on(&["read", "0x80000", "64", "3"], PLAIN), expected);
    let expected = Lines { loads: 16384 + 8192, written_back: 8192, memory_read: 24576, ..Lines::default() };
    assert_eq!(on(&["write", "0x80000"], PLAIN), expected);
    let expected = Lines { streamed: 16384, memory_written: 16384, ..Lines::default() };
    assert_eq!(on(&["stream", "0x100000"], PLAIN), expected);
}
