//! Which events count in the shipped scenarios, and why the others do not: a share that must hold, and a table that
//! must be current.

use std::collections::HashMap;
use std::fmt::Write;

use pericore_catalog::{Measure, Unit};
use pericore_hardware::pmon::{Selection, compile};
use pericore_hardware::signal::{SignalSink, Wire, Wiring};

use super::Tick;
use crate::coverage::tests::{Row, text, whole};
use crate::coverage::{CountOrigin, Label};
use crate::e5_2600::E5;
use crate::machine::{MachineSpec, Parameters};
use crate::uncore::tests::labels::{share as share_modelled, without_keys, write_or_compare};
use crate::uncore::tests::reasons::Reasons;
use crate::uncore::tests::rules::{Rules, fits};
use pericore_parts::work::Worker;
use pericore_workload::Scenario;

/// The shipped scenarios, and the machines that they are for.
const SHIPPED: [(&str, &str, &str); 11] = [
    ("cores", "e5-2600", include_str!("../../../scenarios/cores.scenario")),
    ("devices", "e5-2600", include_str!("../../../scenarios/devices.scenario")),
    ("heat", "e5-2600", include_str!("../../../scenarios/heat.scenario")),
    ("night", "e5-2600", include_str!("../../../scenarios/night.scenario")),
    ("isochronous", "e5-2600:isochronous=4,direct2core=0", include_str!("../../../scenarios/isochronous.scenario")),
    ("memory", "e5-2600:regions=12,ranks=8", include_str!("../../../scenarios/memory.scenario")),
    ("turbo", "e5-2600:regions=12,ranks=8", include_str!("../../../scenarios/turbo.scenario")),
    ("sockets", "e5-2600:sockets=2", include_str!("../../../scenarios/sockets.scenario")),
    ("host", "e5-2600:sockets=2", include_str!("../../../scenarios/host.scenario")),
    ("ring-of-four", "e5-2600:sockets=4", include_str!("../../../scenarios/ring-of-four.scenario")),
    ("directory", "e5-2600:sockets=4,directory=1", include_str!("../../../scenarios/directory.scenario")),
];
/// Why the others do not.
const ABSENT: &str = include_str!("../../../coverage/e5-2600.absent.txt");
/// What is out of the count, and what keys of scenarios name.
const OUT_OF_COUNT: &str = include_str!("../../../coverage/e5-2600.out.txt");
const KEYS: &str = include_str!("../../../coverage/e5-2600.keys.txt");
/// Reasons that there may be.
const REASONS: usize = 15;
/// The table.
const TABLE: &str = include_str!("../../../../../docs/e5-2600-model.md");
/// Set to write the table anew.
const WRITE: &str = "PERICORE_WRITE_TABLES";

/// Counts what is emitted, by unit, signal and tag.
struct Tally {
    wiring: Wiring,
    seen: HashMap<(usize, u16, u64), u64>,
}

impl Tally {
    fn add(&mut self, wire: Wire, tag: u64, count: u64) {
        let (_, unit, _) = self.wiring.locate(wire.instance);
        *self.seen.entry((unit, wire.signal, tag)).or_insert(0) += count;
    }
}

impl SignalSink for Tally {
    fn pulse(&mut self, wire: Wire, tag: u64, _: Tick, count: u32) {
        self.add(wire, tag, count.into());
    }

    fn enter(&mut self, wire: Wire, tag: u64, _: Tick) {
        self.add(wire, tag, 1);
    }

    fn leave(&mut self, _: Wire, _: u64, _: Tick) {}
}

fn run(machine: &str, text: &str) -> Tally {
    let Ok(Parameters::E5(parameters)) = MachineSpec::parse(machine).unwrap().parameters() else {
        panic!("{machine} is another model")
    };
    let family = pericore_catalog::family("e5-2600").unwrap();
    let sockets = parameters.sockets;
    let scenario = Scenario::parse(text, &parameters.limits()).unwrap();
    let mut wiring = Wiring::new(family, sockets.into());
    let mut model = E5::for_scenario(*parameters, scenario, &mut wiring).unwrap();
    let mut tally = Tally { wiring, seen: HashMap::new() };
    loop {
        model.run_until_any(model.now() + 1_000_000, &mut tally);
        if model.finished() {
            return tally;
        }
        assert!(model.now() < 1_000_000_000, "the scenario does not end");
    }
}

/// True if a counter with this control value counts anything of what was emitted, with some value of its filters.
fn counts(unit: &'static Unit, index: usize, config: u64, tally: &Tally) -> bool {
    let opcodes = [0x180, 0x182, 0x18C, 0x18D, 0x194, 0x19C, 0x19E, 0x1C4, 0x1C5];
    opcodes.into_iter().any(|opcode| {
        let filter = |name: &str| match name {
            "opc" => Some(opcode),
            "state" => Some(0x1F),
            "nid" => Some(0xFF),
            _ => Some(0),
        };
        match compile(unit, 0, config, true, filter) {
            Selection::Nothing => false,
            Selection::Clock | Selection::HalfClock | Selection::Counter0 => true,
            Selection::Signal { signal, measure, predicate, .. } => {
                debug_assert!(measure != Measure::Clock);
                tally.seen.keys().any(|&(u, s, tag)| (u, s) == (index, signal) && predicate.matches(tag))
            }
        }
    })
}

/// Rows of the table: unit, event with subevent, whether the guide has it, and the scenarios in which it counts.
fn rows(tallies: &[(&'static str, Tally)]) -> Vec<(&'static str, String, bool, Vec<&'static str>)> {
    let mut rows = Vec::new();
    for (index, unit) in pericore_catalog::family("e5-2600").unwrap().units.iter().enumerate() {
        for event in unit.events {
            let counting = |config: u64| {
                let names = tallies.iter().filter(|(_, tally)| counts(unit, index, config, tally));
                names.map(|(name, _)| *name).collect::<Vec<_>>()
            };
            if event.subevents.is_empty() {
                rows.push((unit.name, event.name.to_owned(), !event.later, counting(event.config)));
            }
            for subevent in event.subevents {
                let name = format!("{}.{}", event.name, subevent.name);
                rows.push((unit.name, name, !event.later && !subevent.later, counting(subevent.config)));
            }
        }
    }
    rows
}

#[test]
fn the_share_holds_and_the_table_is_current() {
    let tallies: Vec<_> = SHIPPED.iter().map(|(name, machine, text)| (*name, run(machine, text))).collect();
    let rows = rows(&tallies);
    let mut table = String::from(
        "# What the E5-2600 model counts\n\n\
         Made by the test `the_share_holds_and_the_table_is_current` of `pericore-machine`; run it with\n\
         `PERICORE_WRITE_TABLES=1` to write this file anew. An event is modelled if a counter that selects it \
         counts something in a\n\
         shipped scenario (`crates/machine/scenarios`). The others have a reason.\n\n\
         | scenario | `--machine` |\n|---|---|\n",
    );
    for (name, machine, _) in SHIPPED {
        writeln!(table, "| {name} | `{machine}` |").unwrap();
    }
    table.push('\n');
    let share = |rows: &[&(&str, String, bool, Vec<&str>)]| {
        let counting = rows.iter().filter(|row| !row.3.is_empty()).count();
        (counting, rows.len(), 100.0 * counting as f64 / rows.len() as f64)
    };
    let all: Vec<_> = rows.iter().collect();
    let of_guide: Vec<_> = rows.iter().filter(|row| row.2).collect();
    for (what, rows) in [("of all events", &all), ("of the 2012 guide's events", &of_guide)] {
        let (counting, total, per_cent) = share(rows);
        writeln!(table, "- {counting} {what}' {total} selections count: {per_cent:.1} %.").unwrap();
    }
    let (reasons, mut without_reason) = (Reasons::parse(ABSENT), Vec::new());
    let labelled = labels(&tallies, &reasons);
    let events: Vec<Label> = labelled.iter().map(|(_, _, labels)| whole(labels)).collect();
    let selections: Vec<&Label> = labelled.iter().flat_map(|(_, _, labels)| labels).collect();
    let shares = [share_modelled(events.iter()), share_modelled(selections.iter().copied())];
    for ((what, (counting, all, per_cent)), least) in ["events", "selections"].into_iter().zip(shares).zip(SHARES) {
        assert!(per_cent >= least, "{counting} of {all} {what} count, {per_cent:.1} %");
        writeln!(
            table,
            "- In the count, and not by a key of a scenario that names it: {counting} of {all} {what}, {per_cent:.1} %."
        )
        .unwrap();
    }
    let mut absent: Vec<&Label> = selections.into_iter().filter(|label| matches!(label, Label::Absent(_))).collect();
    absent.sort_by_key(|label| format!("{label:?}"));
    absent.dedup();
    assert!(absent.len() <= REASONS, "{} reasons: {absent:#?}", absent.len());
    let mut unit_before = "";
    for (unit, event, guide, scenarios) in &rows {
        if *unit != unit_before {
            writeln!(table, "\n## {unit}\n\n| event | counts in, or why not |\n|---|---|").unwrap();
            unit_before = unit;
        }
        let later = if *guide { "" } else { " (not in the guide)" };
        let text = if scenarios.is_empty() {
            let reason = reasons.find(unit, event).unwrap_or_else(|| {
                without_reason.push(format!("{unit}/{event}"));
                "?"
            });
            format!("not modelled: {reason}")
        } else {
            scenarios.join(", ")
        };
        writeln!(table, "| {event}{later} | {text} |").unwrap();
    }
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/e5-2600-model.md"), &table).unwrap();
    }
    assert!(without_reason.is_empty(), "coverage/e5-2600.absent.txt has no reason for {without_reason:#?}");
    assert!(reasons.unused().is_empty(), "coverage/e5-2600.absent.txt excuses what counts: {:#?}", reasons.unused());
    let about = "What counts of the E5-2600, made by the test e5_2600::tests::coverage.";
    write_or_compare(concat!(env!("CARGO_MANIFEST_DIR"), "/coverage/e5-2600.txt"), &text(about, &labelled));
    assert!(table == TABLE || std::env::var_os(WRITE).is_some(), "docs/e5-2600-model.md is not current: {WRITE}=1");
    let (counting, total, per_cent) = share(&of_guide);
    assert!(per_cent >= LEAST, "{counting} of {total} selections count, {per_cent:.1} %");
}

/// The labels of all events: those that count only since a scenario's key names them are scripted.
fn labels(tallies: &[(&'static str, Tally)], reasons: &Reasons) -> Vec<Row> {
    let stripped: Vec<Tally> =
        SHIPPED.iter().map(|(_, machine, text)| run(machine, &without_keys(text, KEYS))).collect();
    let [out, named] = [OUT_OF_COUNT, KEYS].map(Rules::parse);
    let mut rows = Vec::new();
    for (index, unit) in pericore_catalog::family("e5-2600").unwrap().units.iter().enumerate() {
        for event in unit.events {
            let label = |name: String, config: u64| {
                let counting = tallies.iter().filter(|(_, tally)| counts(unit, index, config, tally));
                let scenarios: Vec<&'static str> = counting.map(|(name, _)| *name).collect();
                let full = format!("{}/{name}", unit.name);
                if scenarios.is_empty() {
                    let reason = out.find(&full).map(Label::OutOfCount);
                    return reason
                        .unwrap_or_else(|| Label::Absent(reasons.find(unit.name, &name).unwrap_or("no reason")));
                }
                assert!(!out.has(&full), "coverage/e5-2600.out.txt has {full}, which counts");
                let is_named = named.pairs().any(|(_, events)| fits(events.as_bytes(), full.as_bytes()));
                let is_scripted = is_named && !stripped.iter().any(|tally| counts(unit, index, config, tally));
                let origin = match event.measure {
                    Measure::Clock | Measure::HalfClock | Measure::Counter0 => CountOrigin::Derived,
                    _ if is_scripted => CountOrigin::Scripted,
                    _ => CountOrigin::Emergent,
                };
                Label::Counts { origin, scenarios }
            };
            let of = match event.subevents {
                [] => vec![label(event.name.to_owned(), event.config)],
                subevents => {
                    subevents.iter().map(|sub| label(format!("{}.{}", event.name, sub.name), sub.config)).collect()
                }
            };
            rows.push((unit.name, event.name, of));
        }
    }
    assert!(out.unused().is_empty(), "coverage/e5-2600.out.txt: no event needs {:#?}", out.unused());
    rows
}

/// Per cent of the guide's selections that must count.
const LEAST: f64 = 94.9;
/// Per cent of the events and of the selections in the count that must count, not scripted.
const SHARES: [f64; 2] = [97.0, 93.0];
