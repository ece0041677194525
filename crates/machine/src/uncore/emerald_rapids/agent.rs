//! The caching and home agent: ingress, pipeline, table of requests, LLC and snoop filter.

use super::Model;
use super::core::{EXCLUSIVE, MODIFIED, SHARED};
use super::event::Event;
use super::request::{NO_REQUEST, Request, RequestId};
use super::tags::Tags;
use crate::engine::NEVER;
use crate::ledger::emerald_rapids::deeds::{deed, level};
use crate::ledger::emerald_rapids::{Found, Kind, Lookup, Queue, Ring, Target, Victim};
use crate::signal::{SignalSink, Tick};
use crate::uncore::search::matches;
use std::collections::VecDeque;

/// Sets of a slice, as a power of two: 5 MB of 20 ways (vendor's product data: 320 MB in 64 slices; ways are an assumption).
const LLC_SET_BITS: u32 = 12;
/// Sets of a slice's snoop filter: twice the lines of an L2 (assumption).
const FILTER_SET_BITS: u32 = 12;
const FREE: u32 = u32::MAX;
/// States of a snoop filter entry.
const FILTER_SHARED: u8 = Found::FilterShared as u8;
const FILTER_EXCLUSIVE: u8 = Found::FilterExclusive as u8;

/// An agent with its slice.
#[derive(Debug)]
pub struct Agent {
    pub llc: Tags<20>,
    pub filter: Tags<16>,
    /// Requests of this socket in order of arrival, with the tick from which they may be looked up. What was turned away because
    /// its line was busy comes back to the front; it has counted as queued all the while.
    ingress: VecDeque<(Tick, RequestId)>,
    /// Requests and snoops of the other socket.
    outside: VecDeque<(Tick, RequestId)>,
    /// What must go to memory and waits for an entry of the table of requests.
    victims: VecDeque<RequestId>,
    lines: [u32; 32],
    owners: [RequestId; 32],
    used: u32,
    all: u32,
    pipeline_free: Tick,
    /// Tick of the pipeline event that counts; others are stale.
    pump_at: Tick,
}

impl Agent {
    /// An idle agent with an empty slice.
    pub fn new(tor_entries: u8) -> Self {
        Self {
            llc: Tags::new(LLC_SET_BITS),
            filter: Tags::new(FILTER_SET_BITS),
            ingress: VecDeque::with_capacity(64),
            outside: VecDeque::with_capacity(64),
            victims: VecDeque::with_capacity(64),
            lines: [FREE; 32],
            owners: [0; 32],
            used: 0,
            all: u32::MAX >> (32 - u32::from(tor_entries)),
            pipeline_free: 0,
            pump_at: NEVER,
        }
    }

    /// True if there are more free entries than `kept` for others.
    const fn has_entry(&self, kept: u32) -> bool {
        (self.all & !self.used).count_ones() > kept
    }

    fn take_entry(&mut self, line: u32, owner: RequestId) -> u8 {
        let slot = (self.all & !self.used).trailing_zeros() as u8;
        self.lines[usize::from(slot)] = line;
        self.owners[usize::from(slot)] = owner;
        self.used |= 1 << slot;
        slot
    }

    fn busy(&self, line: u32) -> Option<RequestId> {
        let found = matches(&self.lines, u32::MAX, line);
        (found != 0).then(|| self.owners[found.trailing_zeros() as usize])
    }

    /// True if nothing waits anywhere.
    pub fn is_idle(&self) -> bool {
        self.used == 0 && self.ingress.is_empty() && self.outside.is_empty() && self.victims.is_empty()
    }
}

/// Entries of the table that requests of this socket leave to others, and that the other socket's reads leave to snoops and
/// writebacks: so that no two sockets wait for each other's tables.
const KEPT: u32 = 4;
const KEPT_BY_REMOTE: u32 = 2;

/// The level of a queue's entries. Of the queue of I/O stacks only the arrivals are counted.
const fn queued(queue: Queue) -> Option<u16> {
    match queue {
        Queue::Core | Queue::Evict => Some(level("cha/RxC_INSERTS.IRQ")),
        Queue::Io => None,
        Queue::Snoop => Some(level("cha/RxC_INSERTS.IPQ")),
        Queue::Remote => Some(level("cha/RxC_INSERTS.RRQ")),
        Queue::RemoteWriteback => Some(level("cha/RxC_INSERTS.WBQ")),
    }
}

impl Model {
    /// A request arrives in its agent's ingress queue.
    pub(super) fn arrive<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Request { socket, cha, class, .. } = self.pool[request];
        match queued(class.kind.queue()) {
            Some(queue) => self.account.enter(queue, socket.into(), cha.into(), self.now, sink),
            None => self.account.deed(deed("cha/RxC_INSERTS.PRQ"), socket.into(), cha.into(), self.now, sink),
        }
        let ready = self.now + self.times.ingress_latency;
        let agent = self.agent(socket, cha);
        let local = matches!(class.kind.queue(), Queue::Core | Queue::Io);
        if local { &mut agent.ingress } else { &mut agent.outside }.push_back((ready, request));
        self.wake_pipeline(socket, cha, ready);
    }

    fn wake_pipeline(&mut self, socket: u8, cha: u8, at: Tick) {
        let number = self.agent_number(socket, cha);
        let now = self.now;
        let agent = &mut self.agents[usize::from(number)];
        let at = at.max(agent.pipeline_free).max(now);
        if at < agent.pump_at {
            agent.pump_at = at;
            self.wheel.schedule(at, Event::Pump.of(number));
        }
    }

    /// The pipeline takes its next request.
    pub(super) fn pump<S: SignalSink>(&mut self, number: u16, sink: &mut S) {
        let (now, uclk) = (self.now, self.times.uclk);
        let agent = &mut self.agents[usize::from(number)];
        if agent.pump_at != now {
            return;
        }
        agent.pump_at = NEVER;
        let outside = agent.outside.front().filter(|(ready, _)| *ready <= now).copied();
        let local = agent.ingress.front().filter(|(ready, _)| *ready <= now).copied();
        let kept = if self.sockets > 1 { KEPT } else { 0 };
        let enough = |request: RequestId| match self.pool[request].kind().queue() {
            Queue::Remote => agent.has_entry(KEPT_BY_REMOTE),
            Queue::Snoop | Queue::RemoteWriteback => agent.has_entry(0),
            _ => agent.has_entry(kept),
        };
        // Woken when an entry is given back, if none is free.
        let request = if let Some((_, request)) = outside.filter(|&(_, request)| enough(request)) {
            agent.outside.pop_front();
            Some(request)
        } else if let Some((_, request)) = local.filter(|&(_, request)| enough(request)) {
            agent.ingress.pop_front();
            Some(request)
        } else {
            None
        };
        if let Some(request) = request {
            agent.pipeline_free = now + uclk;
            // Snoops do not wait: what they could wait for may wait for them.
            let owner =
                agent.busy(self.pool[request].line).filter(|_| self.pool[request].kind().queue() != Queue::Snoop);
            match owner {
                Some(owner) => self.turn_away(request, owner, sink),
                None => self.accept(request, sink),
            }
        }
        let agent = &self.agents[usize::from(number)];
        let fronts = [agent.outside.front(), agent.ingress.front()];
        let next = fronts.into_iter().flatten().map(|&(ready, _)| ready).min();
        // Without a request to take there is nothing to do before the next arrives or an entry is free.
        let next = if request.is_some() { next } else { next.filter(|&ready| ready > now) };
        if let Some(ready) = next {
            let (socket, cha) = self.agent_of(number);
            self.wake_pipeline(socket, cha, ready.max(now + uclk));
        }
    }

    /// Another request to the same line is under way: this one tries again when that is done.
    fn turn_away<S: SignalSink>(&mut self, request: RequestId, owner: RequestId, sink: &mut S) {
        let Request { socket, cha, class, .. } = self.pool[request];
        let reject = match class.kind.queue() {
            Queue::Core | Queue::Evict => {
                self.account.deed(deed("cha/RxC_INSERTS.IRQ_REJ"), socket.into(), cha.into(), self.now, sink);
                deed("cha/RxC_IRQ1_REJECT.PA_MATCH")
            }
            Queue::Io => {
                self.account.deed(deed("cha/RxC_INSERTS.PRQ_REJ"), socket.into(), cha.into(), self.now, sink);
                deed("cha/RxC_PRQ1_REJECT.PA_MATCH")
            }
            Queue::Remote => deed("cha/RxC_RRQ1_REJECT.PA_MATCH"),
            Queue::RemoteWriteback => deed("cha/RxC_WBQ1_REJECT.PA_MATCH"),
            Queue::Snoop => deed("cha/RxC_IPQ1_REJECT.PA_MATCH"),
        };
        self.account.deed(reject, socket.into(), cha.into(), self.now, sink);
        let mut last = owner;
        while self.pool[last].next != NO_REQUEST {
            last = self.pool[last].next;
        }
        self.pool[last].next = request;
    }

    /// A request is looked up and takes its entry.
    fn accept<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Request { socket, cha, line, class, .. } = self.pool[request];
        let (at_socket, at_cha) = (u16::from(socket), u16::from(cha));
        if let Some(queue) = queued(class.kind.queue()) {
            self.account.leave(queue, at_socket, at_cha, self.now, sink);
        }
        let found = self.look_up(socket, cha, line);
        let in_cache = matches!(found, Found::Shared | Found::Exclusive | Found::Modified | Found::Forward);
        let owned = found == Found::FilterExclusive && self.owner_has(socket, cha, line);
        let entry = &mut self.pool[request];
        entry.found = found;
        entry.class.hit = in_cache || owned;
        let class = entry.class;
        if class.kind.lookup() != Lookup::None {
            self.account.look_up(at_socket, at_cha, class, found, self.now, sink);
        }
        let slot = self.agent(socket, cha).take_entry(line, request);
        self.pool[request].slot = slot;
        self.account.tor_in(at_socket, at_cha, class, self.now, sink);
        match class.kind {
            Kind::DeviceRead | Kind::DeviceWrite => self.device_access(request, sink),
            Kind::StreamFull | Kind::StreamPart | Kind::Flush | Kind::FlushOpt => self.drive_out(request, sink),
            kind if kind.is_writeback() => self.take_back(request, sink),
            Kind::DmaWriteback => self.take_back(request, sink),
            kind if matches!(kind.queue(), Queue::Core | Queue::Io) => self.read(request, sink),
            _ => self.serve_remote(request, sink),
        }
    }

    fn look_up(&mut self, socket: u8, cha: u8, line: u32) -> Found {
        let agent = self.agent(socket, cha);
        if let Some(way) = agent.llc.find(line) {
            return match agent.llc.get(way).state {
                4 => Found::Shared,
                5 => Found::Exclusive,
                6 => Found::Modified,
                _ => Found::Forward,
            };
        }
        match agent.filter.find(line).map(|way| agent.filter.get(way).state) {
            Some(FILTER_EXCLUSIVE) => Found::FilterExclusive,
            Some(_) => Found::FilterShared,
            None => Found::Nothing,
        }
    }

    fn owner_has(&mut self, socket: u8, cha: u8, line: u32) -> bool {
        let agent = self.agent(socket, cha);
        let Some(owner) = agent.filter.find(line).map(|way| agent.filter.get(way).owner) else { return false };
        let core = self.core_number(socket, owner);
        self.cores[usize::from(core)].l2.find(line).is_some()
    }

    /// A read of this socket's core or I/O stack.
    fn read<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Request { socket, cha, line, class, found, origin, .. } = self.pool[request];
        let (at_socket, at_cha) = (u16::from(socket), u16::from(cha));
        let kind = class.kind;
        let device = kind.queue() == Queue::Io;
        let core = if device { u8::MAX } else { self.core_within(origin) };
        let keeps_no_copy = device || kind.is_llc_prefetch();
        // Other cores' shared copies must go before somebody writes.
        let others = kind.owns() && self.drop_sharers(socket, cha, line, origin, device);
        if others {
            self.account.deed(deed("cha/CORE_SNP.CORE_GTONE"), at_socket, at_cha, self.now, sink);
            self.account.deed(deed("cha/MISC.RFO_HIT_S"), at_socket, at_cha, self.now, sink);
            let (from, to) = (self.places.cha[usize::from(cha)], self.requester_tile(request));
            self.mesh_send(socket, Ring::Invalidate, 0, from, to, sink);
        }
        let wait = if others { self.times.core_snoop } else { 0 };
        match found {
            Found::Shared | Found::Forward | Found::Exclusive | Found::Modified => {
                let modified = found == Found::Modified;
                let alone = matches!(found, Found::Exclusive | Found::Modified);
                let agent = self.agent(socket, cha);
                let Some(way) = agent.llc.find(line) else { return };
                let grant = if kind.owns() || (alone && modified) {
                    MODIFIED
                } else if alone {
                    EXCLUSIVE
                } else {
                    SHARED
                };
                if device && kind.owns() {
                    agent.llc.set(way, Found::Modified as u8, 0);
                    agent.llc.touch(way);
                } else if keeps_no_copy || grant == SHARED {
                    agent.llc.touch(way);
                } else {
                    // The slice is not inclusive: what one core has alone leaves it.
                    agent.llc.clear(way);
                }
                if !keeps_no_copy {
                    let state = if grant == SHARED { FILTER_SHARED } else { FILTER_EXCLUSIVE };
                    self.filter_insert(socket, cha, line, state, core, sink);
                }
                self.pool[request].grant = if keeps_no_copy { 0 } else { grant };
                if kind.owns() {
                    self.go(request, sink);
                }
                self.deliver(request, self.times.llc_data + wait, sink);
            }
            Found::FilterExclusive if class.hit => self.snoop_owner(request, sink),
            _ if kind.owns()
                && found == Found::FilterShared
                && kind == Kind::Ownership
                && self.has_copy(origin, line) =>
            {
                // An upgrade: the core has the data already and needs the others' copies gone.
                self.claim_only(request, wait, sink);
            }
            _ => self.miss(request, wait, sink),
        }
    }

    fn has_copy(&self, core: u16, line: u32) -> bool {
        self.cores[usize::from(core)].l2.find(line).is_some()
    }

    /// A core that holds a shared line becomes its owner.
    fn claim_only<S: SignalSink>(&mut self, request: RequestId, wait: Tick, sink: &mut S) {
        let Request { socket, cha, line, origin, .. } = self.pool[request];
        let core = self.core_within(origin);
        self.filter_insert(socket, cha, line, FILTER_EXCLUSIVE, core, sink);
        self.pool[request].grant = MODIFIED;
        self.miss_home(request, wait, true, sink);
    }

    /// One core has the line: it sends it on.
    fn snoop_owner<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Request { socket, cha, line, class, origin, .. } = self.pool[request];
        let (at_socket, at_cha) = (u16::from(socket), u16::from(cha));
        let kind = class.kind;
        let agent = self.agent(socket, cha);
        let Some(way) = agent.filter.find(line) else { return };
        let owner = agent.filter.get(way).owner;
        let owner_core = self.core_number(socket, owner);
        let own = owner_core == origin && kind.queue() == Queue::Core;
        let takes = kind.owns();
        let state = if own { None } else { self.cores[usize::from(owner_core)].snoop(line, takes) };
        self.account.deed(deed("cha/CORE_SNP.CORE_ONE"), at_socket, at_cha, self.now, sink);
        let keeps_no_copy = kind.queue() == Queue::Io || kind.is_llc_prefetch();
        let modified = state == Some(MODIFIED);
        let requester = self.core_within(origin);
        let agent = self.agent(socket, cha);
        if takes {
            let Some(way) = agent.filter.find(line) else { return };
            if keeps_no_copy {
                agent.filter.clear(way);
                self.llc_insert(socket, cha, line, Found::Modified, kind.queue() == Queue::Io, sink);
            } else {
                agent.filter.set(way, FILTER_EXCLUSIVE, requester);
            }
        } else if own {
            // The core has lost sight of its own line: nothing changes.
        } else {
            agent.filter.set(way, FILTER_SHARED, owner);
            if modified {
                self.llc_insert(socket, cha, line, Found::Modified, false, sink);
            }
        }
        self.pool[request].grant = match () {
            () if keeps_no_copy => 0,
            () if takes => MODIFIED,
            () if own => EXCLUSIVE,
            () => SHARED,
        };
        let from = self.places.cha[usize::from(cha)];
        let at = self.mesh_send(socket, Ring::Invalidate, 0, from, self.core_tile(owner_core), sink);
        self.pool[request].answers = owner_core;
        self.wheel.schedule(at + self.times.core_snoop, Event::Snooped.of(request));
    }

    /// The owner has answered: data goes to the requester, word of it to the agent.
    pub(super) fn snooped<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Request { socket, cha, answers, .. } = self.pool[request];
        let from = self.core_tile(answers);
        let to = self.places.cha[usize::from(cha)];
        self.mesh_send(socket, Ring::Acknowledge, 1, from, to, sink);
        let goal = self.requester_tile(request);
        let at = self.mesh_send(socket, Ring::Block, 1, from, goal, sink);
        self.wheel.schedule(at, Event::Data.of(request));
    }

    /// Takes other cores' shared copies of a line away; true if there may have been any.
    fn drop_sharers(&mut self, socket: u8, cha: u8, line: u32, origin: u16, device: bool) -> bool {
        let agent = self.agent(socket, cha);
        let Some(way) = agent.filter.find(line).filter(|&way| agent.filter.get(way).state == FILTER_SHARED) else {
            return false;
        };
        agent.filter.clear(way);
        let mut dropped = false;
        for core in 0..self.parameters.cores {
            let core = self.core_number(socket, core);
            if device || core != origin {
                dropped |= self.cores[usize::from(core)].snoop(line, true).is_some();
            }
        }
        dropped
    }

    /// Takes every copy of a line out of this socket's caches; true if one was newer than memory.
    pub(super) fn purge<S: SignalSink>(&mut self, socket: u8, cha: u8, line: u32, sink: &mut S) -> bool {
        let (at_socket, at_cha) = (u16::from(socket), u16::from(cha));
        let agent = self.agent(socket, cha);
        let mut modified = false;
        if let Some(way) = agent.llc.find(line) {
            modified |= agent.llc.get(way).state == Found::Modified as u8;
            agent.llc.clear(way);
        }
        let Some(way) = agent.filter.find(line) else { return modified };
        let entry = agent.filter.get(way);
        agent.filter.clear(way);
        if entry.state == FILTER_EXCLUSIVE {
            self.account.deed(deed("cha/CORE_SNP.EXT_ONE"), at_socket, at_cha, self.now, sink);
            let core = self.core_number(socket, entry.owner);
            let state = self.cores[usize::from(core)].snoop(line, true);
            if state.is_none() {
                self.account.deed(deed("cha/MISC.RSPI_WAS_FSE"), at_socket, at_cha, self.now, sink);
            }
            return modified | (state == Some(MODIFIED));
        }
        self.account.deed(deed("cha/CORE_SNP.EXT_GTONE"), at_socket, at_cha, self.now, sink);
        for core in 0..self.parameters.cores {
            let core = self.core_number(socket, core);
            modified |= self.cores[usize::from(core)].snoop(line, true) == Some(MODIFIED);
        }
        modified
    }

    /// Streaming stores and flushes: no copy stays, memory gets what is newer.
    fn drive_out<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Request { socket, cha, line, class, .. } = self.pool[request];
        let modified = self.purge(socket, cha, line, sink);
        let stream = matches!(class.kind, Kind::StreamFull | Kind::StreamPart);
        if stream {
            self.go(request, sink);
            let (here, core) = (self.places.cha[usize::from(cha)], self.requester_tile(request));
            self.mesh_send(socket, Ring::Acknowledge, 0, here, core, sink);
            self.mesh_send(socket, Ring::Block, 1, core, here, sink);
        }
        if !stream && !modified {
            let to = self.requester_tile(request);
            let from = self.places.cha[usize::from(cha)];
            let at = self.mesh_send(socket, Ring::Acknowledge, 0, from, to, sink);
            self.wheel.schedule(at + self.times.llc_quick, Event::Data.of(request));
            return;
        }
        self.pool[request].writes = true;
        // The pull and its data take a round trip, of which the messages above are the traffic.
        let wait = if stream { self.times.core_snoop } else { self.times.llc_quick };
        self.write_home(request, wait, sink);
    }

    /// A core or I/O stack gives a line up.
    fn take_back<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Request { socket, cha, line, class, origin, .. } = self.pool[request];
        let kind = class.kind;
        let from_device = kind == Kind::DmaWriteback;
        let agent = self.agent(socket, cha);
        let entry = agent.filter.find(line).map(|way| (way, agent.filter.get(way)));
        let owner = if from_device { u8::MAX } else { (origin % 64) as u8 };
        let mut owned = from_device;
        if let Some((way, entry)) = entry {
            if entry.state == FILTER_EXCLUSIVE && entry.owner == owner {
                agent.filter.clear(way);
                owned = true;
            }
        } else if kind == Kind::WritebackModified {
            // Its entry has gone to make room: the data still counts.
            owned = true;
        }
        if owned && kind != Kind::WritebackShared {
            let state = if kind == Kind::WritebackClean { Found::Exclusive } else { Found::Modified };
            self.llc_insert(socket, cha, line, state, from_device, sink);
            if kind == Kind::WritebackModified {
                self.account.deed(deed("cha/WB_PUSH_MTOI.LLC"), socket.into(), cha.into(), self.now, sink);
            }
        }
        if !from_device {
            self.go(request, sink);
        }
        self.wheel.schedule(self.now + self.times.llc_quick, Event::Release.of(request));
    }

    /// Puts a line into the slice; what gives way goes to memory if it must.
    pub(super) fn llc_insert<S: SignalSink>(
        &mut self,
        socket: u8,
        cha: u8,
        line: u32,
        state: Found,
        for_io: bool,
        sink: &mut S,
    ) {
        let agent = self.agent(socket, cha);
        if let Some(way) = agent.llc.find(line) {
            let old = agent.llc.get(way).state;
            let modified = old == Found::Modified as u8 || state == Found::Modified;
            agent.llc.set(way, if modified { Found::Modified as u8 } else { state as u8 }, 0);
            agent.llc.touch(way);
            return;
        }
        let Some(old) = agent.llc.insert(line, state as u8, 0) else { return };
        let left = match old.state {
            4 => Found::Shared,
            5 => Found::Exclusive,
            6 => Found::Modified,
            _ => Found::Forward,
        };
        let (_, home) = super::address::target(old.line);
        let victim = Victim { state: left, for_io, remote: home != socket };
        self.account.give_way(socket.into(), cha.into(), victim, self.now, sink);
        if left == Found::Modified {
            self.send_out(socket, cha, old.line, sink);
        }
    }

    /// Notes in the snoop filter who has a line; what gives way is taken from the cores that have it.
    pub(super) fn filter_insert<S: SignalSink>(
        &mut self,
        socket: u8,
        cha: u8,
        line: u32,
        state: u8,
        core: u8,
        sink: &mut S,
    ) {
        let (at_socket, at_cha) = (u16::from(socket), u16::from(cha));
        let agent = self.agent(socket, cha);
        if let Some(way) = agent.filter.find(line) {
            agent.filter.set(way, state, core);
            agent.filter.touch(way);
            return;
        }
        let Some(old) = agent.filter.insert(line, state, core) else { return };
        if old.state == FILTER_EXCLUSIVE {
            let core = self.core_number(socket, old.owner);
            let had = self.cores[usize::from(core)].snoop(old.line, true);
            let modified = had == Some(MODIFIED);
            let what = if modified { deed("cha/SF_EVICTION.M_STATE") } else { deed("cha/SF_EVICTION.E_STATE") };
            self.account.deed(what, at_socket, at_cha, self.now, sink);
            self.account.deed(deed("cha/CORE_SNP.EVICT_ONE"), at_socket, at_cha, self.now, sink);
            if modified {
                self.send_out(socket, cha, old.line, sink);
            }
            return;
        }
        self.account.deed(deed("cha/SF_EVICTION.S_STATE"), at_socket, at_cha, self.now, sink);
        self.account.deed(deed("cha/CORE_SNP.EVICT_GTONE"), at_socket, at_cha, self.now, sink);
        for core in 0..self.parameters.cores {
            let core = self.core_number(socket, core);
            self.cores[usize::from(core)].snoop(old.line, true);
        }
    }

    /// A modified line leaves the socket's caches for memory.
    fn send_out<S: SignalSink>(&mut self, socket: u8, cha: u8, line: u32, sink: &mut S) {
        let (target, home) = super::address::target(line);
        let mut request = Request::new(Kind::Victim, socket, cha, home, 0, line, target);
        request.writes = true;
        let request = self.pool.add(request);
        if self.agent(socket, cha).has_entry(KEPT) && self.agent(socket, cha).busy(line).is_none() {
            self.start_victim(request, sink);
        } else {
            self.agent(socket, cha).victims.push_back(request);
        }
    }

    fn start_victim<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Request { socket, cha, line, class, .. } = self.pool[request];
        let slot = self.agent(socket, cha).take_entry(line, request);
        self.pool[request].slot = slot;
        self.account.tor_in(socket.into(), cha.into(), class, self.now, sink);
        if class.target == Target::Device {
            self.wheel.schedule(self.now + self.times.llc_quick, Event::Release.of(request));
            return;
        }
        self.account.deed(deed("cha/WB_PUSH_MTOI.MEM"), socket.into(), cha.into(), self.now, sink);
        self.write_home(request, self.times.llc_quick, sink);
    }

    /// Sends data from the slice to the requester.
    pub(super) fn deliver<S: SignalSink>(&mut self, request: RequestId, wait: Tick, sink: &mut S) {
        let Request { socket, cha, .. } = self.pool[request];
        let from = self.places.cha[usize::from(cha)];
        let to = self.requester_tile(request);
        let at = self.mesh_send(socket, Ring::Block, 0, from, to, sink) + wait;
        self.wheel.schedule(at, Event::Data.of(request));
    }

    /// A request gives its entry in the table of requests back; those that waited for its line try again.
    pub(super) fn end_entry<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Request { socket, cha, class, slot, next, .. } = self.pool[request];
        let (at_socket, at_cha) = (u16::from(socket), u16::from(cha));
        self.account.tor_out(at_socket, at_cha, class, self.now, sink);
        self.account.deed(deed("cha/DIRECT_GO.HA_TOR_DEALLOC"), at_socket, at_cha, self.now, sink);
        let agent = self.agent(socket, cha);
        agent.lines[usize::from(slot)] = FREE;
        agent.used &= !(1 << slot);
        let mut waiter = next;
        self.pool[request].next = NO_REQUEST;
        while waiter != NO_REQUEST {
            let after = std::mem::replace(&mut self.pool[waiter].next, NO_REQUEST);
            let retry = if self.pool[waiter].kind().queue() == Queue::Core {
                deed("cha/RxC_REQ_Q1_RETRY.PA_MATCH")
            } else {
                deed("cha/RxC_OTHER1_RETRY.PA_MATCH")
            };
            self.account.deed(retry, at_socket, at_cha, self.now, sink);
            let local = matches!(self.pool[waiter].kind().queue(), Queue::Core | Queue::Io);
            let agent = self.agent(socket, cha);
            if local { &mut agent.ingress } else { &mut agent.outside }.push_front((0, waiter));
            waiter = after;
        }
        if let Some(&victim) = self.agent(socket, cha).victims.front() {
            let line = self.pool[victim].line;
            let agent = self.agent(socket, cha);
            if agent.has_entry(KEPT) && agent.busy(line).is_none() {
                agent.victims.pop_front();
                self.start_victim(victim, sink);
            }
        }
        let agent = self.agent(socket, cha);
        let fronts = [agent.outside.front(), agent.ingress.front()];
        if let Some(ready) = fronts.into_iter().flatten().map(|&(ready, _)| ready).min() {
            self.wake_pipeline(socket, cha, ready);
        }
    }

    /// A writeback, or a write to memory, is done.
    pub(super) fn release<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Request { socket, cha, class, origin, .. } = self.pool[request];
        self.end_entry(request, sink);
        if class.kind.is_writeback() {
            let from = self.places.cha[usize::from(cha)];
            let to = self.core_tile(origin);
            self.mesh_send(socket, Ring::Acknowledge, 0, from, to, sink);
            self.cores[usize::from(origin)].writebacks -= 1;
            self.pool.remove(request);
            self.resume(origin, None, sink);
            return;
        }
        self.pool.remove(request);
    }
}
