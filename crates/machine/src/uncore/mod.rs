//! The traffic model of a socket: cores, LLC slices, home agent, memory channels.
//!
//! A request's way: thread, private caches, ring, slice (request queue, look-up, table of requests), home agent (tracker, credits),
//! memory channel (pending queue, DRAM), back. Each part emits its signals when things happen, and stamps the request's record
//! for the ledger. Nothing is ticked: every part sleeps until its next possible action.

mod address;
mod cache;
mod caching;
mod core;
pub mod dram;
pub mod emerald_rapids;
mod event;
mod home;
mod host;
mod issue;
mod latency;
mod llc;
mod parameters;
mod program;
mod request;
mod search;
mod slice;
#[cfg(test)]
mod tests;
mod wires;

pub use parameters::{ParameterError, Parameters};
pub use program::ProgramCounts;
pub use wires::ChannelWires;

use crate::engine::{ClockError, Clocks, Wheel};
use crate::ledger::{Ledger, Message, Opcodes, Shape, Snapshot};
use crate::signal::{SignalSink, Tick, Wiring, WiringError};
use crate::workload::{Generator, Kind, ProgramSettings, ProgramSource, Workload};
use address::AddressMap;
use core::{Core, Thread, ThreadState};
use dram::{Channel, Outcome};
use event::Event;
use home::HomeAgent;
use latency::Latency;
use request::{Pool, RequestId};
use slice::Slice;
use wires::Wires;

/// Why a model cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// A parameter is out of range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// The clocks share no tick grid.
    #[error(transparent)]
    Clock(#[from] ClockError),
    /// The catalogue lacks a name.
    #[error(transparent)]
    Wiring(#[from] WiringError),
}

/// How far the workload has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Accesses that have their data.
    pub done: u64,
    /// Accesses of the whole workload.
    pub total: u64,
}

/// One socket and its workload.
#[derive(Debug)]
pub struct Model {
    parameters: Parameters,
    clocks: Clocks,
    latency: Latency,
    map: AddressMap,
    now: Tick,
    wheel: Wheel,
    pool: Pool,
    threads: Vec<Thread>,
    cores: Vec<Core>,
    slices: Vec<Slice>,
    home: HomeAgent,
    channels: Vec<Channel>,
    /// The next tick at which each channel acts, and the least of them.
    channel_next: [Tick; home::CHANNELS],
    memory_next: Tick,
    outcomes: Vec<Outcome>,
    wires: Wires,
    ledger: Ledger,
    done: u64,
    total: u64,
    started: bool,
    /// A program that the threads run instead of a generated workload.
    program: Option<program::Program>,
}

impl Model {
    /// A socket at tick 0 with empty caches, about to run a workload that was parsed against [`Parameters::limits`].
    ///
    /// # Errors
    /// [`ModelError`] if a parameter is out of range or the catalogue lacks a name that the model emits.
    pub fn new(
        parameters: Parameters,
        opcodes: Opcodes,
        workload: &Workload,
        wiring: &mut Wiring,
    ) -> Result<Self, ModelError> {
        parameters.check()?;
        let clocks = parameters.clocks()?;
        let wires = Wires::bind(wiring, &parameters, &opcodes)?;
        let (cores, timing) = (parameters.cores, &parameters.dram);
        let channel = |(number, &wires)| Channel::new(number as u16, clocks.dclk, timing, wires);
        let channels: Vec<Channel> = wires.channels.iter().enumerate().map(channel).collect();
        let shape = Shape {
            slices: usize::from(cores),
            homes: 1,
            channels: channels.len(),
            reads: timing.reads.into(),
            writes: timing.writes.into(),
        };
        let thread = |number: u16| Thread {
            generator: Generator::new(workload, number),
            core: (number % u16::from(cores)) as u8,
            tid: (number % u16::from(cores) * 2 + number / u16::from(cores)) as u8,
            ready: 0,
            held: None,
            state: ThreadState::Running,
        };
        let mut wheel = Wheel::new(clocks.uclk);
        (0..workload.threads).for_each(|thread| wheel.schedule(0, Event::Issue.of(thread)));
        Ok(Self {
            latency: Latency::new(&parameters, &clocks),
            map: AddressMap::new(&parameters),
            now: 0,
            wheel,
            // What the buffers of the cores and the tables of the slices hold at most, and a little.
            pool: Pool::new(1024),
            threads: (0..workload.threads).map(thread).collect(),
            cores: (0..cores).map(|_| Core::new(parameters.fill_buffers)).collect(),
            slices: (0..cores).map(|_| Slice::new(parameters.ingress_entries, parameters.tor_entries)).collect(),
            home: HomeAgent::new(parameters.tracker_entries, timing.reads, timing.writes),
            memory_next: channels.iter().map(Channel::next_tick).fold(Tick::MAX, Tick::min),
            channel_next: std::array::from_fn(|index| channels.get(index).map_or(Tick::MAX, Channel::next_tick)),
            channels,
            outcomes: Vec::with_capacity(16),
            wires,
            ledger: Ledger::new(clocks, opcodes, shape),
            done: 0,
            total: workload.requests,
            started: false,
            program: None,
            clocks,
            parameters,
        })
    }

    /// A socket at tick 0 with empty caches, about to run a program.
    ///
    /// # Errors
    /// As [`Model::new`].
    pub fn for_program(
        parameters: Parameters,
        opcodes: Opcodes,
        source: Box<dyn ProgramSource>,
        settings: ProgramSettings,
        wiring: &mut Wiring,
    ) -> Result<Self, ModelError> {
        let parameters = Parameters { fill_buffers: settings.misses, ..parameters };
        let threads = parameters.limits().threads;
        let nothing = Workload { requests: 0, threads, ..Workload::new(Kind::Random) };
        let (cores, memory) = (usize::from(parameters.cores), parameters.memory());
        let mut model = Self::new(parameters, opcodes, &nothing, wiring)?;
        // Not known before the program has ended.
        model.total = u64::MAX;
        model.program = Some(program::Program::new(source, settings, usize::from(threads), cores, memory));
        Ok(model)
    }

    /// What the program has done so far, if one runs.
    pub fn program(&self) -> Option<ProgramCounts> {
        self.program.as_ref().map(program::Program::counts)
    }

    /// Runs everything that happens before `until`; afterwards it is `until`.
    pub fn run_until<S: SignalSink>(&mut self, until: Tick, sink: &mut S) {
        if !self.started {
            self.started = true;
            self.channels.iter().for_each(|channel| channel.start(sink));
        }
        loop {
            let next = self.memory_next.min(self.wheel.next_tick());
            if next >= until {
                break;
            }
            self.now = next;
            self.wheel.advance(next);
            while let Some(packed) = self.wheel.pop() {
                self.dispatch(packed, sink);
            }
            if self.memory_next == next {
                self.step_channels(sink);
            }
        }
        self.now = self.now.max(until);
        self.wheel.advance(self.now);
    }

    fn step_channels<S: SignalSink>(&mut self, sink: &mut S) {
        for index in 0..home::CHANNELS {
            if self.channel_next[index] == self.now {
                self.channels[index].step(sink, &mut self.ledger, &mut self.outcomes);
                self.channel_next[index] = self.channels[index].next_tick();
                if !self.outcomes.is_empty() {
                    self.take_outcomes(index, sink);
                }
            }
        }
        self.memory_next = self.channel_next.iter().fold(Tick::MAX, |least, &next| least.min(next));
    }

    fn dispatch<S: SignalSink>(&mut self, packed: u32, sink: &mut S) {
        let (event, subject) = Event::unpack(packed);
        match event {
            Event::Issue => self.issue(subject, sink),
            Event::Arrive => self.arrive(subject, sink),
            Event::Pump => self.pump(subject, sink),
            Event::Egress => self.next_message(subject, sink),
            Event::Accept => self.accept(subject, sink),
            Event::Write => self.write(subject, sink),
            Event::Answer => self.answer(subject, sink),
            Event::Fill => self.fill(subject, sink),
            Event::Data => self.data(subject, sink),
            Event::Step => self.step(subject, sink),
        }
    }

    /// A ring stop is to send a message: at once, or when those before it are gone. It sends one in a cycle (Table 2-14).
    /// Gives the tick at which it goes.
    fn message<S: SignalSink>(&mut self, stop: u16, message: Message, sink: &mut S) -> Tick {
        let slice = &mut self.slices[usize::from(stop)];
        if slice.egress_free <= self.now && slice.egress.is_empty() {
            self.send_message(stop, message, sink);
            return self.now;
        }
        let before = slice.egress.len();
        slice.egress.push_back(message);
        if before == 0 {
            self.wheel.schedule(slice.egress_free, Event::Egress.of(stop));
        }
        slice.egress_free + before as u64 * self.latency.uclk
    }

    fn next_message<S: SignalSink>(&mut self, stop: u16, sink: &mut S) {
        let slice = &mut self.slices[usize::from(stop)];
        let Some(message) = slice.egress.pop_front() else { return };
        if !slice.egress.is_empty() {
            self.wheel.schedule(self.now + self.latency.uclk, Event::Egress.of(stop));
        }
        self.send_message(stop, message, sink);
    }

    fn send_message<S: SignalSink>(&mut self, stop: u16, message: Message, sink: &mut S) {
        self.slices[usize::from(stop)].egress_free = self.now + self.latency.uclk;
        let (wire, tag) = self.wires.slices[usize::from(stop)].messages[message as usize];
        sink.pulse(wire, tag, self.now, 1);
        self.ledger.message(stop, message);
    }

    /// One of a request's open steps is over; after the last one its record is closed.
    fn end_step(&mut self, request: RequestId) {
        let entry = &mut self.pool[request];
        entry.open -= 1;
        if entry.open == 0 {
            self.ledger.close(&entry.record);
            self.pool.remove(request);
        }
    }

    /// Virtual time.
    pub const fn now(&self) -> Tick {
        self.now
    }

    /// The clocks.
    pub const fn clocks(&self) -> &Clocks {
        &self.clocks
    }

    /// The parameters.
    pub const fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// How far the workload has come.
    pub const fn progress(&self) -> Progress {
        Progress { done: self.done, total: self.total }
    }

    /// True when every access is done and nothing is under way or waits to be written to memory.
    pub fn finished(&self) -> bool {
        self.done == self.total
            && self.pool.records().next().is_none()
            && self.slices.iter().all(Slice::is_idle)
            && self.channels.iter().all(Channel::is_idle)
    }

    /// The running account. [`Model::snapshot`] is what to ask for figures.
    pub const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Keeps every DRAM command in the ledger from now on, for checkers.
    pub fn keep_commands(&mut self) {
        self.ledger.keep_commands();
    }

    /// The account as of now, requests under way counted with their part so far.
    pub fn snapshot(&self) -> Snapshot {
        self.ledger.snapshot(self.now, self.pool.records(), |channel, queue| self.channels[channel].entries(queue))
    }
}
