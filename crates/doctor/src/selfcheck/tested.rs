//! The counters of a session, one by one: started, stopped, set and read.

use pericore_catalog::Unit;
use pericore_observe::plan::{CounterUse, InstancePlan, Plan, Purpose, SocketPlan, lasting};
use pericore_observe::session::{Moment, Session};
use pericore_registers::{BitRange, Operation, Outcome, RegisterSpace};

use super::time::TestTime;

/// A counter of ours.
#[derive(Debug)]
pub struct TestedCounter {
    pub socket: u16,
    pub unit: &'static Unit,
    /// Number of its instance among all of the session.
    pub place: usize,
    /// `imc3 in socket 0`.
    pub instance: String,
    /// `ctr2`.
    pub register: String,
    /// Section of the document that has it.
    pub source: &'static str,
    /// Bits that count.
    pub bits: BitRange,
    read: Operation,
    control: Operation,
    /// Bits of the control that read back, and what they hold when it counts.
    pub selected: (u64, u64),
    start: Vec<Operation>,
    stop: Operation,
}

impl TestedCounter {
    /// `ctr2 of imc3 in socket 0`.
    pub fn name(&self) -> String {
        format!("{} of {}", self.register, self.instance)
    }

    fn of(part: &SocketPlan, index: usize, number: usize, place: usize) -> Option<Self> {
        let instance: &InstancePlan = &part.instances[index];
        let counter: &CounterUse = &instance.counters[number];
        let (control, value) = counter.control?;
        let read = part.read.iter().find(|step| step.instance == index && step.counter() == Some(number))?.operation;
        let is_its =
            |register: &pericore_catalog::Register, member: u8| register.id == control.id && member == counter.member;
        let selects = part.setup.iter().filter(|step| step.instance == index && step.purpose == Purpose::Select);
        let start: Vec<Operation> =
            selects.filter(|step| is_its(step.register, step.member)).map(|step| step.operation).collect();
        let look = part.inspect.iter().find(|step| step.instance == index && is_its(step.register, step.member))?;
        let Operation::Read { address, width } = look.operation else { return None };
        Some(Self {
            socket: part.socket,
            unit: instance.unit,
            place,
            instance: format!("{} in socket {}", instance.name(), part.socket),
            register: counter.register.member_name(counter.member),
            source: counter.register.source,
            bits: counter.bits(),
            read,
            control: look.operation,
            selected: (lasting(control), value & lasting(control)),
            start,
            stop: Operation::Write { address, width, value: 0 },
        })
    }
}

/// What a counter did, from when to when.
#[derive(Debug, Clone)]
pub struct Run {
    /// Raw values of the counters when they stood again.
    pub values: Vec<Outcome<u64>>,
    /// For each instance, right before the first and right after the last of its counters was started, and the same of
    /// stopping.
    pub spans: Vec<[Moment; 4]>,
    /// What the controls read while the counters ran.
    pub controls: Vec<Outcome<u64>>,
}

/// All counters, with the registers and the time.
pub struct Bench<'a, S: RegisterSpace, P> {
    session: &'a mut Session<S>,
    time: &'a mut P,
    pub counters: Vec<TestedCounter>,
    pub places: usize,
}

impl<'a, S: RegisterSpace, P: TestTime<S>> Bench<'a, S, P> {
    pub fn new(plan: &Plan, session: &'a mut Session<S>, time: &'a mut P) -> Self {
        let (mut counters, mut places) = (Vec::new(), 0);
        for part in &plan.sockets {
            for (index, instance) in part.instances.iter().enumerate() {
                let found =
                    (0..instance.counters.len()).filter_map(|number| TestedCounter::of(part, index, number, places));
                let before = counters.len();
                counters.extend(found);
                places += usize::from(counters.len() > before);
            }
        }
        Self { session, time, counters, places }
    }

    /// Seconds of a run in which clocks are compared.
    pub fn window(&self) -> f64 {
        self.time.window()
    }

    fn batch(&mut self, operations: &[Operation]) -> Vec<Outcome<u64>> {
        let mut outcomes = Vec::with_capacity(operations.len());
        self.session.space_mut().batch(operations, &mut outcomes);
        outcomes
    }

    /// Stops all counters.
    pub fn stop_all(&mut self) {
        let stops: Vec<Operation> = self.counters.iter().map(|tested| tested.stop).collect();
        self.batch(&stops);
    }

    /// Lets all counters run, as the session has them.
    pub fn start_all(&mut self) {
        let starts: Vec<Operation> = self.counters.iter().flat_map(|tested| tested.start.iter().copied()).collect();
        self.batch(&starts);
    }

    /// What the counters hold.
    pub fn read(&mut self) -> Vec<Outcome<u64>> {
        let reads: Vec<Operation> = self.counters.iter().map(|tested| tested.read).collect();
        self.batch(&reads)
    }

    /// Sets each counter.
    pub fn set(&mut self, value: impl Fn(usize, &TestedCounter) -> u64) {
        let set = |(number, tested): (usize, &TestedCounter)| Operation::Write {
            address: tested.read.address(),
            width: tested.read.width(),
            value: tested.bits.set(0, value(number, tested)),
        };
        let writes: Vec<Operation> = self.counters.iter().enumerate().map(set).collect();
        self.batch(&writes);
    }

    /// Lets some counters run for so many seconds, instance by instance, and stops all of them.
    pub fn run(&mut self, seconds: f64, runs: impl Fn(usize) -> bool) -> Run {
        let mut spans = Vec::with_capacity(self.places);
        let instances: Vec<Vec<usize>> = (0..self.places)
            .map(|place| (0..self.counters.len()).filter(|&number| self.counters[number].place == place).collect())
            .collect();
        for of_instance in &instances {
            let starts = of_instance.iter().filter(|number| runs(**number));
            let starts: Vec<Operation> = starts.flat_map(|&number| self.counters[number].start.clone()).collect();
            let before = self.time.now(self.session.space_mut());
            self.batch(&starts);
            let after = self.time.now(self.session.space_mut());
            spans.push([before, after, after, after]);
        }
        self.time.pass(self.session.space_mut(), seconds);
        let looks: Vec<Operation> = self.counters.iter().map(|tested| tested.control).collect();
        let controls = self.batch(&looks);
        for (of_instance, span) in instances.iter().zip(&mut spans) {
            let stops: Vec<Operation> = of_instance.iter().map(|&number| self.counters[number].stop).collect();
            span[2] = self.time.now(self.session.space_mut());
            self.batch(&stops);
            span[3] = self.time.now(self.session.space_mut());
        }
        let values = self.read();
        Run { values, spans, controls }
    }
}
