//! Coherence between sockets: the home agent snoops the caches of all sockets but the requester's, and orders requests to one line.
//!
//! The rules are QPI's home snooping without a directory (catalogue of undefined behaviour, "home snooping"): memory is read at once,
//! and the answer waits for it and for every snoop. A cache that has the line as E, F or M sends it to the requester itself.

use pericore_engine::NEVER;
use pericore_hardware::signal::{SignalSink, Tick};

use super::Model;
use super::event::Event;
use super::links::{Action, Letter, Origin};
use super::request::{NO_REQUEST, RequestId};
use crate::ledger::LineState;
use crate::ledger::e5_2600::{
    HomeQueue, IngressQueue, Message, NO_THREAD, PacketKind, Rare, Refusal, RequestKind, RingKind,
};
use crate::uncore::llc::{Way, bits};

/// What a snoop found, and so what its answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Finding {
    /// Nothing, or nothing that is left.
    #[default]
    Nothing,
    /// A shared copy, which stays.
    Shared,
    /// A copy that goes to the requester; a shared one stays.
    Forwarded,
    /// A modified line that goes to requester and home; a shared copy stays.
    WrittenBack,
    /// A copy that goes to the requester, with nothing left here; it was modified or not.
    Given { modified: bool },
}

impl Finding {
    const fn answer(self) -> PacketKind {
        match self {
            Self::Nothing => PacketKind::RspI,
            Self::Shared => PacketKind::RspS,
            Self::Forwarded => PacketKind::RspFwdS,
            Self::WrittenBack => PacketKind::RspFwdSWb,
            Self::Given { .. } => PacketKind::RspFwdI,
        }
    }

    /// The data that goes to the requester.
    const fn data(self) -> Option<PacketKind> {
        match self {
            Self::Nothing | Self::Shared => None,
            Self::Forwarded | Self::WrittenBack => Some(PacketKind::DataF),
            Self::Given { modified: false } => Some(PacketKind::DataE),
            Self::Given { modified: true } => Some(PacketKind::DataM),
        }
    }
}

impl Model {
    /// The home agent begins with a read: if no other request for the line is in hand, it snoops. False if it must wait.
    #[inline(never)]
    pub(super) fn begin_read<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) -> bool {
        let (line, home) = (self.pool[request].line, self.pool[request].record.nid);
        // The data that comes and the line that is filled are separate steps, and may come before the home agent is through.
        self.pool[request].open = 2;
        let agent = &mut self.homes[usize::from(home)];
        if let Some(owner) = agent.in_hand(line) {
            let mut last = owner;
            while self.pool[last].conflict != NO_REQUEST {
                last = self.pool[last].conflict;
            }
            self.pool[last].conflict = request;
            agent.conflicts += 1;
            let (wire, [none, some]) = self.wires.homes[usize::from(home)].conflicts;
            if agent.conflicts == 1 {
                sink.leave(wire, none, self.now);
                sink.enter(wire, some, self.now);
            }
            self.ledger.home_enter(home, HomeQueue::Conflicts, self.now);
            return false;
        }
        agent.take_in_hand(line, request);
        self.snoop_others(request, sink);
        true
    }

    /// Sends the snoops that do not wait for a directory.
    fn snoop_others<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let record = &self.pool[request].record;
        for socket in self.snooped_at_once(record.nid, self.map.socket(record.slice)) {
            self.snoop(request, socket, sink);
        }
    }

    /// Sends a snoop for a request to a socket.
    pub(super) fn snoop<S: SignalSink>(&mut self, request: RequestId, socket: u8, sink: &mut S) {
        let (line, home) = (self.pool[request].line, self.pool[request].record.nid);
        let slice = self.map.slice(socket, line);
        let record = self.record(RequestKind::Snoop, NO_THREAD, slice, line);
        let snoop = self.pool.add(record, line, self.map.first_stop(socket) as u8);
        self.pool[snoop].parent = request;
        // It ends when its answer has come; data for the home agent adds a step.
        self.pool[request].awaited += 1;
        self.send_address(home, snoop, sink);
    }

    /// The home agent is to send a snoop, or the completion of another socket's request, by the address ring: at once, or when those
    /// before it are gone. It sends one in a cycle.
    pub(super) fn send_address<S: SignalSink>(&mut self, home: u8, request: RequestId, sink: &mut S) {
        let agent = &mut self.homes[usize::from(home)];
        if agent.address_free <= self.now && agent.addresses.is_empty() {
            self.send_address_now(home, request, sink);
            return;
        }
        agent.addresses.push_back(request);
        if agent.addresses.len() == 1 {
            self.wheel.schedule(agent.address_free, Event::HomeEgress.of(home.into()));
        }
        self.home_queues(home, false, self.pool[request].line, true, sink);
    }

    /// The home agent sends the next message that waits for the address ring.
    pub(super) fn next_address<S: SignalSink>(&mut self, home: u16, sink: &mut S) {
        let agent = &mut self.homes[usize::from(home)];
        let Some(request) = agent.addresses.pop_front() else { return };
        if !agent.addresses.is_empty() {
            self.wheel.schedule(self.now + self.latency.uclk, Event::HomeEgress.of(home));
        }
        self.home_queues(home as u8, false, self.pool[request].line, false, sink);
        self.send_address_now(home as u8, request, sink);
    }

    fn send_address_now<S: SignalSink>(&mut self, home: u8, request: RequestId, sink: &mut S) {
        self.homes[usize::from(home)].address_free = self.now + self.latency.uclk;
        let entry = &mut self.pool[request];
        let (kind, slice, parent) = (entry.record.kind, entry.record.slice, entry.parent);
        let to = self.map.socket(slice);
        let at = self.now + self.latency.stop_to_stop;
        let wires = &self.wires.homes[usize::from(home)];
        if kind != RequestKind::Snoop {
            entry.record.note(Rare::CompletedElsewhere);
            let (wire, tag) = wires.completion_remote;
            sink.pulse(wire, tag, self.now, 1);
            self.travel(home, RingKind::Address, self.rings.home(), self.rings.io(), sink);
            let letter = Letter {
                origin: Origin::Home,
                way: (home, to),
                kind: PacketKind::Cmp,
                requester: to,
                action: Action::Complete,
                request,
            };
            self.send_packet(letter, at, sink);
            return;
        }
        entry.record.note(Rare::Snooped);
        let (wire, tag) = wires.snoops;
        sink.pulse(wire, tag, self.now, 1);
        let next = if to == home { self.map.within(slice) } else { self.rings.io() };
        self.travel(home, RingKind::Address, self.rings.home(), next, sink);
        if to == home {
            self.wheel.schedule(self.now + self.latency.to_home(slice), Event::SnoopArrive.of(request));
            return;
        }
        let asking = &self.pool[parent].record;
        let store = asking.kind == RequestKind::ReadForOwnership;
        let packet = if store { PacketKind::SnpInvOwn } else { PacketKind::SnpData };
        let requester = self.map.socket(asking.slice);
        let letter =
            Letter { origin: Origin::Home, way: (home, to), kind: packet, requester, action: Action::Snoop, request };
        self.send_packet(letter, at, sink);
    }

    /// Takes the next snoop in a slice; false if none can be taken.
    #[inline(never)]
    pub(super) fn take_snoop<S: SignalSink>(&mut self, slice: u16, sink: &mut S) -> bool {
        let ready = self.slices[usize::from(slice)].waiting.next_snoop().is_some_and(|ready| ready <= self.now);
        if !ready || !self.slices[usize::from(slice)].has_snoop_entry() {
            return false;
        }
        if self.slices[usize::from(slice)].egress_is_full() {
            self.turn_away(slice, IngressQueue::Snoops, Refusal::Full, sink);
            return false;
        }
        let state = &mut self.slices[usize::from(slice)];
        let Some(snoop) = state.waiting.take_snoop(self.now) else { return false };
        state.pipeline_free = self.now + self.latency.uclk;
        if let Some(owner) = state.busy(self.pool[snoop].line).filter(|&owner| self.must_end_first(owner)) {
            let mut last = owner;
            while self.pool[last].next != NO_REQUEST {
                last = self.pool[last].next;
            }
            self.pool[last].next = snoop;
            self.turn_away(slice, IngressQueue::Snoops, Refusal::Conflict, sink);
        } else {
            self.look_up_for_snoop(slice, snoop, sink);
        }
        true
    }

    /// A request in the table holds a snoop for its line up, unless it waits for a home agent that has not served it yet: the snoop may be
    /// what it waits for.
    fn must_end_first(&self, owner: RequestId) -> bool {
        let entry = &self.pool[owner];
        !(entry.record.kind.is_read() && entry.record.miss && !entry.granted)
    }

    fn look_up_for_snoop<S: SignalSink>(&mut self, slice: u16, snoop: RequestId, sink: &mut S) {
        let index = usize::from(slice);
        let line = self.pool[snoop].line;
        let way = self.slices[index].llc.find(line);
        let record = &mut self.pool[snoop].record;
        record.ingress_out = self.wheel.cycle();
        record.state = way.map_or(LineState::Invalid, |way| self.slices[index].llc.state(way));
        let wires = &self.slices[index].wires;
        wires.ingress.leave(self.wires.tags.snoop_ingress(), self.now, sink);
        wires.lookup.say(self.wires.tags.lookup(record), self.now, sink);
        self.enter_tor(snoop, sink);
        let delay = match way {
            None => self.latency.llc_quick,
            Some(way) => self.answer_from(slice, snoop, way, sink),
        };
        self.wheel.schedule(self.now + delay, Event::Step.of(snoop));
    }

    /// A snoop finds its line: settles what is left here and what the requester gets. Gives the time that it takes.
    fn answer_from<S: SignalSink>(&mut self, slice: u16, snoop: RequestId, way: Way, sink: &mut S) -> Tick {
        let index = usize::from(slice);
        let (line, parent) = (self.pool[snoop].line, self.pool[snoop].parent);
        let store = self.pool[parent].record.kind == RequestKind::ReadForOwnership;
        let llc = &mut self.slices[index].llc;
        let (state, cores) = (llc.state(way), llc.cores(way));
        let first = usize::from(self.map.first_stop(self.map.socket(slice)));
        let mut modified = state == LineState::Modified;
        for core in bits(cores) {
            let core = &mut self.cores[first + core];
            modified |= if store { core.invalidate(line) } else { core.share(line) };
        }
        if store {
            llc.remove(way);
        } else {
            llc.set_state(way, LineState::Shared);
        }
        let finding = match (store, state) {
            (true, LineState::Shared) => Finding::Nothing,
            (true, _) => Finding::Given { modified },
            (false, LineState::Shared) => Finding::Shared,
            (false, _) if modified => Finding::WrittenBack,
            (false, _) => Finding::Forwarded,
        };
        self.pool[snoop].finding = finding;
        if finding == Finding::Nothing {
            self.pool[snoop].record.note(Rare::DroppedSilently);
            let (wire, tag) = self.slices[index].wires.dropped_silently;
            sink.pulse(wire, tag, self.now, 1);
        }
        // The requester must know before its data comes.
        let request = &mut self.pool[parent];
        request.record.forwarded |= finding.data().is_some();
        request.shared |= !store && finding != Finding::Nothing;
        if cores == 0 {
            return if finding.data().is_some() { self.latency.llc_data } else { self.latency.llc_quick };
        }
        self.pool[snoop].snooped = cores;
        self.message(slice, Message::SnoopFromCache, self.map.within(slice), sink);
        self.latency.core_snoop
    }

    /// A snoop has what it needs: sends the answer and the data.
    #[inline(never)]
    pub(super) fn answer_snoop<S: SignalSink>(&mut self, snoop: RequestId, sink: &mut S) {
        let entry = &self.pool[snoop];
        let (slice, home, parent, finding) = (entry.record.slice, entry.record.nid, entry.parent, entry.finding);
        let (here, requester) = (self.map.socket(slice), self.map.socket(self.pool[parent].record.slice));
        let to_stop = self.latency.to_home(slice);
        let (io, agent) = (self.rings.io(), self.rings.home());
        let to = if here == home { agent } else { io };
        let at = self.message(slice, Message::AddressFromCache, to, sink) + to_stop;
        if here == home {
            self.wheel.schedule(at, Event::SnoopAnswer.of(snoop));
        } else {
            let letter = Letter {
                origin: Origin::Other,
                way: (here, home),
                kind: finding.answer(),
                requester,
                action: Action::Answer,
                request: snoop,
            };
            self.send_packet(letter, at, sink);
        }
        if let Some(kind) = finding.data() {
            let at = self.message(slice, Message::DataFromCache, io, sink) + to_stop;
            let letter = Letter {
                origin: Origin::Other,
                way: (here, requester),
                kind,
                requester,
                action: Action::Data,
                request: parent,
            };
            self.send_packet(letter, at, sink);
        }
        if finding == Finding::WrittenBack {
            // The write ends apart from the answer.
            self.pool[snoop].open += 1;
            let at = self.message(slice, Message::DataFromCache, to, sink) + to_stop;
            if here == home {
                self.reach_home(snoop, at, Event::SnoopWrite);
            } else {
                let letter = Letter {
                    origin: Origin::Other,
                    way: (here, home),
                    kind: PacketKind::WbSData,
                    requester,
                    action: Action::Write,
                    request: snoop,
                };
                self.send_packet(letter, at, sink);
            }
        }
        self.leave_tor(snoop, sink);
    }

    /// The answer to a snoop comes to the home agent.
    pub(super) fn take_snoop_answer(&mut self, snoop: RequestId) {
        let parent = self.pool[snoop].parent;
        let request = &mut self.pool[parent];
        request.awaited -= 1;
        if request.awaited == 0 && request.data_at != NEVER {
            let from = request.data_at.max(self.now.saturating_sub(self.latency.memory_to_home));
            self.plan_answer(parent, from);
        }
        self.end_step(snoop);
    }

    /// The home agent is through with a read: the next request for the line may go on.
    #[inline(never)]
    pub(super) fn end_in_hand<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let entry = &mut self.pool[request];
        entry.granted = true;
        let (line, home) = (entry.line, entry.record.nid);
        let next = std::mem::replace(&mut entry.conflict, NO_REQUEST);
        let agent = &mut self.homes[usize::from(home)];
        agent.drop_in_hand(line);
        if next == NO_REQUEST {
            return;
        }
        agent.take_in_hand(line, next);
        agent.conflicts -= 1;
        let (wire, [none, some]) = self.wires.homes[usize::from(home)].conflicts;
        if agent.conflicts == 0 {
            sink.leave(wire, some, self.now);
            sink.enter(wire, none, self.now);
        }
        self.ledger.home_leave(home, HomeQueue::Conflicts, self.now);
        self.snoop_others(next, sink);
        self.go_to_memory(next, sink);
    }

    /// Data or the completion of a read comes to its slice; with all of it the line can be filled.
    pub(super) fn part<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let entry = &mut self.pool[request];
        entry.parts += 1;
        if entry.parts == 1 + u8::from(entry.record.forwarded) {
            self.fill(request, sink);
        }
    }
}
