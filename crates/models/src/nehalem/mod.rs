//! The traffic model of one or two sockets of the Xeon 5500 series: cores, global queue, LLC, home logic, memory
//! controller, links, and an I/O hub with devices.
//!
//! A read's way: thread, private caches, read tracker of the global queue, look-up in the LLC. On a miss it gets a
//! transaction number of its home, and goes there, over a link if the home is the other socket; meanwhile the other
//! socket is snooped. The home logic asks memory, collects the answers to snoops, and serves requests for one line in
//! the order in which they came. Lines move through the data ports of the global queue. What happens is reported as
//! facts; the records of requests and snoops have the time of each station.

mod carrier;
mod cores;
mod device;
mod entrance;
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

mod times;
mod warming;

use std::sync::Arc;

use device::Device;
use entrance::{Entrance, QueuedWrite};
use event::Event;
use pericore_dram::{Channel, Outcome};
use pericore_engine::{Clocks, NEVER, ParameterError, Pool, Tick, Wheel};
use pericore_facts::LineState;
use pericore_facts::nehalem::{CHANNELS, NehalemFact, NehalemReader as Facts, SnoopStation, Station, Use};
use pericore_parts::assignment::CoreAssignment;
use pericore_parts::core::{Core, ThreadState};
use pericore_parts::line::{LINE_BYTES, Place};
use pericore_parts::program::{ByFunction, Program};
use pericore_parts::translation::Translation;
use pericore_parts::work::{Work, Worker};
use pericore_workload::{Access, Generator, Nodes, Placement, ProgramSettings, ProgramSource, Scenario};
use request::{Probe, Request, RequestId};
use socket::Socket;
use times::Times;

pub use parameters::{CORES, MOST_SOCKETS, PHASE_SETTINGS, Parameters, SETTINGS};

/// A hardware thread with its share of the workload.
#[derive(Debug)]
struct Thread {
    generator: Generator,
    placement: Placement,
    /// Core of the machine.
    core: u8,
    /// When the next access can start.
    ready: Tick,
    /// When the access that is to start next would have, had its page been known; [`NEVER`] if it was.
    delayed_since: Tick,
    /// An access that was made but could not start.
    held: Option<Access>,
    state: ThreadState,
}

impl Thread {
    /// When a load began that is about to start, or has started.
    const fn began(&mut self) -> Tick {
        if self.delayed_since == NEVER { self.ready } else { std::mem::replace(&mut self.delayed_since, NEVER) }
    }
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
    /// When the hub's link to each socket is free to send.
    hub_free: [Tick; MOST_SOCKETS as usize],
    assignment: CoreAssignment,
    /// Cores of the machine, socket by socket.
    cores: Vec<Core>,
    /// Looks the pages of what runs up, if it has any.
    translation: Translation<Access>,
    sockets: Vec<Socket>,
    /// Channels of the machine, socket by socket.
    channels: Vec<Channel>,
    entrances: Vec<Entrance>,
    /// The next tick at which each channel acts, and the least of them.
    channel_next: Vec<Tick>,
    memory_next: Tick,
    outcomes: Vec<Outcome>,
    work: Work,
    /// Stores of the phase's workload go around the caches.
    around: bool,
}

impl Model {
    /// A machine at tick 0 with empty caches, about to run a scenario that was parsed against [`Parameters::limits`].
    ///
    /// # Errors
    /// [`ParameterError`] if a parameter is out of range.
    pub fn for_scenario(parameters: Parameters, scenario: Scenario) -> Result<Self, ParameterError> {
        parameters.check()?;
        let clocks = parameters.clocks();
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
            assignment: CoreAssignment::new(sockets, CORES as u8, parameters.active_cores),
            devices: Vec::new(),
            hub_free: [0; MOST_SOCKETS as usize],
            cores: (0..cores).map(|_| Core::new(parameters.fill_buffers)).collect(),
            translation: Translation::off(),
            sockets: (0..sockets).map(|_| Socket::new(&parameters)).collect(),
            entrances: channels
                .iter()
                .map(|_| Entrance::new([timing.reads, timing.writes], parameters.high_priority))
                .collect(),
            channel_next: channels.iter().map(Channel::next_tick).collect(),
            memory_next: channels.iter().map(Channel::next_tick).fold(Tick::MAX, Tick::min),
            channels,
            outcomes: Vec::with_capacity(16),
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
    ) -> Result<Self, ParameterError> {
        let parameters = Parameters { fill_buffers: settings.misses, ..parameters };
        let threads = parameters.limits().threads;
        let nothing = Work::bare(threads);
        let nodes = Nodes { count: parameters.sockets, bytes: parameters.memory(), span: parameters.node() };
        let mut model = Self::for_scenario(parameters, Scenario { phases: Vec::new() })?;
        model.set_to_work(&nothing);
        let sockets = model.threads.iter().map(|thread| thread.core / CORES as u8);
        model.work.run(Program::new(source, settings, sockets, model.cores.len(), nodes));
        Ok(model)
    }

    /// Runs everything that happens before `until`; afterwards it is `until`.
    pub fn run_until<R: Facts>(&mut self, until: Tick, reader: &mut R) {
        if self.work.start() {
            self.begin_phase();
        }
        loop {
            let next = self.memory_next.min(self.wheel.next_tick());
            if next >= until {
                break;
            }
            self.now = next;
            self.wheel.advance(next);
            while let Some(packed) = self.wheel.pop() {
                self.dispatch(packed, reader);
            }
            if self.memory_next == next {
                self.step_channels(reader);
            }
        }
        self.now = self.now.max(until);
        self.wheel.advance(self.now);
    }

    fn dispatch<R: Facts>(&mut self, packed: u32, reader: &mut R) {
        let (event, subject) = Event::unpack(packed);
        match event {
            Event::Nothing => {}
            Event::Issue => self.issue(subject, reader),
            Event::Device => self.device(subject, reader),
            Event::Arrive => self.arrive(subject, reader),
            Event::LookUp => self.look_up(subject, reader),
            Event::Replied => self.replied(subject, reader),
            Event::ToCore => self.pass_to_core(subject, reader),
            Event::Data => self.data(subject, reader),
            Event::Taken => self.claim(subject, reader),
            Event::Written => self.written(subject, reader),
            Event::Out => self.out(subject, reader),
            Event::Leave => self.leave(subject, reader),
            Event::Return => self.send_to_memory(subject, self.times.home_to_memory),
            Event::Home => self.at_home(subject, reader),
            Event::Memory => self.at_memory(subject, reader),
            Event::Read => self.read(subject, reader),
            Event::Posted => self.posted(subject, reader),
            Event::Part => self.part(subject, reader),
            Event::FromLinks => self.arrive_by_link(subject, reader),
            Event::Probe => self.probe(subject, reader),
            Event::ProbeLookUp => self.probe_look_up(subject, reader),
            Event::ProbeReply => self.probe_reply(subject, reader),
            Event::Response => self.response(subject, reader),
            Event::Pass => self.pass(subject, reader),
            Event::Send => self.send_line(subject, reader),
            Event::Hub => self.at_hub(subject, reader),
            Event::PortFree => self.port_free(subject, reader),
            Event::LinkFree => self.link_free(subject, reader),
            Event::Credit => self.credit(subject, reader),
            Event::Phase => self.step_phase(),
            Event::Walked => self.resume(subject as u8, None, reader),
        }
    }

    /// A request is at a station.
    #[inline(always)]
    fn report<R: Facts>(&self, request: RequestId, station: Station, reader: &mut R) {
        reader.read(self.now, NehalemFact::Request(station, &self.requests[request].record));
    }

    /// A snoop is.
    #[inline(always)]
    fn report_snoop<R: Facts>(&self, probe: u16, station: SnoopStation, reader: &mut R) {
        reader.read(self.now, NehalemFact::Snoop(station, &self.probes[probe].record));
    }

    /// Reports what is under way as if it ended now: its part so far.
    pub fn under_way<R: Facts>(&self, reader: &mut R) {
        for request in self.requests.iter() {
            reader.read(self.now, NehalemFact::Request(Station::Ended, &request.record));
            if request.contested != NEVER {
                let state = Use::Contest(request.record.source);
                reader.read(self.now, NehalemFact::Ends(request.record.home, state, request.contested));
            }
        }
        for probe in self.probes.iter() {
            reader.read(self.now, NehalemFact::Snoop(SnoopStation::Ended, &probe.record));
        }
        for (number, socket) in (0..).zip(&self.sockets) {
            for (state, since) in socket.uses() {
                reader.read(self.now, NehalemFact::Ends(number, state, since));
            }
        }
        for (index, entrance) in self.entrances.iter().enumerate() {
            let (home, channel) = ((index / CHANNELS) as u8, (index % CHANNELS) as u8);
            for &QueuedWrite { since, isochronous, .. } in &entrance.writes {
                reader.read(self.now, NehalemFact::Written { home, channel, since, isochronous });
            }
        }
    }

    /// The socket whose memory holds a line.
    #[inline]
    const fn home_of(&self, line: u32) -> u8 {
        (line as u64 * LINE_BYTES / self.parameters.node()) as u8
    }

    /// Where a line lies in its socket's memory. Lines go round the three channels, then along a row; channel and bank
    /// are turned with higher bits so that strides and several streams spread (assumption: the real hash is not
    /// published).
    #[inline]
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
    #[inline]
    pub const fn now(&self) -> Tick {
        self.now
    }

    /// The parameters.
    pub const fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// True if no entry, transaction number or line is in use: so it must be when nothing is under way.
    pub fn is_drained(&self) -> bool {
        let parameters = &self.parameters;
        self.sockets.iter().all(|socket| {
            socket.tracker_free == parameters.trackers
                && socket.number_free == parameters.home_entries
                && socket.busy.is_empty()
                && socket.at_home.is_empty()
                && socket.home_requests == 0
        })
    }

    /// State of a line, by its number, in a socket's LLC; `None` if it is not there.
    pub fn line_state(&self, socket: usize, line: u32) -> Option<LineState> {
        let llc = &self.sockets[socket].llc;
        llc.find(line).map(|way| llc.state(way))
    }

    /// The cores, socket by socket, with their caches.
    pub fn cores(&self) -> &[Core] {
        &self.cores
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
        self.requests.is_empty()
            && self.probes.is_empty()
            && self.sockets.iter().all(Socket::is_idle)
            && self.channels.iter().all(Channel::is_idle)
    }

    fn open_window(&mut self) {
        ByFunction::open_window(self);
    }

    fn go_on(&mut self) {
        self.wheel.schedule(self.now, Event::Phase.of(0));
    }
}
