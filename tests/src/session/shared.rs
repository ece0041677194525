//! One machine under several users: sessions, and an intruder who writes registers beside them.

use std::cell::RefCell;
use std::rc::Rc;

use pericore_observe::discover::{Cpu, Topology, discover};
use pericore_observe::plan::Plan;
use pericore_observe::selection::Selection;
use pericore_observe::session::{Moment, Options, Session};
use pericore_registers::{Address, Outcome, RegisterSpace, Width};

use crate::pmon::raw::{CYCLE, Raw};

/// One machine under several sessions.
#[derive(Clone)]
pub struct Shared(pub Rc<RefCell<Raw>>);

impl RegisterSpace for Shared {
    fn read(&mut self, address: Address, width: Width) -> Outcome<u64> {
        self.0.borrow_mut().machine.read(address, width)
    }

    fn write(&mut self, address: Address, width: Width, value: u64) -> Outcome<()> {
        self.0.borrow_mut().machine.write(address, width, value)
    }
}

impl Shared {
    /// A machine of that family whose clocks all have the same period.
    pub fn new(family: &str, sockets: u16) -> Self {
        Self(Rc::new(RefCell::new(Raw::with_period(family, sockets, CYCLE))))
    }

    /// All units of all sockets.
    pub fn topology(&self) -> Topology {
        let shape = self.0.borrow().machine.shape().clone();
        let package = |number| shape.socket_of_cpu(number).expect("a CPU");
        let cpus: Vec<Cpu> = (0..shape.cpus()).map(|number| Cpu { number, package: package(number) }).collect();
        discover(&mut self.clone(), shape.family, &cpus, |_| true).expect("the uncore is found")
    }

    /// Events by their names.
    pub fn selection(&self, events: &str) -> Selection {
        let mut selection = Selection::new(self.0.borrow().machine.shape().family);
        selection.add_events(events).expect("the events exist");
        selection
    }

    /// The time as of now: 1024 cycles are a second.
    pub fn moment(&self) -> Moment {
        let cycle = self.0.borrow().machine.now() / CYCLE;
        Moment { seconds: cycle as f64 / 1024.0, tsc: cycle }
    }

    /// Lets so many cycles pass.
    pub fn run(&self, cycles: u64) {
        let end = self.0.borrow().machine.now() + cycles * CYCLE;
        self.0.borrow_mut().machine.set_now(end);
    }

    /// Starts a session on the machine.
    pub fn start(&self, plan: Plan, options: Options) -> Session<Self> {
        Session::start(self.clone(), plan, options, |space| space.moment()).expect("it starts")
    }

    /// An MSR of socket 0.
    pub fn msr(&self, msr: u32) -> u64 {
        self.0.borrow_mut().rdmsr(msr)
    }
}
