//! Events that take turns on a software E5-2600 with injected signals: scaled counts beside what was injected.

use pericore_machine::chassis::{Chassis, Shape};
use pericore_machine::signal::{SignalSink, Wiring};
use pericore_metrics::Grade;
use pericore_observe::discover::{Cpu, discover};
use pericore_observe::plan::Plan;
use pericore_observe::results::{Scope, event_totals, metric_totals};
use pericore_observe::selection::Selection;
use pericore_observe::session::{Moment, Options, Session};

/// Ticks of a uclk; ticks of a second of this machine.
const UCLK: u64 = 8;
const SECOND: f64 = 1e9;

fn machine() -> Chassis {
    let family = pericore_catalog::family("e5-2600").expect("the family is in the catalogue");
    let shape = Shape::new(family, 1, 8, 2).expect("one socket");
    Chassis::new(shape, Wiring::new(family, 1), |_| UCLK)
}

fn plan(machine: &mut Chassis, events: &str, metrics: &str) -> Plan {
    let family = pericore_catalog::family("e5-2600").expect("the family is in the catalogue");
    let cpus: Vec<Cpu> = (0..16).map(|number| Cpu { number, package: 0 }).collect();
    let topology = discover(machine, family, &cpus, |unit| unit.name == "cbo").expect("the CBos are there");
    let mut selection = Selection::new(family);
    selection.add_events(events).expect("the events exist");
    selection.add_metrics(metrics).expect("the metrics exist");
    Plan::new(&topology, selection).expect("it fits in rounds")
}

/// A small generator, so that the test is the same everywhere.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

fn moment(machine: &Chassis) -> Moment {
    Moment { seconds: machine.now() as f64 / SECOND, tsc: machine.now() / UCLK }
}

/// Data reads that look up at random cycles in random slices, one in four of them a miss (state I); victims on the side.
#[test]
fn scaled_counts_agree_with_what_was_injected() {
    let mut machine = machine();
    let family = machine.shape().family;
    let mut wiring = Wiring::new(family, 1);
    let wires: Vec<_> = (0..8).map(|slice| wiring.signal(0, "cbo", slice, "llc_lookup").expect("a signal")).collect();
    let attribute = |name: &str| wiring.attribute("cbo", "llc_lookup", name).expect("an attribute");
    let (read, state) = (attribute("read"), attribute("state"));
    let events = "cbo/CLOCKTICKS/,cbo/LLC_LOOKUP.DATA_READ,state=0x1/,cbo/LLC_LOOKUP.DATA_READ,state=0x1F/";
    let plan = plan(&mut machine, events, "cbo/LLC_DRD_MISS_PCT");
    assert_eq!(plan.rounds(), 2);
    let kept = plan.clone();
    let mut session = Session::start(&mut machine, plan, Options::default(), |machine| moment(machine)).expect("free");
    let (mut dice, mut reads, mut misses, mut cycle) = (Dice(7), 0_u64, 0_u64, 0_u64);
    for _ in 0..200 {
        for _ in 0..500 {
            cycle += 1 + dice.below(20);
            let is_miss = dice.below(4) == 0;
            // State I is 0; hits find lines in E, which is 2.
            let tag = state.set(read.set(0, 1), if is_miss { 0 } else { 2 });
            let slice = dice.below(8) as usize;
            session.space_mut().pulse(wires[slice], tag, cycle * UCLK, 1);
            reads += 1;
            misses += u64::from(is_miss);
        }
        cycle += 1;
        session.space_mut().set_now(cycle * UCLK);
        session.rotate(|machine| moment(machine));
    }
    let sample = session.sample(|machine| moment(machine));
    session.stop().expect("everything is put back");
    for (event, truth) in [(1, misses), (2, reads)] {
        let [total] = &event_totals(&sample, event, Scope::System)[..] else { panic!("one total") };
        assert_eq!(total.validity.grade(), Grade::Scaled);
        assert!((total.validity.duty() - 0.5).abs() < 0.02, "turns are fair: {}", total.validity);
        let error = total.standard_error.expect("many turns");
        let off = total.count.expect("a number") as f64 - truth as f64;
        assert!(off.abs() < 3.0 * error, "off by {off}, standard error {error}");
        assert!(error < 0.05 * truth as f64, "and the error is small: {error}");
    }
    let [metric] = &metric_totals(&kept.layout(), &sample, &kept.selection.metrics[0], Scope::System)[..] else {
        panic!("one")
    };
    let (ratio, error) = (metric.value.number().expect("a number"), metric.standard_error.expect("many turns"));
    assert!((ratio - misses as f64 / reads as f64).abs() < 3.0 * error, "{ratio} with {error}");
    let [clock] = &event_totals(&sample, 0, Scope::Instance)[..1] else { panic!("eight") };
    assert!(clock.count.is_some_and(|count| count.abs_diff(cycle) <= cycle / 100), "{:?} of {cycle}", clock.count);
}
