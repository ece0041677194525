//! What an agent puts into the slice and the snoop filter, what gives way, and what is driven out.

mod warming;

use pericore_engine::Tick;

use super::Model;
use super::agent::{FILTER_EXCLUSIVE, FILTER_SHARED, Filter, Slice};
use super::core::{EXCLUSIVE, MODIFIED, SHARED};
use super::event::Event;
use super::request::{Request, RequestId};
use super::tags::Way;
use pericore_facts::emerald_rapids::{
    AgentFact, FilterVictim, Found, Kind, Readers, Reason, Ring, SnoopCause, Target, Victim,
};

impl Model {
    /// The slice of an agent.
    #[inline]
    pub(super) fn slice(&mut self, socket: u8, cha: u8) -> Slice<'_> {
        let number = self.agent_number(socket, cha);
        self.slices.sized(number, self.slice_size)
    }

    /// The snoop filter of an agent.
    #[inline]
    pub(super) fn filter(&mut self, socket: u8, cha: u8) -> Filter<'_> {
        let number = self.agent_number(socket, cha);
        self.slices.of(number)
    }

    /// Takes every copy of a line out of this socket's caches; true if one was newer than memory.
    pub(super) fn purge<R: Readers>(
        &mut self,
        (socket, cha): (u8, u8),
        line: u32,
        cause: SnoopCause,
        reader: &mut R,
    ) -> bool {
        let mut slice = self.slice(socket, cha);
        let mut modified = false;
        if let Some(way) = slice.find(line) {
            modified |= slice.get(way).state == Found::Modified as u8;
            slice.clear(way);
        }
        let mut filter = self.filter(socket, cha);
        let Some(way) = filter.find(line) else { return modified };
        let entry = filter.get(way);
        filter.clear(way);
        if entry.state == FILTER_EXCLUSIVE {
            self.at_agent(socket, cha, AgentFact::SnoopsCores(cause, false), reader);
            let core = self.core_number(socket, entry.owner);
            return modified | (self.invalidate_owner((socket, cha), core, line, reader) == Some(MODIFIED));
        }
        let mut copies = 0;
        for core in 0..self.parameters.cores {
            let core = self.core_number(socket, core);
            let had = self.invalidate_sharer((socket, cha), core, line, reader);
            copies += u32::from(had.is_some());
            modified |= had == Some(MODIFIED);
        }
        if copies > 0 {
            self.at_agent(socket, cha, AgentFact::SnoopsCores(cause, copies > 1), reader);
        }
        modified
    }

    /// Takes a line away from the core that the filter says has it alone; the state that it had, if it still had one.
    fn invalidate_owner<R: Readers>(&mut self, agent: (u8, u8), core: u16, line: u32, reader: &mut R) -> Option<u8> {
        let had = self.l2s.at(core).snoop(line, true);
        self.send_snoop(agent, core, had == Some(MODIFIED), reader);
        had
    }

    /// The same of one of those that share it. Who has no copy is not snooped.
    pub(super) fn invalidate_sharer<R: Readers>(
        &mut self,
        agent: (u8, u8),
        core: u16,
        line: u32,
        reader: &mut R,
    ) -> Option<u8> {
        let had = self.l2s.at(core).snoop(line, true)?;
        self.send_snoop(agent, core, had == MODIFIED, reader);
        Some(had)
    }

    /// The core that the filter says has a line alone is asked for it, and keeps it.
    pub(super) fn snoop_owner_for_current<R: Readers>(&mut self, (socket, cha): (u8, u8), line: u32, reader: &mut R) {
        let filter = self.filter(socket, cha);
        let Some(owner) = filter.find(line).map(|way| filter.get(way).owner) else { return };
        let core = self.core_number(socket, owner);
        self.send_snoop((socket, cha), core, false, reader);
    }

    /// A snoop goes to a core over the mesh, and its answer to the agent, with what was modified. How long that takes
    /// is for the caller to reckon.
    fn send_snoop<R: Readers>(&mut self, (socket, cha): (u8, u8), core: u16, modified: bool, reader: &mut R) {
        let (agent, tile) = (self.places.cha[usize::from(cha)], self.core_tile(core));
        self.mesh_send(socket, Ring::Invalidate, 0, agent, tile, reader);
        self.mesh_send(socket, Ring::AcknowledgeAgents, 1, tile, agent, reader);
        if modified {
            self.mesh_send(socket, Ring::Block, 1, tile, agent, reader);
        }
    }

    /// Streaming stores, writes of devices past the LLC, and flushes: no copy stays, memory gets what is newer.
    pub(super) fn drive_out<R: Readers>(&mut self, request: RequestId, reader: &mut R) {
        let Request { socket, cha, line, class, .. } = self.pool[request];
        let of_device = class.kind == Kind::DmaWriteAround;
        let cause = if of_device { SnoopCause::External } else { SnoopCause::Core };
        let modified = self.purge((socket, cha), line, cause, reader);
        let stream = matches!(class.kind, Kind::StreamFull | Kind::StreamPart) || of_device;
        if stream {
            if !of_device {
                self.go(request, reader);
            }
            let (here, core) = (self.places.cha[usize::from(cha)], self.requester_tile(request));
            self.mesh_send(socket, Ring::Acknowledge, 0, here, core, reader);
            self.mesh_send(socket, Ring::Block, 1, core, here, reader);
        }
        if !stream && !modified {
            self.acknowledge(request, 0, reader);
            return;
        }
        self.pool[request].writes = true;
        // The pull and its data take a round trip, of which the messages above are the traffic.
        let wait = if stream { self.times.core_snoop } else { self.times.llc_quick };
        self.write_home(request, wait, reader);
    }

    /// Memory gets what is newest of a line, and the copies stay: with several cores shared, else exclusive.
    pub(super) fn clean<R: Readers>(&mut self, request: RequestId, reader: &mut R) {
        let Request { socket, cha, line, .. } = self.pool[request];
        let shared = Self::shared_state(&self.pool[request]);
        let filter = self.filter(socket, cha);
        let holders = filter.find(line).map(|way| filter.get(way));
        let stays = if holders.is_some_and(|entry| entry.state == FILTER_SHARED) { SHARED } else { EXCLUSIVE };
        let mut slice = self.slice(socket, cha);
        let dirty = slice.find(line).filter(|&way| slice.get(way).state == Found::Modified as u8);
        let mut modified = dirty.is_some();
        if let Some(way) = dirty {
            let state = if stays == SHARED { shared } else { Found::Exclusive };
            slice.set(way, state as u8, 0);
        } else if let Some(entry) = holders.filter(|entry| entry.state == FILTER_EXCLUSIVE) {
            self.at_agent(socket, cha, AgentFact::SnoopsCores(SnoopCause::Core, false), reader);
            let core = self.core_number(socket, entry.owner);
            modified = self.l2s.at(core).clean(line);
            self.send_snoop((socket, cha), core, modified, reader);
        }
        if !modified {
            self.acknowledge(request, 0, reader);
            return;
        }
        let written = &mut self.pool[request];
        (written.writes, written.grant) = (true, stays);
        self.write_home(request, self.times.llc_quick, reader);
    }

    /// Tells a requester that what it asked for is done, `wait` later.
    pub(super) fn acknowledge<R: Readers>(&mut self, request: RequestId, wait: Tick, reader: &mut R) {
        let Request { socket, cha, .. } = self.pool[request];
        let (from, to) = (self.places.cha[usize::from(cha)], self.requester_tile(request));
        let at = self.mesh_send(socket, Ring::Acknowledge, 0, from, to, reader);
        self.wheel.schedule(at + wait + self.times.llc_quick, Event::Data.of(request));
    }

    /// A core or I/O stack gives a line up, which its look-up has found in a way of slice or snoop filter.
    pub(super) fn take_back<R: Readers>(&mut self, request: RequestId, way: Option<Way>, reader: &mut R) {
        let Request { socket, cha, line, class, origin, found, .. } = self.pool[request];
        let kind = class.kind;
        let from_device = kind == Kind::DmaWriteback;
        let owner = if from_device { u8::MAX } else { self.core_within(origin) };
        let mut filter = self.filter(socket, cha);
        let in_slice = found.is_in_slice();
        let entry = if in_slice { filter.find(line) } else { way }.map(|way| (way, filter.get(way)));
        let mut owned = from_device;
        if let Some((way, entry)) = entry {
            if entry.state == FILTER_EXCLUSIVE && entry.owner == owner {
                filter.clear(way);
                owned = true;
            }
        } else if kind == Kind::WritebackModified {
            // Its entry has gone to make room: the data still counts.
            owned = true;
        }
        if owned && kind != Kind::WritebackShared {
            let state = if kind == Kind::WritebackClean { Found::Exclusive } else { Found::Modified };
            if in_slice {
                self.llc_insert(socket, cha, line, state, from_device, reader);
            } else {
                self.llc_add(socket, cha, line, state, from_device, reader);
            }
        }
        if !from_device {
            self.go(request, reader);
        }
        self.wheel.schedule(self.now + self.times.llc_quick, Event::Release.of(request));
    }

    /// Puts a line into the slice; what gives way goes to memory if it must.
    pub(super) fn llc_insert<R: Readers>(
        &mut self,
        socket: u8,
        cha: u8,
        line: u32,
        state: Found,
        for_io: bool,
        reader: &mut R,
    ) {
        let mut slice = self.slice(socket, cha);
        if let Some(way) = slice.find(line) {
            let old = slice.get(way).state;
            let modified = old == Found::Modified as u8 || state == Found::Modified;
            slice.set(way, if modified { Found::Modified as u8 } else { state as u8 }, 0);
            slice.touch(way);
            return;
        }
        self.llc_add(socket, cha, line, state, for_io, reader);
    }

    /// The same for a line that is not there.
    fn llc_add<R: Readers>(&mut self, socket: u8, cha: u8, line: u32, state: Found, for_io: bool, reader: &mut R) {
        let Some(old) = self.slice(socket, cha).insert(line, state as u8, 0) else { return };
        let left = Found::in_slice(old.state);
        let (_, home) = super::address::target(old.line);
        let victim = Victim { state: left, for_io, remote: home != socket };
        reader.give_way(socket.into(), cha.into(), victim, self.now);
        if left == Found::Modified {
            self.send_out(socket, cha, old.line, reader);
        }
    }

    /// Notes in the snoop filter who has a line; what gives way is taken from the cores that have it.
    pub(super) fn filter_insert<R: Readers>(
        &mut self,
        socket: u8,
        cha: u8,
        line: u32,
        state: u8,
        core: u8,
        reader: &mut R,
    ) {
        let mut filter = self.filter(socket, cha);
        if let Some(way) = filter.find(line) {
            filter.set(way, state, core);
            filter.touch(way);
            return;
        }
        self.filter_add(socket, cha, line, state, core, reader);
    }

    /// The same for a line that it does not have.
    pub(super) fn filter_add<R: Readers>(
        &mut self,
        socket: u8,
        cha: u8,
        line: u32,
        state: u8,
        core: u8,
        reader: &mut R,
    ) {
        let Some(old) = self.filter(socket, cha).insert(line, state, core) else { return };
        if old.state == FILTER_EXCLUSIVE {
            let core = self.core_number(socket, old.owner);
            let modified = self.invalidate_owner((socket, cha), core, old.line, reader) == Some(MODIFIED);
            let entry = if modified { FilterVictim::Modified } else { FilterVictim::Exclusive };
            self.at_agent(socket, cha, AgentFact::DropsEntry(entry), reader);
            self.at_agent(socket, cha, AgentFact::SnoopsCores(SnoopCause::Evict, false), reader);
            if modified {
                self.send_out(socket, cha, old.line, reader);
            }
            return;
        }
        self.at_agent(socket, cha, AgentFact::DropsEntry(FilterVictim::Shared), reader);
        let mut copies = 0;
        for core in 0..self.parameters.cores {
            let core = self.core_number(socket, core);
            copies += u32::from(self.invalidate_sharer((socket, cha), core, old.line, reader).is_some());
        }
        if copies > 0 {
            self.at_agent(socket, cha, AgentFact::SnoopsCores(SnoopCause::Evict, copies > 1), reader);
        }
    }

    /// A modified line leaves the socket's caches for memory.
    pub(super) fn send_out<R: Readers>(&mut self, socket: u8, cha: u8, line: u32, reader: &mut R) {
        let (target, home) = self.target(line);
        let mut request = Request::new(Kind::Victim, socket, cha, home, 0, line, target);
        request.writes = true;
        let request = self.pool.add(request);
        let number = self.agent_number(socket, cha);
        let agent = &mut self.agents[usize::from(number)];
        let room = home == socket || !agent.is_short(Reason::Writeback);
        if room && agent.can_start(line) {
            self.start_victim(request, reader);
        } else {
            agent.victims.push_back(request, &mut self.pool);
            self.next_victim(socket, cha, reader);
        }
    }

    pub(super) fn start_victim<R: Readers>(&mut self, request: RequestId, reader: &mut R) {
        let Request { socket, cha, line, class, .. } = self.pool[request];
        let slot = self.agent(socket, cha).take_entry(line, request);
        (self.pool[request].slot, self.pool[request].listed) = (slot, self.now);
        reader.tor_in(socket.into(), cha.into(), class, self.now);
        if class.target == Target::Device {
            self.wheel.schedule(self.now + self.times.llc_quick, Event::Release.of(request));
            return;
        }
        self.write_home(request, self.times.llc_quick, reader);
    }
}
