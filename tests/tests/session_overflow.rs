//! Sampling by overflow on the emulated hardware: each sample holds exactly what was counted up to the cycle of the overflow, however late it is read.

use pericore_observe::discover::{Cpu, Topology, discover};
use pericore_observe::plan::{Plan, PlanError, Trigger};
use pericore_observe::selection::Selection;
use pericore_observe::session::{Moment, Options, Session, survey_sockets};
use pericore_registers::{Address, Outcome, RegisterSpace, Width};
use pericore_tests::pmon::raw::{CYCLE, Raw};

struct Registers<'a>(&'a mut Raw);

impl RegisterSpace for Registers<'_> {
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
        self.0.machine.read(address, width)
    }

    fn write(&mut self, address: Address, width: Width, value: u64) -> Outcome<()> {
        self.0.machine.write(address, width, value)
    }
}

fn moment(space: &mut Registers<'_>) -> Moment {
    let cycle = space.0.machine.now() / CYCLE;
    Moment { seconds: cycle as f64 / 1024.0, tsc: cycle }
}

fn topology(raw: &mut Raw) -> Topology {
    let shape = raw.machine.shape().clone();
    let package = |number| shape.socket_of_cpu(number).expect("a CPU");
    let cpus: Vec<Cpu> = (0..shape.cpus()).map(|number| Cpu { number, package: package(number) }).collect();
    discover(&mut raw.machine, shape.family, &cpus, |_| true).expect("the uncore is found")
}

fn plan(raw: &mut Raw, events: &str, period: u64) -> Result<Plan, PlanError> {
    let topology = topology(raw);
    let mut selection = Selection::new(topology.family);
    selection.add_events(events).expect("the events exist");
    let occupied = survey_sockets(&mut raw.machine, &topology).expect("readable");
    let plan = Plan::beside(&topology, selection, &occupied).expect("it fits");
    plan.sampled(&topology, Trigger { socket: 0, event: 0, period })
}

/// Reads of channel 0 (CAS_COUNT kind 0) come 7 every 10 cycles; a sample is due at each 1000 of them. Clocks run beside, in another unit.
/// `unit`, `signal` and the attributes of the tag stand for what the leading event counts.
fn check(family: &str, events: &str, unit: &str, signal: &str, attributes: &[(&str, u64)]) {
    const PERIOD: u64 = 1000;
    let mut raw = Raw::with_period(family, 1, CYCLE);
    let plan = plan(&mut raw, events, PERIOD).expect("it can be sampled by");
    let (wire, tag) = (raw.wire(unit, 0, signal), raw.tag(unit, signal, attributes));
    let mut session = Session::start(Registers(&mut raw), plan, Options::default(), moment).expect("it starts");
    let (mut cycle, mut samples) = (0, 0);
    let mut since = session.space_mut().0.machine.now() / CYCLE;
    while samples < 5 {
        let late = 30 + 17 * samples;
        let mut left = PERIOD.div_ceil(7);
        // Up to the overflow and some pulses beyond, which come while everything stands.
        while left > 0 {
            assert!(session.sample_on_overflow(moment).is_none(), "not before {PERIOD}");
            cycle = session.space_mut().0.machine.now() / CYCLE + 10;
            session.space_mut().0.at(cycle - 1);
            session.space_mut().0.pulse(wire, tag, cycle, 7);
            session.space_mut().0.at(cycle + 1);
            left -= 1;
        }
        session.space_mut().0.pulse(wire, tag, cycle + 20, 7);
        session.space_mut().0.at(cycle + late);
        let sample = session.sample_on_overflow(moment).expect("it is due");
        samples += 1;
        for count in &sample.counts {
            let expected = match count.event {
                // 143 times 7 is the first multiple at or above 1000.
                0 => 1001,
                // The clock stands from the cycle after the overflow on.
                _ => cycle + 1 - since,
            };
            let found = count.count.expect("a number");
            assert!(
                found.abs_diff(expected) <= 1,
                "{family}, sample {samples}, event {}: {found}, not {expected}",
                count.event
            );
            assert!(count.event != 0 || found == expected, "{found}");
        }
        since = session.space_mut().0.machine.now() / CYCLE;
    }
    session.stop().expect("all is put back");
}

#[test]
fn emerald_rapids() {
    check("emerald-rapids", "imc0/CAS_COUNT.RD/,cha3/CLOCKTICKS/", "imc", "cas", &[("kind", 0), ("pch", 0)]);
}

#[test]
fn nehalem() {
    check("nehalem", "uncore/LLC_LINES_IN.ANY/,uncore/CLK_UNHALTED/", "uncore", "LLC_LINES_IN", &[("sub", 0x01)]);
}

#[test]
fn what_cannot_is_told_why() {
    let refused = |family: &str, events: &str, period: u64| {
        let mut raw = Raw::with_period(family, 1, CYCLE);
        plan(&mut raw, events, period).expect_err("it cannot").to_string()
    };
    assert!(refused("e5-2600", "imc0/CAS_COUNT.RD/,imc1/CAS_COUNT.RD/", 10).contains("cannot stop the counters"));
    assert!(refused("emerald-rapids", "imc/CAS_COUNT.RD/", 10).contains("name one instance"));
    assert!(refused("emerald-rapids", "imc0/CAS_COUNT.RD/,imc1/CAS_COUNT.RD/", 0).contains("period"));
    // 48 bits.
    assert!(refused("emerald-rapids", "imc0/CAS_COUNT.RD/,imc1/CAS_COUNT.RD/", 1 << 48).contains("period"));
    let mut raw = Raw::with_period("emerald-rapids", 1, CYCLE);
    plan(&mut raw, "imc0/CAS_COUNT.RD/,imc1/CAS_COUNT.RD/", (1 << 48) - 1).expect("the longest period");
}

/// Occupancies count on counter 0 alone (guide, 2.2.1.1): what samples are taken by has another one of the agent, and
/// only its own overflow counts. Counter 0 of agent 0 is at 0x2008 (Table 1-9).
#[test]
fn only_the_leaders_overflow_is_waited_for() {
    const PERIOD: u64 = 500;
    let mut raw = Raw::with_period("emerald-rapids", 1, CYCLE);
    let plan = plan(&mut raw, "cha0/CLOCKTICKS/,cha0/RxC_OCCUPANCY.IRQ/,imc0/CLOCKTICKS/", PERIOD).expect("it fits");
    let leader = plan.sockets[0].leader.as_ref().expect("the clock leads");
    let member = plan.sockets[0].instances[leader.instance].counters[leader.counter].member;
    assert_ne!(member, 0);
    let mut session = Session::start(Registers(&mut raw), plan, Options::default(), moment).expect("it starts");
    // The occupancy is about to overflow, and does: two requests wait all the time.
    let raw = &mut session.space_mut().0;
    let (queue, irq) = (raw.wire("cha", 0, "ingress"), raw.tag("cha", "ingress", &[("sub", 0x01)]));
    let begun = raw.machine.now() / CYCLE;
    raw.wrmsr(0x2008, (1 << 48) - 100);
    (0..2).for_each(|_| raw.enter(queue, irq, begun + 1));
    raw.at(begun + PERIOD / 2);
    // Unit status of agent 0 (Table 1-9): bit 0 tells of it.
    assert_eq!(raw.rdmsr(0x2001), 1);
    assert!(session.sample_on_overflow(moment).is_none(), "half of its time");
    session.space_mut().0.at(begun + PERIOD + 50);
    let sample = session.sample_on_overflow(moment).expect("it is due");
    let clocks = sample.counts.iter().find(|count| count.event == 0).and_then(|count| count.count);
    assert!(clocks.is_some_and(|clocks| clocks.abs_diff(PERIOD) <= 1), "{clocks:?}");
    session.stop().expect("all is put back");
}
