//! Phases of a scenario on every machine: they follow each other, end with their work or their time, and a pause is one.

use pericore_machine::ledger::Question;
use pericore_machine::workload::Scenario;
use pericore_machine::{Machine, MachineSpec};

const DAY: &str = "\
phase walk
  workload stream:requests=2000,threads=4
phase rest
  idle 30us
phase short
  workload chase:requests=1G,threads=1
  for 20us
phase disk
  workload dma-write:requests=500,threads=2
";

/// A machine, and where the truth has the lines that were read from memory: unit, instances, event, subevent.
type Case = (&'static str, (&'static str, u16, &'static str, &'static str));

const MACHINES: [Case; 3] = [
    ("e5-2600", ("imc", 4, "CAS_COUNT", "RD")),
    ("nehalem", ("uncore", 1, "QMC_NORMAL_READS", "ANY")),
    ("emerald-rapids", ("imc", 8, "CAS_COUNT", "RD")),
];

fn reads(machine: &Machine, (unit, instances, event, subevent): (&str, u16, &str, &str)) -> u64 {
    let at = machine.snapshot();
    (0..instances)
        .map(|instance| at.count(0, instance, Question::new(unit, event).subevent(subevent)).expect("a truth"))
        .sum()
}

#[test]
fn phases_follow_each_other_on_every_machine() {
    for (name, lines) in MACHINES {
        let spec = MachineSpec::parse(name).expect("a machine");
        let scenario = Scenario::parse(DAY, &spec.limits().expect("a model")).expect("a scenario");
        let mut machine = Machine::for_scenario(&spec, &scenario).expect("a machine");
        let microsecond = machine.clocks().ticks_per_second() / 1_000_000;
        while machine.progress().done < 2000 {
            machine.run_for(microsecond / 4);
        }
        let walked = machine.now();
        machine.run_for(3 * microsecond);
        let read = reads(&machine, lines);
        machine.run_for(20 * microsecond);
        assert_eq!((machine.progress().done, reads(&machine, lines)), (2000, read), "{name}: it is a pause");
        match name {
            // Its prefetcher and what a system does besides read more lines than the workload.
            "emerald-rapids" => assert!((2000..8000).contains(&read), "{read}"),
            _ => assert_eq!(read, 2000, "{name}: as many lines as accesses"),
        }
        while !machine.finished() {
            machine.run_for(microsecond);
            assert!(machine.now() < walked + 200 * microsecond, "{name}: {:?}", machine.progress());
        }
        let progress = machine.progress();
        assert_eq!(progress.done, progress.total, "{name}");
        // Dependent reads of memory take between 40 and 250 ns each.
        assert!((80..500).contains(&(progress.done - 2500)), "{name}: {progress:?}");
        assert!(machine.now() > walked + 50 * microsecond, "{name}");
    }
}

#[test]
fn a_phase_of_no_work_and_no_length_holds_nobody_up() {
    for (name, lines) in MACHINES {
        let spec = MachineSpec::parse(name).expect("a machine");
        let text = "phase none\n workload idle\nphase one\n workload chase:requests=1\n";
        let scenario = Scenario::parse(text, &spec.limits().expect("a model")).expect("a scenario");
        let mut machine = Machine::for_scenario(&spec, &scenario).expect("a machine");
        machine.run_for(2 * machine.clocks().ticks_per_second() / 1_000_000);
        assert!(machine.finished() && reads(&machine, lines) > 0, "{name}");
    }
}

#[test]
fn a_pause_takes_its_time_on_every_machine() {
    for (name, lines) in MACHINES {
        let spec = MachineSpec::parse(name).expect("a machine");
        let scenario = Scenario::of("idle:microseconds=7", &spec.limits().expect("a model")).expect("a pause");
        let mut machine = Machine::for_scenario(&spec, &scenario).expect("a machine");
        let microsecond = machine.clocks().ticks_per_second() / 1_000_000;
        machine.run_for(7 * microsecond - 1);
        assert!(!machine.finished(), "{name}");
        machine.run_for(microsecond);
        assert!(machine.finished() && reads(&machine, lines) == 0, "{name}");
    }
}
