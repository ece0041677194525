//! Which events count in the model's workloads, and why the others do not: a share that must hold, and a table that must be current.

use std::collections::HashSet;
use std::fmt::Write;

use pericore_catalog::{Event, Measure, Unit};
use pericore_hardware::pmon::compile_event;
use pericore_hardware::signal::{SignalSink, Tick, Wire, Wiring};

use super::{WORKLOADS, model, run};
use crate::ledger::Question;
use crate::uncore::tests::reasons::Reasons;
use pericore_truth::emerald_rapids::Snapshot;

/// Why the others do not.
const ABSENT: &str = include_str!("../../../../scenarios/emerald-rapids-not-modelled.txt");
/// Set to write the table anew.
const WRITE: &str = "PERICORE_WRITE_TABLES";
/// Share of the events that must count.
const SHARE: f64 = 81.3;
/// Share of those that count which must have a definition in the truth reader.
const DEFINED: f64 = 99.0;

/// What was emitted, by unit, signal and tag.
struct Tally {
    wiring: Wiring,
    seen: HashSet<(usize, u16, u64)>,
}

impl Tally {
    fn add(&mut self, wire: Wire, tag: u64) {
        let (_, unit, _) = self.wiring.locate(wire.instance);
        self.seen.insert((unit, wire.signal, tag));
    }
}

impl SignalSink for Tally {
    fn pulse(&mut self, wire: Wire, tag: u64, _: Tick, _: u32) {
        self.add(wire, tag);
    }

    fn enter(&mut self, wire: Wire, tag: u64, _: Tick) {
        self.add(wire, tag);
    }

    fn leave(&mut self, _: Wire, _: u64, _: Tick) {}
}

/// True if a counter with this control value counts anything of what was emitted.
fn counts(unit: &'static Unit, index: usize, config: u64, seen: &HashSet<(usize, u16, u64)>) -> bool {
    let Some(what) = compile_event(unit, config) else { return false };
    seen.iter().any(|&(u, s, tag)| (u, s) == (index, what.signal()) && what.matches(tag))
}

/// How many selections of an event count, and how many there are.
fn share_of(event: &Event, unit: &'static Unit, index: usize, seen: &HashSet<(usize, u16, u64)>) -> (usize, usize) {
    if matches!(event.measure, Measure::Clock | Measure::Counter0) {
        let selections = event.subevents.len().max(1);
        return (selections, selections);
    }
    if event.subevents.is_empty() {
        return (usize::from(counts(unit, index, event.config, seen)), 1);
    }
    let counting = event.subevents.iter().filter(|subevent| counts(unit, index, subevent.config, seen)).count();
    (counting, event.subevents.len())
}

/// True if the truth reader has a definition of the event, or of some of its subevents.
fn is_defined(event: &Event, unit: &Unit, at: &Snapshot) -> bool {
    let question = Question::new(unit.name, event.name);
    let parts = event.subevents.iter().map(|subevent| question.subevent(subevent.name));
    parts.chain([question]).any(|question| at.value(0, question).is_some())
}

/// Selections that count, and of which the wiring says that nothing emits them.
fn denied(seen: &HashSet<(usize, u16, u64)>) -> Vec<String> {
    let family = pericore_catalog::family("emerald-rapids").unwrap();
    let wiring = crate::modelled(family).unwrap();
    let mut denied = Vec::new();
    for (index, unit) in family.units.iter().enumerate() {
        for event in unit.events.iter().filter(|event| event.signal.is_some()) {
            let itself = event.subevents.is_empty().then_some((None, "", event.config));
            let parts = event.subevents.iter().map(|subevent| (Some(subevent), subevent.name, subevent.config));
            for (subevent, name, config) in itself.into_iter().chain(parts) {
                if counts(unit, index, config, seen) && !wiring.is_modelled(index, event, subevent) {
                    denied.push(format!("{}/{}.{name}", unit.name, event.name));
                }
            }
        }
    }
    denied
}

/// A workload in the table: its text, or the first line of a scenario, which says what it is.
fn named(workload: &&str) -> String {
    match workload.split_once('\n') {
        Some((about, _)) => format!("- a scenario: {}", about.replacen("# ", "", 1)),
        None => format!("- `{workload}`"),
    }
}

#[test]
fn the_share_holds_and_the_table_is_current() {
    let mut seen = HashSet::new();
    for workload in WORKLOADS {
        let (mut model, wiring) = model(workload);
        let mut tally = Tally { wiring, seen };
        run(&mut model, &mut tally);
        seen = tally.seen;
    }
    let (reasons, mut body, mut without_reason) = (Reasons::parse(ABSENT), String::new(), Vec::new());
    let (mut counting, mut all, mut events, mut all_events, mut defined) = (0, 0, 0, 0, 0);
    let at = model("idle").0.snapshot();
    for (index, unit) in pericore_catalog::family("emerald-rapids").unwrap().units.iter().enumerate() {
        if unit.events.is_empty() {
            continue;
        }
        writeln!(body, "\n## {}\n\n| event | selections that count | the rest |\n|---|---|---|", unit.name).unwrap();
        for event in unit.events {
            let (some, selections) = share_of(event, unit, index, &seen);
            counting += some;
            all += selections;
            events += usize::from(some > 0);
            defined += usize::from(some > 0 && is_defined(event, unit, &at));
            all_events += 1;
            let reason = if some == selections { Some("") } else { reasons.find(unit.name, event.name) };
            let rest = reason.unwrap_or_else(|| {
                if some == 0 {
                    without_reason.push(format!("{}/{}", unit.name, event.name));
                }
                "filters that select nothing alone, or what these workloads do not do"
            });
            writeln!(body, "| {} | {some} of {selections} | {rest} |", event.name).unwrap();
        }
    }
    let denied = denied(&seen);
    assert!(denied.is_empty(), "they count, but `list` says that the machine counts nothing for them: {denied:#?}");
    let share = 100.0 * events as f64 / all_events as f64;
    println!("Emerald Rapids: {defined} of the {events} events that count have a definition in the truth reader");
    assert!(100.0 * defined as f64 / events as f64 >= DEFINED, "{defined} of {events} have a definition");
    let table = format!(
        "# What the Emerald Rapids model counts\n\n\
         Made by the test `emerald_rapids::tests::coverage::the_share_holds_and_the_table_is_current` of `pericore-machine`;\n\
         run it with `PERICORE_WRITE_TABLES=1` to write this file anew. An event is modelled if a counter that selects it counts\n\
         something in one of these workloads (`two` means `--machine 8592+:sockets=2`,\n\
         `snc=4` the same key of the machine):\n\n{}\n\n\
         {events} of {all_events} events count: {share:.1} %. Of their {all} selections, {counting} count.\n{body}",
        WORKLOADS.iter().map(named).collect::<Vec<_>>().join("\n")
    );
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/emerald-rapids-model.md");
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(path, &table).unwrap();
    }
    assert!(without_reason.is_empty(), "give each a reason: {without_reason:#?}");
    assert!(reasons.unused().is_empty(), "reasons that no event needs: {:#?}", reasons.unused());
    assert!(share >= SHARE, "{share:.1} % of the events count");
    let current = std::fs::read_to_string(path).unwrap_or_default();
    assert!(current == table, "docs/emerald-rapids-model.md is not current: run this test with {WRITE}=1");
}
