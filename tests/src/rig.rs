//! A model and its hardware, with a saboteur in between.

use pericore_catalog::Family;
use pericore_machine::chassis::{Chassis, Shape};
use pericore_machine::engine::{ClockDomains, Clocks};
use pericore_machine::ledger::e5_2600::Snapshot;
use pericore_machine::models::e5_2600::Parameters;
use pericore_machine::signal::{SignalSink, Tick, Wire, Wiring};
use pericore_machine::workload::Scenario;
use pericore_machine::{E5, Worker};
use pericore_observe::discover::{Cpu, discover};
use pericore_observe::plan::Plan;
use pericore_observe::selection::Selection;
use pericore_observe::session::{Moment, Options, Sample, Session};
use pericore_registers::{Address, Outcome, RegisterSpace, Width};

/// What happens to a signal on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Harm {
    /// It never arrives.
    Drop,
    /// It arrives twice.
    Double,
}

/// Harm to one emission: a unit's signal, and the tag bits that pick it out where one wire carries several.
#[derive(Debug, Clone, Copy)]
pub struct Sabotage {
    /// Index of the unit among the family's.
    pub unit: usize,
    /// Index of the signal among the unit's.
    pub signal: u16,
    /// Only emissions whose tag shares a bit with this; 0 means all.
    pub tag: u64,
    /// What happens to them.
    pub harm: Harm,
}

/// An E5-2600 with a workload.
#[derive(Debug)]
pub struct Rig {
    chassis: Chassis,
    model: E5,
    locate: Wiring,
    sabotage: Option<Sabotage>,
}

/// Passes signals on, or not.
struct Saboteur<'a> {
    chassis: &'a mut Chassis,
    locate: &'a Wiring,
    sabotage: Option<Sabotage>,
}

impl Saboteur<'_> {
    fn times(&self, wire: Wire, tag: u64) -> u32 {
        let hit = self.sabotage.filter(|harmed| {
            let (_, unit, _) = self.locate.locate(wire.instance);
            (unit, wire.signal) == (harmed.unit, harmed.signal) && (harmed.tag == 0 || tag & harmed.tag != 0)
        });
        match hit.map(|sabotage| sabotage.harm) {
            None => 1,
            Some(Harm::Drop) => 0,
            Some(Harm::Double) => 2,
        }
    }
}

impl SignalSink for Saboteur<'_> {
    fn pulse(&mut self, wire: Wire, tag: u64, tick: Tick, count: u32) {
        for _ in 0..self.times(wire, tag) {
            self.chassis.pulse(wire, tag, tick, count);
        }
    }

    fn enter(&mut self, wire: Wire, tag: u64, tick: Tick) {
        for _ in 0..self.times(wire, tag) {
            self.chassis.enter(wire, tag, tick);
        }
    }

    fn leave(&mut self, wire: Wire, tag: u64, tick: Tick) {
        for _ in 0..self.times(wire, tag) {
            self.chassis.leave(wire, tag, tick);
        }
    }
}

impl Rig {
    /// A machine about to run `workload`, or a scenario if it has lines.
    pub fn new(workload: &str, sabotage: Option<Sabotage>) -> Self {
        let family = family();
        let parameters = Parameters::e5_2680();
        let clocks = parameters.clocks().expect("the preset's clocks share a grid");
        let limits = parameters.limits();
        let scenario = if workload.contains('\n') {
            Scenario::parse(workload, &limits).expect("the scenario is right")
        } else {
            Scenario::of(workload, &limits).expect("the workload is right")
        };
        let mut wiring = Wiring::new(family, 1);
        let model = E5::for_scenario(parameters, scenario, &mut wiring).expect("the model fits the catalogue");
        let shape = Shape::new(family, 1, 8, 2).expect("one socket");
        let domains = ClockDomains::from(&clocks);
        let period = |clock: &str| domains.period(clock);
        Self { chassis: Chassis::new(shape, wiring, period), model, locate: Wiring::new(family, 1), sabotage }
    }

    /// Runs until the workload is done, or until `most` ticks from now.
    pub fn run(&mut self, most: Tick) {
        let end = self.model.now() + most;
        while !self.model.finished() && self.model.now() < end {
            let until = (self.model.now() + 2_160_000).min(end);
            let mut sink = Saboteur { chassis: &mut self.chassis, locate: &self.locate, sabotage: self.sabotage };
            self.model.run_until_any(until, &mut sink);
            self.chassis.set_now(until);
        }
    }

    /// The truth as of now.
    pub fn snapshot(&self) -> Snapshot {
        self.model.snapshot()
    }

    /// The clocks.
    pub const fn clocks(&self) -> &Clocks {
        self.model.clocks()
    }

    fn moment(&self) -> Moment {
        let now = self.model.now();
        Moment { seconds: self.clocks().seconds(0, now), tsc: self.clocks().uclk.cycles(now) }
    }
}

impl RegisterSpace for Rig {
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
        self.chassis.read(address, width)
    }

    fn write(&mut self, address: Address, width: Width, value: u64) -> Outcome<()> {
        self.chassis.write(address, width, value)
    }
}

/// The E5-2600 family.
pub fn family() -> &'static Family {
    pericore_catalog::family("e5-2600").expect("the family is in the catalogue")
}

/// The plan that counts these events and metrics on a rig; `None` if they cannot all be counted all the time.
pub fn plan(rig: &mut Rig, events: &[String], metrics: &[&str]) -> Option<Plan> {
    let cpus: Vec<Cpu> = (0..16).map(|number| Cpu { number, package: 0 }).collect();
    let topology =
        discover(rig, family(), &cpus, |unit| matches!(unit.name, "cbo" | "ha" | "imc" | "pcu" | "ubox" | "r2pcie"))
            .expect("the machine's uncore is found");
    let mut selection = Selection::new(family());
    for event in events {
        selection.add_events(event).unwrap_or_else(|error| panic!("{event}: {error}"));
    }
    for metric in metrics {
        selection.add_metrics(metric).unwrap_or_else(|error| panic!("{metric}: {error}"));
    }
    Plan::new(&topology, selection).ok().filter(|plan| plan.rounds() == 1)
}

/// What a measurement gave.
#[derive(Debug)]
pub struct Measured {
    /// The plan that was carried out.
    pub plan: Plan,
    /// The counts.
    pub sample: Sample,
    /// The truth before and after.
    pub truth: (Snapshot, Snapshot),
}

/// Counts over a run of at most `most` ticks.
pub fn measure(mut rig: Rig, plan: Plan, most: Tick) -> Measured {
    let before = rig.snapshot();
    let kept = plan.clone();
    let mut session =
        Session::start(&mut rig, plan, Options::default(), |rig| rig.moment()).expect("counters are free");
    session.space_mut().run(most);
    let sample = session.sample(|rig| rig.moment());
    session.stop().expect("everything is put back");
    let after = rig.snapshot();
    Measured { plan: kept, sample, truth: (before, after) }
}
