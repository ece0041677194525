//! A lost or doubled emission must show.

use std::collections::{BTreeMap, HashMap};

use pericore_hardware::signal::Wire;

use super::truth::{Case, cases};
use super::{WORKLOADS, model, run, sockets};
use crate::uncore::tests::recorder::{Change, Emission, Recorder};
use pericore_parts::work::Worker;
use pericore_truth::e5_2600::Snapshot;

/// An event in an instance, with its truths.
struct Known<'a> {
    case: &'a Case,
    instance: u16,
    truths: Vec<u64>,
}

/// The events of a wire.
fn of_wire<'a>(cases: &'a [Case], wire: Wire, snapshots: &[Snapshot]) -> Vec<Known<'a>> {
    let known = |case: &'a Case| {
        let instance = case.wires.iter().position(|&w| w == wire)? as u16;
        Some(Known { case, instance, truths: case.truths(instance, snapshots) })
    };
    cases.iter().filter_map(known).collect()
}

/// True if some event of the wire differs from its truth.
fn shows(known: &[Known<'_>], emissions: &[Emission], snapshots: &[Snapshot]) -> bool {
    known
        .iter()
        .any(|Known { case, instance, truths }| case.differs_from(emissions, *instance, snapshots, truths).is_some())
}

/// Signals whose events ask only whether there is an entry.
const ONLY_WHETHER: [&str; 4] =
    ["POWER_CKE_CYCLES", "POWER_THROTTLE_CYCLES", "TxR_AD_CYCLES_FULL", "TxR_BL_CYCLES_FULL"];

#[test]
fn dropping_or_doubling_any_emission_shows() {
    // Signals that no workload has emitted would escape the test: collect what was seen.
    let mut seen = std::collections::HashSet::new();
    let mut bound = Vec::new();
    let mut noticed = HashMap::new();
    // What counts cycles with at least one entry does not see a second one until the first has left: one workload must
    // do.
    let (mut hidden, mut shown) = (std::collections::BTreeSet::new(), std::collections::BTreeSet::new());
    for workload in WORKLOADS {
        let (mut model, mut wiring) = model(workload);
        bound = wiring.bound().to_vec();
        let mut recorder = Recorder::default();
        let mut snapshots = vec![model.snapshot()];
        run(&mut model, &mut recorder);
        // What began in the last cycle has lasted, too.
        model.run_until_any(model.now() + 1000, &mut recorder);
        snapshots.push(model.snapshot());
        let cases = cases(&mut wiring, sockets(workload));
        let mut by_wire = HashMap::<Wire, Vec<Emission>>::new();
        for emission in &recorder.emissions {
            by_wire.entry(emission.wire).or_default().push(*emission);
        }
        // For each instance's signal, each tag and each kind of change, one emission in the middle.
        for (&wire, emissions) in &by_wire {
            let (_, unit, instance) = wiring.locate(wire.instance);
            let mut classes = BTreeMap::<(u64, Change), Vec<usize>>::new();
            for (index, emission) in emissions.iter().enumerate() {
                classes.entry((emission.tag, emission.change)).or_default().push(index);
            }
            let known_here = if instance > 1 { Vec::new() } else { of_wire(&cases, wire, &snapshots) };
            for ((tag, _), members) in classes {
                seen.insert((unit, wire.signal, tag));
                // One instance is enough for the slices and channels: they are alike, and the loop is long.
                if instance > 1 {
                    continue;
                }
                let signal = wiring.family().units[unit].signals[usize::from(wire.signal)].name;
                // Two cases of a class are enough: many workloads have the same.
                let known = noticed.entry((unit, wire.signal, tag, emissions[members[0]].change)).or_insert(0_u8);
                if *known >= 2 && !ONLY_WHETHER.contains(&signal) {
                    continue;
                }
                *known += 1;
                let index = members[members.len() / 2];
                let mut dropped = emissions.clone();
                dropped.remove(index);
                let mut doubled = emissions.clone();
                doubled.insert(index, doubled[index]);
                let what = (wiring.family().units[unit].name, wire, tag, emissions[index]);
                for (harmed, harm) in [(&dropped, "dropping"), (&doubled, "doubling")] {
                    let class = (what.0, signal, tag, emissions[index].change, harm);
                    if shows(&known_here, harmed, &snapshots) {
                        shown.insert(class);
                    } else if ONLY_WHETHER.contains(&signal) {
                        hidden.insert(class);
                    } else {
                        panic!("{workload}: {harm} {what:?} goes unnoticed");
                    }
                }
            }
        }
    }
    let never: Vec<_> = hidden.difference(&shown).collect();
    assert!(never.is_empty(), "no workload notices {never:?}");
    let names = pericore_catalog::family("e5-2600").unwrap().units;
    let mut silent = Vec::new();
    for (unit, signal, tag) in bound {
        // A bound tag names a subevent; what is emitted has at least one of its bits, or other attributes.
        let emitted = seen.iter().any(|&(u, s, t)| (u, s) == (unit, signal) && (tag == 0 || t & tag != 0));
        let unit = names[unit];
        let signal = unit.signals[usize::from(signal)].name;
        if !emitted {
            silent.push(format!("{}/{signal} with tag {tag:#x}", unit.name));
        }
    }
    assert!(silent.is_empty(), "bound, but no workload emits {silent:#?}");
}
