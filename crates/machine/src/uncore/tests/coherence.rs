//! One core may write a line, or several may read it.

use super::model;
use super::recorder::Recorder;
use crate::uncore::cache::Right;
use crate::uncore::core::Core;
use std::collections::HashMap;

/// Few lines that all threads want: they are asked for while they are on their way to others.
const CONTENDED: &[&str] = &[
    "random:requests=20000,threads=16,footprint=4k,stride=64,read=50",
    "2 random:requests=20000,threads=32,footprint=4k,stride=64,read=50,remote=50",
    "4 random:requests=20000,threads=32,footprint=4k,stride=64,read=50,remote=75",
    "4 mixed:requests=20000,threads=64,footprint=64k,read=30,remote=75",
    "directory=1 4 random:requests=20000,threads=64,footprint=16k,stride=64,read=30,remote=75",
];

/// How many lines some core may write: no other core holds them.
pub fn owned(cores: &[Core]) -> usize {
    // By line, who holds it, and who of them may write.
    let mut holders = HashMap::<u32, (u64, u64)>::new();
    for (number, core) in cores.iter().enumerate() {
        for (line, right) in core.lines() {
            let (holds, writes) = holders.entry(line).or_default();
            *holds |= 1 << number;
            *writes |= u64::from(right != Right::Shared) << number;
        }
    }
    holders.retain(|_, (_, writes)| *writes != 0);
    for (line, (holds, writes)) in &holders {
        assert!(
            holds == writes && writes.is_power_of_two(),
            "line {line}: held by cores {holds:#b}, written by {writes:#b}"
        );
    }
    holders.len()
}

#[test]
fn a_line_that_a_core_may_write_is_nowhere_else() {
    for workload in CONTENDED {
        let (mut model, _) = model(workload);
        let mut most = 0;
        while !model.finished() {
            model.run_until(model.now() + 3000, &mut Recorder::default());
            most = most.max(owned(&model.cores));
            assert!(model.now() < 1_000_000_000, "{workload} does not end");
        }
        assert!(most > 16, "{workload}: {most}");
    }
}
