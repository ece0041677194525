//! Programs whose addresses come from loads: what a hop takes, against what is published of one read
//! (`traffic/latency.rs`), and what goes on beside a load that waits.

use pericore_machine::ledger::Question;
use pericore_machine::workload::{ProgramAccess, ProgramKind, ProgramSettings, ProgramSource};
use pericore_machine::{Machine, MachineSpec};

/// Loads of one thread, in lines that nothing foresees.
const LOADS: u64 = 3000;

/// Loads, each of which comes so many instructions after the one before, and so many loads after the one that has its
/// address.
#[derive(Debug)]
struct Loads {
    number: u64,
    instructions: u64,
    after: fn(u64) -> u8,
    lines: u64,
}

impl ProgramSource for Loads {
    fn next_access(&mut self) -> Option<ProgramAccess> {
        let number = self.number;
        self.number += 1;
        (number < LOADS).then_some(ProgramAccess {
            // An odd multiple reaches each line of a power of two once.
            address: number.wrapping_mul(2_654_435_761) % self.lines * 64,
            size: 8,
            instructions: number * self.instructions,
            thread: 0,
            process: 0,
            forked_from: None,
            kind: ProgramKind::Load,
            after: (self.after)(number),
        })
    }
}

/// Loads, of which each second, or each, has its line stored to for the first time since it is in the first level.
#[derive(Debug)]
struct Stored {
    loads: Loads,
    one_in: u64,
    store: Option<ProgramAccess>,
}

fn stored(loads: Loads, one_in: u64) -> Stored {
    Stored { loads, one_in, store: None }
}

impl ProgramSource for Stored {
    fn next_access(&mut self) -> Option<ProgramAccess> {
        if let Some(store) = self.store.take() {
            return Some(store);
        }
        let load = self.loads.next_access()?;
        let is_stored = self.loads.number.is_multiple_of(self.one_in);
        self.store = is_stored.then_some(ProgramAccess { kind: ProgramKind::Upgrade, after: 0, ..load });
        Some(load)
    }
}

/// A machine that has made all accesses of a program.
fn run(name: &str, loads: impl ProgramSource + 'static, settings: &str) -> Machine {
    let spec = MachineSpec::parse(name).expect("a machine");
    let settings = ProgramSettings::parse(settings).expect("settings");
    let mut machine = Machine::for_program(&spec, Box::new(loads), settings).expect("a machine");
    let second = machine.clocks().ticks_per_second();
    while !machine.finished() {
        machine.run_for(second / 10_000_000);
        assert!(machine.now() < second / 100, "{name}: the program does not end");
    }
    assert_eq!(machine.program().expect("a program").of(ProgramKind::Load), LOADS);
    machine
}

/// Nanoseconds of each load.
fn each(name: &str, loads: impl ProgramSource + 'static, settings: &str) -> f64 {
    let machine = run(name, loads, settings);
    machine.seconds() * 1e9 / LOADS as f64
}

fn loads(instructions: u64, after: fn(u64) -> u8) -> Loads {
    Loads { number: 0, instructions, after, lines: 1 << 22 }
}

/// Pages of 2 MiB, as nothing walks them, and no prefetcher.
const SETTINGS: &str = "prefetch=off,pages=2M";
/// One read from memory, of which bounds are those of `traffic/latency.rs`: machine, least and most nanoseconds.
const ONE_READ: [(&str, f64, f64); 4] =
    [("x5570", 55.0, 65.0), ("e5-2680", 57.0, 67.0), ("8592+", 110.0, 119.0), ("8480+", 99.0, 133.0)];

#[test]
fn a_pointer_is_followed_when_it_is_there() {
    for (name, least, most) in ONE_READ {
        let hop = each(name, loads(4, |_| 1), SETTINGS);
        assert!((least..most).contains(&hop), "{name}: {hop:.1} ns a hop");
    }
}

/// The second of two loads waits for what the first brings, and is stored to: the store is no sooner than its load. So
/// each line is read once, as data, and comes for its only reader, who may write to it. Opcodes as table 2-13 of the
/// E5-2600's guide has them, and names of the successors' requests as Intel's event files do.
#[test]
fn a_store_does_not_go_before_the_load_of_its_line() {
    let opcodes = [
        Question::new("cbo", "TOR_INSERTS").subevent(Some("OPCODE")).filtered(&[("opc", 0x182)]),
        Question::new("cbo", "TOR_INSERTS").subevent(Some("OPCODE")).filtered(&[("opc", 0x180)]),
    ];
    let names = [
        Question::new("cha", "TOR_INSERTS").subevent(Some("IA_DRD")),
        Question::new("cha", "TOR_INSERTS").subevent(Some("IA_RFO")),
    ];
    for (name, slices, requests) in [("e5-2680", 8, opcodes), ("8592+", 64, names), ("8480+", 56, names)] {
        let snapshot = run(name, stored(loads(4, |number| (number % 2) as u8), 2), SETTINGS).snapshot();
        let all = |question| (0..slices).map(|slice| snapshot.count(0, slice, question).expect("a truth")).sum::<u64>();
        assert_eq!(requests.map(all), [LOADS, 0], "{name}: reads of data, and for ownership");
    }
}

/// A store has the store buffer until its line has come: loads go out beside it as if it were not there. If it held its
/// thread up, each load would take a read.
#[test]
fn a_store_holds_no_load_up() {
    for (name, least, _) in ONE_READ {
        let [alone, beside] = [u64::MAX, 1].map(|one_in| each(name, stored(loads(4, |_| 0), one_in), SETTINGS));
        assert!(beside < alone * 1.1 && beside < least / 5.0, "{name}: {alone:.1} ns a load, {beside:.1} with stores");
    }
}

/// Two chains take half of it, four a quarter: each hop waits for its own chain only. A row that one has opened serves
/// another.
#[test]
fn chains_side_by_side_share_no_time() {
    for (name, least, most) in ONE_READ {
        for (chains, after) in [(2.0, (|_| 2) as fn(u64) -> u8), (4.0, |_| 4)] {
            let hop = each(name, loads(4, after), SETTINGS) * chains;
            assert!((least * 0.92..most * 1.05).contains(&hop), "{name}: {chains} chains, {hop:.1} ns a hop");
        }
    }
}

/// Each second load waits for the one before, and nothing for it: a look-up in a table of pointers. A core goes on to
/// the next pair, and has as many under way as it has buffers for. One pair after the other would take a read for each
/// load.
#[test]
fn what_does_not_wait_goes_on() {
    for (name, least, _) in ONE_READ {
        let of_pairs = each(name, loads(4, |number| (number % 2) as u8), SETTINGS);
        let alone = each(name, loads(4, |_| 0), SETTINGS);
        assert!(of_pairs < least / 4.0 && alone < least / 5.0, "{name}: {of_pairs:.1} ns, and {alone:.1} without any");
    }
}

/// Loads come 60 instructions apart, each second one with what the one before brings: by their instructions 120 of
/// half a cycle, a pair takes 20.5 ns at 2.93 GHz, 22.2 at 2.7. A core that looks 128 or 168 instructions ahead of a
/// load that waits has the next pair under way, and not the third: two pairs take a read, or a little more, since up
/// to four reads meet in the channels.
#[test]
fn a_core_looks_ahead_as_far_as_its_buffers() {
    for (name, least, most) in &ONE_READ[..2] {
        let pair = 2.0 * each(name, loads(60, |number| (number % 2) as u8), SETTINGS);
        assert!((least / 2.0 * 0.95..most / 2.0 * 1.15).contains(&pair), "{name}: {pair:.1} ns a pair");
    }
}

/// The L2 has 128 lines after their first time. Latencies of a hit are 10 cycles of 2.93 GHz and 12 of 2.7 GHz
/// (Intel's optimization manual); the first time takes 40 ns at least, and a read at most.
#[test]
fn a_chain_in_the_l2_takes_its_latency() {
    for (name, latency, memory) in [("x5570", 10.0 / 2.93, 65.0), ("e5-2680", 12.0 / 2.7, 67.0)] {
        let hop = each(name, Loads { lines: 128, ..loads(2, |_| 1) }, SETTINGS);
        let [least, most] = [40.0, memory].map(|first| (latency * 2872.0 + first * 128.0) / 3000.0);
        assert!((least..most).contains(&hop), "{name}: {hop:.2} ns a hop, {least:.2} to {most:.2} expected");
    }
}
