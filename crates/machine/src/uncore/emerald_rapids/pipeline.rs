//! The agent's pipeline: requests come out of the ingress queues, are looked up, and take an entry of the table of requests.

use super::Model;
use super::agent::{FILTER_EXCLUSIVE, FREE, KEPT, KEPT_BY_REMOTE, queued};
use super::event::Event;
use super::request::{NO_REQUEST, Request, RequestId};
use crate::engine::NEVER;
use crate::ledger::emerald_rapids::compiled::deed;
use crate::ledger::emerald_rapids::{Found, Kind, Lookup, Queue, Reason, Ring, Target};
use crate::signal::{SignalSink, Tick};

impl Model {
    /// A request arrives in its agent's ingress queue.
    pub(super) fn arrive<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Request { socket, cha, line, class, .. } = self.pool[request];
        match queued(class.kind.queue()) {
            Some(queue) => self.account.enter(queue, socket.into(), cha.into(), self.now, sink),
            None => self.account.deed(deed!("cha/RxC_INSERTS.PRQ"), socket.into(), cha.into(), self.now, sink),
        }
        let ready = self.now + self.times.ingress_latency;
        let agent = self.agent(socket, cha);
        agent.llc.prefetch(line);
        agent.filter.prefetch(line);
        let local = matches!(class.kind.queue(), Queue::Core | Queue::Io);
        if local { &mut agent.ingress } else { &mut agent.outside }.push_back((ready, request));
        self.wake_pipeline(socket, cha, ready);
    }

    #[inline]
    pub(super) fn wake_pipeline(&mut self, socket: u8, cha: u8, at: Tick) {
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
                None => match self.shortage(request) {
                    Some(of) => self.wait_for_credit(request, of, sink),
                    None => self.accept(request, sink),
                },
            }
            let (socket, cha) = self.agent_of(number);
            self.wake_waiters(socket, cha, sink);
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
    pub(super) fn turn_away<S: SignalSink>(&mut self, request: RequestId, owner: RequestId, sink: &mut S) {
        self.tell_reject(request, Reason::AddressMatch, sink);
        let mut last = owner;
        while self.pool[last].next != NO_REQUEST {
            last = self.pool[last].next;
        }
        self.pool[last].next = request;
    }

    /// A request is looked up and takes its entry.
    pub(super) fn accept<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
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
        if self.owned_lines > 0 {
            self.snoop_ports(request, sink);
        }
        match class.kind {
            Kind::DeviceRead | Kind::DeviceWrite => self.device_access(request, sink),
            _ if class.target == Target::Expander => self.expander_access(request, sink),
            Kind::StreamFull | Kind::StreamPart | Kind::Flush | Kind::FlushOpt => self.drive_out(request, sink),
            kind if kind.is_writeback() => self.take_back(request, sink),
            Kind::DmaWriteback => self.take_back(request, sink),
            kind if matches!(kind.queue(), Queue::Core | Queue::Io) => self.read(request, sink),
            _ => self.serve_remote(request, sink),
        }
    }

    pub(super) fn look_up(&mut self, socket: u8, cha: u8, line: u32) -> Found {
        let agent = self.agent(socket, cha);
        if let Some(way) = agent.llc.find(line) {
            return Found::in_slice(agent.llc.get(way).state);
        }
        match agent.filter.find(line).map(|way| agent.filter.get(way).state) {
            Some(FILTER_EXCLUSIVE) => Found::FilterExclusive,
            Some(_) => Found::FilterShared,
            None => Found::Nothing,
        }
    }

    pub(super) fn owner_has(&mut self, socket: u8, cha: u8, line: u32) -> bool {
        let agent = self.agent(socket, cha);
        let Some(owner) = agent.filter.find(line).map(|way| agent.filter.get(way).owner) else { return false };
        let core = self.core_number(socket, owner);
        self.cores[usize::from(core)].l2.find(line).is_some()
    }

    /// A request gives its entry in the table of requests back; those that waited for its line try again.
    pub(super) fn end_entry<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Request { socket, cha, class, slot, next, .. } = self.pool[request];
        let (at_socket, at_cha) = (u16::from(socket), u16::from(cha));
        self.account.tor_out(at_socket, at_cha, class, self.now, sink);
        self.account.deed(deed!("cha/DIRECT_GO.HA_TOR_DEALLOC"), at_socket, at_cha, self.now, sink);
        let agent = self.agent(socket, cha);
        agent.lines[usize::from(slot)] = FREE;
        agent.used &= !(1 << slot);
        let mut waiter = next;
        self.pool[request].next = NO_REQUEST;
        while waiter != NO_REQUEST {
            let after = std::mem::replace(&mut self.pool[waiter].next, NO_REQUEST);
            self.try_again(waiter, Reason::AddressMatch, sink);
            waiter = after;
        }
        self.next_victim(socket, cha, sink);
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
