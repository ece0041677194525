//! One core may write a line, or several may read it.

use super::super::core::SHARED;
use super::model;
use crate::emerald_rapids::EmeraldRapids;
use crate::uncore::tests::recorder::Recorder;
use pericore_parts::work::Worker;
use std::collections::HashMap;

/// How many lines some core may write: no other core holds them.
fn owned(model: &mut EmeraldRapids) -> usize {
    // By line, who holds it, and who of them may write.
    let mut holders = HashMap::<u32, (u128, u128)>::new();
    for core in 0..model.cores.len() as u16 {
        for line in model.l2s.of::<16, 0>(core).lines() {
            let (holds, writes) = holders.entry(line.line).or_default();
            *holds |= 1 << core;
            *writes |= u128::from(line.state != SHARED) << core;
        }
    }
    holders.retain(|_, (_, writes)| *writes != 0);
    for (line, (holds, writes)) in &holders {
        assert!(
            holds == writes && writes.is_power_of_two(),
            "line {line} at {}: held by cores {holds:#b}, written by {writes:#b}",
            model.now()
        );
    }
    holders.len()
}

#[test]
fn a_line_that_a_core_may_write_is_nowhere_else() {
    for workload in [
        "random:requests=10000,footprint=4k,stride=64,read=50,threads=64",
        "two random:requests=10000,footprint=8k,stride=64,read=50,threads=128,remote=50",
        "two mixed:requests=10000,footprint=64k,read=30,threads=128,remote=50",
        "8480+ two mixed:requests=10000,footprint=64k,read=30,threads=112,remote=50",
    ] {
        let (mut model, _) = model(workload);
        let mut most = 0;
        while !model.finished() {
            model.run_until_any(model.now() + 20_000, &mut Recorder::default());
            most = most.max(owned(&mut model));
        }
        assert!(most > 16, "{workload}: {most}");
    }
}
