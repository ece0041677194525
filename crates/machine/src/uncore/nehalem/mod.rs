//! The traffic model of one or two sockets of the Xeon 5500 series: cores, global queue, LLC, home logic, memory controller, links, and
//! an I/O hub with devices.
//!
//! A read's way: thread, private caches, read tracker of the global queue, look-up in the LLC. On a miss it gets a transaction number of
//! its home, and goes there, over a link if the home is the other socket; meanwhile the other socket is snooped. The home logic asks
//! memory, collects the answers to snoops, and serves requests for one line in the order in which they came. Lines move through
//! the data ports of the global queue. Each part emits its signals when things happen, and stamps the request's record for the ledger.

mod cores;
mod event;
mod home;
mod hub;
mod llc;
mod memory;
mod parameters;
mod phases;
mod ports;
mod probes;
mod program;
mod queue;
mod request;
mod socket;
mod standing;
#[cfg(test)]
mod tests;
mod times;
mod warming;
mod wires;

use std::sync::Arc;

use event::Event;
use hub::Device;
use memory::Entrance;
use pericore_dram::{Channel, Outcome};
use pericore_engine::{Clocks, Pool, Wheel};
use pericore_hardware::signal::{SignalSink, Tick, Wiring};
use request::{Probe, Request};
use socket::Socket;
use times::Times;
use wires::{Pulse, Wires};

use crate::ledger::nehalem::{CHANNELS, Ledger, Level, Snapshot};
use crate::uncore::core::{Core, ThreadState};
use crate::uncore::line::{LINE_BYTES, Place};
use crate::uncore::program::Program;
use crate::uncore::seats::Seats;
use crate::uncore::work::Work;
use crate::uncore::{DependentLoads, ModelError, ProgramCounts, Progress};
use crate::workload::{Access, Generator, Nodes, Placement, ProgramSettings, ProgramSource, Scenario};
pub use parameters::{CORES, MOST_SOCKETS, Parameters, REPERTOIRE, SETTINGS};

/// A hardware thread with its share of the workload.
#[derive(Debug)]
struct Thread {
    generator: Generator,
    placement: Placement,
    /// Core of the machine.
    core: u8,
    /// When the next access can start.
    ready: Tick,
    /// An access that was made but could not start.
    held: Option<Access>,
    state: ThreadState,
}

/// A machine and its workload.
#[derive(Debug)]
pub struct Model {
    parameters: Parameters,
    clocks: Clocks,
    times: Times,
    now: Tick,
    wheel: Wheel,
    requests: Pool<Request>,
    probes: Pool<Probe>,
    threads: Vec<Thread>,
    devices: Vec<Device>,
    seats: Seats,
    /// Cores of the machine, socket by socket.
    cores: Vec<Core>,
    sockets: Vec<Socket>,
    /// Channels of the machine, socket by socket.
    channels: Vec<Channel>,
    entrances: Vec<Entrance>,
    /// The next tick at which each channel acts, and the least of them.
    channel_next: Vec<Tick>,
    memory_next: Tick,
    outcomes: Vec<Outcome>,
    wires: Wires,
    ledger: Ledger,
    work: Work,
    /// Stores of the phase's workload go around the caches.
    around: bool,
}

impl Model {
    /// A machine at tick 0 with empty caches, about to run a scenario that was parsed against [`Parameters::limits`].
    ///
    /// # Errors
    /// [`ModelError`] if a parameter is out of range or the catalogue lacks a name that the model emits.
    pub fn for_scenario(parameters: Parameters, scenario: Scenario, wiring: &mut Wiring) -> Result<Self, ModelError> {
        parameters.check()?;
        let clocks = parameters.clocks();
        let wires = Wires::bind(wiring, &parameters)?;
        let (sockets, timing) = (parameters.sockets, &Arc::new(parameters.dram.clone()));
        let cores = sockets * CORES as u8;
        let channels: Vec<Channel> =
            (0..usize::from(sockets) * CHANNELS).map(|_| Channel::new(clocks.dclk, timing)).collect();
        let room = 256 * usize::from(sockets);
        Ok(Self {
            times: Times::new(&parameters),
            now: 0,
            wheel: Wheel::new(clocks.uclk),
            requests: Pool::new(room),
            probes: Pool::new(room),
            threads: Vec::new(),
            seats: Seats::new(sockets, CORES as u8, parameters.active_cores),
            devices: Vec::new(),
            cores: (0..cores).map(|_| Core::new(parameters.fill_buffers)).collect(),
            sockets: (0..sockets).map(|_| Socket::new(&parameters)).collect(),
            entrances: channels.iter().map(|_| Entrance::new(timing.reads, timing.writes)).collect(),
            channel_next: channels.iter().map(Channel::next_tick).collect(),
            memory_next: channels.iter().map(Channel::next_tick).fold(Tick::MAX, Tick::min),
            channels,
            outcomes: Vec::with_capacity(16),
            ledger: Ledger::new(clocks, wires.opcodes, &parameters.shape()),
            wires,
            around: false,
            work: Work::new(scenario, clocks.ticks_per_second),
            clocks,
            parameters,
        })
    }

    /// A machine at tick 0 with empty caches, about to run a program.
    ///
    /// # Errors
    /// As [`Model::for_scenario`].
    pub fn for_program(
        parameters: Parameters,
        source: Box<dyn ProgramSource>,
        settings: ProgramSettings,
        wiring: &mut Wiring,
    ) -> Result<Self, ModelError> {
        let parameters = Parameters { fill_buffers: settings.misses, ..parameters };
        let threads = parameters.limits().threads;
        let nothing = Work::bare(threads);
        let nodes = Nodes { count: parameters.sockets, bytes: parameters.memory(), span: parameters.node() };
        let mut model = Self::for_scenario(parameters, Scenario { phases: Vec::new() }, wiring)?;
        model.set_to_work(&nothing);
        let sockets = model.threads.iter().map(|thread| thread.core / CORES as u8);
        model.work.run(Program::new(source, settings, sockets, model.cores.len(), nodes));
        Ok(model)
    }

    /// What the program has done so far, if one runs.
    pub fn program(&self) -> Option<ProgramCounts> {
        self.work.program_counts()
    }

    /// Runs everything that happens before `until`; afterwards it is `until`.
    pub fn run_until<S: SignalSink>(&mut self, until: Tick, sink: &mut S) {
        if self.work.start() {
            self.begin_phase();
        }
        self.listen(sink);
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

    fn dispatch<S: SignalSink>(&mut self, packed: u32, sink: &mut S) {
        let (event, subject) = Event::unpack(packed);
        match event {
            Event::Nothing => {}
            Event::Issue => self.issue(subject, sink),
            Event::Device => self.device(subject, sink),
            Event::Arrive => self.arrive(subject, sink),
            Event::LookUp => self.look_up(subject, sink),
            Event::Answered => self.answered(subject, sink),
            Event::ToCore => self.pass_to_core(subject, sink),
            Event::Data => self.data(subject, sink),
            Event::Taken => self.claim(subject, sink),
            Event::Written => self.written(subject, sink),
            Event::Out => self.out(subject, sink),
            Event::Leave => self.leave(subject, sink),
            Event::Return => self.ask_memory(subject, self.times.home_to_memory),
            Event::Home => self.at_home(subject, sink),
            Event::Memory => self.at_memory(subject, sink),
            Event::Deadline => self.deadline(subject, sink),
            Event::Read => self.read(subject, sink),
            Event::Posted => self.posted(subject, sink),
            Event::Part => self.part(subject, sink),
            Event::FromLinks => self.arrive_by_link(subject, sink),
            Event::Probe => self.probe(subject, sink),
            Event::ProbeLookUp => self.probe_look_up(subject, sink),
            Event::ProbeAnswer => self.probe_answer(subject, sink),
            Event::Response => self.response(subject, sink),
            Event::Pass => self.pass(subject, sink),
            Event::Send => self.send_line(subject, sink),
            Event::Hub => self.at_hub(subject, sink),
            Event::PortFree => self.port_free(subject, sink),
            Event::LinkFree => self.link_free(subject, sink),
            Event::Credit => self.credit(subject, sink),
            Event::Phase => self.step_phase(),
        }
    }

    /// Something happened in a socket.
    fn pulse<S: SignalSink>(&self, socket: usize, pulse: Pulse, sink: &mut S) {
        let (wire, tag) = self.wires.sockets[socket].pulses[pulse as usize];
        sink.pulse(wire, tag, self.now, 1);
    }

    /// An entry arrives at a level.
    fn raise<S: SignalSink>(&mut self, socket: usize, level: Level, sink: &mut S) {
        let index = usize::from(level.0);
        let wires = &self.wires.sockets[socket].levels[index];
        let live = &mut self.sockets[socket].live[index];
        *live += 1;
        let first = wires.nonempty.filter(|_| *live == 1);
        let last = wires.full.filter(|_| *live == wires.capacity);
        for (wire, tag) in [wires.entries, first, last].into_iter().flatten() {
            wire.enter(tag, self.now, sink);
        }
        self.ledger.enter(socket, level, self.now);
    }

    /// An entry leaves a level.
    fn lower<S: SignalSink>(&mut self, socket: usize, level: Level, sink: &mut S) {
        let index = usize::from(level.0);
        let wires = &self.wires.sockets[socket].levels[index];
        let live = &mut self.sockets[socket].live[index];
        let last = wires.full.filter(|_| *live == wires.capacity);
        *live -= 1;
        let first = wires.nonempty.filter(|_| *live == 0);
        for (wire, tag) in [wires.entries, first, last].into_iter().flatten() {
            wire.leave(tag, self.now, sink);
        }
        self.ledger.leave(socket, level, self.now);
    }

    /// The socket whose memory holds a line.
    const fn home_of(&self, line: u32) -> u8 {
        (line as u64 * LINE_BYTES / self.parameters.node()) as u8
    }

    /// Where a line lies in its socket's memory. Lines go round the three channels, then along a row; channel and bank are turned
    /// with higher bits so that strides and several streams spread (assumption: the real hash is not published).
    fn place(&self, line: u32) -> Place {
        let within_node = (u64::from(line) % (self.parameters.node() / LINE_BYTES)) as u32;
        let (lane, within) = (within_node % CHANNELS as u32, within_node / CHANNELS as u32);
        let timing = &self.parameters.dram;
        let above_column = within / timing.lines_per_row;
        let (banks, ranks) = (u32::from(timing.banks_per_rank()), u32::from(timing.ranks));
        let row = above_column / (banks * ranks);
        let channel = (lane + (within >> 6) + (within >> 13)) % CHANNELS as u32;
        let bank = (above_column ^ row ^ (row >> 7)) % banks;
        let rank = ((above_column / banks) ^ (row >> 3)) % ranks;
        Place { channel: channel as u16, bank: (rank * banks + bank) as u8, row }
    }

    /// Virtual time.
    pub const fn now(&self) -> Tick {
        self.now
    }

    /// The parameters.
    pub const fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// How far the workload has come.
    pub const fn progress(&self) -> Progress {
        self.work.progress()
    }

    /// Loads that threads waited for.
    pub const fn dependent_loads(&self) -> DependentLoads {
        self.work.dependent
    }

    /// True when every access is done and nothing is under way or waits to be written to memory.
    pub fn finished(&self) -> bool {
        self.work.is_done() && self.is_at_rest()
    }

    /// Ends the phase that runs. The next one waits.
    pub fn hold(&mut self) {
        self.work.course.hold(self.now);
    }

    /// True when a phase has ended that was to, and nothing is under way.
    pub fn is_parked(&self) -> bool {
        self.work.course.is_parked() && self.is_at_rest()
    }

    /// The phase that waits begins: what was done until now was its warm-up.
    pub fn begin_measured(&mut self) {
        self.work.begin_measured();
        self.wheel.schedule(self.now, Event::Phase.of(0));
    }

    /// True when nothing is under way or waits to be written to memory.
    fn is_at_rest(&self) -> bool {
        self.requests.is_empty()
            && self.probes.is_empty()
            && self.sockets.iter().all(Socket::is_idle)
            && self.channels.iter().all(Channel::is_idle)
    }

    /// Keeps every DRAM command from now on, for checkers.
    pub fn keep_commands(&mut self) {
        self.ledger.keep_commands();
    }

    /// The running account. [`Model::snapshot`] is what to ask for figures.
    pub const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The account as of now, requests under way counted with their part so far.
    pub fn snapshot(&self) -> Snapshot {
        let requests = self.requests.iter().map(|request| &request.record);
        let probes = self.probes.iter().map(|probe| &probe.record);
        self.ledger.snapshot(self.now, requests, probes)
    }
}
