//! The traffic model of Emerald Rapids: cores, caching and home agents on a mesh of two dies, DDR5 memory, socket links, I/O stacks.
//!
//! A request's way: thread, L2, mesh, agent (ingress queue, look-up in LLC and snoop filter, table of requests), mesh, memory
//! controller, and back, its data straight to the core. Each part tells what happens when it happens, to the signals and to the
//! ledger. Nothing is ticked: every part sleeps until its next possible action, and what is idle costs nothing.

mod address;
mod agent;
mod build;
mod caching;
mod core;
mod device;
mod errands;
mod event;
mod expander;
mod foresight;
mod issue;
mod layout;
mod link;
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
mod remote;
mod request;
mod shortage;
mod subchannel;
mod system;
mod tags;
#[cfg(test)]
mod tests;
mod times;

use core::{Aimed, AllL2s, Core, Thread};

use address::Map;
use agent::{Agent, AllSlices};
use device::Stack;
use errands::Errands;
use event::Event;
use expander::device::Expander;
use layout::Places;
use link::Links;
use memory::credits::{Credits, PrefetchCam};
use mesh::Mesh;
use peer::Peers;
use pericore_dram::Outcome;
use pericore_engine::{Agenda, Tick, Wheel};
use port::Port;
use power::Power;
use remote::Directory;
use request::{Pool, Request};
use subchannel::Subchannel;
use system::System;
use tags::sizes::TagSize;
use times::Times;

pub use parameters::part::{PartError, add as add_part, find as find_part};
pub use parameters::{Parameters, SETTINGS};
use pericore_facts::emerald_rapids::{Clocks, Readers, Reason, Ring, UnitInstance};
use pericore_parts::lanes::Lanes;
use pericore_parts::program::ByFunction;
use pericore_parts::translation::Translation;
use pericore_parts::work::{Work, Worker};
use pericore_workload::{MemoryConditions, Workload};

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
    /// One by one, but to whole lines: reads for ownership can be converted (SpecI2M).
    Whole,
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
    /// Looks the pages of what runs up, if it has any.
    translation: Translation<Aimed>,
    agents: Box<[Agent; MOST_AGENTS]>,
    slices: AllSlices,
    slice_size: TagSize,
    mesh: Mesh,
    credits: Vec<Credits>,
    /// By channel.
    prefetch_cams: Vec<PrefetchCam>,
    subchannels: Vec<Subchannel>,
    /// When each subchannel acts next.
    channel_next: Agenda<{ MOST_SUBCHANNELS / 4 }>,
    /// What the phase asks of the memory channels, and what those of each socket do.
    memory: MemoryConditions,
    memory_set: [MemoryConditions; 2],
    /// Lines that memory has read and written for each socket's requests.
    lines_moved: [u64; 2],
    /// Bits of the vectors that the phase's threads work with.
    vectors: u16,
    outcomes: Vec<Outcome>,
    power: Power,
    links: Links,
    directories: Vec<Directory>,
    stacks: Vec<Stack>,
    /// By socket, what devices read and what they write.
    lanes: Vec<[Lanes; 2]>,
    errands: Errands,
    systems: Vec<System>,
    peers: Peers,
    ports: Vec<Port>,
    expanders: Vec<Expander>,
    /// Lines that devices have been given to write.
    owned_lines: u32,
    /// By agent: that a core's request comes to it is a fact at once.
    announces: [bool; MOST_AGENTS],
    work: Work,
    stores: Stores,
    /// Devices run the phase's workload, and no core.
    devices_only: bool,
    /// The first socket that the workload's threads or devices belong to, how many they go round, and the one whose memory they use if it is
    /// named.
    first_socket: u8,
    around: u16,
    /// The core of each socket that the first of its threads runs on.
    first_core: u16,
    named_memory: Option<u8>,
    /// Threads also do what a system does besides its workload.
    system: bool,
    /// The prefetcher follows loads and stores apart.
    stores_apart: bool,
    /// The workload whose earlier passes the caches and directories know.
    warmed_by: Option<Workload>,
    /// I/O stacks whose devices work beside the cores.
    at_work: u16,
    /// Share of accesses to the other socket's memory, and of those to memory behind CXL, per cent.
    remote: u8,
    expander: u8,
    /// Accesses that are done when the phase's workload is.
    goal: u64,
}

impl Model {
    /// Cores' requests in the ingress queue of an agent.
    pub fn in_ingress(&self, (socket, cha): UnitInstance) -> u64 {
        let here = |request: &&Request| (request.socket.into(), request.cha.into()) == (socket, cha);
        self.pool.in_ingress(self.now).filter(here).count() as u64
    }

    /// Of all agents: whose, and when each came.
    pub fn all_in_ingress(&self) -> impl Iterator<Item = (u16, u16, Tick)> {
        self.pool.in_ingress(self.now).map(|request| (request.socket.into(), request.cha.into(), request.came))
    }

    /// Runs everything that happens before `until`; afterwards it is `until`.
    pub fn run_until<R: Readers>(&mut self, until: Tick, reader: &mut R) {
        if self.work.start() {
            for subchannel in &mut self.subchannels {
                subchannel.start(reader);
            }
            self.start_links(reader);
            self.start_systems(reader);
            if self.work.program.is_some() {
                // Cores wake up when they get their first access.
                let asleep = vec![0; usize::from(self.sockets)];
                self.power.start(asleep, self.parameters.active_cores.into(), reader);
            }
            self.begin_phase(reader);
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
                    self.dispatch(packed, reader);
                }
            } else {
                self.now = memory;
                self.wheel.advance(memory);
            }
            self.step_channels(reader);
        }
        self.now = self.now.max(until);
        self.wheel.advance(self.now);
    }

    fn step_channels<R: Readers>(&mut self, reader: &mut R) {
        while self.channel_next.tick() == self.now {
            let index = self.channel_next.unit();
            let subchannel = &mut self.subchannels[index];
            subchannel.step(reader, &mut self.outcomes);
            self.channel_next.set(index, subchannel.next_tick());
            if !self.outcomes.is_empty() {
                self.take_outcomes(index, reader);
            }
        }
    }

    #[inline(always)]
    fn dispatch<R: Readers>(&mut self, packed: u32, reader: &mut R) {
        let (event, subject) = Event::unpack(packed);
        match event {
            Event::Issue => self.issue(subject, reader),
            Event::Arrive => self.arrive(subject, reader),
            Event::Heard => self.arrival_is_heard(subject, reader),
            Event::Pump => self.pump(subject, reader),
            Event::AtMemory => self.at_memory(subject, reader),
            Event::Ahead => self.prefetch_comes(subject, reader),
            Event::AheadTooLate => self.prefetch_comes_late(subject, reader),
            Event::Answer => self.answer(subject, reader),
            Event::Data => self.data(subject, reader),
            Event::Release => self.release(subject, reader),
            Event::Snooped => self.snooped(subject, reader),
            Event::Linked => self.linked(subject, reader),
            Event::LinkPump => self.link_pump(subject, reader),
            Event::FlitOut => self.flit_out(subject, reader),
            Event::FlitIn => self.flit_in(subject, reader),
            Event::FlowPump => self.flow_pump(subject, reader),
            Event::CreditOut => self.credit_out(subject, reader),
            Event::CreditIn => self.credit_in(subject, reader),
            Event::AcknowledgeRoom => self.has_room(subject, Reason::Acknowledge, reader),
            Event::InvalidateRoom => self.has_room(subject, Reason::Invalidate, reader),
            Event::AgentCredit => self.agent_credit(subject, reader),
            Event::Trained => self.trained(subject, reader),
            Event::Device => self.device(subject, reader),
            Event::Completed => self.completed(subject, reader),
            Event::AtDevice => self.at_device(subject, reader),
            Event::LinkIdle => self.link_idle(subject, reader),
            Event::PastPort => self.past_port(subject, reader),
            Event::FromDevice => self.device_responds(subject, reader),
            Event::Phase => self.step_phase(reader),
            Event::Power => self.step_power(subject, reader),
            Event::Errand => self.step_errands(subject, reader),
            Event::SystemMessage => self.system_message(subject, reader),
            Event::SystemServe => self.system_serves(subject, reader),
            Event::SystemSent => self.system_answers(subject, reader),
            Event::HoldGranted => self.hold_granted(subject, reader),
            Event::PeerArrive => self.peer_arrives(subject, reader),
            Event::PeerTaken => self.peer_taken(subject, reader),
            Event::PortCredit => self.port_credit(subject, reader),
            Event::PortData => self.port_data(subject, reader),
            Event::AtExpander => self.at_expander(subject),
            Event::ExpanderStep => self.step_expander(subject),
            Event::ExpanderData => self.expander_data(subject, reader),
            Event::ExpanderSent => self.expander_sent(subject, reader),
            Event::PeerBack => self.peer_back(subject, reader),
            Event::Walked => self.resume(subject, None, reader),
            Event::Limbo => self.limbo(subject, reader),
            Event::Completion => self.completion(subject, reader),
            Event::CreditCorrected => self.correct_credits(subject, reader),
            Event::SlotDue => self.slot_due(subject, reader),
            Event::Widened => self.widened(subject, reader),
            Event::WritePull => self.fetch_writeback(subject, reader),
            Event::Fetched => self.writeback_fetched(subject, reader),
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

    fn mesh_send<R: Readers>(&mut self, socket: u8, ring: Ring, agent: u8, from: u8, to: u8, reader: &mut R) -> Tick {
        self.mesh.send(socket.into(), ring, agent, from, to, self.now, reader)
    }

    /// Cores of a socket.
    pub const fn active_cores(&self) -> u8 {
        self.parameters.active_cores
    }

    /// The clocks.
    pub const fn clocks(&self) -> &Clocks {
        &self.clocks
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
            && self.peers.is_workload_done()
            && self.agents.iter().all(Agent::is_idle)
            && self.subchannels.iter().all(Subchannel::is_idle)
    }

    fn open_window(&mut self) {
        ByFunction::open_window(self);
    }

    fn go_on(&mut self) {
        self.wheel.schedule(self.now, Event::Phase.of(0));
    }
}
