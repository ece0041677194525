//! The agent's pipeline: requests come out of the ingress queues, are looked up, and take an entry of the table of
//! requests.

use pericore_engine::NEVER;
use pericore_engine::Tick;

use super::agent::{FILTER_EXCLUSIVE, KEPT, KEPT_BY_REMOTE};
use super::event::Event;
use super::request::{NO_REQUEST, Request, RequestId};
use super::tags::Way;
use super::{MOST_AGENTS, Model};
use pericore_facts::emerald_rapids::{
    AgentFact, Fact, Found, Kind, Lookup, Queue, Readers, Reason, Ring, UnitInstance,
};

impl Model {
    /// Something happens at an agent.
    #[inline]
    pub(super) fn at_agent<R: Readers>(&self, socket: u8, cha: u8, fact: AgentFact, reader: &mut R) {
        reader.read(self.now, Fact::Agent((socket.into(), cha.into()), fact));
    }

    /// A core's request is sent to its agent, in whose ingress queue it will be at `at`. It gets its place there now,
    /// in the order of arrival, and its arrival is an event only if somebody hears of it.
    pub(super) fn send_at(&mut self, request: RequestId, at: Tick) {
        let Request { socket, cha, .. } = self.pool[request];
        if self.announces[usize::from(self.agent_number(socket, cha))] {
            self.announce_arrival(request, at);
        }
        self.queue_up(request, at);
    }

    /// A request takes its place among those that come to its agent.
    #[inline]
    fn queue_up(&mut self, request: RequestId, at: Tick) {
        self.pool[request].came = at;
        let Request { socket, cha, class, .. } = self.pool[request];
        let number = self.agent_number(socket, cha);
        self.agents[usize::from(number)].queue(class.kind.queue()).insert(request, &mut self.pool);
        self.wake_pipeline(socket, cha, at + self.times.ingress_latency);
    }

    /// Somebody will hear that a core's request arrives.
    #[cold]
    fn announce_arrival(&mut self, request: RequestId, at: Tick) {
        self.pool[request].announced = true;
        self.wheel.schedule(at, Event::Heard.of(request));
    }

    /// Where somebody wants to know at once that a core's request comes to its agent, from now on: arrivals to come
    /// are facts there.
    pub fn announce_arrivals(&mut self, wanted: impl Fn(UnitInstance) -> bool) {
        let mut anew = false;
        for number in 0..u16::from(self.sockets) * super::address::AGENTS as u16 {
            let (socket, cha) = self.agent_of(number);
            let wanted = wanted((socket.into(), cha.into()));
            anew |= wanted & !std::mem::replace(&mut self.announces[usize::from(number)], wanted);
        }
        if !anew {
            return;
        }
        let heard = |request: &Request| self.announces[usize::from(self.agent_number(request.socket, request.cha))];
        let to_come = |request: &Request| request.came >= self.now && !request.announced && heard(request);
        let to_come = self.pool.waiting().filter(|(_, request)| to_come(request));
        let to_come: Vec<_> = to_come.map(|(id, request)| (id, request.came)).collect();
        to_come.into_iter().for_each(|(request, at)| self.announce_arrival(request, at));
    }

    /// A core's request arrives in its agent's ingress queue, of which somebody hears.
    pub(super) fn arrival_is_heard<R: Readers>(&mut self, request: RequestId, reader: &mut R) {
        let Request { socket, cha, .. } = self.pool[request];
        reader.enter_ingress(socket.into(), cha.into(), self.now);
    }

    /// A request of a device or of the other socket arrives in its agent's ingress queue.
    pub(super) fn arrive<R: Readers>(&mut self, request: RequestId, reader: &mut R) {
        let Request { socket, cha, class, .. } = self.pool[request];
        self.at_agent(socket, cha, AgentFact::Queued(class.kind.queue()), reader);
        self.queue_up(request, self.now);
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
    pub(super) fn pump<R: Readers>(&mut self, number: u16, reader: &mut R) {
        let (now, uclk) = (self.now, self.times.uclk);
        let agent = &mut self.agents[usize::from(number) % MOST_AGENTS];
        if agent.pump_at != now {
            return;
        }
        agent.pump_at = NEVER;
        let kept = if self.sockets > 1 { KEPT } else { 0 };
        let (pool, latency) = (&self.pool, self.times.ingress_latency);
        let may_go = |&request: &RequestId| {
            let queue = pool[request].kind().queue();
            pool[request].came + latency <= now
                && agent.has_entry(match queue {
                    Queue::Remote => KEPT_BY_REMOTE,
                    Queue::Snoop | Queue::RemoteWriteback => 0,
                    _ => kept,
                })
                // Devices can write faster than memory takes what gives way to them: then they wait for it.
                && (queue != Queue::Io || agent.victims.is_empty())
        };
        // Woken when an entry is given back, if none is free.
        let from_outside = agent.outside.front().filter(may_go);
        let request = from_outside.or_else(|| agent.ingress.front().filter(may_go));
        if let Some(request) = request {
            if from_outside.is_some() { &mut agent.outside } else { &mut agent.ingress }.pop_front(&mut self.pool);
            agent.pipeline_free = now + uclk;
            // Snoops do not wait: what they could wait for may wait for them.
            let owner =
                agent.busy(self.pool[request].line).filter(|_| self.pool[request].kind().queue() != Queue::Snoop);
            match owner {
                Some(owner) => self.turn_away(request, owner, reader),
                None => match self.shortage(request) {
                    Some(of) => self.wait_for_credit(request, of, reader),
                    None => match self.full_egress(request) {
                        Some((of, room)) => self.wait_for_egress(request, of, room, reader),
                        None => self.accept(request, reader),
                    },
                },
            }
            let (socket, cha) = self.agent_of(number);
            self.wake_waiters(socket, cha, reader);
        }
        let next = self.agents[usize::from(number) % MOST_AGENTS].first_came(&self.pool).map(|came| came + latency);
        // Without a request to take there is nothing to do before the next arrives or an entry is free.
        let next = if request.is_some() { next } else { next.filter(|&ready| ready > now) };
        if let Some(ready) = next {
            let (socket, cha) = self.agent_of(number);
            self.wake_pipeline(socket, cha, ready.max(now + uclk));
        }
    }

    /// Another request to the same line is under way: this one tries again when that is done.
    pub(super) fn turn_away<R: Readers>(&mut self, request: RequestId, owner: RequestId, reader: &mut R) {
        self.report_reject(request, Reason::AddressMatch, reader);
        let mut last = owner;
        while self.pool[last].next != NO_REQUEST {
            last = self.pool[last].next;
        }
        self.pool[last].next = request;
    }

    /// A request is looked up and takes its entry.
    pub(super) fn accept<R: Readers>(&mut self, request: RequestId, reader: &mut R) {
        let Request { socket, cha, line, class, .. } = self.pool[request];
        let (at_socket, at_cha) = (u16::from(socket), u16::from(cha));
        let came = std::mem::replace(&mut self.pool[request].came, NEVER);
        match class.kind.queue() {
            Queue::Core => reader.leave_ingress(at_socket, at_cha, came, self.now),
            // Of these only the arrivals are counted.
            Queue::Io => {}
            queue => self.at_agent(socket, cha, AgentFact::Dequeued(queue), reader),
        }
        let (found, way) = self.look_up(socket, cha, line);
        let owned = found == Found::FilterExclusive && way.is_some_and(|way| self.owner_has(socket, cha, line, way));
        let entry = &mut self.pool[request];
        entry.found = found;
        entry.class.hit = found.is_in_slice() || owned;
        let class = entry.class;
        if class.kind.lookup() != Lookup::None {
            reader.look_up(at_socket, at_cha, class, found, self.now);
        }
        let slot = self.agent(socket, cha).take_entry(line, request);
        (self.pool[request].slot, self.pool[request].listed) = (slot, self.now);
        reader.tor_in(at_socket, at_cha, class, self.now);
        if self.owned_lines > 0 {
            self.snoop_ports(request, reader);
        }
        match class.kind {
            Kind::DeviceRead | Kind::DeviceWrite => self.device_access(request, reader),
            Kind::StreamFull | Kind::StreamPart | Kind::DmaWriteAround => self.drive_out(request, reader),
            Kind::Flush | Kind::FlushOpt => self.drive_out(request, reader),
            Kind::Clean => self.clean(request, reader),
            kind if kind.is_writeback() => self.take_back(request, way, reader),
            Kind::DmaWriteback => self.take_back(request, way, reader),
            kind if matches!(kind.queue(), Queue::Core | Queue::Io) => self.read(request, way, reader),
            _ => self.serve_remote(request, reader),
        }
    }

    /// What an agent has of a line, and its way: in the slice, or in the snoop filter if the slice does not have it.
    pub(super) fn look_up(&mut self, socket: u8, cha: u8, line: u32) -> (Found, Option<Way>) {
        let slice = self.slice(socket, cha);
        if let Some(way) = slice.find(line) {
            return (Found::in_slice(slice.get(way).state), Some(way));
        }
        let filter = self.filter(socket, cha);
        let way = filter.find(line);
        let found = match way.map(|way| filter.get(way).state) {
            Some(FILTER_EXCLUSIVE) => Found::FilterExclusive,
            Some(_) => Found::FilterShared,
            None => Found::Nothing,
        };
        (found, way)
    }

    /// True if the owner that a way of the snoop filter names still has its line.
    pub(super) fn owner_has(&mut self, socket: u8, cha: u8, line: u32, way: Way) -> bool {
        let owner = self.filter(socket, cha).get(way).owner;
        let core = self.core_number(socket, owner);
        self.has_copy(core, line)
    }

    /// A request gives its entry in the table of requests back; those that waited for its line try again.
    pub(super) fn end_entry<R: Readers>(&mut self, request: RequestId, reader: &mut R) {
        let Request { socket, cha, class, slot, next, listed, .. } = self.pool[request];
        let (at_socket, at_cha) = (u16::from(socket), u16::from(cha));
        reader.tor_out(at_socket, at_cha, class, listed, self.now);
        self.agent(socket, cha).give_entry(slot);
        if next != NO_REQUEST {
            self.pool[request].next = NO_REQUEST;
            self.let_try_again(next, reader);
        }
        self.next_victim(socket, cha, reader);
        let number = self.agent_number(socket, cha);
        if let Some(came) = self.agents[usize::from(number)].first_came(&self.pool) {
            self.wake_pipeline(socket, cha, came + self.times.ingress_latency);
        }
    }

    /// A request and those behind it, which waited for one to the same line, try again.
    #[inline(never)]
    fn let_try_again<R: Readers>(&mut self, first: RequestId, reader: &mut R) {
        let mut waiter = first;
        while waiter != NO_REQUEST {
            let after = std::mem::replace(&mut self.pool[waiter].next, NO_REQUEST);
            self.try_again(waiter, Reason::AddressMatch, reader);
            waiter = after;
        }
    }

    /// A writeback, or a write to memory, is done.
    pub(super) fn release<R: Readers>(&mut self, request: RequestId, reader: &mut R) {
        let Request { socket, cha, class, origin, parent, .. } = self.pool[request];
        self.end_entry(request, reader);
        if parent != NO_REQUEST && matches!(class.kind.queue(), Queue::Remote | Queue::RemoteWriteback) {
            self.give_home_entries(1 - socket, cha, class.kind, reader);
        }
        if class.kind.is_writeback() {
            let from = self.places.cha[usize::from(cha)];
            let to = self.core_tile(origin);
            self.mesh_send(socket, Ring::Acknowledge, 0, from, to, reader);
            let core = &mut self.cores[usize::from(origin)];
            core.writebacks -= 1;
            // Whoever waits for a buffer can go on only if the last one for writebacks was taken.
            let was_full = core.writebacks + 1 == self.parameters.writeback_buffers;
            self.pool.remove(request);
            if was_full {
                self.resume(origin, None, reader);
            }
            return;
        }
        self.pool.remove(request);
    }
}
