//! Signals and truth are read apart: a fact that is lost or doubled on its way to one of them alone makes a count and
//! the truth differ.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use pericore_dram::MemoryState;
use pericore_engine::Tick;
use pericore_facts::FactReader;
use pericore_facts::emerald_rapids::{Fact, MemoryAction, MemoryFact};
use pericore_parts::work::Worker;

use super::evaluate::Counters;
use super::truth::{cases, differences};
use super::{MICROSECOND, model};
use crate::emerald_rapids::EmeraldRapids;

/// Between them, facts of most kinds.
const WORKLOADS: [&str; 2] = [
    "two mixed:requests=300,threads=16,read=50,remote=50,footprint=1M",
    concat!("two ", include_str!("../../../../scenarios/messages.scenario")),
];

/// The name of a fact's kind. None for what nobody counts.
fn kind(fact: &Fact) -> Option<String> {
    let name = |debug: String| debug.split([' ', '(', '{']).next().map(str::to_owned);
    match fact {
        Fact::SetsOut(..) | Fact::Answered(..) => None,
        // What one subchannel does shows only where the other does it, too.
        Fact::Memory(
            _,
            MemoryFact::State(MemoryState::PoweredDown | MemoryState::DllOff | MemoryState::SelfRefresh, _),
        ) => None,
        Fact::Memory(_, MemoryFact::Command(sent)) => Some(format!("Command {:?}", sent.record.command)),
        Fact::Memory(_, MemoryFact::State(state, _)) => {
            name(format!("{state:?}")).map(|state| format!("State {state}"))
        }
        Fact::Memory(_, MemoryFact::Mode { from, to, .. }) if from == to => None,
        Fact::Memory(_, of) => name(format!("{of:?}")).map(|of| format!("Memory {of}")),
        Fact::ComesToMemory(_, request) | Fact::LeavesMemory(_, request) => {
            let comes = if matches!(fact, Fact::ComesToMemory(..)) { "comes" } else { "leaves" };
            let reads = if request.action == MemoryAction::Read { "read" } else { "write" };
            Some(format!("{reads} {comes}"))
        }
        _ => name(format!("{fact:?}")),
    }
}

/// Passes facts on, but loses or doubles the one of a kind that comes after so many others.
struct Faulty<'a, R> {
    to: R,
    kind: Option<&'a str>,
    before: u32,
    doubled: bool,
}

impl<R: FactReader<Fact>> FactReader<Fact> for Faulty<'_, R> {
    fn read(&mut self, at: Tick, fact: Fact) {
        if self.kind.is_some() && kind(&fact).as_deref() == self.kind {
            if self.before == 0 {
                self.kind = None;
                if !self.doubled {
                    return;
                }
                self.to.read(at, fact);
            } else {
                self.before -= 1;
            }
        }
        self.to.read(at, fact);
    }
}

/// Counts facts by kind.
#[derive(Default)]
struct Census(BTreeMap<String, u32>);

impl FactReader<Fact> for Census {
    fn read(&mut self, _: Tick, fact: Fact) {
        kind(&fact).into_iter().for_each(|kind| *self.0.entry(kind).or_default() += 1);
    }
}

/// What the readers of a run are to lose or double: signals, truth.
type Faults<'a> = [(Option<&'a str>, u32, bool); 2];

/// Runs a workload for a while.
fn run(machine: &mut EmeraldRapids, sink: &mut Counters, faults: Faults<'_>, census: Option<&mut Census>) {
    let (model, (signals, truth)) = machine.split(sink);
    let [(kind, before, doubled), of_truth] = faults;
    let signals = Faulty { to: signals, kind, before, doubled };
    let truth = Faulty { to: truth, kind: of_truth.0, before: of_truth.1, doubled: of_truth.2 };
    let mut readers = ((signals, truth), census);
    while !model.finished() && model.now() < 20 * MICROSECOND {
        model.run_until(model.now() + MICROSECOND, &mut readers);
    }
}

#[test]
fn a_fact_that_one_reader_alone_misses_or_reads_twice_shows() {
    let mut unseen = Vec::new();
    let mut tried = BTreeSet::new();
    for workload in WORKLOADS {
        let (mut plain, wiring) = model(workload);
        let (clocks, cases) = (*plain.clocks(), cases(&wiring, &plain.snapshot()));
        let count = |faults: Faults<'_>, census: Option<&mut Census>, machine: &mut EmeraldRapids| {
            let mut counters = Counters::new(model(workload).1, cases.clone(), |unit| clocks.of_unit(unit).ticks());
            run(machine, &mut counters, faults, census);
            differences(&counters, &wiring, &machine.snapshot(), 1)
        };
        let (none, mut census) = ((None, 0, false), Census::default());
        let found = count([none, none], Some(&mut census), &mut plain);
        assert!(found.is_empty(), "{workload}: {found:#?}");
        for (number, (kind, all)) in census.0.iter().enumerate() {
            if !tried.insert(kind.clone()) {
                continue;
            }
            let fault = (Some(kind.as_str()), all / 2, number % 2 == 0);
            for faults in [[fault, none], [none, fault]] {
                // The truth has both times of a stay in the ingress queue from its end.
                if kind == "Comes" && faults[0] == none {
                    continue;
                }
                let (mut machine, _) = model(workload);
                // What makes a queue's entries fewer than none is noticed at once.
                let shown = catch_unwind(AssertUnwindSafe(|| !count(faults, None, &mut machine).is_empty()));
                if shown.is_ok_and(|shown| !shown) {
                    unseen.push(format!("{workload}: {kind}, of {all}, {faults:?}"));
                }
            }
        }
    }
    assert!(tried.len() > 30, "{tried:?}");
    assert!(unseen.is_empty(), "{unseen:#?}");
}
