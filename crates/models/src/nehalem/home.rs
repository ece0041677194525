//! The home logic: requests for the memory of its socket, one at a time for each line, and the answers to their snoops.

use super::Model;
use super::event::Event;
use super::request::{NO_REQUEST, RequestId};
use super::socket::AtHome;

use pericore_engine::NEVER;
use pericore_facts::LineState;
use pericore_facts::nehalem::{
    Class, Kind, NehalemFact, NehalemReader as Facts, Port, Priority, Reply, Source, Station, TO_HUB, TO_SOCKET, Use,
};

impl Model {
    /// A request arrives at its home.
    pub(super) fn at_home<R: Facts>(&mut self, request: RequestId, reader: &mut R) {
        let entry = &mut self.requests[request];
        entry.record.at_home = self.now;
        let line = entry.line;
        let home = usize::from(entry.record.home);
        let idle = self.sockets[home].home_requests == 0;
        self.sockets[home].home_requests += 1;
        self.report(request, Station::AtHome, reader);
        let Some(at) = self.sockets[home].at_home.get_mut(&line) else {
            let alone = AtHome { owner: request, last: request, requests: 1, most: 1 };
            self.sockets[home].at_home.insert(line, alone);
            self.start(request, idle, reader);
            return;
        };
        let owner = at.owner;
        self.requests[at.last].next_at_home = request;
        at.last = request;
        at.requests += 1;
        at.most = at.most.max(at.requests);
        if at.requests == 2 {
            self.contest(owner, true, reader);
        }
        self.contest(request, true, reader);
        self.hurry(request, owner, reader);
    }

    /// An isochronous read has come whose line `owner` wants, too: if that is a normal read that waits in the memory
    /// controller, the home logic has it hurried (SDM volume 3, event 31H). The channel serves it in its turn all the
    /// same.
    fn hurry<R: Facts>(&mut self, request: RequestId, owner: RequestId, reader: &mut R) {
        let waits = &self.requests[owner].record;
        let normal = matches!(waits.kind, Kind::Read | Kind::Own | Kind::DeviceRead(Priority::Normal));
        if !normal || waits.at_memory == NEVER || waits.served != NEVER {
            return;
        }
        let record = &mut self.requests[request].record;
        if matches!(record.kind, Kind::DeviceRead(Priority::High | Priority::Critical)) {
            record.hurried = true;
            self.report(request, Station::Hurried, reader);
        }
    }

    /// A request begins or ceases to share its address with another.
    fn contest<R: Facts>(&mut self, request: RequestId, contested: bool, reader: &mut R) {
        let entry = &mut self.requests[request];
        let (home, state) = (entry.record.home, Use::Contest(entry.record.source));
        let since = std::mem::replace(&mut entry.contested, if contested { self.now } else { NEVER });
        let fact = if contested { NehalemFact::Begins(home, state) } else { NehalemFact::Ends(home, state, since) };
        reader.read(self.now, fact);
    }

    /// It is a request's turn.
    fn start<R: Facts>(&mut self, request: RequestId, idle: bool, reader: &mut R) {
        let entry = &mut self.requests[request];
        entry.started = true;
        let kind = entry.record.kind;
        if kind.reads() {
            entry.memory_sent = true;
            let latency = if idle && entry.record.source == Source::Local {
                entry.record.bypassed = true;
                self.report(request, Station::Bypassed, reader);
                self.times.bypass
            } else {
                self.times.home_to_memory
            };
            self.send_to_memory(request, latency);
        }
        self.advance(request, reader);
    }

    /// An answer to a snoop arrives.
    pub(super) fn response<R: Facts>(&mut self, probe: u16, reader: &mut R) {
        let (request, reply) = (self.probes[probe].request, self.probes[probe].reply);
        let entry = &mut self.requests[request];
        entry.responses -= 1;
        entry.shared |= reply == Reply::Shared;
        let (home, source, line) = (entry.record.home, entry.record.source, entry.line);
        reader.read(self.now, NehalemFact::Reply { home, source, reply, line });
        if matches!(reply, Reply::Forward | Reply::ForwardShared | Reply::ForwardSharedWriteBack) {
            self.cancel(request, reader);
        }
        self.end_probe_step(probe, reader);
        self.advance(request, reader);
    }

    /// A socket has passed a read's line on: if it still waits in the memory controller, that is to cancel it. The
    /// channel serves it in its turn all the same.
    fn cancel<R: Facts>(&mut self, request: RequestId, reader: &mut R) {
        let record = &mut self.requests[request].record;
        if record.kind.reads() && record.at_memory != NEVER && record.served == NEVER && !record.cancelled {
            record.cancelled = true;
            self.report(request, Station::Cancelled, reader);
        }
    }

    /// A read's data has come from memory.
    pub(super) fn read<R: Facts>(&mut self, request: RequestId, reader: &mut R) {
        self.requests[request].memory_done = true;
        self.advance(request, reader);
    }

    /// Memory has taken a write over.
    pub(super) fn posted<R: Facts>(&mut self, request: RequestId, reader: &mut R) {
        if self.requests[request].record.kind == Kind::Snooped {
            self.end(request, reader);
            return;
        }
        self.requests[request].memory_done = true;
        self.advance(request, reader);
    }

    /// Carries a request on if nothing holds it up.
    fn advance<R: Facts>(&mut self, request: RequestId, reader: &mut R) {
        let entry = &self.requests[request];
        if !entry.started || entry.responses > 0 {
            return;
        }
        if entry.memory_done {
            if entry.record.kind.reads() && self.others_have(request) {
                self.snoop_again(request, reader);
            } else {
                self.complete(request, reader);
            }
        } else if !entry.memory_sent {
            if self.others_have(request) {
                self.snoop_again(request, reader);
            } else {
                self.requests[request].memory_sent = true;
                self.send_to_memory(request, self.times.home_to_memory);
            }
        }
    }

    /// True if another socket has a copy that it must not have beside the request's: its answer came before it got the
    /// line. Real home logic finds that out by acknowledgements of conflicts.
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
    fn snoop_again<R: Facts>(&mut self, request: RequestId, reader: &mut R) {
        let home = usize::from(self.requests[request].record.home);
        for other in self.others(request) {
            let link = (other != home).then_some(TO_SOCKET as u8);
            let probe = self.new_probe(request, other as u8, link, true);
            if other == home {
                self.wheel.schedule(self.now + self.times.queue_to_home, Event::Probe.of(probe));
            } else {
                self.send(home, TO_SOCKET, Class::Snoop, Event::Probe.of(probe), reader);
            }
        }
    }

    /// The home logic answers, and its tracker entry is free.
    fn complete<R: Facts>(&mut self, request: RequestId, reader: &mut R) {
        let entry = &mut self.requests[request];
        entry.record.left_home = self.now;
        let (kind, source, home) = (entry.record.kind, entry.record.source, usize::from(entry.record.home));
        let data = kind.reads() && entry.forwarded.is_none();
        self.sockets[home].home_requests -= 1;
        self.report(request, Station::LeftHome, reader);
        match (source, data) {
            (Source::Local, true) => self.carry(home, Port::FromMemory, Event::Part.of(request), reader),
            (Source::Local, false) => {
                self.wheel.schedule(self.now + self.times.queue_to_home, Event::Part.of(request));
            }
            (Source::Remote, true) => self.send(home, TO_SOCKET, Class::Data, Event::FromLinks.of(request), reader),
            (Source::Remote, false) => self.send(home, TO_SOCKET, Class::Response, Event::Part.of(request), reader),
            (Source::Hub, true) => self.send(home, TO_HUB, Class::Data, Event::Hub.of(request), reader),
            (Source::Hub, false) => self.send(home, TO_HUB, Class::Response, Event::Hub.of(request), reader),
        }
    }

    /// A request's answer has arrived: the next one for its line may have its turn.
    pub(super) fn close_at_home<R: Facts>(&mut self, request: RequestId, reader: &mut R) {
        let entry = &mut self.requests[request];
        let (home, line) = (usize::from(entry.record.home), entry.line);
        let (contested, source) = (entry.contested != NEVER, entry.record.source);
        let next = std::mem::replace(&mut entry.next_at_home, NO_REQUEST);
        if next == NO_REQUEST {
            self.sockets[home].at_home.remove(&line);
            return;
        }
        if contested {
            self.contest(request, false, reader);
        }
        if source == Source::Local {
            // Another request waits.
            self.requests[request].record.acknowledged = true;
            self.report(request, Station::Acknowledged, reader);
        }
        let Some(at) = self.sockets[home].at_home.get_mut(&line) else { return };
        at.owner = next;
        at.requests -= 1;
        if at.requests == 1 {
            let met = std::mem::replace(&mut at.most, 1);
            self.contest(next, false, reader);
            reader.read(self.now, NehalemFact::Met { home: home as u8, requests: met });
        }
        self.start(next, false, reader);
    }
}
