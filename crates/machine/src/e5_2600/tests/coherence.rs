//! One core may write a line, or several may read it.

use super::model;
use crate::uncore::tests::owned;
use crate::uncore::tests::recorder::Recorder;
use pericore_parts::work::Worker;

/// Few lines that all threads want: they are asked for while they are on their way to others.
const CONTENDED: &[&str] = &[
    "random:requests=20000,threads=16,footprint=4k,stride=64,read=50",
    "2 random:requests=20000,threads=32,footprint=4k,stride=64,read=50,remote=50",
    "4 random:requests=20000,threads=32,footprint=4k,stride=64,read=50,remote=75",
    "4 mixed:requests=20000,threads=64,footprint=64k,read=30,remote=75",
    "directory=1 4 random:requests=20000,threads=64,footprint=16k,stride=64,read=30,remote=75",
];

#[test]
fn a_line_that_a_core_may_write_is_nowhere_else() {
    for workload in CONTENDED {
        let (mut model, _) = model(workload);
        let mut most = 0;
        while !model.finished() {
            model.run_until_any(model.now() + 3000, &mut Recorder::default());
            most = most.max(owned(model.model.cores()));
            assert!(model.now() < 1_000_000_000, "{workload} does not end");
        }
        assert!(most > 16, "{workload}: {most}");
    }
}
