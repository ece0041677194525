//! Coherence between sockets: the home agent snoops the caches of all sockets but the requester's, and orders requests
//! to one line.
//!
//! The rules are QPI's home snooping without a directory (catalogue of undefined behaviour, "home snooping"): memory is
//! read at once, and the answer waits for it and for every snoop. A cache that has the line as E, F or M sends it to
//! the requester itself.

use pericore_engine::NEVER;
use pericore_engine::Tick;
use pericore_facts::e5_2600::E5Reader;

use crate::e5_2600::Model;
use crate::e5_2600::event::Event;
use crate::e5_2600::home::Finding;
use crate::e5_2600::links::{Action, NewPacket, Origin};
use crate::e5_2600::request::{NO_REQUEST, RequestId};
use pericore_facts::LineState;
use pericore_facts::e5_2600::{
    IngressQueue, Message, NO_THREAD, PacketKind, Rare, Refusal, RequestKind, RequestStation, RingKind, UncoreUse,
};
use pericore_parts::llc::Way;

impl Model {
    /// The home agent begins with a read: if no other request for the line is in hand, it snoops. False if it must
    /// wait.
    #[inline(never)]
    pub(in crate::e5_2600) fn begin_read<R: E5Reader>(&mut self, request: RequestId, reader: &mut R) -> bool {
        let (line, home) = (self.pool[request].line, self.pool[request].record.nid);
        // The data that comes and the line that is filled are separate steps, and may come before the home agent is
        // through.
        self.pool[request].open = 2;
        let agent = &mut self.homes[usize::from(home)];
        if let Some(owner) = agent.in_hand(line) {
            let mut last = owner;
            while self.pool[last].conflict != NO_REQUEST {
                last = self.pool[last].conflict;
            }
            self.pool[last].conflict = request;
            self.begins(UncoreUse::Conflict(home), reader);
            return false;
        }
        agent.take_in_hand(line, request);
        self.snoop_others(request, reader);
        true
    }

    /// Sends the snoops that do not wait for a directory.
    fn snoop_others<R: E5Reader>(&mut self, request: RequestId, reader: &mut R) {
        let record = &self.pool[request].record;
        for socket in self.snooped_at_once(record.nid, self.map.socket(record.slice)) {
            self.snoop(request, socket, reader);
        }
    }

    /// Sends a snoop for a request to a socket.
    pub(in crate::e5_2600) fn snoop<R: E5Reader>(&mut self, request: RequestId, socket: u8, reader: &mut R) {
        let (line, home) = (self.pool[request].line, self.pool[request].record.nid);
        let slice = self.map.slice(socket, line);
        let record = self.record(RequestKind::Snoop, NO_THREAD, slice, line);
        let snoop = self.pool.add(record, line, self.map.first_stop(socket) as u8);
        self.pool[snoop].parent = request;
        // It ends when its answer has come; data for the home agent adds a step.
        self.pool[request].awaited += 1;
        self.send_address(home, snoop, reader);
    }

    /// The home agent is to send a snoop, or the completion of another socket's request, by the address ring: at once,
    /// or when those before it are gone. It sends one in a cycle.
    pub(in crate::e5_2600) fn send_address<R: E5Reader>(&mut self, home: u8, request: RequestId, reader: &mut R) {
        let agent = &mut self.homes[usize::from(home)];
        if agent.address_free <= self.now && agent.addresses.is_empty() {
            self.send_address_now(home, request, Origin::Home, reader);
            return;
        }
        agent.addresses.push_back(request);
        if agent.addresses.len() == 1 {
            self.wheel.schedule(agent.address_free, Event::HomeEgress.of(home.into()));
        }
        self.home_queues(home, RingKind::Address, self.pool[request].line, true, reader);
    }

    /// The home agent sends the next message that waits for the address ring.
    pub(in crate::e5_2600) fn next_address<R: E5Reader>(&mut self, home: u16, reader: &mut R) {
        let agent = &mut self.homes[usize::from(home)];
        let Some(request) = agent.addresses.pop_front() else { return };
        if !agent.addresses.is_empty() {
            self.wheel.schedule(self.now + self.latency.uclk, Event::HomeEgress.of(home));
        }
        self.send_address_now(home as u8, request, Origin::HomeQueue, reader);
    }

    fn send_address_now<R: E5Reader>(&mut self, home: u8, request: RequestId, origin: Origin, reader: &mut R) {
        self.homes[usize::from(home)].address_free = self.now + self.latency.uclk;
        let entry = &mut self.pool[request];
        let (kind, slice, parent) = (entry.record.kind, entry.record.slice, entry.parent);
        let to = self.map.socket(slice);
        let at = self.now + self.latency.stop_to_stop;
        if kind != RequestKind::Snoop {
            entry.record.note(Rare::CompletedElsewhere);
            self.report(request, RequestStation::CompletedElsewhere, reader);
            self.travel(home, RingKind::Address, self.rings.home(), self.rings.io(), reader);
            let new = NewPacket {
                origin,
                way: (home, to),
                kind: PacketKind::Cmp,
                requester: to,
                action: Action::Complete,
                request,
            };
            self.send_packet(new, at, reader);
            return;
        }
        entry.record.note(Rare::Snooped);
        self.report(request, RequestStation::Snooped, reader);
        let next = if to == home { self.map.within(slice) } else { self.rings.io() };
        self.travel(home, RingKind::Address, self.rings.home(), next, reader);
        if to == home {
            if origin == Origin::HomeQueue {
                self.home_queues(home, RingKind::Address, self.pool[request].line, false, reader);
            }
            self.wheel.schedule(self.now + self.latency.to_home(slice), Event::SnoopArrive.of(request));
            return;
        }
        let asking = &self.pool[parent].record;
        let store = asking.kind.is_for_ownership();
        let packet = if store { PacketKind::SnpInvOwn } else { PacketKind::SnpData };
        let requester = self.map.socket(asking.slice);
        let new = NewPacket { origin, way: (home, to), kind: packet, requester, action: Action::Snoop, request };
        self.send_packet(new, at, reader);
    }

    /// Takes the next snoop in a slice; false if none can be taken.
    #[inline(never)]
    pub(in crate::e5_2600) fn take_snoop<R: E5Reader>(&mut self, slice: u16, reader: &mut R) -> bool {
        let ready = self.slices[usize::from(slice)].waiting.next_snoop().is_some_and(|ready| ready <= self.now);
        if !ready || !self.slices[usize::from(slice)].has_snoop_entry() {
            return false;
        }
        if self.slices[usize::from(slice)].egress_is_full() {
            self.turn_away(slice, IngressQueue::Snoops, Refusal::Full, reader);
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
            self.turn_away(slice, IngressQueue::Snoops, Refusal::Conflict, reader);
        } else {
            self.look_up_for_snoop(slice, snoop, reader);
        }
        true
    }

    /// A request in the table holds a snoop for its line up, unless it waits for a home agent that has not served it
    /// yet: the snoop may be what it waits for.
    fn must_end_first(&self, owner: RequestId) -> bool {
        let entry = &self.pool[owner];
        !(entry.record.kind.is_read() && entry.record.miss && !entry.granted)
    }

    fn look_up_for_snoop<R: E5Reader>(&mut self, slice: u16, snoop: RequestId, reader: &mut R) {
        let index = usize::from(slice);
        let line = self.pool[snoop].line;
        let way = self.slices[index].llc.find(line);
        let record = &mut self.pool[snoop].record;
        record.ingress_out = self.wheel.cycle();
        record.state = way.map_or(LineState::Invalid, |way| self.slices[index].llc.state(way));
        self.report(snoop, RequestStation::LookedUp, reader);
        self.enter_tor(snoop, reader);
        let delay = match way {
            None => self.latency.llc_quick,
            Some(way) => self.respond_from(slice, snoop, way, reader),
        };
        self.wheel.schedule(self.now + delay, Event::Step.of(snoop));
    }

    /// A snoop finds its line: settles what is left here and what the requester gets. Gives the time that it takes.
    fn respond_from<R: E5Reader>(&mut self, slice: u16, snoop: RequestId, way: Way, reader: &mut R) -> Tick {
        let index = usize::from(slice);
        let (line, parent) = (self.pool[snoop].line, self.pool[snoop].parent);
        let store = self.pool[parent].record.kind.is_for_ownership();
        let llc = &self.slices[index].llc;
        let (state, cores) = (llc.state(way), llc.cores(way));
        self.pool[snoop].snooped = cores;
        let modified = self.take_from_cores(snoop, slice, line, store) || state == LineState::Modified;
        let llc = &mut self.slices[index].llc;
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
            self.report(snoop, RequestStation::DroppedSilently, reader);
        }
        // The requester must know before its data comes.
        let request = &mut self.pool[parent];
        request.record.forwarded |= finding.data().is_some();
        request.shared |= !store && finding != Finding::Nothing;
        if cores == 0 {
            return if finding.data().is_some() { self.latency.llc_data } else { self.latency.llc_quick };
        }
        self.message(slice, Message::SnoopFromCache, self.map.within(slice), reader);
        self.snoop_takes(slice, cores, reader)
    }

    /// A snoop has what it needs: sends the answer and the data.
    #[inline(never)]
    pub(in crate::e5_2600) fn respond_to_snoop<R: E5Reader>(&mut self, snoop: RequestId, reader: &mut R) {
        let entry = &self.pool[snoop];
        let (slice, home, parent, finding) = (entry.record.slice, entry.record.nid, entry.parent, entry.finding);
        let (here, requester) = (self.map.socket(slice), self.map.socket(self.pool[parent].record.slice));
        let to_stop = self.latency.to_home(slice);
        let (io, agent) = (self.rings.io(), self.rings.home());
        let to = if here == home { agent } else { io };
        let at = self.message(slice, Message::AddressFromCache, to, reader) + to_stop;
        if here == home {
            self.wheel.schedule(at, Event::SnoopResponse.of(snoop));
        } else {
            let new = NewPacket {
                origin: Origin::Other,
                way: (here, home),
                kind: finding.response(),
                requester,
                action: Action::Respond,
                request: snoop,
            };
            self.send_packet(new, at, reader);
        }
        if let Some(kind) = finding.data() {
            let at = self.message(slice, Message::DataFromCache, io, reader) + to_stop;
            let new = NewPacket {
                origin: Origin::Other,
                way: (here, requester),
                kind,
                requester,
                action: Action::Data,
                request: parent,
            };
            self.send_packet(new, at, reader);
        }
        if finding == Finding::WrittenBack {
            // The write ends apart from the answer.
            self.pool[snoop].open += 1;
            let at = self.message(slice, Message::DataFromCache, to, reader) + to_stop;
            if here == home {
                self.reach_home(snoop, at, Event::SnoopWrite);
            } else {
                let new = NewPacket {
                    origin: Origin::Other,
                    way: (here, home),
                    kind: PacketKind::WbSData,
                    requester,
                    action: Action::Write,
                    request: snoop,
                };
                self.send_packet(new, at, reader);
            }
        }
        self.leave_tor(snoop, reader);
    }

    /// The answer to a snoop comes to the home agent.
    pub(in crate::e5_2600) fn take_snoop_response<R: E5Reader>(&mut self, snoop: RequestId, reader: &mut R) {
        let parent = self.pool[snoop].parent;
        let request = &mut self.pool[parent];
        request.awaited -= 1;
        if request.awaited == 0 && request.data_at != NEVER {
            let from = request.data_at.max(self.now.saturating_sub(self.latency.memory_to_home));
            self.plan_response(parent, from);
        }
        self.end_step(snoop, reader);
    }

    /// The home agent is through with a read: the next request for the line may go on.
    #[inline(never)]
    pub(in crate::e5_2600) fn end_in_hand<R: E5Reader>(&mut self, request: RequestId, reader: &mut R) {
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
        self.ends(UncoreUse::Conflict(home), reader);
        self.snoop_others(next, reader);
        self.serve(next, reader);
    }

    /// Data or the completion of a read comes to its slice; with all of it the line can be filled.
    pub(in crate::e5_2600) fn part<R: E5Reader>(&mut self, request: RequestId, reader: &mut R) {
        let entry = &mut self.pool[request];
        entry.parts += 1;
        if entry.parts == 1 + u8::from(entry.record.forwarded) {
            self.fill(request, reader);
        }
    }
}
