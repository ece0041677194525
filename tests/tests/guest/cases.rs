//! Events as perf is told them, and what perf must say of each.

use super::boot::Run;
use super::sections::{count, section};
use super::truth::{Block, Happening, between};

/// An event as perf is told, the value that must reach the control register, and what happens meanwhile.
pub struct Case {
    perf: &'static str,
    block: Block,
    config: u64,
    happening: Happening,
}

pub const fn case(perf: &'static str, block: Block, config: u64, happening: Happening) -> Case {
    Case { perf, block, config, happening }
}

/// Options of perf that ask for all cases.
pub fn events(cases: &[Case]) -> String {
    cases.iter().map(|case| format!(" -e {}", case.perf)).collect()
}

/// What perf printed in a part of the script's output is the truth between a note and the next.
pub fn perf_counts_the_truth(run: &Run, part: &str, note: (u32, u64), cases: &[Case]) {
    let lines = section(&run.output, part);
    let accesses = between(&run.accesses, note.0, note.1);
    let differences: Vec<String> = cases
        .iter()
        .map(|case| (case.perf, count(&lines, case.perf), case.block.truth(accesses, case.config, case.happening)))
        .filter(|(_, counted, truth)| counted != truth)
        .map(|(perf, counted, truth)| format!("{perf}: perf says {counted}, the truth is {truth}"))
        .collect();
    assert!(differences.is_empty(), "{differences:#?}\n{}", run.errors);
}
