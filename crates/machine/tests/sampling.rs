//! Programs that are run in windows only: what windows find in caches is what the accesses between them have left
//! there. Lines are counted where memory reads and writes them, and what is expected is worked out by hand.

use pericore_machine::workload::{ProgramAccess, ProgramKind, ProgramSettings, ProgramSource, Sampling};
use pericore_machine::{Machine, MachineSpec, MemoryKind, Stage};

/// The first 8,000 accesses are counted, then 1,000 of each 8,000, with 500 before and 250 behind.
const SAMPLING: Sampling = Sampling { one_in: 8, seed: 5 };
const FIRST: u64 = 8250;
const STRETCH: u64 = 8000;
const WINDOW: u64 = 1750;
/// Nothing but the program's own accesses.
const SETTINGS: &str = "prefetch=off,pages=2M";

/// Accesses of one thread, by their numbers, until there is none.
struct Accesses<F>(u64, F);

impl<F> std::fmt::Debug for Accesses<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "accesses from {}", self.0)
    }
}

impl<F: FnMut(u64) -> Option<(ProgramKind, u64, u32)> + Send> ProgramSource for Accesses<F> {
    fn next_access(&mut self) -> Option<ProgramAccess> {
        let number = self.0;
        let (kind, line, thread) = (self.1)(number)?;
        self.0 += 1;
        let size = if kind == ProgramKind::NonTemporal { 64 } else { 8 };
        let (address, instructions) = (line * 64, number * 20);
        let (process, forked_from, after) = (0, None, 0);
        Some(ProgramAccess { address, size, instructions, thread, process, forked_from, kind, after })
    }
}

/// The line at a place of a random order, which differs from pass to pass: an odd multiple reaches each line of a power
/// of two once.
const fn shuffled(place: u64, lines: u64, pass: u64) -> u64 {
    place.wrapping_mul(2_654_435_761).wrapping_add(pass * 12_345) % lines
}

/// What was done in the windows.
#[derive(Debug, PartialEq)]
struct Done {
    accesses: u64,
    counted: u64,
    reads: u64,
    writes: u64,
    /// Of all accesses: their number, requests beyond the L2, lines from memory.
    passed: [u64; 3],
}

/// Runs a sampled program to its end.
fn run(name: &str, accesses: impl FnMut(u64) -> Option<(ProgramKind, u64, u32)> + Send + 'static) -> Done {
    let spec = MachineSpec::parse(name).expect("a machine");
    let settings = ProgramSettings::parse(SETTINGS).expect("settings");
    let machine = Machine::for_program(&spec, Box::new(Accesses(0, accesses)), settings).expect("a machine");
    let mut machine = machine.sampled(SAMPLING).without_truth();
    let second = machine.clocks().ticks_per_second();
    let (mut counted, mut before) = (0, 0);
    while !machine.finished() {
        let was_counted = machine.stage() == Some(Stage::Counted);
        machine.run_for(second / 100_000_000);
        let done = machine.progress().done;
        counted += if was_counted { done - before } else { 0 };
        before = done;
        assert!(machine.seconds() < 0.1, "{name}: the program does not end");
    }
    let [reads, writes] = machine.memory_lines(MemoryKind::Dram);
    Done { accesses: machine.progress().done, counted, reads, writes, passed: machine.passed() }
}

/// 4 MiB, which all LLCs hold, loaded four times. Of the first pass each access reads memory, of the others none: each
/// line is there since it was passed over, or since a window before. The first pass has 65,536 accesses: the first
/// 8,250, and a window in each of seven whole stretches of the rest; an eighth has one here or there.
#[test]
fn what_was_passed_over_is_in_the_caches() {
    const LINES: u64 = 1 << 16;
    for name in ["x5570", "e5-2680", "8592+", "e5-2680:sockets=2", "8592+:sockets=2"] {
        let done = run(name, |number| {
            let (pass, place) = (number / LINES, number % LINES);
            (pass < 4).then(|| (ProgramKind::Load, shuffled(place, LINES, pass), 0))
        });
        let windows = (4 * LINES - FIRST) / STRETCH;
        assert_eq!(([done.passed[0], done.passed[2]], done.writes), ([4 * LINES, LINES], 0), "{name}");
        // Each core's L2 holds a part of it at most, and what it holds is loaded without a request.
        assert!((3 * LINES..=4 * LINES).contains(&done.passed[1]) || name.starts_with("8592"), "{name}: {done:?}");
        let in_detail = FIRST + windows * WINDOW..=FIRST + (windows + 1) * WINDOW;
        assert!(in_detail.contains(&done.accesses), "{name}: {done:?}");
        assert!((FIRST + 7 * WINDOW..=FIRST + 8 * WINDOW).contains(&done.reads), "{name}: {done:?}");
        // Time is looked at each 10 ns, in which a thread makes a few accesses.
        let by_hand = 8000 + windows * 1000;
        assert!(done.counted.abs_diff(by_hand) < 1000 + windows * 50, "{name}: {done:?}");
    }
}

/// Each line of 64 MiB is stored to once, and given up by the first level 500 stores later. The LLC holds 8 MiB, or 20:
/// when it is full each store drives a written line out, so that memory writes as many lines as it reads.
#[test]
fn what_was_stored_to_is_written_back_from_windows_and_between_them() {
    const LINES: u64 = 1 << 20;
    for (name, held) in [("x5570", 8 << 14), ("e5-2680", 20 << 14)] {
        let done = run(name, |number| {
            let (place, is_store) = (number / 2, number.is_multiple_of(2));
            let kind = if is_store { ProgramKind::Store } else { ProgramKind::WriteBack };
            let place = if is_store { place } else { place.saturating_sub(500) };
            (number < 2 * LINES).then(|| (kind, shuffled(place, LINES, 0), 0))
        });
        let stores = done.accesses as f64 / 2.0;
        let written = (stores - FIRST as f64 / 2.0) * (LINES - held) as f64 / LINES as f64;
        assert!((done.reads as f64 / stores - 1.0).abs() < 0.01, "{name}: {done:?}");
        assert!((done.writes as f64 / written - 1.0).abs() < 0.05, "{name}: {done:?}, {written} by hand");
    }
}

/// Lines that were loaded, then stored to around the caches, are in no cache: what is loaded then comes from memory.
#[test]
fn stores_around_the_caches_take_lines_out_of_them() {
    const LINES: u64 = 1 << 15;
    for name in ["x5570", "e5-2680", "8592+"] {
        let done = run(name, |number| {
            let (pass, place) = (number / LINES, number % LINES);
            let kind = if pass == 1 { ProgramKind::NonTemporal } else { ProgramKind::Load };
            (pass < 3).then(|| (kind, shuffled(place, LINES, pass), 0))
        });
        // Each access of each window reads or writes a line, whatever its pass.
        let lines = done.reads + done.writes;
        assert!(lines.abs_diff(done.accesses) < done.accesses / 50, "{name}: {done:?}");
    }
}

/// Lines of 1 MiB that a thread of one socket stores to, then one of the other loads, again and again. Each misses in
/// its own socket, but for a tenth that still has a copy to read from, and memory is read for its data or its
/// directory: between windows as often as in them.
#[test]
fn lines_that_go_from_socket_to_socket_read_memory_each_time() {
    const LINES: u64 = 1 << 14;
    // The E5-2600 fills a socket with threads before it begins the next.
    for (name, far) in [("e5-2680:sockets=2", 8), ("8592+:sockets=2", 1), ("8480+:sockets=2", 1)] {
        let done = run(name, move |number| {
            let (pass, place) = (number / LINES, number % LINES);
            let (kind, thread) = if pass % 2 == 0 { (ProgramKind::Store, 0) } else { (ProgramKind::Load, far) };
            (pass < 8).then(|| (kind, shuffled(place, LINES, 0), thread))
        });
        let in_detail = done.reads as f64 / done.accesses as f64;
        let [accesses, _, lines] = done.passed;
        let by_function = (lines - done.reads) as f64 / (accesses - done.accesses) as f64;
        assert!(in_detail > 0.85 && (by_function - in_detail).abs() < 0.05, "{name}: {done:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_windows() {
    let accesses = |number: u64| (number < 100_000).then(|| (ProgramKind::Load, shuffled(number, 1 << 20, 0), 0));
    let (one, other) = (run("e5-2680", accesses), run("e5-2680", accesses));
    assert_eq!(one, other);
}
