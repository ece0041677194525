//! One run of a scenario, counted by as many machines' hardware as the events need rounds: no count is scaled, each is of the whole run.

use pericore_machine::chassis::Chassis;
use pericore_machine::ledger::{Opcodes, Snapshot};
use pericore_machine::signal::{SignalSink, Tick, Wire, Wiring};
use pericore_machine::uncore::Model;
use pericore_machine::workload::Scenario;
use pericore_machine::{MachineSpec, Parameters};
use pericore_observe::discover::{Cpu, discover};
use pericore_observe::plan::Plan;
use pericore_observe::selection::Selection;
use pericore_observe::session::{Moment, Options, Sample, Session};

/// Ticks between two looks for the scenario's end: a tenth of a virtual millisecond of one socket.
const SLICE: Tick = 2_160_000;
/// Slices after which a scenario has gone wrong.
const PATIENCE: usize = 1_000;

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
    /// The machine, with the stays of its requests.
    pub model: Model,
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

/// Runs a scenario on a machine, from reset to its end, and counts all that the selection needs.
pub fn run(machine: &str, scenario: &str, selection: Selection) -> Run {
    let spec = MachineSpec::parse(machine).expect("the machine is known");
    let Ok(Parameters::E5(parameters)) = spec.parameters() else { panic!("{machine} is no E5-2600") };
    let scenario = Scenario::parse(scenario, &spec.limits().expect("a model")).expect("the scenario is right");
    let family = spec.family();
    let opcodes = Opcodes::by_name(|name| family.named_value("idi-opcodes", name)).expect("the opcodes are known");
    let shape = spec.shape().expect("the size is possible");
    let mut wiring = Wiring::new(family, shape.sockets);
    let mut model = Model::for_scenario(*parameters, opcodes, scenario, &mut wiring).expect("the model is sound");
    model.keep_stays();
    let hardware = || spec.chassis().expect("the size is possible");
    let cpus: Vec<Cpu> = (0..shape.cpus())
        .filter_map(|number| shape.socket_of_cpu(number).map(|package| Cpu { number, package }))
        .collect();
    let wanted = selection.clone();
    let topology = discover(&mut hardware(), family, &cpus, |unit| wanted.uses(unit)).expect("the uncore is found");
    let plan = Plan::new(&topology, selection).expect("every event has a counter");
    let start = |round: usize| {
        let mut session = Session::start(hardware(), plan.clone(), Options::default(), |_| Moment::default())
            .expect("counters are free");
        // No time passes: each session counts one round, and that from the start.
        (0..round).for_each(|_| session.rotate(|_| Moment::default()));
        session
    };
    let mut sessions: Vec<Session<Chassis>> = (0..plan.rounds()).map(start).collect();
    let before = model.snapshot();
    for slice in 0.. {
        assert!(slice < PATIENCE, "the scenario does not end");
        model.run_until(model.now() + SLICE, &mut Fan(&mut sessions));
        if model.finished() {
            break;
        }
    }
    let (now, clocks) = (model.now(), *model.clocks());
    let moment = Moment { seconds: clocks.seconds(0, now), tsc: clocks.uclk.cycles(now) };
    let mut samples = sessions.into_iter().map(|mut session| {
        session.space_mut().set_now(now);
        let sample = session.sample(|_| moment);
        session.stop().expect("everything is put back");
        sample
    });
    let mut sample = samples.next().expect("there is a round");
    samples.for_each(|round| merge(&mut sample, round));
    let after = model.snapshot();
    Run { plan, sample, before, after, model }
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
