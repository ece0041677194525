//! A socket whose freeze is on before the session begins, as firmware or a tool that was killed may leave it: nothing in it counts, and no
//! zero of that may look measured.
//!
//! Addresses stand here by hand: Emerald Rapids guide (817509-001), Table 1-8 and 1.4.2.

use pericore_metrics::Grade;
use pericore_observe::discover::{Cpu, Topology, discover};
use pericore_observe::plan::Freeze;
use pericore_observe::results::{Scope, event_totals};
use pericore_observe::selection::Selection;
use pericore_observe::session::{Manners, Options, Sample, Session, prepare};
use pericore_registers::{AccessError, Address, Outcome, RegisterSpace, Width};
use pericore_tests::pmon::raw::Raw;
use pericore_tests::session::feed::{Registers, moment};

/// Table 1-8.
const GLOBAL_CTL: u32 = 0x2ff0;
/// What a plain measurement says of itself.
const MEASURED: &str = "measured";
/// Unit control of the power control unit, and its first counter control.
const PCU_UNIT_CTL: u32 = 0x2fc0;

fn frozen() -> Raw {
    let mut raw = Raw::new("emerald-rapids", 2);
    // CPU 8 is in socket 1.
    raw.wrmsr_on(8, GLOBAL_CTL, 0x1);
    raw
}

fn topology(raw: &mut Raw, wanted: impl Fn(&str) -> bool) -> Topology {
    let shape = raw.machine.shape().clone();
    let package = |number| shape.socket_of_cpu(number).expect("a CPU");
    let cpus: Vec<Cpu> = (0..shape.cpus()).map(|number| Cpu { number, package: package(number) }).collect();
    discover(&mut raw.machine, shape.family, &cpus, |unit| wanted(unit.name)).expect("the uncore is found")
}

/// What a session samples in 1000 cycles.
fn sampled(raw: &mut Raw, events: &str, freeze: Freeze, take_over: bool) -> Sample {
    // Who never freezes looks for what it counts alone.
    let unit = events.split('/').next().expect("a unit");
    let topology = topology(raw, |name| freeze == Freeze::Cheapest || name == unit);
    let mut selection = Selection::new(topology.family);
    selection.add_events(events).expect("the events exist");
    let manners = Manners { freeze, take_over };
    let plan = prepare(&mut raw.machine, &topology, selection, manners, None).expect("it fits");
    let mut session =
        Session::start(Registers(raw), plan, Options { take_over, ..Options::default() }, |space| moment(space.0))
            .expect("it starts");
    session.space_mut().0.at(1000);
    let sample = session.sample(|space| moment(space.0));
    session.stop().expect("all is put back");
    sample
}

fn of_socket(sample: &Sample, socket: u16) -> (Option<u64>, String) {
    let count = sample.counts.iter().find(|count| count.socket == socket).expect("it is counted there");
    (count.count, count.validity.to_string())
}

/// One unit alone would be stopped by its own freeze: the socket's is used all the same, since it has to be taken off.
#[test]
fn where_nobody_counts_the_freeze_is_taken_off_and_put_back() {
    let mut raw = frozen();
    let sample = sampled(&mut raw, "pcu/CLOCKTICKS/", Freeze::Cheapest, false);
    assert_eq!(
        [0, 1].map(|socket| of_socket(&sample, socket)),
        [(Some(1000), MEASURED.to_owned()), (Some(1000), MEASURED.to_owned())]
    );
    assert_eq!([0, 8].map(|cpu| raw.rdmsr_on(cpu, GLOBAL_CTL)), [0, 1]);
    assert_eq!(raw.rdmsr_on(8, PCU_UNIT_CTL), 0);
}

/// Somebody's counter runs in socket 1, if the socket is let go: that is theirs to do.
#[test]
fn where_somebody_counts_it_is_left_on_and_the_zeros_are_in_doubt() {
    let mut raw = frozen();
    // Agent 3 of socket 1: CLOCKTICKS on counter 0.
    raw.wrmsr_on(8, 0x2032, 0x01);
    let sample = sampled(&mut raw, "pcu/CLOCKTICKS/", Freeze::Cheapest, false);
    assert_eq!(of_socket(&sample, 0), (Some(1000), MEASURED.to_owned()));
    let (count, why) = of_socket(&sample, 1);
    assert_eq!(count, Some(0));
    assert!(
        why.contains("suspect: all counters of socket 1 are frozen by someone else (global_ctl of ubox = 0x1)"),
        "{why}"
    );
    assert_eq!(raw.rdmsr_on(8, GLOBAL_CTL), 1);
}

#[test]
fn who_never_freezes_or_takes_over_says_so_too() {
    for (freeze, take_over) in [(Freeze::Never, false), (Freeze::Cheapest, true)] {
        let sample = sampled(&mut frozen(), "imc/CAS_COUNT.RD/", freeze, take_over);
        let (of_first, of_second): (Vec<_>, Vec<_>) = sample.counts.iter().partition(|count| count.socket == 0);
        assert!(of_first.iter().all(|count| count.validity.grade() == Grade::Measured), "{freeze:?}");
        assert_eq!(of_second.len(), 8);
        for count in of_second {
            assert!(count.validity.to_string().contains("frozen by someone else"), "{freeze:?}: {}", count.validity);
        }
        let [total] = &event_totals(&sample, 0, Scope::System)[..] else { panic!("one sum") };
        assert_eq!(total.validity.to_string().matches("frozen").count(), 1, "a sum says it once: {}", total.validity);
    }
}

/// A machine whose MSRs this user may not read.
struct NoMsrs(Raw);

impl RegisterSpace for NoMsrs {
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
        match address {
            Address::Msr { .. } => Err(AccessError::Permission { address, remedy: "none" }),
            _ => self.0.machine.read(address, width),
        }
    }

    fn write(&mut self, address: Address, width: Width, value: u64) -> Outcome<()> {
        self.0.machine.write(address, width, value)
    }
}

/// The look at the socket's freeze asks for no right that counting does not take.
#[test]
fn memory_controllers_are_counted_without_a_right_to_msrs() {
    let mut raw = Raw::new("emerald-rapids", 1);
    let topology = topology(&mut raw, |name| name == "imc");
    let mut selection = Selection::new(topology.family);
    selection.add_events("imc/CAS_COUNT.RD/").expect("the event exists");
    let mut space = NoMsrs(raw);
    let manners = Manners { freeze: Freeze::Never, take_over: false };
    let plan = prepare(&mut space, &topology, selection, manners, None).expect("nothing else is needed");
    let mut session =
        Session::start(space, plan, Options::default(), |space| moment(&space.0)).expect("nothing else is needed");
    let sample = session.sample(|space| moment(&space.0));
    assert!(sample.counts.len() == 8 && sample.counts.iter().all(|count| count.validity.grade() == Grade::Measured));
}
