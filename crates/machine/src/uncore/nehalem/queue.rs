//! The global queue: trackers, turns, transaction numbers.

use pericore_hardware::signal::SignalSink;

use super::Model;
use super::event::Event;
use super::request::{NO_REQUEST, Request, RequestId};
use super::wires::Pulse;
use crate::ledger::LineState;
use crate::ledger::nehalem::{Class, Kind, Level, Port, TO_SOCKET, Tracker};
use crate::uncore::cache::Right;

impl Model {
    /// A request arrives from a core.
    pub(super) fn arrive<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let record = &self.requests[request].record;
        let Some(tracker) = record.kind.tracker() else { return };
        let socket = &mut self.sockets[usize::from(record.socket)];
        if socket.tracker_free[tracker as usize] == 0 {
            socket.tracker_waiting[tracker as usize].push_back(request);
        } else {
            self.enter_tracker(request, tracker, sink);
        }
    }

    fn enter_tracker<S: SignalSink>(&mut self, request: RequestId, tracker: Tracker, sink: &mut S) {
        let entry = &mut self.requests[request];
        entry.record.queued = self.now;
        let (socket, agent) = (usize::from(entry.record.socket), usize::from(entry.agent));
        self.sockets[socket].tracker_free[tracker as usize] -= 1;
        let (wire, tag) = self.wires.sockets[socket].entered[tracker as usize];
        sink.pulse(wire, tag, self.now, 1);
        self.raise(socket, Level::tracker(tracker), sink);
        if tracker == Tracker::Write {
            self.carry(socket, Port::from_core(agent), Event::Taken.of(request), sink);
        } else {
            self.claim(request, sink);
        }
    }

    fn leave_tracker<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let record = &self.requests[request].record;
        let Some(tracker) = record.kind.tracker() else { return };
        let socket = usize::from(record.socket);
        self.lower(socket, Level::tracker(tracker), sink);
        let state = &mut self.sockets[socket];
        state.tracker_free[tracker as usize] += 1;
        if let Some(next) = state.tracker_waiting[tracker as usize].pop_front() {
            self.enter_tracker(next, tracker, sink);
        }
    }

    /// A request wants its line: requests of a socket for one line do not pass each other.
    pub(super) fn claim<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let entry = &self.requests[request];
        let (socket, line) = (usize::from(entry.record.socket), entry.line);
        let Some(&owner) = self.sockets[socket].busy.get(&line) else {
            self.sockets[socket].busy.insert(line, request);
            self.take_turn(request, sink);
            return;
        };
        let mut last = owner;
        while self.requests[last].next != NO_REQUEST {
            last = self.requests[last].next;
        }
        self.requests[last].next = request;
    }

    fn take_turn<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let record = &self.requests[request].record;
        if record.kind == Kind::Evict {
            self.take_number(request, sink);
        } else {
            let at = self.look_up_at(usize::from(record.socket));
            self.wheel.schedule(at, Event::LookUp.of(request));
        }
    }

    /// The tick at which the LLC can look up the next line.
    pub(super) fn look_up_at(&mut self, socket: usize) -> u64 {
        let free = &mut self.sockets[socket].pipeline_free;
        let at = (self.now + self.times.queue).max(*free);
        *free = at + self.times.uclk;
        at
    }

    /// A request has what it wanted of its line: the next one may have it.
    fn release<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let entry = &mut self.requests[request];
        let next = std::mem::replace(&mut entry.next, NO_REQUEST);
        let (socket, line) = (usize::from(entry.record.socket), entry.line);
        if next == NO_REQUEST {
            self.sockets[socket].busy.remove(&line);
        } else {
            self.sockets[socket].busy.insert(line, next);
            self.take_turn(next, sink);
        }
    }

    /// A request needs a transaction number of its home.
    pub(super) fn take_number<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let record = &self.requests[request].record;
        let (home, source) = (usize::from(record.home), record.source as usize);
        let home = &mut self.sockets[home];
        if home.number_free[source] == 0 {
            home.number_waiting[source].push_back(request);
            return;
        }
        home.number_free[source] -= 1;
        self.numbered(request, sink);
    }

    /// A request does not need its transaction number any more.
    pub(super) fn give_number<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let record = &self.requests[request].record;
        let (home, source) = (usize::from(record.home), record.source as usize);
        match self.sockets[home].number_waiting[source].pop_front() {
            Some(next) => self.numbered(next, sink),
            None => self.sockets[home].number_free[source] += 1,
        }
    }

    fn numbered<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let entry = &mut self.requests[request];
        entry.record.numbered = self.now;
        let (kind, socket, home) = (entry.record.kind, usize::from(entry.record.socket), entry.record.home);
        if kind.is_device() {
            self.leave_hub(request);
            return;
        }
        match kind.tracker() {
            Some(Tracker::Read) => self.pulse(socket, Pulse::ReadNumbered, sink),
            Some(_) => self.pulse(socket, Pulse::WriteNumbered, sink),
            None => {}
        }
        if kind.snoops() {
            for other in (0..self.sockets.len()).filter(|&other| other != socket) {
                let link = Some(TO_SOCKET as u8);
                let probe = self.new_probe(request, other as u8, link, false);
                self.send(socket, TO_SOCKET, Class::Snoop, Event::Probe.of(probe), sink);
            }
        }
        match kind {
            Kind::Read | Kind::Own if socket == usize::from(home) => {
                self.wheel.schedule(self.now + self.times.queue_to_home, Event::Home.of(request));
            }
            Kind::Read | Kind::Own => self.send(socket, TO_SOCKET, Class::Home, Event::Home.of(request), sink),
            Kind::Evict => self.carry(socket, Port::FromLlc, Event::Out.of(request), sink),
            _ => self.out(request, sink),
        }
    }

    /// A line is on its way out of the queue to memory.
    pub(super) fn out<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let socket = usize::from(self.requests[request].record.socket);
        self.carry(socket, Port::ToOutside, Event::Leave.of(request), sink);
    }

    /// A line to be written has left the queue for its home.
    pub(super) fn leave<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let record = &self.requests[request].record;
        let socket = usize::from(record.socket);
        if record.socket == record.home {
            self.wheel.schedule(self.now + self.times.queue_to_home, Event::Home.of(request));
        } else {
            self.send(socket, TO_SOCKET, Class::Data, Event::Home.of(request), sink);
        }
    }

    /// A line for a request comes over a link.
    pub(super) fn arrive_by_link<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let socket = usize::from(self.requests[request].record.socket);
        self.carry(socket, Port::FromLinks, Event::Part.of(request), sink);
    }

    /// A part of a request's answer is there.
    pub(super) fn part<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let entry = &mut self.requests[request];
        entry.parts -= 1;
        if entry.parts > 0 {
            return;
        }
        let kind = entry.record.kind;
        if kind.reads() {
            self.fill(request, sink);
        }
        self.give_number(request, sink);
        self.close_at_home(request, sink);
        match kind {
            Kind::Read | Kind::Own => self.pass_to_core(request, sink),
            Kind::Evict => {
                self.release(request, sink);
                self.end(request);
            }
            _ => self.written(request, sink),
        }
    }

    /// A request of which nothing has happened yet.
    pub(super) fn new_request(&mut self, kind: Kind, socket: u8, agent: u8, line: u32) -> RequestId {
        let (home, channel) = (self.home_of(line), self.place(line).channel as u8);
        let socket = if kind.is_device() { home } else { socket };
        self.requests.add(Request::new(kind, socket, agent, line, home, channel))
    }

    /// A write-back has reached the LLC, or memory.
    pub(super) fn written<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let core = self.requests[request].agent;
        self.cores[usize::from(core)].writebacks -= 1;
        self.release(request, sink);
        self.leave_tracker(request, sink);
        self.end(request);
        self.resume(core, None, sink);
    }

    /// Data has left the queue for its core.
    pub(super) fn data<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
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
        self.release(request, sink);
        self.leave_tracker(request, sink);
        self.end(request);
        self.deliver(request, agent, line, right, sink);
    }

    /// A request has ended.
    pub(super) fn end(&mut self, request: RequestId) {
        self.ledger.close(&self.requests[request].record);
        self.requests.remove(request);
    }
}
