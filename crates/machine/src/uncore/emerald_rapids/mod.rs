//! The traffic model of Emerald Rapids: cores, caching and home agents on a mesh of two dies, DDR5 memory, socket links, I/O stacks.
//!
//! A request's way: thread, L2, mesh, agent (ingress queue, look-up in LLC and snoop filter, table of requests), mesh, memory
//! controller, and back, its data straight to the core. Each part tells what happens when it happens, to the signals and to the
//! ledger. Nothing is ticked: every part sleeps until its next possible action, and what is idle costs nothing.

mod account;
mod address;
mod agent;
mod binding;
mod build;
mod caching;
mod command_lines;
mod core;
mod device;
mod errands;
mod event;
mod expander;
mod foresight;
mod issue;
mod layout;
mod level_lines;
mod link;
mod link_lines;
mod memory;
mod mesh;
mod parameters;
mod peer;
mod phases;
mod pipeline;
mod port;
mod power;
mod program;
mod reads;
mod reject_lines;
mod remote;
mod request;
mod request_tags;
mod shortage;
mod standing;
mod subchannel;
mod system;
mod tags;
#[cfg(test)]
mod tests;
mod times;

use core::{AllL2s, Core, Thread};

use account::Account;
use address::Map;
use agent::{Agent, AllSlices};
use device::Stack;
use errands::Errands;
use event::Event;
use expander::device::Expander;
use layout::Places;
use link::Links;
use memory::Credits;
use mesh::Mesh;
use peer::Peers;
use pericore_dram::Outcome;
use pericore_engine::{Agenda, Wheel};
use pericore_hardware::signal::{SignalSink, Tick};
use port::Port;
use power::Power;
use remote::Directory;
use request::Pool;
use subchannel::Subchannel;
use system::System;
use times::Times;

use crate::ledger::emerald_rapids::compiled::level;
use crate::ledger::emerald_rapids::{Clocks, Ledger, Ring, Snapshot};
use crate::uncore::work::Work;
use crate::uncore::{DependentLoads, ProgramCounts, Progress};
use crate::workload::MemoryConditions;
pub use parameters::{Parameters, REPERTOIRE, SETTINGS};

/// Agents of two sockets: a power of two, so that one is found without a check.
const MOST_AGENTS: usize = 2 * address::AGENTS as usize;
const _: () = assert!(MOST_AGENTS.is_power_of_two());
/// Subchannels of two sockets.
const MOST_SUBCHANNELS: usize = 2 * address::SUBCHANNELS as usize;

/// How the workload stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stores {
    /// One by one: a line is read before it is written.
    Plain,
    /// Whole lines at a time, as the C library copies.
    FastString,
    /// Past the caches.
    Streaming,
}

/// A machine of one or two sockets and its workload.
#[derive(Debug)]
pub struct Model {
    parameters: Parameters,
    sockets: u8,
    map: Map,
    clocks: Clocks,
    times: Times,
    places: Places,
    now: Tick,
    wheel: Wheel,
    pool: Pool,
    threads: Vec<Thread>,
    cores: Vec<Core>,
    l2s: AllL2s,
    agents: Box<[Agent; MOST_AGENTS]>,
    slices: AllSlices,
    mesh: Mesh,
    credits: Vec<Credits>,
    subchannels: Vec<Subchannel>,
    /// When each subchannel acts next.
    channel_next: Agenda<{ MOST_SUBCHANNELS / 4 }>,
    /// What the phase asks of the memory channels.
    memory: MemoryConditions,
    /// Channels of which both subchannels are powered down.
    powered_down: [bool; MOST_SUBCHANNELS / 2],
    outcomes: Vec<Outcome>,
    power: Power,
    links: Links,
    directories: Vec<Directory>,
    stacks: Vec<Stack>,
    errands: Errands,
    systems: Vec<System>,
    peers: Peers,
    ports: Vec<Port>,
    expanders: Vec<Expander>,
    /// Lines that devices have been given to write.
    owned_lines: u32,
    account: Account,
    work: Work,
    stores: Stores,
    streamed: u64,
    /// Devices run the phase's workload, and no core.
    devices_only: bool,
    /// The first socket that the workload's threads or devices belong to, how many they go round, and the one whose memory they use if it is
    /// named.
    first_socket: u8,
    around: u16,
    named_memory: Option<u8>,
    /// There is background traffic besides the workload.
    background: bool,
    /// I/O stacks whose devices work beside the cores.
    at_work: u16,
    /// Share of accesses to the other socket's memory, and of those to memory behind CXL, per cent.
    remote: u8,
    expander: u8,
    /// Accesses that are done when the phase's workload is.
    goal: u64,
}

impl Model {
    /// What the program has done so far, if one runs.
    pub fn program(&self) -> Option<ProgramCounts> {
        self.work.program_counts()
    }

    /// Says what stands in the queues of a PMON instance, whose counters may begin to listen.
    pub fn stands<S: SignalSink>(&self, instance: u16, sink: &mut S) {
        self.account.stands(instance, self.now, &self.pool, sink);
    }

    /// Asks where counters listen; to be done whenever counters may have been programmed.
    fn listen<S: SignalSink>(&mut self, sink: &mut S) {
        if self.account.listen(self.now, &self.pool, sink) {
            self.announce_arrivals();
        }
        self.mesh.listen(&self.account, sink);
    }

    /// Runs everything that happens before `until`; afterwards it is `until`.
    pub fn run_until<S: SignalSink>(&mut self, until: Tick, sink: &mut S) {
        self.listen(sink);
        if self.work.start() {
            for subchannel in &mut self.subchannels {
                subchannel.start(&mut self.account, sink);
            }
            self.start_links(sink);
            self.start_systems(sink);
            if self.work.program.is_some() {
                // Cores wake up when they get their first access.
                let asleep = vec![0; usize::from(self.sockets)];
                self.power.start(asleep, self.parameters.active_cores.into(), &mut self.account, sink);
            }
            self.begin_phase(sink);
        }
        loop {
            let (next, memory) = (self.wheel.next_tick(), self.channel_next.tick());
            if next.min(memory) >= until {
                break;
            }
            if next <= memory {
                self.now = next;
                self.wheel.advance_to_next();
                while let Some(packed) = self.wheel.pop() {
                    self.dispatch(packed, sink);
                }
            } else {
                self.now = memory;
                self.wheel.advance(memory);
            }
            self.step_channels(sink);
        }
        self.now = self.now.max(until);
        self.wheel.advance(self.now);
    }

    fn step_channels<S: SignalSink>(&mut self, sink: &mut S) {
        while self.channel_next.tick() == self.now {
            let index = self.channel_next.unit();
            let subchannel = &mut self.subchannels[index];
            let was_down = subchannel.is_down();
            subchannel.step(&mut self.account, sink, &mut self.outcomes);
            self.channel_next.set(index, subchannel.next_tick());
            if subchannel.is_down() != was_down {
                self.watch_power(index, sink);
            }
            if !self.outcomes.is_empty() {
                self.take_outcomes(index, sink);
            }
        }
    }

    /// A subchannel's ranks are all powered down now, or no longer: a channel is while both its subchannels are.
    fn watch_power<S: SignalSink>(&mut self, subchannel: usize, sink: &mut S) {
        let channel = subchannel / 2;
        let down = self.subchannels[2 * channel].is_down() && self.subchannels[2 * channel + 1].is_down();
        if down == self.powered_down[channel] {
            return;
        }
        self.powered_down[channel] = down;
        let channels = address::CHANNELS as usize;
        let (socket, channel) = ((channel / channels) as u16, (channel % channels) as u16);
        let level = level!("imc/POWER_CHANNEL_PPD");
        if down {
            self.account.enter(level, socket, channel, self.now, sink);
        } else {
            self.account.leave(level, socket, channel, self.now, sink);
        }
    }

    #[inline(always)]
    fn dispatch<S: SignalSink>(&mut self, packed: u32, sink: &mut S) {
        let (event, subject) = Event::unpack(packed);
        match event {
            Event::Issue => self.issue(subject, sink),
            Event::Arrive => self.arrive(subject, sink),
            Event::Heard => self.arrival_is_heard(subject, sink),
            Event::Pump => self.pump(subject, sink),
            Event::AtMemory => self.at_memory(subject, sink),
            Event::Answer => self.answer(subject, sink),
            Event::Data => self.data(subject, sink),
            Event::Release => self.release(subject, sink),
            Event::Snooped => self.snooped(subject, sink),
            Event::Linked => self.linked(subject, sink),
            Event::LinkPump => self.link_pump(subject, sink),
            Event::FlitOut => self.flit_out(subject, sink),
            Event::FlitIn => self.flit_in(subject, sink),
            Event::FlowPump => self.flow_pump(subject, sink),
            Event::CreditOut => self.credit_out(subject, sink),
            Event::CreditIn => self.credit_in(subject, sink),
            Event::AgentCredit => self.agent_credit(subject, sink),
            Event::Trained => self.trained(subject, sink),
            Event::Device => self.device(subject, sink),
            Event::Completed => self.completed(subject, sink),
            Event::AtDevice => self.at_device(subject, sink),
            Event::LinkIdle => self.link_idle(subject, sink),
            Event::FromDevice => self.device_answers(subject, sink),
            Event::Phase => self.step_phase(sink),
            Event::Power => self.step_power(subject, sink),
            Event::Errand => self.step_errands(subject, sink),
            Event::SystemMessage => self.system_message(subject, sink),
            Event::SystemServe => self.system_serves(subject, sink),
            Event::SystemSent => self.system_answers(subject, sink),
            Event::HoldGranted => self.hold_granted(subject, sink),
            Event::PeerArrive => self.peer_arrives(subject, sink),
            Event::PeerTaken => self.peer_taken(subject, sink),
            Event::PortCredit => self.port_credit(subject, sink),
            Event::PortData => self.port_data(subject, sink),
            Event::AtExpander => self.at_expander(subject),
            Event::ExpanderStep => self.step_expander(subject),
            Event::ExpanderData => self.expander_data(subject, sink),
            Event::ExpanderSent => self.expander_sent(subject, sink),
            Event::PeerBack => self.peer_back(subject, sink),
        }
    }

    #[inline]
    fn agent_number(&self, socket: u8, cha: u8) -> u16 {
        (u16::from(socket) * address::AGENTS as u16 + u16::from(cha)) % MOST_AGENTS as u16
    }

    #[inline]
    fn agent_of(&self, number: u16) -> (u8, u8) {
        ((number / address::AGENTS as u16) as u8, (number % address::AGENTS as u16) as u8)
    }

    #[inline]
    fn agent(&mut self, socket: u8, cha: u8) -> &mut Agent {
        let number = self.agent_number(socket, cha);
        &mut self.agents[usize::from(number)]
    }

    fn mesh_send<S: SignalSink>(&mut self, socket: u8, ring: Ring, agent: u8, from: u8, to: u8, sink: &mut S) -> Tick {
        self.mesh.send(&mut self.account, socket.into(), ring, agent, from, to, self.now, sink)
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
            && self.agents.iter().all(Agent::is_idle)
            && self.subchannels.iter().all(Subchannel::is_idle)
    }

    /// Keeps every DRAM command in the ledger from now on, for checkers.
    pub fn keep_commands(&mut self) {
        self.account.ledger.keep_commands();
    }

    /// Keeps every change of the agents' levels in the ledger from now on, for the truth of shaped counts.
    pub fn keep_changes(&mut self) {
        self.account.ledger.keep_changes();
        self.announce_arrivals();
    }

    /// The running account. [`Model::snapshot`] is what to ask for figures.
    pub const fn ledger(&self) -> &Ledger {
        &self.account.ledger
    }

    /// The account as of now.
    pub fn snapshot(&self) -> Snapshot {
        self.account.snapshot(self.now, &self.pool)
    }
}
