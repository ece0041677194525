//! `pericore stat` by registers beside the kernel's own driver, in one boot a family: perf joins before a session,
//! while it runs, again with groups that take turns, and stays behind when one ends or is killed.
//!
//! perf must show what happened while its counters ran, by the log of what everybody wrote. What we call measured must
//! be right; where perf takes a counter of ours, it must not be called so.

mod e5_2600;
mod emerald_rapids;
mod nehalem;
mod refused;
mod selfcheck;

#[path = "../../../../../tests/tests/guest/boot.rs"]
#[expect(dead_code, reason = "shared with tests that need more of it")]
mod boot;
#[path = "../../../../../tests/tests/guest/injection.rs"]
#[expect(dead_code, reason = "shared with tests that need more of it")]
mod injection;
#[path = "../../../../../tests/tests/guest/sections.rs"]
mod sections;
#[path = "../../../../../tests/tests/guest/truth.rs"]
#[expect(dead_code, reason = "shared with tests that need more of it")]
mod truth;

use std::sync::{Arc, Mutex};

use pericore_doors::guest::{Access, Hardware};
use serde_json::Value;

use super::switched_off;
use crate::ours::PERICORE;
use boot::{PERIOD, Run};
use sections::section;
use truth::{Block, Happening};

const SCENARIOS: &str = include_str!("scenarios.sh");

/// What perf counts, the control value without its enable, and what happens.
type Counted = (&'static str, u64, Happening);

/// A family's part.
struct Scene {
    /// Events of ours: one that happens so often a second, and the unit's clock.
    ours: [&'static str; 2],
    per_second: u64,
    /// The unit that perf counts in, and its registers.
    block: Block,
    /// Counted alone.
    one: Counted,
    /// Groups and more than there are counters.
    many: &'static str,
    /// The first of them.
    first_of_many: Counted,
    /// An MSR that nothing else uses.
    note: u32,
    /// Prints the registers that all of this may leave changed.
    registers: &'static str,
    /// True if a counter stands, by what the unit's control holds and the counter's number.
    is_stopped: fn(u64, u16) -> bool,
}

impl Scene {
    fn run(&self, hardware: &Arc<Mutex<Hardware>>, more: &str) -> Run {
        let Self { ours: [event, clock], one: (one, ..), many, note, registers, .. } = self;
        let script = format!(
            "ours='{event},{clock}'; one='{one}'; many='{many}'\nnote() {{ wrmsr {note:#x} $1; }}\n\
             registers() {{ {registers}; }}\n{SCENARIOS}\n{more}"
        );
        let run = boot::run_with(hardware, &script, |boot| boot.programs.push(PERICORE.into()));
        eprintln!("{:?}", run.report);
        run
    }

    /// From when to when a counter with this control value ran.
    fn runs(&self, accesses: &[Access], config: u64) -> Vec<(u64, u64)> {
        self.block.runs_unless(accesses, config, self.is_stopped)
    }

    fn part<'a>(&self, run: &'a Run, notes: (u64, u64)) -> &'a [Access] {
        let start = truth::before(&run.accesses, self.note, notes.0).len();
        &run.accesses[start..truth::before(&run.accesses, self.note, notes.1).len()]
    }

    /// perf's count between two notes is what happened while its counter ran; tells for which part of the time from its
    /// start to its end it stood.
    fn perf_is_right(&self, run: &Run, name: &str, notes: (u64, u64)) -> f64 {
        let (event, config, happening) = self.one;
        let shown = sections::count(&section(&run.output, &format!("perf {name}")), event);
        let part = self.part(run, notes);
        let runs = self.runs(part, config);
        assert_eq!(shown, truth::during(&runs, happening), "perf {name}\n{}\n{}", run.output, run.errors);
        let ran: u64 = runs.iter().map(|(from, to)| to - from).sum();
        let whole = runs[runs.len() - 1].1 - runs[0].0;
        1.0 - ran as f64 / whole as f64
    }

    /// Counts that took turns, scaled back to what they were.
    fn perf_in_turns_is_right(&self, run: &Run, notes: (u64, u64)) {
        let (event, config, happening) = self.first_of_many;
        let lines = section(&run.output, "perf often");
        // "summary", count, unit of measure, event, how long it ran, for which part of the time in per cent.
        let raw = |line: &&str| -> Option<f64> {
            let (before, after) = line.split_once(event)?;
            let count: f64 = before.split(',').nth(1)?.parse().ok()?;
            Some(count * after.split(',').nth(2)?.parse::<f64>().ok()? / 100.0)
        };
        let is_summary = |line: &&&str| line.trim_start().starts_with("summary");
        let [shown] = lines.iter().filter(is_summary).filter_map(raw).collect::<Vec<f64>>()[..] else {
            panic!("one line of all\n{}", run.output)
        };
        let truth = truth::during(&self.runs(self.part(run, notes), config), happening) as f64;
        // perf scales each interval, adds these up, and cuts the share of the time to whole per cent. How long our
        // readings stop the unit, which perf takes for time in which it counted, differs between intervals on a busy
        // host.
        assert!((shown / truth - 1.0).abs() < 0.1, "perf shows {shown}, the truth is {truth}\n{}", run.output);
    }

    /// Beside others nothing is frozen, and counters are read one after the other, on slow hosts with long gaps:
    /// all rows together have as many events as their clock tells.
    fn ours_beside_are_right(&self, run: &Run) {
        let rows = rows(run, "ours beside");
        assert!(rows.iter().filter(|row| is_undisturbed(row)).count() >= 4, "{}", run.output);
        let [counted, ticks] = self.ours.map(|event| {
            let of_event = rows.iter().filter(|row| row["event"] == event && row["withdrawn"] != true);
            of_event.map(number).sum::<f64>()
        });
        let rate = counted / (ticks * PERIOD as f64 / boot::TICKS_PER_SECOND as f64);
        assert!((rate / self.per_second as f64 - 1.0).abs() < 0.3, "{counted} in {ticks} cycles\n{}", run.output);
    }

    /// Rows that are called measured, and stay so, have as many events as their clock tells; whether each is one.
    fn ours_are_right(&self, run: &Run, name: &str, tolerance: f64) -> Vec<bool> {
        let rows = rows(run, &format!("ours {name}"));
        let [event, clock] = self.ours;
        let mut sound = Vec::new();
        let ends = rows.iter().filter(|row| row["withdrawn"] != true && row["event"] == event);
        for end in ends.map(|row| &row["interval"]) {
            let of = |event: &str| rows.iter().filter(|row| row["interval"] == *end && row["event"] == event).collect();
            let (events, clocks): (Vec<&Value>, Vec<&Value>) = (of(event), of(clock));
            let is_sound = |rows: &[&Value]| rows.iter().all(|row| row["validity"] == "measured");
            let both = is_sound(&events) && is_sound(&clocks);
            sound.push(both);
            if !both {
                continue;
            }
            let (count, ticks) = (number(events[0]), number(clocks[0]));
            let rate = count / (ticks * PERIOD as f64 / boot::TICKS_PER_SECOND as f64);
            let off = (rate / self.per_second as f64 - 1.0).abs();
            assert!(off < tolerance, "{name}, at {end}: {count} in {ticks} cycles\n{}", run.output);
            // Hosts are slow to tell the time; a unit that stood would show none at all.
            let seconds = clocks[0]["event-runtime"].as_f64().unwrap() / 1e9;
            let per_second = ticks * PERIOD as f64 / boot::TICKS_PER_SECOND as f64 / seconds;
            assert!(
                (0.1..3.0).contains(&per_second),
                "{name}, at {end}: {ticks} cycles in {seconds} s\n{}",
                run.output
            );
        }
        sound
    }
}

/// True if nobody else has spoilt a count. The gaps of a slow host are noticed, and then stand beside it.
fn is_undisturbed(row: &Value) -> bool {
    let reason = row["concerns"].as_str().unwrap_or_default();
    row["validity"] == "measured" || reason.contains("one after the other") && !reason.contains("someone else")
}

fn number(row: &Value) -> f64 {
    row["counter-value"].as_str().and_then(|count| count.parse().ok()).unwrap_or_else(|| panic!("{row}"))
}

fn rows(run: &Run, name: &str) -> Vec<Value> {
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}\n{}", run.output));
    section(&run.output, name).into_iter().map(parse).collect()
}

/// What the scenarios promise on every family.
fn everybody_is_right(scene: &Scene, run: &Run) {
    // perf was there first: nobody stops it.
    let stood = scene.perf_is_right(run, "early", (1, 2));
    assert!(stood < 1e-9, "perf stood for {stood} of its time");
    scene.ours_beside_are_right(run);
    // It joins: each of our readings stops it, and takes a part of a slow host's time.
    let stood = scene.perf_is_right(run, "once", (2, 3));
    assert!(stood < 0.9, "perf stood for {stood} of its time");
    scene.perf_in_turns_is_right(run, (3, 5));
    let joined = scene.ours_are_right(run, "joined", 0.002);
    // The check that finds perf withdraws what came before it and was not confirmed yet.
    let taken = rows(run, "ours joined");
    assert!(taken.iter().filter(|row| is_undisturbed(row)).count() >= 4, "{}", run.output);
    assert!(joined.iter().any(|sound| !sound), "perf took a counter of ours: {joined:?}\n{}", run.output);
    // A killed session's freeze held it; from `restore` on it counts all.
    scene.perf_is_right(run, "late", (5, 7));
    assert!(section(&run.output, "restore").contains(&"status 0"), "{}", run.output);
    let restored = scene.part(run, (5, 6)).last().map(|access| access.ticks);
    let runs = scene.runs(scene.part(run, (5, 7)), scene.one.1);
    let (from, to) = runs[runs.len() - 1];
    // Where the killed session had stopped it, it begins with the last access of `restore`.
    assert!(Some(from) <= restored && Some(to) > restored, "it stood after restore: {runs:?}\n{}", run.output);
    assert_eq!(section(&run.output, "journals"), [""; 0], "{}", run.output);
}
