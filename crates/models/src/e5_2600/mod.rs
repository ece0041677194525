//! The traffic model of the E5-2600, of one to four sockets: cores, LLC slices, home agents, memory channels.
//!
//! A request's way: thread, private caches, ring, slice (request queue, look-up, table of requests), home agent
//! (tracker, credits), memory channel (pending queue, DRAM), back. Each part reports facts when things happen, and
//! stamps the request's record. Nothing is ticked: every part sleeps until its next possible action.
//!
//! Cores, slices, home agents and channels are numbered over the machine, socket by socket; [`address`] says which
//! socket one belongs to. A request belongs to the socket of its core and slice; its home agent is that of the node
//! whose memory holds the line.

mod address;
mod agent;
mod background;
mod caching;
mod cores;
mod device;
mod event;
mod home;
mod latency;
mod links;
mod memory_and_links;
mod parameters;
mod phase_conditions;
mod phases;
pub mod power;
mod request;
mod ring;
mod run;
mod settings;

use std::sync::Arc;

use address::AddressMap;
use agent::SystemAgent;
use caching::Slice;
use cores::{RingSink, Thread, Wanted};
use device::Device;
use event::Event;
use home::{Directory, HomeAgent};
use latency::Latency;
use links::Links;
use pericore_dram::{Channel, Outcome};
use pericore_engine::{Agenda, ClockError, Clocks, ParameterError, Tick, Wheel};
use phase_conditions::PhaseConditions;
use power::PowerUnit;
use request::{Pool, RequestId};
use ring::RingStops;

pub use parameters::{MOST_SOCKETS, PHASE_SETTINGS, Parameters};
use pericore_parts::assignment::CoreAssignment;
use pericore_parts::core::Core;
use pericore_parts::line::LINE_BYTES;
use pericore_parts::program::{ByFunction, Program};
use pericore_parts::translation::Translation;
use pericore_parts::work::{Work, Worker};
use pericore_workload::{Nodes, ProgramSettings, ProgramSource, Scenario};
pub use settings::SETTINGS;

/// Why a model cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum E5ModelError {
    /// A parameter is out of range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// The clocks share no grid.
    #[error(transparent)]
    Clock(#[from] ClockError),
}

/// A machine of one or more sockets and its workload.
#[derive(Debug)]
pub struct Model {
    parameters: Parameters,
    clocks: Clocks,
    latency: Latency,
    map: AddressMap,
    assignment: CoreAssignment,
    now: Tick,
    wheel: Wheel,
    pool: Pool,
    threads: Vec<Thread>,
    cores: Vec<Core>,
    /// Looks the pages of what runs up, if it has any.
    translation: Translation<Wanted>,
    sinks: Vec<RingSink>,
    slices: Vec<Slice>,
    homes: Vec<HomeAgent>,
    /// By socket, on machines with directories.
    directories: Vec<Directory>,
    channels: Vec<Channel>,
    /// When each channel acts next, and the least of those ticks and of the links'.
    channel_next: Agenda,
    memory_next: Tick,
    outcomes: Vec<Outcome>,
    links: Links,
    /// By socket.
    power: Vec<PowerUnit>,
    agents: Vec<SystemAgent>,
    devices: Vec<Device>,
    phase: PhaseConditions,
    /// Threads also do what a system does besides its workload.
    system: bool,
    /// Requests that the memory of each socket has served, a line each.
    lines_moved: [u64; MOST_SOCKETS as usize],
    /// Requests of other sockets that the home agent of each has accepted.
    remote_requests: [u64; MOST_SOCKETS as usize],
    rings: RingStops,
    work: Work,
}

impl Model {
    /// A machine at tick 0 with empty caches, about to run a scenario that was parsed against [`Parameters::limits`].
    ///
    /// # Errors
    /// [`E5ModelError`] if a parameter is out of range, or the clocks share no grid of ticks.
    pub fn for_scenario(parameters: Parameters, scenario: Scenario) -> Result<Self, E5ModelError> {
        parameters.check()?;
        let clocks = parameters.clocks()?;
        let (sockets, timing) = (parameters.sockets, &Arc::new(parameters.dram.clone()));
        let cores = sockets * parameters.cores;
        let number_of_channels = usize::from(sockets) * usize::from(parameters.channels);
        let channels: Vec<Channel> = (0..number_of_channels).map(|_| Channel::new(clocks.dclk, timing)).collect();
        let mut channel_next = Agenda::new(channels.len());
        for (index, channel) in channels.iter().enumerate() {
            channel_next.set(index, channel.next_tick());
        }
        let ticks_per_second = clocks.ticks_per_second;
        let power = (0..sockets).map(|socket| PowerUnit::new(socket, parameters.active_cores, ticks_per_second));
        let seed = scenario.phases.iter().find_map(|phase| phase.workload.as_ref()).map_or(1, |workload| workload.seed);
        let agent = |socket| SystemAgent::new(socket, clocks.uclk.ticks(), ticks_per_second, seed);
        let lanes = || [(); 2].map(|()| parameters.io.direction(ticks_per_second));
        let several = sockets > 1;
        let for_snoops = if several { parameters.tor_snoops } else { 0 };
        let slice = |_| Slice::new(parameters.ingress_entries, parameters.tor_entries, for_snoops);
        let lines = parameters.node() / LINE_BYTES;
        let with_directory = if several && parameters.directory { sockets } else { 0 };
        Ok(Self {
            latency: Latency::new(&parameters, &clocks),
            now: 0,
            wheel: Wheel::new(clocks.uclk).with_marks(Event::Pump.of(0)),
            pool: Pool::new(),
            threads: Vec::new(),
            cores: (0..cores).map(|_| Core::new(parameters.fill_buffers)).collect(),
            translation: Translation::off(),
            sinks: vec![RingSink::default(); cores.into()],
            slices: (0..cores).map(slice).collect(),
            homes: (0..sockets).map(|socket| HomeAgent::new(socket, &parameters)).collect(),
            directories: (0..with_directory).map(|_| Directory::new(lines)).collect(),
            memory_next: channel_next.tick(),
            channel_next,
            channels,
            outcomes: Vec::with_capacity(16),
            links: Links::new(&parameters, parameters.link_crossing * clocks.uclk.ticks()),
            power: power.collect(),
            agents: (0..sockets).map(agent).collect(),
            devices: (0..sockets).map(|_| Device::new(lanes())).collect(),
            phase: PhaseConditions::default(),
            system: false,
            lines_moved: [0; MOST_SOCKETS as usize],
            remote_requests: [0; MOST_SOCKETS as usize],
            rings: RingStops::new(&parameters),
            work: Work::new(scenario, ticks_per_second),
            map: AddressMap::new(&parameters),
            assignment: CoreAssignment::new(sockets, parameters.cores, parameters.active_cores),
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
    ) -> Result<Self, E5ModelError> {
        let parameters = Parameters { fill_buffers: settings.misses, ..parameters };
        let threads = parameters.limits().threads;
        let nothing = Work::bare(threads);
        let nodes = Nodes { count: parameters.sockets, bytes: parameters.memory(), span: parameters.node() };
        let mut model = Self::for_scenario(parameters, Scenario { phases: Vec::new() })?;
        model.threads = model.make_threads(&nothing);
        (0..threads).for_each(|thread| model.wheel.schedule(0, Event::Issue.of(thread)));
        let sockets = model.threads.iter().map(|thread| model.map.socket(thread.core.into()));
        model.work.run(Program::new(source, settings, sockets, model.cores.len(), nodes));
        Ok(model)
    }

    /// Where a slice's messages to the home agent of a request leave its ring: at the home agent, or at the links.
    #[inline]
    fn way_home(&self, request: RequestId) -> u8 {
        if self.pool[request].record.remote { self.rings.io() } else { self.rings.home() }
    }

    /// Virtual time.
    #[inline]
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

    /// The cores, socket by socket, with their caches.
    pub fn cores(&self) -> &[Core] {
        &self.cores
    }

    /// Sockets whose LLC may write to a line.
    pub fn owners(&self, line: u32) -> impl Iterator<Item = u8> + '_ {
        (0..self.parameters.sockets).filter(move |&socket| {
            let llc = &self.slices[usize::from(self.map.slice(socket, line))].llc;
            llc.find(line).is_some_and(|way| !llc.state(way).is_shared())
        })
    }

    /// When something happens next in memory or on links, and when anywhere else.
    pub fn next_ticks(&self) -> [Tick; 2] {
        [self.memory_next, self.wheel.next_tick()]
    }

    /// The memory channels, socket by socket.
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }
}

impl Worker for Model {
    fn agenda(&self) -> &Work {
        &self.work
    }

    fn agenda_mut(&mut self) -> &mut Work {
        &mut self.work
    }

    fn now(&self) -> Tick {
        self.now
    }

    fn is_at_rest(&self) -> bool {
        self.pool.is_empty()
            && self.links.packets.is_empty()
            && self.links.is_idle()
            && self.slices.iter().all(Slice::is_idle)
            && self.channels.iter().all(Channel::is_idle)
            && self.devices.iter().all(Device::is_idle)
    }

    fn open_window(&mut self) {
        ByFunction::open_window(self);
    }

    fn go_on(&mut self) {
        self.wheel.schedule(self.now, Event::Phase.of(0));
    }
}
