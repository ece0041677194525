//! Between two sockets: directory, requests, snoops and writebacks of the other socket.
//!
//! A request for the other socket's memory keeps its entry at its own agent and has a child at the agent of the line's
//! home, which reads memory, asks the requester's socket or its own caches first if the directory says so, and answers
//! over the link.

use pericore_engine::Tick;

use super::Model;
use super::address;
use super::agent::FILTER_SHARED;
use super::core::{EXCLUSIVE, MODIFIED, SHARED};
use super::event::Event;
use super::link::Packet;
use super::request::{NO_REQUEST, Request, RequestId};
use pericore_facts::emerald_rapids::{
    AgentFact, DirectoryState, Fact, Found, HomeRequest, Kind, LinkMessage, MemoryUnitFact, Queue, Readers, Reason,
    Ring, SnoopCause, SnoopReply, Taker,
};
use pericore_parts::host::{large_pages, prefetch};

/// States of the directory bits that memory keeps with each line: no other socket has it, others share it, another may
/// own it.
pub const NOWHERE: u8 = 0;
const ELSEWHERE_SHARED: u8 = 1;
pub const ELSEWHERE: u8 = 2;

/// A state of the bits, as a fact.
const fn known(state: u8) -> DirectoryState {
    match state {
        NOWHERE => DirectoryState::Nowhere,
        ELSEWHERE_SHARED => DirectoryState::Shared,
        _ => DirectoryState::Any,
    }
}

/// Directory bits of all lines of a socket's memory, two for each line: 0 for a line that they were never set of, else
/// one more than the state. The host gives memory only to what is written.
#[derive(Debug)]
pub struct Directory {
    bits: Vec<u64>,
}

impl Directory {
    /// Nothing is set. A machine of one socket needs no bits.
    pub fn new(sockets: u8) -> Self {
        let words = if sockets > 1 { 1 << (address::REGION_BITS - 5) } else { 0 };
        let bits = vec![0; words];
        large_pages(&bits);
        Self { bits }
    }

    /// The state of a line, if its bits were set.
    fn get(&self, line: u32) -> Option<u8> {
        let line = line & ((1 << address::REGION_BITS) - 1);
        let word = self.bits.get(line as usize / 32)?;
        ((word >> (line % 32 * 2) & 3) as u8).checked_sub(1)
    }

    /// Tells the host that a line's bits are about to be looked at.
    pub fn prefetch(&self, line: u32) {
        let line = line & ((1 << address::REGION_BITS) - 1);
        if let Some(word) = self.bits.get(line as usize / 32) {
            prefetch(word);
        }
    }

    /// Changes a line's bits.
    pub fn set(&mut self, line: u32, state: u8) {
        let line = line & ((1 << address::REGION_BITS) - 1);
        if let Some(word) = self.bits.get_mut(line as usize / 32) {
            *word = *word & !(3 << (line % 32 * 2)) | u64::from(state + 1) << (line % 32 * 2);
        }
    }
}

impl Model {
    /// What a line's directory bits say.
    fn directory_state(&self, home: u8, line: u32) -> u8 {
        self.directories[usize::from(home)].get(line).unwrap_or_else(|| self.state_left(home, line))
    }

    /// What earlier passes of a warmed workload left in the bits of a line that no cache holds: its last reader, if
    /// that was the other socket, gave it up without a word; its last writer wrote it back, and the bits with it.
    fn state_left(&self, home: u8, line: u32) -> u8 {
        let Some(workload) = self.warmed_by.as_ref().filter(|_| self.sockets > 1) else { return NOWHERE };
        let within = line & ((1 << address::REGION_BITS) - 1);
        if self.devices_only || address::is_of_share(within, self.expander) {
            return NOWHERE;
        }
        let is_others = match self.named_memory {
            Some(_) => self.around == 1 && self.first_socket != home,
            None => address::is_remote(within, self.remote) && (self.around > 1 || self.first_socket != home),
        };
        let is_read = workload.stored_last(u64::from(within) << address::LINE_SHIFT) == Some(false);
        if is_others && is_read { ELSEWHERE } else { NOWHERE }
    }

    /// The directory's state of a line changes. Its bits lie with the line's ECC bits: they go with what a request
    /// writes (section 2.2.6, `DIR_UPDATE`, does not count these), and for a read the line itself is written again.
    fn update_directory<R: Readers>(&mut self, request: RequestId, to: u8, reader: &mut R) {
        let Request { socket, cha, line, class, found, parent, writes, .. } = self.pool[request];
        let place = self.map.place(line);
        let from = self.directory_state(socket, line);
        if from == to {
            return;
        }
        self.directories[usize::from(socket)].set(line, to);
        if writes {
            return;
        }
        let states = (known(from), known(to));
        // A claim of the other socket gets no data (Table 2-82).
        let had = parent != NO_REQUEST && found != Found::Nothing && class.kind != Kind::RemoteClaim;
        let unit = u16::from(place.channel) / 2;
        reader.read(self.now, Fact::ChangesDirectory((socket.into(), cha.into()), unit, states, had));
        let mut write = Request::new(Kind::Victim, socket, cha, socket, 0, line, class.target);
        (write.place, write.writes, write.only_bits) = (place, true, true);
        let write = self.pool.add(write);
        // Mesh and memory meet where the line is: nothing goes over the mesh for it.
        self.at_memory(write, reader);
    }

    /// Looks at the directory bits that came with a line. True if another socket is asked first.
    pub(super) fn consult_directory<R: Readers>(&mut self, request: RequestId, unit: u16, reader: &mut R) -> bool {
        let Request { socket, cha, line, class, parent, .. } = self.pool[request];
        let (at, at_cha, now) = (u16::from(socket), u16::from(cha), self.now);
        let state = self.directory_state(socket, line);
        let owns = class.kind.owns();
        // The requester's own socket need not be asked.
        let queries = parent == NO_REQUEST && (state == ELSEWHERE || (state == ELSEWHERE_SHARED && owns));
        reader.read(now, Fact::LooksInDirectory((at, at_cha), unit, known(state), queries));
        if queries && !class.kind.needs_no_data() && !class.kind.keeps_data_at_agent() {
            reader.read(now, Fact::MemoryUnit((at, unit), MemoryUnitFact::NotDirect));
        }
        if parent != NO_REQUEST {
            let gives = if owns || self.pool[request].grant != SHARED { ELSEWHERE } else { ELSEWHERE_SHARED };
            let gives = if class.kind == Kind::RemoteCurrent { state } else { gives };
            self.update_directory(request, gives, reader);
            return false;
        }
        if !queries {
            if state == ELSEWHERE_SHARED {
                self.share(request, reader);
            }
            return false;
        }
        let leaves = if owns { NOWHERE } else { ELSEWHERE_SHARED };
        self.update_directory(request, leaves, reader);
        let (kind, message) = if owns {
            (Kind::SnoopOwnership, LinkMessage::SnoopOwn)
        } else {
            (Kind::SnoopData, LinkMessage::SnoopData)
        };
        self.send_child(request, kind, Packet::new(message), 0, reader);
        true
    }

    /// A core that reads a line of its socket's memory does not get it alone: the other socket has it, too.
    fn share<R: Readers>(&mut self, request: RequestId, reader: &mut R) {
        let Request { socket, cha, line, origin, grant, .. } = self.pool[request];
        if grant == EXCLUSIVE {
            self.pool[request].grant = SHARED;
            self.filter_insert(socket, cha, line, FILTER_SHARED, self.core_within(origin), reader);
            self.keep_shared(request, reader);
        }
    }

    /// Sends a child of a request to the other socket's agent.
    fn send_child<R: Readers>(&mut self, request: RequestId, kind: Kind, packet: Packet, wait: Tick, reader: &mut R) {
        let Request { socket, cha, home, line, class, isochronous, partial, writes, grant, .. } = self.pool[request];
        let mut child = Request::new(kind, 1 - socket, cha, home, 0, line, class.target);
        child.parent = request;
        child.partial = partial;
        child.isochronous = isochronous;
        child.writes = writes;
        child.grant = grant;
        self.foresee_arrival(&child, reader);
        let child = self.pool.add(child);
        let from = self.places.cha[usize::from(cha)];
        let to = self.places.cha[usize::from(cha)];
        self.send_packet(socket, cha, packet, from, to, wait, Event::Arrive.of(child), reader);
    }

    /// Asks the other socket, the line's home.
    pub(super) fn ask_remote<R: Readers>(&mut self, request: RequestId, wait: Tick, claim: bool, reader: &mut R) {
        let Request { class, grant, .. } = self.pool[request];
        let (kind, message) = match class.kind {
            Kind::DmaRead => (Kind::RemoteCurrent, LinkMessage::ReadCurrent),
            _ if claim => (Kind::RemoteClaim, LinkMessage::Claim),
            Kind::CodeRead | Kind::CodePrefetch | Kind::LlcCode => (Kind::RemoteCode, LinkMessage::ReadCode),
            kind if kind.owns() => (Kind::RemoteOwnership, LinkMessage::ReadOwn),
            _ if grant == SHARED => (Kind::RemoteCode, LinkMessage::ReadCode),
            _ => (Kind::RemoteData, LinkMessage::ReadData),
        };
        let Request { socket, cha, .. } = self.pool[request];
        self.spend(socket, cha, Reason::Request);
        self.take_home_entries(socket, cha, kind);
        let packet = Packet::new(message).on(Reason::Request);
        self.send_child(request, kind, packet, wait + self.times.llc_miss, reader);
    }

    /// Writes a line to the other socket's memory.
    pub(super) fn write_remote<R: Readers>(&mut self, request: RequestId, wait: Tick, reader: &mut R) {
        let Request { socket, cha, class, grant, .. } = self.pool[request];
        let (kind, message) = match class.kind {
            Kind::Victim => (Kind::RemoteWriteback, LinkMessage::Writeback),
            Kind::Clean if grant == SHARED => (Kind::RemoteWritebackShared, LinkMessage::WritebackShared),
            Kind::Clean => (Kind::RemoteWritebackExclusive, LinkMessage::WritebackExclusive),
            _ => (Kind::RemoteWrite, LinkMessage::Write),
        };
        self.spend(socket, cha, Reason::Writeback);
        self.take_home_entries(socket, cha, kind);
        self.send_child(request, kind, Packet::new(message).on(Reason::Writeback), wait, reader);
    }

    /// A request or snoop of the other socket, looked up at its agent here.
    pub(super) fn serve_remote<R: Readers>(&mut self, request: RequestId, reader: &mut R) {
        let Request { socket, cha, class, .. } = self.pool[request];
        let (at, at_cha, now) = (u16::from(socket), u16::from(cha), self.now);
        if class.kind.queue() == Queue::RemoteWriteback || class.kind == Kind::RemoteClaim {
            // The credit for the response is kept until that has gone.
            self.spend(socket, cha, Reason::Response);
        }
        match class.kind.queue() {
            Queue::Snoop => self.serve_snoop(request, reader),
            Queue::RemoteWriteback => {
                reader.read(now, Fact::Requested((at, at_cha), HomeRequest::Write, true));
                let stays = match class.kind {
                    Kind::RemoteWritebackExclusive => ELSEWHERE,
                    Kind::RemoteWritebackShared => ELSEWHERE_SHARED,
                    _ => NOWHERE,
                };
                self.update_directory(request, stays, reader);
                self.write_memory(request, self.times.llc_quick, reader);
            }
            _ => self.serve_read(request, reader),
        }
    }

    fn serve_read<R: Readers>(&mut self, request: RequestId, reader: &mut R) {
        let Request { socket, cha, line, class, found, .. } = self.pool[request];
        let (at, at_cha, now) = (u16::from(socket), u16::from(cha), self.now);
        let owns = class.kind.owns();
        let requested = if class.kind == Kind::RemoteClaim { HomeRequest::Claim } else { HomeRequest::Read };
        if found == Found::Nothing {
            reader.read(now, Fact::Requested((at, at_cha), requested, true));
            self.read_memory(request, 0, reader);
            return;
        }
        // Somebody in this socket has it: they give it up, or share it.
        let modified = if class.kind != Kind::RemoteCurrent {
            self.purge((socket, cha), line, SnoopCause::Remote, reader)
        } else {
            if found == Found::FilterExclusive {
                self.at_agent(socket, cha, AgentFact::SnoopsCores(SnoopCause::Remote, false), reader);
                self.snoop_owner_for_current((socket, cha), line, reader);
            }
            false
        };
        self.pool[request].grant = if modified || owns { MODIFIED } else { EXCLUSIVE };
        reader.read(now, Fact::Requested((at, at_cha), requested, true));
        self.read_memory(request, self.times.core_snoop, reader);
    }

    /// The home answers the other socket: what it asked for is on its way.
    pub(super) fn answer_remote<R: Readers>(&mut self, request: RequestId, reader: &mut R) {
        let Request { socket, cha, place, class, parent, writes, .. } = self.pool[request];
        let (at, now) = (u16::from(socket), self.now);
        let unit = u16::from(place.channel) / 2;
        let here = self.places.m2m[usize::from(unit)];
        let agent = self.places.cha[usize::from(cha)];
        let port = place.channel % 2;
        if writes || class.kind == Kind::RemoteClaim {
            let packet = Packet::new(LinkMessage::Completion).on(Reason::Response).through(port);
            let packet = packet.for_taker(self.taker_of(parent));
            let to = self.asker_tile(parent);
            let released = writes && self.pool[parent].kind() == Kind::Victim;
            let then = if released { Event::Release } else { Event::Data };
            self.send_packet(socket, cha, packet, here, to, 0, then.of(parent), reader);
            if writes {
                return;
            }
        } else if self.agent(socket, cha).is_short(Reason::Data) {
            // It goes to its agent, and from there when there is room at the link.
            reader.read(now, Fact::MemoryUnit((at, unit), MemoryUnitFact::SendsAway(false)));
            let arrives = self.mesh_send(socket, Ring::Block, port, here, agent, reader);
            self.hold_answer(request, arrives, reader);
            return;
        } else {
            // Past its agent, and the link tells memory that it has gone.
            reader.read(now, Fact::MemoryUnit((at, unit), MemoryUnitFact::SendsAway(true)));
            self.send_answer(request, (here, port), 0, true, reader);
        }
        let told = self.mesh_send(socket, Ring::AcknowledgeAgents, port, here, agent, reader);
        self.wheel.schedule(told, Event::Release.of(request));
    }

    /// Who takes what the other socket asked for, or hears that it is done, if it is no core.
    fn taker_of(&self, parent: RequestId) -> Option<Taker> {
        let asker = &self.pool[parent];
        match asker.kind() {
            kind if kind.keeps_data_at_agent() || kind == Kind::Victim => Some(Taker::Agent),
            kind if kind.queue() == Queue::Io => Some(Taker::Stack(asker.origin as u8)),
            _ => None,
        }
    }

    /// Where the answer to a request of the other socket goes.
    fn asker_tile(&self, parent: RequestId) -> u8 {
        let asker = &self.pool[parent];
        if asker.kind().keeps_data_at_agent() || asker.kind() == Kind::Victim {
            self.places.cha[usize::from(asker.cha)]
        } else {
            self.requester_tile(parent)
        }
    }

    /// Sends the data that the other socket asked for from a tile and its port to the mesh, on a credit of the agent;
    /// `wait` is how long it takes to be there. What goes there past its agent is direct.
    pub(super) fn send_answer<R: Readers>(
        &mut self,
        request: RequestId,
        (from, port): (u8, u8),
        wait: Tick,
        is_direct: bool,
        reader: &mut R,
    ) {
        let Request { socket, cha, class, parent, grant, .. } = self.pool[request];
        let message = match class.kind {
            Kind::RemoteCode | Kind::RemoteCurrent => LinkMessage::SharedDone,
            kind if grant == MODIFIED && !kind.owns() => LinkMessage::ModifiedDone,
            _ => LinkMessage::ExclusiveDone,
        };
        self.spend(socket, cha, Reason::Data);
        let packet = Packet::new(message).on(Reason::Data).through(port).for_taker(self.taker_of(parent));
        let packet = if is_direct { packet.past_agent(from) } else { packet };
        let to = self.asker_tile(parent);
        self.send_packet(socket, cha, packet, from, to, wait, Event::Data.of(parent), reader);
    }

    /// Snoops do not wait: a line that this socket has given to a core and that has not come yet is used once there,
    /// and not kept. True if it will be written.
    fn take_on_its_way(&mut self, socket: u8, cha: u8, line: u32) -> bool {
        let number = self.agent_number(socket, cha);
        let mut of_cores = self.agents[usize::from(number)].all_for(line);
        let Some(coming) = of_cores.find(|&request| self.pool[request].kind().queue() == Queue::Core) else {
            return false;
        };
        let request = &mut self.pool[coming];
        let granted = std::mem::take(&mut request.grant);
        // What misses has nothing yet but its place in the filter.
        request.class.hit && granted == MODIFIED
    }

    /// A snoop of the line's home.
    fn serve_snoop<R: Readers>(&mut self, request: RequestId, reader: &mut R) {
        let Request { socket, cha, line, class, found, parent, .. } = self.pool[request];
        let now = self.now;
        let asker = self.pool[parent];
        let owns = class.kind.owns();
        let had = found != Found::Nothing;
        let is_shared = matches!(found, Found::Shared | Found::FilterShared);
        let on_its_way = self.take_on_its_way(socket, cha, line);
        let modified = had && self.purge((socket, cha), line, SnoopCause::External, reader) || on_its_way;
        if had && !owns {
            // A shared copy stays.
            self.llc_insert(socket, cha, line, Found::Shared, false, reader);
            self.share(parent, reader);
        }
        let (reply, message) = match (had, owns, modified) {
            // A shared copy is given up, and memory's data is as good (Table 2-123).
            (true, true, false) if is_shared => (SnoopReply::Nothing, LinkMessage::Nothing),
            (false, _, _) => (SnoopReply::Nothing, LinkMessage::Nothing),
            (true, true, _) => (SnoopReply::Forwards, LinkMessage::Modified),
            (true, false, true) => (SnoopReply::WritesBack, LinkMessage::SharedWritten),
            (true, false, false) => (SnoopReply::Shares, LinkMessage::Exclusive),
        };
        self.at_agent(asker.socket, asker.cha, AgentFact::Answered(reply), reader);
        if had && reply == SnoopReply::Nothing {
            self.at_agent(socket, cha, AgentFact::DropsSilently, reader);
        }
        let here = self.places.cha[usize::from(cha)];
        let to = if asker.kind().keeps_data_at_agent() {
            self.places.cha[usize::from(asker.cha)]
        } else {
            self.requester_tile(parent)
        };
        let wait = if had { self.times.core_snoop } else { 0 };
        let credit = if reply == SnoopReply::Nothing { Reason::Response } else { Reason::Data };
        self.spend(socket, cha, credit);
        let taker = if credit == Reason::Data { self.taker_of(parent) } else { None };
        let packet = Packet::new(message).on(credit).for_taker(taker);
        self.send_packet(socket, cha, packet, here, to, wait, Event::Data.of(parent), reader);
        self.wheel.schedule(now + wait.max(self.times.llc_quick), Event::Release.of(request));
    }
}
