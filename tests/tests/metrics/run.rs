//! One run of a workload, counted by as many machines' hardware as the events need rounds: no count is scaled, each is of the whole run.

use pericore_machine::chassis::Chassis;
use pericore_machine::signal::{SignalSink, Tick, Wire};
use pericore_machine::workload::Scenario;
use pericore_machine::{Machine, MachineSpec, Snapshot};
use pericore_observe::discover::{Cpu, discover};
use pericore_observe::plan::Plan;
use pericore_observe::selection::Selection;
use pericore_observe::session::{Moment, Options, Sample, Session};

/// Looks for the workload's end in a virtual second.
const LOOKS: u64 = 20_000;
/// Looks after which a workload has gone wrong.
const PATIENCE: u64 = 1_000;

/// What a run gave.
pub struct Run {
    /// What was counted, and on which counters.
    pub plan: Plan,
    /// The counts of all rounds.
    pub sample: Sample,
    /// The truth when counting began.
    pub before: Snapshot,
    /// The truth when it ended.
    pub after: Snapshot,
    /// The machine, with the levels of its queues.
    pub machine: Machine,
}

/// Tells several machines the same.
struct Fan<'a>(&'a mut [Session<Chassis>]);

impl SignalSink for Fan<'_> {
    fn pulse(&mut self, wire: Wire, tag: u64, tick: Tick, count: u32) {
        self.0.iter_mut().for_each(|session| session.space_mut().pulse(wire, tag, tick, count));
    }

    fn enter(&mut self, wire: Wire, tag: u64, tick: Tick) {
        self.0.iter_mut().for_each(|session| session.space_mut().enter(wire, tag, tick));
    }

    fn leave(&mut self, wire: Wire, tag: u64, tick: Tick) {
        self.0.iter_mut().for_each(|session| session.space_mut().leave(wire, tag, tick));
    }
}

/// Runs a workload, or a scenario if it has lines, from reset to its end, and counts all that the selection needs.
pub fn run(machine: &str, workload: &str, selection: Selection) -> Run {
    let spec = MachineSpec::parse(machine).expect("the machine is known");
    let limits = spec.limits().expect("a model");
    let scenario = if workload.contains('\n') {
        Scenario::parse(workload, &limits).unwrap_or_else(|error| panic!("{workload}: {error}"))
    } else {
        Scenario::of(workload, &limits).unwrap_or_else(|error| panic!("{workload}: {error}"))
    };
    let mut machine = Machine::for_scenario(&spec, &scenario).expect("the model is sound");
    machine.keep_levels();
    let hardware = || spec.chassis().expect("the size is possible");
    let shape = machine.chassis().shape();
    let cpus: Vec<Cpu> = (0..shape.cpus())
        .filter_map(|number| shape.socket_of_cpu(number).map(|package| Cpu { number, package }))
        .collect();
    let wanted = selection.clone();
    let topology =
        discover(&mut hardware(), spec.family(), &cpus, |unit| wanted.uses(unit)).expect("the uncore is found");
    let plan = Plan::new(&topology, selection).expect("every event has a counter");
    let start = |round: usize| {
        let mut session = Session::start(hardware(), plan.clone(), Options::default(), |_| Moment::default())
            .expect("counters are free");
        // No time passes: each session counts one round, and that from the start.
        (0..round).for_each(|_| session.rotate(|_| Moment::default()));
        session
    };
    let mut sessions: Vec<Session<Chassis>> = (0..plan.rounds()).map(start).collect();
    let before = machine.snapshot();
    let slice = machine.clocks().ticks_per_second() / LOOKS;
    for look in 0.. {
        assert!(look < PATIENCE, "the workload does not end");
        machine.run_into_any(slice, &mut Fan(&mut sessions));
        if machine.finished() {
            break;
        }
    }
    let now = machine.now();
    let moment = Moment { seconds: machine.clocks().seconds(0, now), tsc: machine.clocks().timestamp(now) };
    let mut samples = sessions.into_iter().map(|mut session| {
        session.space_mut().set_now(now);
        let sample = session.sample(|_| moment);
        session.stop().expect("everything is put back");
        sample
    });
    let mut sample = samples.next().expect("there is a round");
    samples.for_each(|round| merge(&mut sample, round));
    let after = machine.snapshot();
    Run { plan, sample, before, after, machine }
}

/// Takes the counts that the rounds so far do not have.
fn merge(sample: &mut Sample, round: Sample) {
    for (known, new) in sample.counts.iter_mut().zip(round.counts) {
        assert_eq!((known.event, known.socket, known.instance), (new.event, new.socket, new.instance));
        match (known.count, new.count) {
            (None, _) => *known = new,
            (Some(one), Some(other)) => assert_eq!(one, other, "a count of two rounds"),
            (Some(_), None) => {}
        }
    }
}
