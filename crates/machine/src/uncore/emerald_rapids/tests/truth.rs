//! Every event that the ledger knows, counted from the signals by the control value of the catalogue, over windows that cut
//! requests in two.

use pericore_hardware::signal::{Tick, Wiring};
use pericore_parts::work::Worker;

use super::evaluate::{Case, Counters, Faulty};
use super::{FOUR_DIES, MICROSECOND, WORKLOADS, model, run};
use crate::ledger::Question;
use pericore_truth::emerald_rapids::Snapshot;

/// All events and subevents that the ledger has a truth for.
pub fn cases(wiring: &Wiring, at: &Snapshot) -> Vec<Case> {
    let mut cases = Vec::new();
    for (unit, row) in wiring.family().units.iter().enumerate() {
        for event in row.events {
            let named: Vec<Option<&str>> = match event.subevents {
                [] => vec![None],
                subevents => subevents.iter().map(|subevent| Some(subevent.name)).collect(),
            };
            for subevent in named {
                if at.value(0, Question::new(row.name, event.name).subevent(subevent)).is_some() {
                    cases.push(Case { unit, event: event.name, subevent, config: None });
                }
            }
            if event.name == "RDB_FULL" {
                // Its umask is a number of entries.
                let of = |number: u64| Some(event.config | number << 8);
                cases.extend((1..32).map(|number| Case {
                    unit,
                    event: event.name,
                    subevent: None,
                    config: of(number),
                }));
            }
        }
    }
    cases
}

/// The first case, instance and window whose count differs from the truth, with count and truth.
pub fn differences(counters: &Counters, wiring: &Wiring, at: &Snapshot, most: usize) -> Vec<String> {
    let mut found = Vec::new();
    for (number, case) in counters.cases.iter().enumerate() {
        let unit = wiring.family().units[case.unit];
        for instance in 0..unit.instances * wiring.sockets() {
            let umask = case.config.map(|config| ("umask", config >> 8 & 0xFF));
            let question = Question::new(unit.name, case.event).subevent(case.subevent).filtered(umask.as_slice());
            let truth = at.value(instance, question).unwrap();
            let count = counters.count(number, instance, at.now());
            if count != truth {
                let (event, subevent) = (case.event, case.subevent.unwrap_or_default());
                found.push(format!("{}{instance}/{event}.{subevent}: {count}, truth {truth}", unit.name));
                if found.len() >= most {
                    return found;
                }
                break;
            }
        }
    }
    found
}

/// With some of the cores and slices only.
const FEWER: [&str; 2] = [
    "two cores=20 slices=45 mixed:requests=8000,read=50,threads=80,footprint=16M,remote=40",
    "cores=20 random:requests=4000,threads=40,footprint=1M,read=60",
];

#[test]
fn counts_of_the_signals_equal_the_ledger() {
    WORKLOADS.iter().chain(FOUR_DIES).copied().chain(FEWER).for_each(counts_equal_the_ledger);
}

/// The same of a few requests, which is quick.
#[test]
fn a_few_requests_of_cores_count_as_in_the_ledger() {
    counts_equal_the_ledger("random:requests=600,footprint=64k,read=60,threads=40");
    counts_equal_the_ledger("ntstore:requests=300,threads=16,cxl=30,partial=20,footprint=256k");
}

#[test]
fn a_few_requests_between_sockets_count_as_in_the_ledger() {
    counts_equal_the_ledger("two mixed:requests=800,threads=64,read=50,remote=50,footprint=256k");
}

#[test]
fn a_few_requests_of_devices_count_as_in_the_ledger() {
    counts_equal_the_ledger(
        "two dma-write:requests=300,threads=32,remote=50,footprint=1M,peer=25,atomic=40,partial=30",
    );
    counts_equal_the_ledger("dma-read:requests=300,threads=16,footprint=1M");
}

#[test]
fn short_phases_count_as_in_the_ledger() {
    counts_equal_the_ledger(
        "two phase a\n workload random:requests=400,threads=16,footprint=16M,remote=50\n system\n \
         memory-error every 20reads\n throttle ranks 30%\n link-error every 50packets\nphase b\n idle 15us\n \
         wake every 10us\n self-refresh after 1us\n",
    );
}

/// Counts of a workload over windows that cut requests in two.
fn counts_equal_the_ledger(workload: &str) {
    let (mut model, wiring) = model(workload);
    let clocks = *model.clocks();
    let cases = cases(&wiring, &model.snapshot());
    let (_, own) = super::model(workload);
    let mut counters = Counters::new(own, cases, |unit| clocks.of_unit(unit).ticks());
    for tick in [MICROSECOND / 3 + 1, MICROSECOND + 13, 2 * MICROSECOND + 29] {
        model.run_until_any(tick, &mut counters);
        let found = differences(&counters, &wiring, &model.snapshot(), 40);
        assert!(found.is_empty(), "{workload} at {tick}: {found:#?}");
    }
    run(&mut model, &mut counters);
    let found = differences(&counters, &wiring, &model.snapshot(), 40);
    assert!(found.is_empty(), "{workload} at its end: {found:#?}");
    // What no event with a truth would miss could be lost or doubled unseen.
    let unwatched = counters.unwatched();
    assert!(unwatched.is_empty(), "{workload}: {unwatched:#?}");
}

#[test]
fn a_lost_or_doubled_emission_shows() {
    let workload = "two mixed:requests=300,threads=16,read=50,remote=50,footprint=1M";
    let (mut plain, wiring) = model(workload);
    let mut digest = Digest::default();
    run(&mut plain, &mut digest);
    let clocks = *plain.clocks();
    let cases = cases(&wiring, &plain.snapshot());
    let mut random = pericore_engine::Random::new(11, 0);
    for turn in 0..6 {
        let before = random.below(digest.emissions);
        let (mut model, own) = model(workload);
        let mut counters = Counters::new(own, cases.clone(), |unit| clocks.of_unit(unit).ticks());
        let mut faulty = Faulty { to: &mut counters, before, lost: turn % 2 == 0 };
        run(&mut model, &mut faulty);
        let found = differences(&counters, &wiring, &model.snapshot(), 1);
        assert!(!found.is_empty(), "emission {before} of {} may be lost or doubled", digest.emissions);
    }
}

#[test]
fn the_same_seed_gives_the_same_counts_however_time_is_cut() {
    let count = |step: Tick, seed: u32| {
        let (mut model, _) = model(&format!("mixed:requests=3000,threads=32,read=50,seed={seed}"));
        let mut digest = Digest::default();
        while model.now() < 3 * MICROSECOND {
            model.run_until_any((model.now() + step).min(3 * MICROSECOND), &mut digest);
        }
        digest
    };
    let whole = count(3 * MICROSECOND, 7);
    assert!(whole.emissions > 10_000);
    assert_eq!(whole, count(3 * MICROSECOND, 7), "a second run differs");
    assert_eq!(whole, count(997, 7), "a run in steps differs");
    assert_ne!(whole, count(3 * MICROSECOND, 8), "the seed has no effect");
}

/// A sum over all emissions that depends on their order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Digest {
    pub emissions: u64,
    sum: u64,
}

impl Digest {
    fn add(&mut self, wire: pericore_hardware::signal::Wire, tag: u64, tick: Tick, what: u64) {
        self.emissions += 1;
        let key = u64::from(wire.instance) << 16 | u64::from(wire.signal);
        self.sum =
            (self.sum.rotate_left(5) ^ key ^ tag.rotate_left(20) ^ tick ^ what).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

impl pericore_hardware::signal::SignalSink for Digest {
    fn pulse(&mut self, wire: pericore_hardware::signal::Wire, tag: u64, tick: Tick, count: u32) {
        self.add(wire, tag, tick, count.into());
    }

    fn enter(&mut self, wire: pericore_hardware::signal::Wire, tag: u64, tick: Tick) {
        self.add(wire, tag, tick, 1 << 40);
    }

    fn leave(&mut self, wire: pericore_hardware::signal::Wire, tag: u64, tick: Tick) {
        self.add(wire, tag, tick, 1 << 41);
    }
}
