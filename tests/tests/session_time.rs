//! Which time belongs to a sample: on a software Emerald Rapids whose register accesses take a cycle each, clocks that nothing stops
//! count every cycle of what their samples say they lasted.

use pericore_observe::discover::{Cpu, Topology, discover};
use pericore_observe::plan::{Plan, Trigger};
use pericore_observe::selection::Selection;
use pericore_observe::session::{Moment, Options, Sample, Session, survey_sockets};
use pericore_registers::{Address, Outcome, RegisterSpace, Width};
use pericore_tests::pmon::raw::{CYCLE, Raw};

/// Six events on the four counters of an agent: they take turns.
const IN_TURN: &str = "cha0/CLOCKTICKS/,cha0/TOR_INSERTS.ALL/,cha0/REQUESTS.READS/,cha0/REQUESTS.WRITES/,cha0/DIR_LOOKUP.SNP/,\
                       cha0/DIR_LOOKUP.NO_SNP/";

/// Registers that take a cycle to access.
struct Slow(Raw);

impl Slow {
    fn cycle(&self) -> u64 {
        self.0.machine.now() / CYCLE
    }

    fn pass(&mut self, cycles: u64) {
        self.0.at(self.cycle() + cycles);
    }
}

impl RegisterSpace for Slow {
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
        self.pass(1);
        self.0.machine.read(address, width)
    }

    fn write(&mut self, address: Address, width: Width, value: u64) -> Outcome<()> {
        self.pass(1);
        self.0.machine.write(address, width, value)
    }
}

fn moment(space: &mut Slow) -> Moment {
    Moment { seconds: space.cycle() as f64 / 1024.0, tsc: space.cycle() }
}

fn plan(raw: &mut Raw, events: &str) -> (Topology, Plan) {
    let shape = raw.machine.shape().clone();
    let cpus: Vec<Cpu> = (0..shape.cpus()).map(|number| Cpu { number, package: 0 }).collect();
    let topology = discover(&mut raw.machine, shape.family, &cpus, |_| true).expect("the uncore is found");
    let mut selection = Selection::new(topology.family);
    selection.add_events(events).expect("the events exist");
    let occupied = survey_sockets(&mut raw.machine, &topology).expect("readable");
    let plan = Plan::beside(&topology, selection, &occupied).expect("it fits");
    (topology, plan)
}

/// By how many cycles the count of an event that counts a clock is more than the cycles of its sample.
fn surplus(sample: &Sample, event: usize) -> i64 {
    let count = sample.counts.iter().find(|count| count.event == event).and_then(|count| count.count);
    count.expect("a number") as i64 - sample.tsc_cycles as i64
}

/// CXLCM 1 does not hear the freeze of the socket (2.12.1), and nothing of it takes turns: it runs while the rounds of others change.
#[test]
fn what_does_not_hear_the_freeze_runs_while_rounds_change() {
    let mut raw = Raw::with_period("emerald-rapids", 1, CYCLE);
    let (_, plan) = plan(&mut raw, &format!("cxlcm1/CLOCKTICKS/,cha1/CLOCKTICKS/,{IN_TURN}"));
    assert!(plan.sockets[0].gate.is_some() && plan.rounds() > 1);
    let mut session = Session::start(Slow(raw), plan, Options::default(), moment).expect("it starts");
    for _ in 0..20 {
        session.space_mut().pass(50);
        session.rotate(moment);
    }
    let sample = session.sample(moment);
    // A few cycles between the first register and the last of a list.
    assert!(surplus(&sample, 0).abs() < 10, "{}", surplus(&sample, 0));
    // What hears it stood, though it takes no turns: it is scaled up, and says so.
    assert!(surplus(&sample, 1).abs() < 10, "{}", surplus(&sample, 1));
    let validity = |event: usize| sample.counts.iter().find(|count| count.event == event).map(|count| &count.validity);
    assert!(validity(0).is_some_and(|validity| validity.duty() >= 1.0), "{:?}", validity(0));
    assert!(validity(1).is_some_and(|validity| (0.8..0.99).contains(&validity.duty())), "{:?}", validity(1));
}

/// The free-running clock of a memory controller goes on from the overflow to the reading, and while the next is prepared.
#[test]
fn what_runs_freely_runs_from_overflow_to_overflow() {
    let mut raw = Raw::with_period("emerald-rapids", 1, CYCLE);
    let (topology, plan) = plan(&mut raw, "cha3/CLOCKTICKS/,imc0/CAS_COUNT.RD/,imc0/FRCTR_DCLK/");
    let plan = plan.sampled(&topology, Trigger { socket: 0, event: 0, period: 1000 }).expect("it can be sampled by");
    let mut session = Session::start(Slow(raw), plan, Options::default(), moment).expect("it starts");
    let mut samples = Vec::new();
    while samples.len() < 5 {
        session.space_mut().pass(100);
        samples.extend(session.sample_on_overflow(moment));
    }
    // The first began before the clock was read.
    for sample in &samples[1..] {
        assert_eq!(surplus(sample, 2), 0);
        assert!(surplus(sample, 0) < 0, "the leader stood: {}", surplus(sample, 0));
    }
}
