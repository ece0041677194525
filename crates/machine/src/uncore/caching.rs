//! The caching agents: request queue, look-up, table of requests, fills and evictions.
//!
//! A slice's pipeline takes one thing a cycle: a line that has come from memory, or a request. So look-ups, insertions into the table
//! of requests and victims are each at most one a cycle, as the guide says (Table 2-14).

use super::Model;
use super::event::Event;
use super::llc::{Victim, Way};
use super::request::{NO_REQUEST, RequestId};
use crate::engine::NEVER;
use crate::ledger::{IngressQueue, LineState, Message, NO_THREAD, Refusal, RequestKind, SliceState};
use crate::signal::SignalSink;

/// The numbers of the bits that are set.
pub(super) fn bits(mut mask: u8) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (bit < 8).then_some(bit)
    })
}

impl Model {
    /// A request arrives in its slice's queue, which takes one in a cycle: others come a cycle later.
    pub(super) fn arrive<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let record = &mut self.pool[request].record;
        let (slice, tid, is_io) = (record.slice, record.tid, record.kind.is_io());
        let queue_free = &mut self.slices[usize::from(slice)].queue_free;
        if *queue_free > self.now {
            self.wheel.schedule(*queue_free, Event::Arrive.of(request));
            return;
        }
        *queue_free = self.now + self.latency.uclk;
        record.ingress_in = self.now;
        if record.kind == RequestKind::Snoop {
            let state = &mut self.slices[usize::from(slice)];
            state.snoops.push_back((self.now + self.latency.ingress, request));
            sink.enter(self.wires.slices[usize::from(slice)].ingress, self.wires.tags.snoop_ingress(), self.now);
            self.wake(slice, sink);
            return;
        }
        sink.enter(self.wires.slices[usize::from(slice)].ingress, self.wires.tags.ingress(tid), self.now);
        if is_io {
            sink.enter(self.wires.slices[usize::from(slice)].ingress, self.wires.tags.ordered(tid), self.now);
        }
        self.slices[usize::from(slice)].ingress.push((self.now + self.latency.ingress, request));
        self.wake(slice, sink);
    }

    /// A line arrives from memory.
    pub(super) fn fill<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let slice = self.pool[request].record.slice;
        self.slices[usize::from(slice)].fills.push(request);
        self.slice_state(slice, SliceState::ResponseBids, true, sink);
        self.wake(slice, sink);
    }

    /// The event that a slice set for itself.
    pub(super) fn pump<S: SignalSink>(&mut self, slice: u16, sink: &mut S) {
        if self.slices[usize::from(slice)].pump_at == self.now {
            self.slices[usize::from(slice)].pump_at = NEVER;
            self.wake(slice, sink);
        }
    }

    /// Lets the pipeline work now if it can, and sets its next event.
    pub(super) fn wake<S: SignalSink>(&mut self, slice: u16, sink: &mut S) {
        let index = usize::from(slice);
        if self.slices[index].pipeline_free <= self.now
            && !self.take_fill(slice, sink)
            && (self.links.is_empty() || !self.take_snoop(slice, sink))
        {
            self.take_request(slice, sink);
        }
        let state = &mut self.slices[index];
        if let Some(next) = state.next_snoop().filter(|_| state.has_snoop_entry()) {
            let next = next.max(state.pipeline_free);
            if next > self.now && next < state.pump_at {
                state.pump_at = next;
                self.wheel.schedule(next, Event::Pump.of(slice));
            }
        }
        let next = if !state.fills.is_empty() || (!state.retries.is_empty() && state.has_tor_entry()) {
            state.pipeline_free
        } else if let Some((ready, _)) = state.ingress.front().filter(|_| state.has_tor_entry()) {
            ready.max(state.pipeline_free)
        } else {
            return;
        };
        // If something could go now but did not, it lacks a tracker entry, and the home agent wakes the slice.
        if next > self.now && next < state.pump_at {
            state.pump_at = next;
            self.wheel.schedule(next, Event::Pump.of(slice));
        }
    }

    /// Takes a line that has come from memory; false if none can be taken.
    fn take_fill<S: SignalSink>(&mut self, slice: u16, sink: &mut S) -> bool {
        let index = usize::from(slice);
        let Some(request) = self.slices[index].fills.front() else { return false };
        if self.egress_is_full(slice) {
            self.turn_away(slice, IngressQueue::Responses, Refusal::Full, sink);
            return false;
        }
        let line = self.pool[request].line;
        let record = &self.pool[request].record;
        let upgrade = record.kind == RequestKind::ReadForOwnership && record.state.is_shared();
        if upgrade && self.take_right(slice, request, sink) {
            return true;
        }
        let (way, victim) = self.slices[index].llc.victim(line);
        if (victim.state == LineState::Modified || victim.cores != 0) && !self.tracker_entry(slice, victim.line) {
            self.turn_away(slice, IngressQueue::Responses, Refusal::Tracker, sink);
            return false;
        }
        self.fill_taken(slice, sink);
        let state = &mut self.slices[index];
        let core = self.map.within(self.pool[request].core.into());
        if self.pool[request].record.kind == RequestKind::IoWrite {
            state.llc.fill(way, line, LineState::Modified, 0);
        } else {
            let granted = if self.pool[request].granted_shared() { LineState::Forward } else { LineState::Exclusive };
            state.llc.fill(way, line, granted, 1 << core);
        }
        let from_device = self.pool[request].record.kind == RequestKind::IoWrite;
        let record = &mut self.pool[request].record;
        record.victim = Some(victim.state);
        let tag = self.wires.tags.victim(victim.state, record.nid);
        sink.pulse(self.wires.slices[index].victim, tag, self.now, 1);
        // First out, then in: the eviction can always have the entry that the filled request gives up.
        self.leave_tor(request, sink);
        if victim.state != LineState::Invalid {
            self.evict(slice, victim, sink);
        }
        if from_device {
            let sent = self.message(slice, Message::AcknowledgeFromCache, self.rings.io(), sink);
            self.wheel.schedule(sent + self.latency.to_io(slice), Event::Data.of(request));
            return true;
        }
        self.filled(request, sink);
        true
    }

    /// The pipeline takes a line that has come.
    fn fill_taken<S: SignalSink>(&mut self, slice: u16, sink: &mut S) {
        let state = &mut self.slices[usize::from(slice)];
        state.fills.pop();
        state.pipeline_free = self.now + self.latency.uclk;
        let more = !state.fills.is_empty();
        let requests_wait = state.ingress.front().is_some_and(|(ready, _)| ready <= self.now);
        self.slice_state(slice, SliceState::ResponseBids, more, sink);
        self.slice_state(slice, SliceState::ResponseStarves, false, sink);
        if requests_wait {
            self.slice_state(slice, SliceState::RequestStarves, true, sink);
        }
    }

    fn filled<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let entry = &self.pool[request];
        let (slice, core) = (entry.record.slice, self.map.within(entry.core.into()));
        if entry.record.direct_to_core {
            self.message(slice, Message::AcknowledgeFromCache, core, sink);
        } else {
            self.send_data(request, 0, sink);
        }
        self.end_step(request);
    }

    /// The right to write to a line that was shared has come: the line is where it was, unless another socket has taken it away since.
    /// False if it has.
    fn take_right<S: SignalSink>(&mut self, slice: u16, request: RequestId, sink: &mut S) -> bool {
        let (line, core) = (self.pool[request].line, self.pool[request].core);
        let Some(way) = self.slices[usize::from(slice)].llc.find(line) else { return false };
        self.fill_taken(slice, sink);
        let state = &mut self.slices[usize::from(slice)];
        let (own, first) =
            (1 << self.map.within(core.into()), usize::from(self.map.first_stop(self.map.socket(slice))));
        for other in bits(state.llc.cores(way) & !own) {
            self.cores[first + other].invalidate(line);
        }
        state.llc.set_state(way, LineState::Exclusive);
        state.llc.set_cores(way, own);
        state.llc.touch(way);
        self.leave_tor(request, sink);
        self.filled(request, sink);
        true
    }

    /// Takes the next request; false if none can be taken.
    fn take_request<S: SignalSink>(&mut self, slice: u16, sink: &mut S) -> bool {
        let state = &self.slices[usize::from(slice)];
        let retry = state.retries.front();
        let fresh = state.ingress.front().filter(|(ready, _)| *ready <= self.now).map(|(_, request)| request);
        let Some(request) = retry.or(fresh).filter(|_| state.has_tor_entry()) else { return false };
        let line = self.pool[request].line;
        if self.egress_is_full(slice) {
            self.turn_away(slice, IngressQueue::Requests, Refusal::Full, sink);
            return false;
        }
        if !self.tracker_entry(slice, line) {
            self.turn_away(slice, IngressQueue::Requests, Refusal::Tracker, sink);
            return false;
        }
        let has_retry = retry.is_some();
        self.slice_state(slice, SliceState::RequestStarves, false, sink);
        let state = &mut self.slices[usize::from(slice)];
        state.pipeline_free = self.now + self.latency.uclk;
        if has_retry {
            state.retries.pop();
        } else {
            state.ingress.pop();
        }
        if let Some(owner) = state.busy(line) {
            // The line has a request under way: requests to one address do not pass each other.
            let mut last = owner;
            while self.pool[last].next != NO_REQUEST {
                last = self.pool[last].next;
            }
            self.pool[last].next = request;
            self.turn_away(slice, IngressQueue::Requests, Refusal::Conflict, sink);
            self.reject(request, sink);
        } else {
            self.unreject(request, sink);
            self.look_up(slice, request, sink);
        }
        true
    }

    fn look_up<S: SignalSink>(&mut self, slice: u16, request: RequestId, sink: &mut S) {
        let index = usize::from(slice);
        let way = self.slices[index].llc.find(self.pool[request].line);
        let record = &mut self.pool[request].record;
        record.ingress_out = self.now;
        record.state = way.map_or(LineState::Invalid, |way| self.slices[index].llc.state(way));
        let kind = record.kind;
        // A line that other sockets may have cannot be written to without its home agent's leave.
        let owns = kind == RequestKind::ReadForOwnership || kind.is_writeback();
        let way = way.filter(|_| !(record.state.is_shared() && owns));
        record.miss = way.is_none() || kind.carries_data_home();
        let wires = &self.wires.slices[index];
        sink.leave(wires.ingress, self.wires.tags.ingress(record.tid), self.now);
        if kind.is_io() {
            sink.leave(wires.ingress, self.wires.tags.ordered(record.tid), self.now);
        }
        sink.pulse(wires.lookup, self.wires.tags.lookup(record), self.now, 1);
        self.enter_tor(request, sink);
        self.return_credit(slice);
        if kind.passes_through() {
            self.pass_through(slice, request, way, sink);
            return;
        }
        match way {
            None => {
                if kind == RequestKind::ReadForOwnership && self.pool[request].record.state == LineState::Shared {
                    let (wire, tag) = self.wires.slices[index].stores_to_shared;
                    sink.pulse(wire, tag, self.now, 1);
                }
                let to = self.way_home(request);
                if kind.is_writeback() {
                    // The line was given up while its writeback was on the way: the data goes on to memory.
                    self.message(slice, Message::DataFromCache, to, sink);
                }
                self.message(slice, Message::AddressFromCache, to, sink);
                self.request_home(request, sink);
            }
            Some(way) if kind.is_writeback() => {
                self.take_writeback(slice, request, way);
                let core = self.map.within(self.pool[request].core.into());
                self.message(slice, Message::AcknowledgeFromCache, core, sink);
                self.wheel.schedule(self.now + self.latency.llc_quick, Event::Step.of(request));
            }
            Some(way) => self.grant(slice, request, way, sink),
        }
    }

    /// A core's modified line is taken into the LLC.
    fn take_writeback(&mut self, slice: u16, request: RequestId, way: Way) {
        let llc = &mut self.slices[usize::from(slice)].llc;
        llc.set_state(way, LineState::Modified);
        llc.touch(way);
        if self.pool[request].record.kind == RequestKind::WritebackToInvalid {
            llc.set_cores(way, llc.cores(way) & !(1 << self.map.within(self.pool[request].core.into())));
        }
    }

    /// A load or store hits: snoops other cores if they may hold the line, and answers.
    fn grant<S: SignalSink>(&mut self, slice: u16, request: RequestId, way: Way, sink: &mut S) {
        let entry = &mut self.pool[request];
        let own = 1_u8 << self.map.within(entry.core.into());
        let llc = &mut self.slices[usize::from(slice)].llc;
        let cores = llc.cores(way);
        let others = cores & !own;
        let store = entry.record.kind == RequestKind::ReadForOwnership;
        llc.touch(way);
        llc.set_cores(way, if store { own } else { cores | own });
        entry.shared = others != 0 || entry.record.state.is_shared();
        // A load need not ask when several cores share the line: then none of them can have written it.
        let snooped = if store || others.count_ones() == 1 { others } else { 0 };
        if snooped == 0 {
            self.send_data(request, self.latency.llc_data, sink);
            return;
        }
        entry.snooped = snooped;
        let line = entry.line;
        let mut modified = false;
        let first = usize::from(self.map.first_stop(self.map.socket(slice)));
        for core in bits(snooped) {
            let core = &mut self.cores[first + core];
            modified |= if store { core.invalidate(line) } else { core.share(line) };
        }
        if modified {
            self.slices[usize::from(slice)].llc.set_state(way, LineState::Modified);
        }
        self.message(slice, Message::SnoopFromCache, self.map.within(slice), sink);
        self.wheel.schedule(self.now + self.latency.core_snoop, Event::Step.of(request));
    }

    /// A line gives way to another.
    fn evict<S: SignalSink>(&mut self, slice: u16, victim: Victim, sink: &mut S) {
        let mut modified = victim.state == LineState::Modified;
        let first = self.map.first_stop(self.map.socket(slice));
        for core in bits(victim.cores) {
            modified |= self.cores[usize::from(first) + core].invalidate(victim.line);
        }
        let mut record = self.record(RequestKind::Eviction, NO_THREAD, slice, victim.line);
        record.state = victim.state;
        record.miss = modified;
        let request = self.pool.add(record, victim.line, first as u8);
        self.pool[request].snooped = victim.cores;
        self.enter_tor(request, sink);
        if modified {
            self.take_tracker(request);
        }
        let delay = if victim.cores == 0 {
            self.latency.llc_quick
        } else {
            self.message(slice, Message::SnoopFromCache, self.map.within(slice), sink);
            self.latency.core_snoop
        };
        self.wheel.schedule(self.now + delay, Event::Step.of(request));
    }

    /// The next step of a request in the slice.
    pub(super) fn step<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let entry = &mut self.pool[request];
        let snooped = std::mem::take(&mut entry.snooped);
        let (kind, slice, core, miss) = (entry.record.kind, entry.record.slice, entry.core, entry.record.miss);
        let completed = entry.record.tracker_out != NEVER;
        let first = self.map.first_stop(self.map.socket(slice));
        for answering in bits(snooped) {
            self.message(first + answering as u16, Message::AcknowledgeFromCore, self.map.within(slice), sink);
        }
        if kind == RequestKind::Snoop {
            self.answer_snoop(request, sink);
        } else if kind.passes_through() {
            self.step_through(request, sink);
        } else if kind.is_read() {
            self.send_data(request, 0, sink);
        } else if kind == RequestKind::Eviction && miss && !completed {
            let to = self.way_home(request);
            self.message(slice, Message::AddressFromCache, to, sink);
            self.message(slice, Message::DataFromCache, to, sink);
            self.send_home(request, sink);
        } else {
            self.leave_tor(request, sink);
            self.end_step(request);
            if kind.is_writeback() {
                self.cores[usize::from(core)].writebacks -= 1;
                self.resume(core, None, sink);
            }
        }
    }

    fn send_data<S: SignalSink>(&mut self, request: RequestId, delay: u64, sink: &mut S) {
        let (core, slice) = (self.pool[request].core, self.pool[request].record.slice);
        let sent = self.message(slice, Message::DataFromCache, self.map.within(core.into()), sink);
        let at = sent + delay + self.latency.core_slice(core, slice);
        self.wheel.schedule(at, Event::Data.of(request));
    }

    /// A queue entry of the slice is free: the next stalled request may come.
    fn return_credit(&mut self, slice: u16) {
        let state = &mut self.slices[usize::from(slice)];
        match state.stalled.pop() {
            None => state.credits += 1,
            Some(stalled) => {
                let at = self.now + self.latency.core_slice(self.pool[stalled].core, slice);
                self.wheel.schedule(at, Event::Arrive.of(stalled));
            }
        }
    }

    pub(super) fn enter_tor<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let entry = &mut self.pool[request];
        let slice = usize::from(entry.record.slice);
        entry.record.tor_in = self.now;
        entry.tor_tag = self.wires.tags.tor(&entry.record);
        let state = &mut self.slices[slice];
        entry.tor_slot = if entry.record.kind == RequestKind::Snoop {
            state.take_snoop_entry(entry.line, request)
        } else {
            state.take_tor_entry(entry.line, request)
        };
        sink.enter(self.wires.slices[slice].tor, entry.tor_tag, self.now);
        if entry.record.miss && entry.record.kind == RequestKind::DataRead {
            sink.enter(self.wires.slices[slice].pressure.read_misses, 0, self.now);
        }
    }

    /// A request leaves the table; those that waited for its line may try again.
    pub(super) fn leave_tor<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let entry = &mut self.pool[request];
        entry.record.tor_out = self.now;
        let slice = entry.record.slice;
        let state = &mut self.slices[usize::from(slice)];
        state.free_tor_entry(entry.tor_slot);
        sink.leave(self.wires.slices[usize::from(slice)].tor, entry.tor_tag, self.now);
        if entry.record.miss && entry.record.kind == RequestKind::DataRead {
            sink.leave(self.wires.slices[usize::from(slice)].pressure.read_misses, 0, self.now);
        }
        let mut waiting = std::mem::replace(&mut entry.next, NO_REQUEST);
        while waiting != NO_REQUEST {
            let next = std::mem::replace(&mut self.pool[waiting].next, NO_REQUEST);
            let state = &mut self.slices[usize::from(slice)];
            if self.pool[waiting].record.kind == RequestKind::Snoop {
                state.snoop_retries.push_back(waiting);
            } else {
                state.retries.push(waiting);
            }
            waiting = next;
        }
        self.wake(slice, sink);
    }
}
