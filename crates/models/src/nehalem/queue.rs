//! The global queue: trackers, turns, transaction numbers.

use super::Model;
use super::event::Event;
use super::request::{NO_REQUEST, Request, RequestId};

use pericore_facts::LineState;
use pericore_facts::nehalem::{Class, Kind, NehalemReader as Facts, Port, Station, TO_SOCKET, Tracker};
use pericore_parts::cache::Right;

impl Model {
    /// A request arrives from a core.
    pub(super) fn arrive<R: Facts>(&mut self, request: RequestId, reader: &mut R) {
        let record = &self.requests[request].record;
        let Some(tracker) = record.kind.tracker() else { return };
        let socket = &mut self.sockets[usize::from(record.socket)];
        if socket.tracker_free[tracker as usize] == 0 {
            socket.tracker_waiting[tracker as usize].push_back(request);
        } else {
            self.enter_tracker(request, tracker, reader);
        }
    }

    fn enter_tracker<R: Facts>(&mut self, request: RequestId, tracker: Tracker, reader: &mut R) {
        let entry = &mut self.requests[request];
        entry.record.queued = self.now;
        let (socket, agent) = (usize::from(entry.record.socket), usize::from(entry.agent));
        self.sockets[socket].tracker_free[tracker as usize] -= 1;
        self.report(request, Station::Queued, reader);
        if tracker == Tracker::Write {
            self.carry(socket, Port::from_core(agent), Event::Taken.of(request), reader);
        } else {
            self.claim(request, reader);
        }
    }

    fn leave_tracker<R: Facts>(&mut self, request: RequestId, reader: &mut R) {
        let record = &mut self.requests[request].record;
        let Some(tracker) = record.kind.tracker() else { return };
        record.left = self.now;
        let socket = usize::from(record.socket);
        self.report(request, Station::Left, reader);
        let state = &mut self.sockets[socket];
        state.tracker_free[tracker as usize] += 1;
        if let Some(next) = state.tracker_waiting[tracker as usize].pop_front() {
            self.enter_tracker(next, tracker, reader);
        }
    }

    /// A request wants its line: requests of a socket for one line do not pass each other.
    pub(super) fn claim<R: Facts>(&mut self, request: RequestId, reader: &mut R) {
        let entry = &self.requests[request];
        let (socket, line) = (usize::from(entry.record.socket), entry.line);
        let Some(&owner) = self.sockets[socket].busy.get(&line) else {
            self.sockets[socket].busy.insert(line, request);
            self.take_turn(request, reader);
            return;
        };
        let mut last = owner;
        while self.requests[last].next != NO_REQUEST {
            last = self.requests[last].next;
        }
        self.requests[last].next = request;
    }

    fn take_turn<R: Facts>(&mut self, request: RequestId, reader: &mut R) {
        let record = &self.requests[request].record;
        if record.kind == Kind::Evict {
            self.take_number(request, reader);
        } else {
            let at = self.look_up_at(usize::from(record.socket));
            self.wheel.schedule(at, Event::LookUp.of(request));
        }
    }

    /// The tick at which the LLC can look up the next line.
    #[inline]
    pub(super) fn look_up_at(&mut self, socket: usize) -> u64 {
        let free = &mut self.sockets[socket].pipeline_free;
        let at = (self.now + self.times.queue).max(*free);
        *free = at + self.times.uclk;
        at
    }

    /// A request has what it wanted of its line: the next one may have it.
    fn release<R: Facts>(&mut self, request: RequestId, reader: &mut R) {
        let entry = &mut self.requests[request];
        let next = std::mem::replace(&mut entry.next, NO_REQUEST);
        let (socket, line) = (usize::from(entry.record.socket), entry.line);
        if next == NO_REQUEST {
            self.sockets[socket].busy.remove(&line);
        } else {
            self.sockets[socket].busy.insert(line, next);
            self.take_turn(next, reader);
        }
    }

    /// A request needs a transaction number of its home.
    pub(super) fn take_number<R: Facts>(&mut self, request: RequestId, reader: &mut R) {
        let record = &self.requests[request].record;
        let (home, source) = (usize::from(record.home), record.source as usize);
        let home = &mut self.sockets[home];
        if home.number_free[source] == 0 {
            home.number_waiting[source].push_back(request);
            return;
        }
        home.number_free[source] -= 1;
        self.numbered(request, reader);
    }

    /// A request does not need its transaction number any more.
    pub(super) fn give_number<R: Facts>(&mut self, request: RequestId, reader: &mut R) {
        let record = &self.requests[request].record;
        let (home, source) = (usize::from(record.home), record.source as usize);
        match self.sockets[home].number_waiting[source].pop_front() {
            Some(next) => self.numbered(next, reader),
            None => self.sockets[home].number_free[source] += 1,
        }
    }

    fn numbered<R: Facts>(&mut self, request: RequestId, reader: &mut R) {
        let entry = &mut self.requests[request];
        entry.record.numbered = self.now;
        let (kind, socket, home) = (entry.record.kind, usize::from(entry.record.socket), entry.record.home);
        if kind.tracker().is_some() {
            self.report(request, Station::Numbered, reader);
        }
        if kind.is_device() {
            self.leave_hub(request);
            return;
        }
        if kind.snoops() {
            for other in (0..self.sockets.len()).filter(|&other| other != socket) {
                let link = Some(TO_SOCKET as u8);
                let probe = self.new_probe(request, other as u8, link, false);
                self.send(socket, TO_SOCKET, Class::Snoop, Event::Probe.of(probe), reader);
            }
        }
        match kind {
            Kind::Read | Kind::Own if socket == usize::from(home) => {
                self.wheel.schedule(self.now + self.times.queue_to_home, Event::Home.of(request));
            }
            Kind::Read | Kind::Own => self.send(socket, TO_SOCKET, Class::Home, Event::Home.of(request), reader),
            // What a core has modified comes from there.
            Kind::Evict => {
                let from_core = self.requests[request].from_core;
                let port = from_core.map_or(Port::FromLlc, |core| Port::from_core(core.into()));
                self.carry(socket, port, Event::Out.of(request), reader);
            }
            _ => self.out(request, reader),
        }
    }

    /// A line is on its way out of the queue to memory.
    pub(super) fn out<R: Facts>(&mut self, request: RequestId, reader: &mut R) {
        let socket = usize::from(self.requests[request].record.socket);
        self.carry(socket, Port::ToOutside, Event::Leave.of(request), reader);
    }

    /// A line to be written has left the queue for its home.
    pub(super) fn leave<R: Facts>(&mut self, request: RequestId, reader: &mut R) {
        let record = &self.requests[request].record;
        let socket = usize::from(record.socket);
        if record.socket == record.home {
            self.wheel.schedule(self.now + self.times.queue_to_home, Event::Home.of(request));
        } else {
            self.send(socket, TO_SOCKET, Class::Data, Event::Home.of(request), reader);
        }
    }

    /// A line for a request comes over a link.
    pub(super) fn arrive_by_link<R: Facts>(&mut self, request: RequestId, reader: &mut R) {
        let socket = usize::from(self.requests[request].record.socket);
        self.carry(socket, Port::FromLinks, Event::Part.of(request), reader);
    }

    /// A part of a request's answer is there.
    pub(super) fn part<R: Facts>(&mut self, request: RequestId, reader: &mut R) {
        let entry = &mut self.requests[request];
        entry.parts -= 1;
        if entry.parts > 0 {
            return;
        }
        let kind = entry.record.kind;
        if kind.reads() {
            self.fill(request, reader);
        }
        self.give_number(request, reader);
        self.close_at_home(request, reader);
        match kind {
            Kind::Read | Kind::Own => self.pass_to_core(request, reader),
            Kind::Evict => {
                self.release(request, reader);
                self.end(request, reader);
            }
            _ => self.written(request, reader),
        }
    }

    /// A request of which nothing has happened yet.
    #[inline]
    pub(super) fn new_request(&mut self, kind: Kind, socket: u8, agent: u8, line: u32) -> RequestId {
        let (home, channel) = (self.home_of(line), self.place(line).channel as u8);
        let socket = if kind.is_device() { home } else { socket };
        self.requests.add(Request::new(kind, socket, agent, line, home, channel))
    }

    /// A write-back has reached the LLC, or memory.
    pub(super) fn written<R: Facts>(&mut self, request: RequestId, reader: &mut R) {
        let core = self.requests[request].agent;
        self.cores[usize::from(core)].writebacks -= 1;
        self.release(request, reader);
        self.leave_tracker(request, reader);
        self.end(request, reader);
        self.resume(core, None, reader);
    }

    /// Data has left the queue for its core.
    pub(super) fn data<R: Facts>(&mut self, request: RequestId, reader: &mut R) {
        let entry = &self.requests[request];
        let (line, agent, own) = (entry.line, entry.agent, entry.record.kind == Kind::Own);
        let state = &self.sockets[usize::from(entry.record.socket)].llc;
        // The LLC holds whatever a core holds: a line that it has lost since is used once and not kept.
        let right = state.find(line).map(|way| {
            let elsewhere = matches!(state.state(way), LineState::Shared | LineState::Forward);
            match (own, elsewhere || entry.shared) {
                (true, _) if !elsewhere => Right::Modified,
                (false, false) => Right::Exclusive,
                _ => Right::Shared,
            }
        });
        self.release(request, reader);
        self.leave_tracker(request, reader);
        self.end(request, reader);
        self.deliver(request, agent, line, right, reader);
    }

    /// A request has ended.
    pub(super) fn end<R: Facts>(&mut self, request: RequestId, reader: &mut R) {
        self.report(request, Station::Ended, reader);
        self.requests.remove(request);
    }
}
