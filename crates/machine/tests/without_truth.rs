//! Machines that keep no truth: the same happens there, and what memory moves is counted all the same.

use pericore_machine::workload::{Scenario, Workload};
use pericore_machine::{Machine, MachineSpec, MemoryKind};

/// Counters are the model's and the hardware's alone: a machine runs to the same tick with and without an account, and
/// the lines that its memory moves are those of the account, which is added up apart.
#[test]
fn a_machine_without_truth_runs_alike() {
    for (machine, workload) in [
        ("e5-2600", "mixed:requests=6000,threads=4"),
        ("e5-2600:sockets=2", "copy:requests=6000,threads=4,remote=50"),
        ("nehalem", "mixed:requests=6000,threads=3"),
        ("emerald-rapids", "mixed:requests=6000,threads=4"),
    ] {
        let spec = MachineSpec::parse(machine).expect("a machine");
        let scenario = Scenario::from(Workload::parse(workload, &spec.limits().expect("limits")).expect("a workload"));
        let build = || Machine::for_scenario(&spec, &scenario).expect("it is built");
        let run = |mut machine: Machine| {
            let microsecond = machine.clocks().ticks_per_second() / 1_000_000;
            while !machine.finished() {
                machine.run_for(microsecond);
            }
            machine
        };
        let (kept, none) = (run(build()), run(build().without_truth()));
        let lines = none.memory_lines(MemoryKind::Dram);
        assert!(lines[0] > 1000, "{machine} {workload}: {lines:?}");
        assert_eq!((kept.memory_lines(MemoryKind::Dram), kept.now()), (lines, none.now()), "{machine} {workload}");
        let sockets = if machine.contains("sockets=2") { 2 } else { 1 };
        assert_eq!(kept.snapshot().memory_lines(MemoryKind::Dram, sockets), lines, "{machine} {workload}");
    }
}
