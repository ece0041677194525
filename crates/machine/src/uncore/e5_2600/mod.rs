//! The traffic model of the E5-2600, of one to four sockets: cores, LLC slices, home agents, memory channels.
//!
//! A request's way: thread, private caches, ring, slice (request queue, look-up, table of requests), home agent (tracker, credits),
//! memory channel (pending queue, DRAM), back. Each part emits its signals when things happen, and stamps the request's record
//! for the ledger. Nothing is ticked: every part sleeps until its next possible action.
//!
//! Cores, slices, home agents and channels are numbered over the machine, socket by socket; [`address`] tells which socket one
//! belongs to. A request belongs to the socket of its core and slice; its home agent is that of the node whose memory holds the line.

mod address;
mod agent;
mod answers;
mod caching;
mod channel;
mod device;
mod directory;
mod egress;
mod event;
mod grant;
mod home;
mod home_queues;
mod in_hand;
mod issue;
mod latency;
mod links;
mod parameters;
mod phases;
mod power;
mod pressure;
mod program;
mod pulses;
mod remote;
mod request;
mod ring;
mod run;
mod slice;
mod standing;
mod stream;
mod table;
#[cfg(test)]
mod tests;
mod thread;
mod to_memory;
mod waiting;
mod wires;

use std::sync::Arc;

use address::AddressMap;
use agent::SystemAgent;
use device::Device;
use directory::Directory;
use event::Event;
use home::HomeAgent;
use latency::Latency;
use links::Links;
use pericore_dram::{Channel, Outcome};
use pericore_engine::{Agenda, Clocks, Wheel};
use pericore_hardware::signal::{Tick, Wiring};
use power::PowerUnit;
use request::{Pool, RequestId};
use ring::Rings;
use slice::Slice;
use thread::Thread;
use wires::Wires;

use crate::ledger::e5_2600::{Ledger, LinkShape, Opcodes, Shape, Snapshot};
use crate::uncore::core::Core;
use crate::uncore::line::LINE_BYTES;
use crate::uncore::program::Program;
use crate::uncore::seats::Seats;
use crate::uncore::work::Work;
use crate::uncore::{DependentLoads, ModelError, ProgramCounts, Progress};
use crate::workload::{Nodes, ProgramSettings, ProgramSource, Scenario, Workload};
pub use channel::{ChannelWires, ChannelWitness};
pub use parameters::{MOST_SOCKETS, Parameters, REPERTOIRE, SETTINGS};

/// A machine of one or more sockets and its workload.
#[derive(Debug)]
pub struct Model {
    parameters: Parameters,
    clocks: Clocks,
    latency: Latency,
    map: AddressMap,
    seats: Seats,
    now: Tick,
    wheel: Wheel,
    pool: Pool,
    threads: Vec<Thread>,
    cores: Vec<Core>,
    slices: Vec<Slice>,
    homes: Vec<HomeAgent>,
    /// By socket, on machines with directories.
    directories: Vec<Directory>,
    channels: Vec<Channel>,
    /// When each channel acts next, and the least of those ticks and of the links'.
    channel_next: Agenda,
    memory_next: Tick,
    outcomes: Vec<Outcome>,
    wires: Wires,
    links: Links,
    /// By socket.
    power: Vec<PowerUnit>,
    agents: Vec<SystemAgent>,
    devices: Vec<Device>,
    rings: Rings,
    work: Work,
    ledger: Ledger,
}

impl Model {
    /// A machine at tick 0 with empty caches, about to run a workload that was parsed against [`Parameters::limits`].
    ///
    /// # Errors
    /// [`ModelError`] if a parameter is out of range or the catalogue lacks a name that the model emits.
    pub fn new(
        parameters: Parameters,
        opcodes: Opcodes,
        workload: &Workload,
        wiring: &mut Wiring,
    ) -> Result<Self, ModelError> {
        Self::for_scenario(parameters, opcodes, Scenario::from(workload.clone()), wiring)
    }

    /// A socket at tick 0 with empty caches, about to run a scenario that was parsed against [`Parameters::limits`].
    ///
    /// # Errors
    /// As [`Model::new`].
    pub fn for_scenario(
        parameters: Parameters,
        opcodes: Opcodes,
        scenario: Scenario,
        wiring: &mut Wiring,
    ) -> Result<Self, ModelError> {
        parameters.check()?;
        let clocks = parameters.clocks()?;
        let mut wires = Wires::bind(wiring, &parameters, &opcodes)?;
        let (sockets, timing) = (parameters.sockets, &Arc::new(parameters.dram.clone()));
        let cores = sockets * parameters.cores;
        let channels: Vec<Channel> = wires.channels.iter().map(|_| Channel::new(clocks.dclk, timing)).collect();
        let mut channel_next = Agenda::new(channels.len());
        for (index, channel) in channels.iter().enumerate() {
            channel_next.set(index, channel.next_tick());
        }
        let shape = Shape {
            sockets: sockets.into(),
            slices: usize::from(cores),
            homes: sockets.into(),
            channels: channels.len(),
            ranks: timing.ranks,
            reads: timing.reads.into(),
            writes: timing.writes.into(),
        };
        let ticks_per_second = clocks.ticks_per_second;
        let power = |(socket, wires)| PowerUnit::new(socket, wires, parameters.active_cores, ticks_per_second);
        let power = (0..).zip(std::mem::take(&mut wires.power)).map(power).collect();
        let seed = scenario.phases.iter().find_map(|phase| phase.workload.as_ref()).map_or(1, |workload| workload.seed);
        let agent = |(socket, wires)| SystemAgent::new(socket, wires, clocks.uclk.ticks(), ticks_per_second, seed);
        let devices = std::mem::take(&mut wires.devices).into_iter().map(Device::new).collect();
        let agents = (0..).zip(std::mem::take(&mut wires.agents)).map(agent).collect();
        let map = AddressMap::new(&parameters);
        let several = sockets > 1;
        let link_wires = if several { links::bind(wiring, sockets)? } else { Vec::new() };
        let crossing = parameters.link_crossing * clocks.uclk.ticks();
        let flight = parameters.link_flight;
        let mut ledger = Ledger::new(clocks, opcodes, shape);
        if several {
            let (links, shared) = (link_wires.len(), parameters.link_credits.into());
            ledger.add_links(LinkShape { links, flight, shared, codes: links::codes(wiring)? });
        }
        let links = Links::new(&parameters, crossing, link_wires);
        let for_snoops = if several { parameters.tor_snoops } else { 0 };
        let slice = |wires| Slice::new(wires, parameters.ingress_entries, parameters.tor_entries, for_snoops);
        let slices = std::mem::take(&mut wires.slices).into_iter().map(slice).collect();
        let rings = Rings::new(wiring, &parameters)?;
        let lines = parameters.node() / LINE_BYTES;
        let with_directory = if several && parameters.directory { sockets } else { 0 };
        let directories = (0..with_directory).map(|_| Directory::new(lines)).collect();
        Ok(Self {
            latency: Latency::new(&parameters, &clocks),
            now: 0,
            wheel: Wheel::new(clocks.uclk).with_marks(Event::Pump.of(0)),
            pool: Pool::new(),
            threads: Vec::new(),
            cores: (0..cores).map(|_| Core::new(parameters.fill_buffers)).collect(),
            slices,
            homes: (0..sockets).map(|socket| HomeAgent::new(socket, &parameters)).collect(),
            directories,
            memory_next: channel_next.tick(),
            channel_next,
            channels,
            outcomes: Vec::with_capacity(16),
            wires,
            links,
            ledger,
            power,
            agents,
            devices,
            rings,
            work: Work::new(scenario, ticks_per_second),
            map,
            seats: Seats::new(sockets, parameters.cores, parameters.active_cores),
            clocks,
            parameters,
        })
    }

    /// A machine at tick 0 with empty caches, about to run a program.
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
        let nothing = Work::bare(threads);
        let nodes = Nodes { count: parameters.sockets, bytes: parameters.memory(), span: parameters.node() };
        let mut model = Self::for_scenario(parameters, opcodes, Scenario { phases: Vec::new() }, wiring)?;
        model.threads = model.make_threads(&nothing);
        (0..threads).for_each(|thread| model.wheel.schedule(0, Event::Issue.of(thread)));
        let sockets = model.threads.iter().map(|thread| model.map.socket(thread.core.into()));
        model.work.run(Program::new(source, settings, sockets, model.cores.len(), nodes));
        Ok(model)
    }

    /// What the program has done so far, if one runs.
    pub fn program(&self) -> Option<ProgramCounts> {
        self.work.program_counts()
    }

    /// Where a slice's messages to the home agent of a request leave its ring: at the home agent, or at the links.
    fn way_home(&self, request: RequestId) -> u8 {
        if self.pool[request].record.remote { self.rings.io() } else { self.rings.home() }
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
        self.pool.is_empty()
            && self.links.packets.is_empty()
            && self.links.is_idle()
            && self.slices.iter().all(Slice::is_idle)
            && self.channels.iter().all(Channel::is_idle)
            && self.devices.iter().all(Device::is_idle)
    }

    /// The running account. [`Model::snapshot`] is what to ask for figures.
    pub const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Keeps every DRAM command in the ledger from now on, for checkers.
    pub fn keep_commands(&mut self) {
        self.ledger.keep_commands();
    }

    /// Keeps every request's stays in the ledger from now on, for the truth of shaped counts.
    pub fn keep_stays(&mut self) {
        self.ledger.keep_stays();
    }

    /// The account as of now, requests under way counted with their part so far.
    pub fn snapshot(&self) -> Snapshot {
        let packets = self.links.packets.iter().map(|packet| &packet.record);
        self.ledger
            .snapshot(self.now, self.pool.records(), packets, |channel, queue| self.channels[channel].entries(queue))
    }
}
