//! Snoops of other sockets and of the I/O hub: peer probe tracker, look-up, answer, lines that are passed on.

use pericore_engine::NEVER;
use pericore_hardware::signal::SignalSink;

use super::Model;
use super::event::Event;
use super::request::{NO_REQUEST, Probe, RequestId};
use super::wires::Pulse;
use crate::ledger::LineState;
use crate::ledger::nehalem::{Answer, Class, Kind, Level, Port, ProbeRecord, TO_HUB, TO_SOCKET, Tracker};

impl Model {
    /// A snoop for a request, on its way to a socket; its home waits for the answer.
    pub(super) fn new_probe(&mut self, request: RequestId, socket: u8, link: Option<u8>, ordered: bool) -> u16 {
        let entry = &mut self.requests[request];
        entry.responses += 1;
        let local = entry.record.home == socket;
        let record = ProbeRecord { socket, local, queued: NEVER, looked_up: NEVER, hit: false, answer: None };
        let (answer, passed) = (Answer::Gone, LineState::Invalid);
        self.probes.add(Probe { record, request, link, ordered, answer, passed, from_core: None, open: 1 })
    }

    /// A snoop arrives.
    pub(super) fn probe<S: SignalSink>(&mut self, probe: u16, sink: &mut S) {
        let (socket, link) = (usize::from(self.probes[probe].record.socket), self.probes[probe].link);
        let state = &mut self.sockets[socket];
        if state.tracker_free[Tracker::Peer as usize] > 0 {
            self.enter_probe(probe, sink);
            return;
        }
        state.tracker_waiting[Tracker::Peer as usize].push_back(probe);
        if let Some(link) = link {
            self.raise(socket, Level::no_peer(link.into()), sink);
        }
    }

    fn enter_probe<S: SignalSink>(&mut self, probe: u16, sink: &mut S) {
        let entry = &mut self.probes[probe];
        entry.record.queued = self.now;
        let (socket, link) = (usize::from(entry.record.socket), entry.link.map(usize::from));
        self.sockets[socket].tracker_free[Tracker::Peer as usize] -= 1;
        let (wire, tag) = self.wires.sockets[socket].entered[Tracker::Peer as usize];
        sink.pulse(wire, tag, self.now, 1);
        self.raise(socket, Level::tracker(Tracker::Peer), sink);
        if link == Some(TO_SOCKET) {
            self.return_credit(1 - socket, TO_SOCKET, Class::Snoop, self.now);
        }
        let at = self.look_up_at(socket);
        self.wheel.schedule(at, Event::ProbeLookUp.of(probe));
    }

    /// A snoop is looked up, and the line goes or changes its state.
    pub(super) fn probe_look_up<S: SignalSink>(&mut self, probe: u16, sink: &mut S) {
        let (request, ordered) = (self.probes[probe].request, self.probes[probe].ordered);
        let socket = usize::from(self.probes[probe].record.socket);
        let (kind, line) = (self.requests[request].record.kind, self.requests[request].line);
        let way = self.sockets[socket].llc.find(line);
        // Only a request that is out of the socket can meet the other one at its home.
        let owner = self.sockets[socket].busy.get(&line).copied().unwrap_or(NO_REQUEST);
        let open = !ordered && owner != NO_REQUEST && self.requests[owner].record.numbered != NEVER;
        let mut dirty = None;
        let mut state = LineState::Invalid;
        if let Some(way) = way {
            dirty = self.snoop_cores(socket, way, line, kind.takes_all(), None);
            let llc = &mut self.sockets[socket].llc;
            state = llc.state(way);
            let stays = match (kind, state) {
                _ if kind.takes_all() => LineState::Invalid,
                // A device keeps no copy: the line stays the socket's own, and memory gets what is newer.
                (Kind::DeviceRead(_), LineState::Modified) => LineState::Exclusive,
                (Kind::DeviceRead(_), state) => state,
                _ => LineState::Shared,
            };
            if stays == LineState::Invalid { llc.remove(way) } else { llc.set_state(way, stays) }
        }
        let answer = match state {
            LineState::Modified if kind == Kind::Own => Answer::Forward,
            LineState::Modified if kind.takes_all() => Answer::WriteBack,
            LineState::Modified => Answer::ForwardSharedWriteBack,
            LineState::Exclusive | LineState::Forward if kind == Kind::Own => Answer::Forward,
            LineState::Exclusive | LineState::Forward if kind == Kind::Read => Answer::ForwardShared,
            _ if open => Answer::Conflict,
            LineState::Invalid => Answer::Gone,
            _ if kind.takes_all() => Answer::Gone,
            _ => Answer::Shared,
        };
        let hit = way.is_some();
        self.pulse(socket, if hit { Pulse::HitProbe } else { Pulse::MissProbe }, sink);
        let entry = &mut self.probes[probe];
        entry.record.looked_up = self.now;
        entry.record.hit = hit;
        entry.answer = answer;
        entry.passed = state;
        entry.from_core = dirty;
        let delay = self.times.llc_answer + if dirty.is_some() { self.times.core_snoop } else { 0 };
        self.wheel.schedule(self.now + delay, Event::ProbeAnswer.of(probe));
    }

    /// A snooped socket answers.
    pub(super) fn probe_answer<S: SignalSink>(&mut self, probe: u16, sink: &mut S) {
        let entry = &mut self.probes[probe];
        let (answer, request, passed, dirty) = (entry.answer, entry.request, entry.passed, entry.from_core);
        entry.record.answer = Some(answer);
        let (socket, local) = (usize::from(entry.record.socket), entry.record.local);
        let (wire, tag) = self.wires.sockets[socket].answers[usize::from(local)][answer as usize];
        sink.pulse(wire, tag, self.now, 1);
        let forwards = matches!(answer, Answer::Forward | Answer::ForwardShared | Answer::ForwardSharedWriteBack);
        if forwards {
            let entry = &mut self.requests[request];
            entry.forwarded = Some(passed);
            entry.parts += 1;
        }
        if forwards || answer == Answer::WriteBack {
            self.probes[probe].open += 1;
            let port = dirty.map_or(Port::FromLlc, |core| Port::from_core(core.into()));
            self.carry(socket, port, Event::Pass.of(probe), sink);
        }
        if local {
            self.wheel.schedule(self.now + self.times.queue_to_home, Event::Response.of(probe));
        } else {
            self.send(socket, TO_SOCKET, Class::Home, Event::Response.of(probe), sink);
        }
        self.lower(socket, Level::tracker(Tracker::Peer), sink);
        let state = &mut self.sockets[socket];
        state.tracker_free[Tracker::Peer as usize] += 1;
        if let Some(next) = state.tracker_waiting[Tracker::Peer as usize].pop_front() {
            if let Some(link) = self.probes[next].link {
                self.lower(socket, Level::no_peer(link.into()), sink);
            }
            self.enter_probe(next, sink);
        }
    }

    /// A line that a snoop passes on is in the queue, and goes out.
    pub(super) fn pass<S: SignalSink>(&mut self, probe: u16, sink: &mut S) {
        let socket = usize::from(self.probes[probe].record.socket);
        self.carry(socket, Port::ToOutside, Event::Send.of(probe), sink);
    }

    /// It leaves the socket: to the request's agent, to its home, or both.
    pub(super) fn send_line<S: SignalSink>(&mut self, probe: u16, sink: &mut S) {
        let entry = &self.probes[probe];
        let (socket, answer, request) = (usize::from(entry.record.socket), entry.answer, entry.request);
        let local = entry.record.local;
        let line = self.requests[request].line;
        if matches!(answer, Answer::WriteBack | Answer::ForwardSharedWriteBack) {
            let home = self.home_of(line);
            let data = self.new_request(Kind::Snooped, home, 0, line);
            if local {
                self.wheel.schedule(self.now + self.times.queue_to_home, Event::Return.of(data));
            } else {
                self.send(socket, TO_SOCKET, Class::Data, Event::Return.of(data), sink);
            }
        }
        if answer != Answer::WriteBack {
            let hub = self.requests[request].record.kind.is_device();
            let (link, then) = if hub { (TO_HUB, Event::Hub) } else { (TO_SOCKET, Event::FromLinks) };
            self.send(socket, link, Class::Data, then.of(request), sink);
        }
        self.end_probe_step(probe);
    }

    /// One of a snoop's open steps is over; after the last one its record is closed.
    pub(super) fn end_probe_step(&mut self, probe: u16) {
        let entry = &mut self.probes[probe];
        entry.open -= 1;
        if entry.open == 0 {
            self.ledger.close_probe(&entry.record);
            self.probes.remove(probe);
        }
    }
}
