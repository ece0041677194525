//! Snoops of other sockets and of the I/O hub: peer probe tracker, look-up, answer, lines that are passed on.

use pericore_engine::NEVER;

use super::Model;
use super::event::{Event, NOTHING};
use super::request::{NO_REQUEST, Probe, RequestId};

use pericore_facts::LineState;
use pericore_facts::nehalem::{
    Class, Kind, NehalemReader as Facts, Port, ProbeRecord, Reply, SnoopStation, TO_HUB, TO_SOCKET, Tracker,
};

impl Model {
    /// A snoop for a request, on its way to a socket; its home waits for the answer.
    pub(super) fn new_probe(&mut self, request: RequestId, socket: u8, link: Option<u8>, ordered: bool) -> u16 {
        let entry = &mut self.requests[request];
        entry.responses += 1;
        let local = entry.record.home == socket;
        let record = ProbeRecord {
            socket,
            local,
            link,
            waited: NEVER,
            queued: NEVER,
            looked_up: NEVER,
            hit: false,
            reply: None,
            left: NEVER,
        };
        let (reply, passed) = (Reply::Gone, LineState::Invalid);
        self.probes.add(Probe { record, request, ordered, reply, passed, from_core: None, open: 1 })
    }

    /// A snoop arrives.
    pub(super) fn probe<R: Facts>(&mut self, probe: u16, reader: &mut R) {
        let record = &mut self.probes[probe].record;
        let state = &mut self.sockets[usize::from(record.socket)];
        if state.tracker_free[Tracker::Peer as usize] > 0 {
            self.enter_probe(probe, reader);
            return;
        }
        state.tracker_waiting[Tracker::Peer as usize].push_back(probe);
        record.waited = self.now;
        self.report_snoop(probe, SnoopStation::Waits, reader);
    }

    fn enter_probe<R: Facts>(&mut self, probe: u16, reader: &mut R) {
        let entry = &mut self.probes[probe];
        entry.record.queued = self.now;
        let (socket, link) = (usize::from(entry.record.socket), entry.record.link.map(usize::from));
        self.sockets[socket].tracker_free[Tracker::Peer as usize] -= 1;
        self.report_snoop(probe, SnoopStation::Queued, reader);
        if link == Some(TO_SOCKET) {
            self.return_credit(1 - socket, TO_SOCKET, Class::Snoop, self.now);
        }
        let at = self.look_up_at(socket);
        self.wheel.schedule(at, Event::ProbeLookUp.of(probe));
    }

    /// A snoop is looked up, and the line goes or changes its state.
    pub(super) fn probe_look_up<R: Facts>(&mut self, probe: u16, reader: &mut R) {
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
        let reply = match state {
            LineState::Modified if kind == Kind::Own => Reply::Forward,
            LineState::Modified if kind.takes_all() => Reply::WriteBack,
            LineState::Modified => Reply::ForwardSharedWriteBack,
            LineState::Exclusive | LineState::Forward if kind == Kind::Own => Reply::Forward,
            LineState::Exclusive | LineState::Forward if kind == Kind::Read => Reply::ForwardShared,
            _ if open => Reply::Conflict,
            LineState::Invalid => Reply::Gone,
            _ if kind.takes_all() => Reply::Gone,
            _ => Reply::Shared,
        };
        let hit = way.is_some();
        let entry = &mut self.probes[probe];
        entry.record.looked_up = self.now;
        entry.record.hit = hit;
        entry.reply = reply;
        entry.passed = state;
        entry.from_core = dirty;
        self.report_snoop(probe, SnoopStation::LookedUp, reader);
        let delay = self.times.llc_answer + if dirty.is_some() { self.times.core_snoop } else { 0 };
        self.wheel.schedule(self.now + delay, Event::ProbeReply.of(probe));
    }

    /// A snooped socket answers.
    pub(super) fn probe_reply<R: Facts>(&mut self, probe: u16, reader: &mut R) {
        let entry = &mut self.probes[probe];
        let (reply, request, passed, dirty) = (entry.reply, entry.request, entry.passed, entry.from_core);
        entry.record.reply = Some(reply);
        let (socket, local) = (usize::from(entry.record.socket), entry.record.local);
        self.report_snoop(probe, SnoopStation::Replied, reader);
        let forwards = matches!(reply, Reply::Forward | Reply::ForwardShared | Reply::ForwardSharedWriteBack);
        if forwards {
            let entry = &mut self.requests[request];
            entry.forwarded = Some(passed);
            entry.parts += 1;
        }
        if forwards || reply == Reply::WriteBack {
            self.probes[probe].open += 1;
            let port = dirty.map_or(Port::FromLlc, |core| Port::from_core(core.into()));
            self.carry(socket, port, Event::Pass.of(probe), reader);
            // The copy that stays in the LLC is as the core had the line.
            if dirty.is_some() && !self.requests[request].record.kind.takes_all() {
                self.carry(socket, Port::ToLlc, NOTHING, reader);
            }
        }
        if local {
            self.wheel.schedule(self.now + self.times.queue_to_home, Event::Response.of(probe));
        } else {
            self.send(socket, TO_SOCKET, Class::Home, Event::Response.of(probe), reader);
        }
        self.probes[probe].record.left = self.now;
        self.report_snoop(probe, SnoopStation::Left, reader);
        let state = &mut self.sockets[socket];
        state.tracker_free[Tracker::Peer as usize] += 1;
        if let Some(next) = state.tracker_waiting[Tracker::Peer as usize].pop_front() {
            self.enter_probe(next, reader);
        }
    }

    /// A line that a snoop passes on is in the queue, and goes out.
    pub(super) fn pass<R: Facts>(&mut self, probe: u16, reader: &mut R) {
        let socket = usize::from(self.probes[probe].record.socket);
        self.carry(socket, Port::ToOutside, Event::Send.of(probe), reader);
    }

    /// It leaves the socket: to the request's agent, to its home, or both.
    pub(super) fn send_line<R: Facts>(&mut self, probe: u16, reader: &mut R) {
        let entry = &self.probes[probe];
        let (socket, reply, request) = (usize::from(entry.record.socket), entry.reply, entry.request);
        let local = entry.record.local;
        let line = self.requests[request].line;
        if matches!(reply, Reply::WriteBack | Reply::ForwardSharedWriteBack) {
            let home = self.home_of(line);
            let data = self.new_request(Kind::Snooped, home, 0, line);
            if local {
                self.wheel.schedule(self.now + self.times.queue_to_home, Event::Return.of(data));
            } else {
                self.send(socket, TO_SOCKET, Class::Data, Event::Return.of(data), reader);
            }
        }
        if reply != Reply::WriteBack {
            let hub = self.requests[request].record.kind.is_device();
            let (link, then) = if hub { (TO_HUB, Event::Hub) } else { (TO_SOCKET, Event::FromLinks) };
            self.send(socket, link, Class::Data, then.of(request), reader);
        }
        self.end_probe_step(probe, reader);
    }

    /// One of a snoop's open steps is over; after the last one its record is closed.
    pub(super) fn end_probe_step<R: Facts>(&mut self, probe: u16, reader: &mut R) {
        let entry = &mut self.probes[probe];
        entry.open -= 1;
        if entry.open == 0 {
            self.report_snoop(probe, SnoopStation::Ended, reader);
            self.probes.remove(probe);
        }
    }
}
