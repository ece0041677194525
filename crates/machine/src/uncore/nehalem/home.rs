//! The home logic: requests for the memory of its socket, one at a time for each line, and the answers to their snoops.

use pericore_hardware::signal::SignalSink;

use super::Model;
use super::event::Event;
use super::request::{NO_REQUEST, RequestId};
use super::socket::AtHome;
use super::wires::Pulse;
use crate::ledger::LineState;
use crate::ledger::nehalem::{Answer, Class, Kind, Level, Port, Source, TO_HUB, TO_SOCKET};

impl Model {
    /// A request arrives at its home.
    pub(super) fn at_home<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let entry = &mut self.requests[request];
        entry.record.at_home = self.now;
        let (kind, source, line) = (entry.record.kind, entry.record.source, entry.line);
        let home = usize::from(entry.record.home);
        let idle = Source::ALL.iter().all(|&source| self.sockets[home].live[usize::from(Level::home(source).0)] == 0);
        let (wire, tag) = self.wires.sockets[home].requests[source as usize][usize::from(!kind.reads())];
        sink.pulse(wire, tag, self.now, 1);
        self.raise(home, Level::home(source), sink);
        if kind.reads() {
            self.raise(home, Level::home_reads(source), sink);
        }
        let Some(at) = self.sockets[home].at_home.get_mut(&line) else {
            let alone = AtHome { owner: request, last: request, requests: 1, most: 1 };
            self.sockets[home].at_home.insert(line, alone);
            self.start(request, idle, sink);
            return;
        };
        let owner = at.owner;
        self.requests[at.last].next_at_home = request;
        at.last = request;
        at.requests += 1;
        at.most = at.most.max(at.requests);
        if at.requests == 2 {
            self.contest(owner, true, sink);
        }
        self.contest(request, true, sink);
    }

    /// A request begins or ceases to share its address with another.
    fn contest<S: SignalSink>(&mut self, request: RequestId, contested: bool, sink: &mut S) {
        let entry = &mut self.requests[request];
        entry.contested = contested;
        let (home, level) = (usize::from(entry.record.home), Level::conflict(entry.record.source));
        if contested { self.raise(home, level, sink) } else { self.lower(home, level, sink) }
    }

    /// It is a request's turn.
    fn start<S: SignalSink>(&mut self, request: RequestId, idle: bool, sink: &mut S) {
        let entry = &mut self.requests[request];
        entry.started = true;
        let kind = entry.record.kind;
        if kind.reads() {
            entry.memory_asked = true;
            let latency = if idle && entry.record.source == Source::Local {
                entry.record.bypassed = true;
                let home = usize::from(entry.record.home);
                self.pulse(home, Pulse::Bypass, sink);
                self.times.bypass
            } else {
                self.times.home_to_memory
            };
            self.ask_memory(request, latency);
        }
        self.advance(request, sink);
    }

    /// An answer to a snoop arrives.
    pub(super) fn response<S: SignalSink>(&mut self, probe: u16, sink: &mut S) {
        let (request, answer) = (self.probes[probe].request, self.probes[probe].answer);
        let entry = &mut self.requests[request];
        entry.responses -= 1;
        entry.shared |= answer == Answer::Shared;
        let (home, source, line) = (usize::from(entry.record.home), entry.record.source, entry.line);
        if let Some(opcode) = self.wires.opcode(answer) {
            let (wire, tag) = self.wires.sockets[home].matched[source as usize];
            sink.pulse(wire, tag | self.wires.matched(opcode, line), self.now, 1);
        }
        self.ledger.matched(home, source, answer);
        self.end_probe_step(probe);
        self.advance(request, sink);
    }

    /// A read's data has come from memory.
    pub(super) fn read<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        self.requests[request].memory_done = true;
        self.advance(request, sink);
    }

    /// Memory has taken a write over.
    pub(super) fn posted<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        if self.requests[request].record.kind == Kind::Snooped {
            self.end(request);
            return;
        }
        self.requests[request].memory_done = true;
        self.advance(request, sink);
    }

    /// Carries a request on if nothing holds it up.
    fn advance<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let entry = &self.requests[request];
        if !entry.started || entry.responses > 0 {
            return;
        }
        if entry.memory_done {
            if entry.record.kind.reads() && self.others_have(request) {
                self.ask_again(request, sink);
            } else {
                self.complete(request, sink);
            }
        } else if !entry.memory_asked {
            if self.others_have(request) {
                self.ask_again(request, sink);
            } else {
                self.requests[request].memory_asked = true;
                self.ask_memory(request, self.times.home_to_memory);
            }
        }
    }

    /// True if another socket has a copy that it must not have beside the request's: its answer came before it got the line. Real
    /// home logic finds that out by acknowledgements of conflicts.
    fn others_have(&self, request: RequestId) -> bool {
        let entry = &self.requests[request];
        let kind = entry.record.kind;
        let beside = |state: LineState| match kind {
            Kind::Read => !matches!(state, LineState::Shared | LineState::Invalid),
            _ => kind.takes_all() && state != LineState::Invalid,
        };
        self.others(request).any(|other| {
            let llc = &self.sockets[other].llc;
            llc.find(entry.line).is_some_and(|way| beside(llc.state(way)))
        })
    }

    /// The sockets that a request's snoops go to.
    fn others(&self, request: RequestId) -> impl Iterator<Item = usize> + use<> {
        let record = &self.requests[request].record;
        let own = if record.kind.is_device() { usize::MAX } else { record.socket.into() };
        let count = if record.kind.snoops() { self.sockets.len() } else { 0 };
        (0..count).filter(move |&socket| socket != own)
    }

    /// Snoops again, now that all earlier requests for the line are through.
    fn ask_again<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let home = usize::from(self.requests[request].record.home);
        for other in self.others(request) {
            let link = (other != home).then_some(TO_SOCKET as u8);
            let probe = self.new_probe(request, other as u8, link, true);
            if other == home {
                self.wheel.schedule(self.now + self.times.queue_to_home, Event::Probe.of(probe));
            } else {
                self.send(home, TO_SOCKET, Class::Snoop, Event::Probe.of(probe), sink);
            }
        }
    }

    /// The home logic answers, and its tracker entry is free.
    fn complete<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let entry = &self.requests[request];
        let (kind, source, home) = (entry.record.kind, entry.record.source, usize::from(entry.record.home));
        let data = kind.reads() && entry.forwarded.is_none();
        self.lower(home, Level::home(source), sink);
        if kind.reads() {
            self.lower(home, Level::home_reads(source), sink);
        }
        match (source, data) {
            (Source::Local, true) => self.carry(home, Port::FromMemory, Event::Part.of(request), sink),
            (Source::Local, false) => {
                self.wheel.schedule(self.now + self.times.queue_to_home, Event::Part.of(request));
            }
            (Source::Remote, true) => self.send(home, TO_SOCKET, Class::Data, Event::FromLinks.of(request), sink),
            (Source::Remote, false) => self.send(home, TO_SOCKET, Class::Response, Event::Part.of(request), sink),
            (Source::Hub, true) => self.send(home, TO_HUB, Class::Data, Event::Hub.of(request), sink),
            (Source::Hub, false) => self.send(home, TO_HUB, Class::Response, Event::Hub.of(request), sink),
        }
    }

    /// A request's answer has arrived: the next one for its line may have its turn.
    pub(super) fn close_at_home<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let entry = &mut self.requests[request];
        let (home, line) = (usize::from(entry.record.home), entry.line);
        let (contested, source) = (entry.contested, entry.record.source);
        let next = std::mem::replace(&mut entry.next_at_home, NO_REQUEST);
        if next == NO_REQUEST {
            self.sockets[home].at_home.remove(&line);
            return;
        }
        if contested {
            self.contest(request, false, sink);
        }
        if source == Source::Local {
            // Its completion asks for an acknowledgement, because another request waits.
            self.requests[request].record.acknowledged = true;
            self.pulse(home, Pulse::Acknowledge, sink);
        }
        let Some(at) = self.sockets[home].at_home.get_mut(&line) else { return };
        at.owner = next;
        at.requests -= 1;
        if at.requests == 1 {
            let met = std::mem::replace(&mut at.most, 1);
            self.contest(next, false, sink);
            self.ledger.conflict(home, met);
            self.pulse(home, if met > 2 { Pulse::ThreeWay } else { Pulse::TwoWay }, sink);
        }
        self.start(next, false, sink);
    }
}
