//! What others change while a session runs: no count that it spoils is called measured, and what was called so before
//! is withdrawn.
//!
//! Addresses stand here by hand: E5-2600 327043-001, Tables 2-8, 2-58 and 2-59; Emerald Rapids Tables 1-1, 1-3, 1-8
//! and 1-9; Nehalem SDM 18.8.2.

mod cost;
mod found;
mod intruder;
mod restored;
mod simulation;

use pericore_metrics::Grade;
use pericore_observe::plan::Plan;
use pericore_observe::session::{Options, Sample, Session, prepare};
use pericore_tests::session::shared::Shared;

/// A session on all free counters of a machine, which nobody else uses yet.
fn start(machine: &Shared, events: &str) -> Session<Shared> {
    machine.start(planned(machine, events), Options::default())
}

fn planned(machine: &Shared, events: &str) -> Plan {
    let topology = machine.topology();
    prepare(&mut machine.clone(), &topology, machine.selection(events), Default::default(), None).expect("it fits")
}

/// Lets so many cycles pass, and takes a sample.
fn after(session: &mut Session<Shared>, machine: &Shared, cycles: u64) -> Sample {
    machine.run(cycles);
    session.sample(|space| space.moment())
}

/// The same for the last sample.
fn at_the_end(session: &mut Session<Shared>, machine: &Shared, cycles: u64) -> Sample {
    session.check_controls();
    after(session, machine, cycles)
}

/// The instances of a sample's counts that are called measured.
fn measured(sample: &Sample) -> Vec<u16> {
    let plain = sample.counts.iter().filter(|count| count.validity.grade() == Grade::Measured);
    plain.map(|count| count.instance).collect()
}

/// The reasons of those in doubt, each once.
fn doubts(sample: &Sample) -> Vec<String> {
    let suspect = sample.counts.iter().filter(|count| count.validity.grade() == Grade::Suspect);
    let mut all: Vec<String> = suspect.map(|count| count.validity.to_string()).collect();
    all.sort();
    all.dedup();
    all
}
