//! Which events count in the shipped scenarios, and why the others do not: a share that must hold, and tables that must
//! be current.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use pericore_catalog::{Event, Field, FilterNeed, FilterUse, Measure, Subevent, Unit};
use pericore_hardware::pmon::compile_event;
use pericore_hardware::signal::{SignalSink, Tick, Wire, Wiring};

use super::{model, run};
use crate::coverage::tests::{Row, text, whole};
use crate::coverage::{CountOrigin, Label};
use crate::ledger::Question;
use crate::uncore::tests::labels::{is_modelled, share, without_keys, write_or_compare};
use crate::uncore::tests::rules::{Rules, fits};
use pericore_truth::emerald_rapids::Snapshot;

/// A scenario: its name, the machine that it is for, and what stands for the machine before a workload here.
struct Shipped(&'static str, &'static str, &'static str, &'static str);

macro_rules! shipped {
    ($($name:literal in $folder:literal, $keys:literal, $machine:literal;)*) => {
        const SHIPPED: &[Shipped] = &[$(Shipped(
            $name, $machine, $keys, include_str!(concat!("../../../../scenarios/", $folder, $name, ".scenario")),
        ),)*];
    };
}

shipped! {
    "programs" in "emerald-rapids/", "", "8592+";
    "neighbours" in "emerald-rapids/", "two ", "8592+:sockets=2";
    "clusters" in "emerald-rapids/", "two snc=4 ", "8592+:sockets=2,snc=4";
    "accelerators" in "emerald-rapids/", "accelerators=2 ", "8592+:accelerators=2";
    "forwarding" in "emerald-rapids/", "two ", "8592+:sockets=2";
    "rows" in "emerald-rapids/", "closed ", "8592+:closed_pages=1";
    "crowd" in "emerald-rapids/", "two ", "8592+:sockets=2";
    "columns" in "emerald-rapids/", "two ", "8592+:sockets=2";
    "exchange" in "emerald-rapids/", "two ", "8592+:sockets=2";
    "storage" in "emerald-rapids/", "two ", "8592+:sockets=2";
    "deadlines" in "emerald-rapids/", "two isochronous=4 ", "8592+:sockets=2,isochronous=4";
    "system" in "", "two ", "8592+:sockets=2";
    "messages" in "", "two ", "8592+:sockets=2";
    "modules" in "", "", "8592+";
    "package" in "", "", "8592+";
    "day" in "", "", "8592+";
}

/// Why the others do not count, or cannot.
const ABSENT: &str = include_str!("../../../../coverage/emerald-rapids.absent.txt");
const OUT_OF_COUNT: &str = include_str!("../../../../coverage/emerald-rapids.out.txt");
/// What keys of scenarios name.
const KEYS: &str = include_str!("../../../../coverage/emerald-rapids.keys.txt");
/// Reasons that there may be.
const REASONS: usize = 15;
/// Per cent of the events and of the selections in the count that must count, not scripted.
const SHARES: [f64; 2] = [95.7, 78.9];
/// Per cent of those that count which must have a definition in the truth reader.
const DEFINED: f64 = 99.0;

/// Tags that were emitted, by unit and signal.
type Seen = HashMap<(usize, u16), HashSet<u64>>;

struct Tally {
    wiring: Wiring,
    seen: Seen,
    /// What was looked up last, by a part of its bits: most of it comes again soon.
    recent: Vec<(u32, u16, u64)>,
}

/// Entries of [`Tally::recent`].
const RECENT: usize = 1 << 14;

impl Tally {
    fn add(&mut self, wire: Wire, tag: u64) {
        let emitted = (wire.instance.into(), wire.signal, tag);
        let place = emitted.0 as usize * 61 + usize::from(wire.signal) * 7 + (tag ^ tag >> 17) as usize;
        if std::mem::replace(&mut self.recent[place % RECENT], emitted) == emitted {
            return;
        }
        let (_, unit, _) = self.wiring.locate(wire.instance);
        self.seen.entry((unit, wire.signal)).or_default().insert(tag);
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

/// What a scenario emits on its machine.
fn seen_in(keys: &str, scenario: &str) -> Seen {
    let (mut model, wiring) = model(&format!("{keys}{scenario}"));
    let mut tally = Tally { wiring, seen: Seen::new(), recent: vec![(u32::MAX, 0, 0); RECENT] };
    run(&mut model, &mut tally);
    tally.seen
}

/// What any of several scenarios emits.
fn all_of(several: impl Iterator<Item = Seen>) -> Seen {
    let mut all = Seen::new();
    several.flatten().for_each(|(signal, tags)| all.entry(signal).or_default().extend(tags));
    all
}

/// True if a counter with this control value counts anything of what was emitted.
fn counts(unit: &'static Unit, index: usize, config: u64, seen: &Seen) -> bool {
    let Some(what) = compile_event(unit, config) else { return false };
    seen.get(&(index, what.signal())).is_some_and(|tags| tags.iter().any(|&tag| what.matches(tag)))
}

/// True if the truth reader has a definition of the event, or of some of its subevents.
fn is_defined(event: &Event, unit: &Unit, at: &Snapshot) -> bool {
    let question = Question::new(unit.name, event.name);
    let parts = event.subevents.iter().map(|subevent| question.subevent(subevent.name));
    parts.chain([question]).any(|question| at.value(0, question).is_some())
}

/// The control values of a selection: one, or if a field must be given beside it, one for each of its values.
fn values(unit: &Unit, event: &Event, filters: &[FilterUse], config: u64) -> Vec<u64> {
    let fields = event.field_set.map_or(&[][..], |set| unit.field_sets[usize::from(set)].fields);
    let must =
        |field: &&Field| filters.iter().any(|filter| filter.field == field.name && filter.need == FilterNeed::Required);
    match fields.iter().find(must) {
        Some(field) => (0..=field.bits.max()).map(|value| field.bits.set(config, value)).collect(),
        None => vec![config],
    }
}

/// The selections of an event: their names after the event's, and control values.
fn selections(unit: &Unit, event: &Event) -> Vec<(String, Vec<u64>)> {
    if event.subevents.is_empty() {
        return vec![(String::new(), values(unit, event, event.filters, event.config))];
    }
    let of = |subevent: &Subevent| values(unit, event, subevent.filters, subevent.config);
    event.subevents.iter().map(|subevent| (format!(".{}", subevent.name), of(subevent))).collect()
}

/// Selections that count, and of which the wiring says that nothing emits them.
fn denied(seen: &Seen) -> Vec<String> {
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

/// What the labels follow from.
struct Judge {
    /// By scenario, what it emits.
    full: Vec<Seen>,
    /// What all of them emit without the keys that name events.
    unnamed: Seen,
    named: Rules,
    absent: Rules,
    out: Rules,
    /// Selections that count although a rule has them out of the count.
    refuted: Vec<String>,
}

impl Judge {
    fn label(&mut self, unit: &'static Unit, index: usize, event: &Event, (name, configs): (&str, &[u64])) -> Label {
        let counts = |seen: &Seen| configs.iter().any(|&config| counts(unit, index, config, seen));
        let name = format!("{}/{}{name}", unit.name, event.name);
        if matches!(event.measure, Measure::Clock | Measure::HalfClock | Measure::Counter0) {
            let scenarios = SHIPPED.iter().map(|shipped| shipped.0).collect();
            return Label::Counts { origin: CountOrigin::Derived, scenarios };
        }
        let counting = SHIPPED.iter().zip(&self.full).filter(|(_, seen)| counts(seen));
        let scenarios: Vec<&'static str> = counting.map(|(shipped, _)| shipped.0).collect();
        if scenarios.is_empty() {
            if let Some(reason) = self.out.find(&name) {
                return Label::OutOfCount(reason);
            }
            return Label::Absent(self.absent.find(&name).unwrap_or_else(|| panic!("{name} has no reason")));
        }
        if self.out.has(&name) {
            self.refuted.push(name.clone());
        }
        let is_named = self.named.pairs().any(|(_, events)| fits(events.as_bytes(), name.as_bytes()));
        let is_scripted = is_named && !counts(&self.unnamed);
        let origin = if is_scripted { CountOrigin::Scripted } else { CountOrigin::Emergent };
        Label::Counts { origin, scenarios }
    }
}

/// A row of the document: how many of an event's selections count, and the rest by reason.
fn row(event: &str, labels: &[Label]) -> String {
    let (modelled, in_count, _) = share(labels.iter());
    let scripted = labels.iter().filter(|label| matches!(label, Label::Counts { .. }) && !is_modelled(label)).count();
    let mut rest: Vec<(usize, String)> = Vec::new();
    let mut add = |text: String| match rest.iter_mut().find(|(_, known)| *known == text) {
        Some((count, _)) => *count += 1,
        None => rest.push((1, text)),
    };
    for label in labels {
        match label {
            Label::Counts { .. } => {}
            Label::Absent(reason) => add((*reason).to_owned()),
            Label::OutOfCount(reason) => {
                add(format!("out of the count: {}", reason.split(" - ").next().unwrap_or(reason)))
            }
        }
    }
    let of_keys = if scripted > 0 { format!("{scripted} by a scenario's key") } else { String::new() };
    let rest = rest.into_iter().map(|(count, text)| format!("{count}: {text}"));
    let rest: Vec<String> = [of_keys].into_iter().filter(|text| !text.is_empty()).chain(rest).collect();
    format!("| {event} | {modelled} of {in_count} | {} |\n", rest.join("; "))
}

#[test]
fn the_shares_hold_and_the_tables_are_current() {
    let full: Vec<Seen> = SHIPPED.iter().map(|Shipped(_, _, keys, scenario)| seen_in(keys, scenario)).collect();
    let without = SHIPPED.iter().zip(&full).map(|(Shipped(_, _, keys, scenario), seen)| {
        let stripped = without_keys(scenario, KEYS);
        if stripped.lines().eq(scenario.lines()) { seen.clone() } else { seen_in(keys, &stripped) }
    });
    let unnamed = all_of(without);
    let everything = all_of(full.iter().cloned());
    let [absent, out, named] = [ABSENT, OUT_OF_COUNT, KEYS].map(Rules::parse);
    let mut judge = Judge { full, unnamed, named, absent, out, refuted: Vec::new() };
    let at = model("idle").0.snapshot();
    let (mut rows, mut body, mut defined) = (Vec::<Row>::new(), String::new(), 0);
    for (index, unit) in pericore_catalog::family("emerald-rapids").unwrap().units.iter().enumerate() {
        if unit.events.is_empty() {
            continue;
        }
        writeln!(body, "\n## {}\n\n| event | selections that count | the rest |\n|---|---|---|", unit.name).unwrap();
        for event in unit.events {
            let of = selections(unit, event);
            let labels: Vec<Label> =
                of.iter().map(|(name, configs)| judge.label(unit, index, event, (name, configs))).collect();
            defined += usize::from(matches!(whole(&labels), Label::Counts { .. }) && is_defined(event, unit, &at));
            body += &row(event.name, &labels);
            rows.push((unit.name, event.name, labels));
        }
    }
    let denied = denied(&everything);
    assert!(denied.is_empty(), "they count, but `list` says that the machine counts nothing for them: {denied:#?}");
    assert!(judge.refuted.is_empty(), "coverage/emerald-rapids.out.txt has what counts: {:#?}", judge.refuted);
    for (file, rules) in [("absent", &judge.absent), ("out", &judge.out)] {
        assert!(rules.unused().is_empty(), "coverage/emerald-rapids.{file}.txt: no event needs {:#?}", rules.unused());
    }
    let reasons: HashSet<&str> = judge.absent.pairs().map(|(_, reason)| reason).collect();
    assert!(reasons.len() <= REASONS, "{} reasons: {reasons:#?}", reasons.len());
    let events: Vec<Label> = rows.iter().map(|(_, _, labels)| whole(labels)).collect();
    let counting = events.iter().filter(|label| matches!(label, Label::Counts { .. })).count();
    assert!(100.0 * defined as f64 / counting as f64 >= DEFINED, "{defined} of {counting} have a definition");
    let shares = [share(events.iter()), share(rows.iter().flat_map(|(_, _, labels)| labels))];
    let all: usize = rows.iter().map(|(_, _, labels)| labels.len()).sum();
    let out = all - shares[1].1;
    let scenarios = SHIPPED.iter().map(|Shipped(name, machine, _, scenario)| {
        format!("| {name} | `{machine}` | {} |", scenario.lines().next().unwrap_or_default().trim_start_matches("# "))
    });
    let table = format!(
        "# What the Emerald Rapids model counts\n\n\
         Made by the test `emerald_rapids::tests::coverage` of `pericore-machine`; run it with\n\
         `PERICORE_WRITE_TABLES=1` to write this file anew, and `crates/machine/coverage/emerald-rapids.txt` with it,\n\
         which `list --json` reads. An event counts if a counter that selects it counts something in a shipped scenario\n\
         (`crates/machine/scenarios`), and not because a key of the scenario names it.\n\n\
         | scenario | `--machine` | |\n|---|---|---|\n{}\n\n\
         {} of {} events count: {:.1} %. {} of {} selections do: {:.1} %. {out} more selections are out of the count:\n\
         `crates/machine/coverage/emerald-rapids.out.txt` has why, and the documents that were searched.\n{body}",
        scenarios.collect::<Vec<_>>().join("\n"),
        shares[0].0,
        shares[0].1,
        shares[0].2,
        shares[1].0,
        shares[1].1,
        shares[1].2,
    );
    let about = "What counts of Emerald Rapids, made by the test emerald_rapids::tests::coverage.";
    write_or_compare(concat!(env!("CARGO_MANIFEST_DIR"), "/coverage/emerald-rapids.txt"), &text(about, &rows));
    write_or_compare(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/emerald-rapids-model.md"), &table);
    for ((counting, all, per_cent), least) in shares.into_iter().zip(SHARES) {
        assert!(per_cent >= least, "{counting} of {all} count: {per_cent:.1} %");
    }
}
