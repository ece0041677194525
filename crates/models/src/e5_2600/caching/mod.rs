//! The caching agents: request queue, look-up, table of requests, fills and evictions.
//!
//! A slice's pipeline takes one thing a cycle: a line that has come from memory, or a request. So look-ups, insertions
//! into the table of requests and victims are each at most one a cycle, as the guide says (Table 2-14).

mod egress;
mod grant;
mod pressure;
mod slice;
mod stream;
mod table;
mod waiting;
mod warming;

pub use slice::Slice;

use pericore_engine::NEVER;
use pericore_engine::Tick;
use pericore_engine::wheel::MARKS;
use pericore_facts::e5_2600::E5Reader;

use crate::e5_2600::Model;
use crate::e5_2600::event::Event;
use crate::e5_2600::parameters::{MOST_CORES, MOST_SOCKETS};
use crate::e5_2600::request::{NO_REQUEST, RequestId};
use pericore_facts::LineState;
use pericore_facts::e5_2600::{E5Fact, IngressQueue, Message, Refusal, RequestKind, RequestStation, SliceState};
use pericore_parts::llc::bits;

const _: () = assert!(MOST_SOCKETS * MOST_CORES <= MARKS as u64, "every slice has a mark in the event queue");

impl Model {
    /// A request is sent to its slice, in whose queue it will be at `at`, or later: the queue takes one in a cycle. It
    /// gets its place there now, in the order of arrival, and its arrival is an event only if somebody hears of it.
    #[inline]
    pub(in crate::e5_2600) fn send_at(&mut self, request: RequestId, at: Tick) {
        let record = &mut self.pool[request].record;
        let slice = record.slice;
        let state = &mut self.slices[usize::from(slice)];
        let ready = self.clocks.uclk.align_up(at) + self.latency.ingress;
        let ready = state.waiting.add_request(ready, self.latency.uclk, request);
        let arrives = ready - self.latency.ingress;
        record.ingress_in = self.clocks.uclk.cycles(arrives);
        let first = state.waiting.only_request().is_none_or(|first| first == ready);
        if state.announces {
            self.announce(request, arrives);
        }
        // If others of its kind come before it, the pipeline's event is set.
        if first {
            self.plan_pump(slice);
        }
    }

    /// Somebody will hear that a request arrives in its slice's queue.
    #[cold]
    fn announce(&mut self, request: RequestId, arrives: Tick) {
        let announced = &mut self.pool[request].announced;
        if !std::mem::replace(announced, true) {
            self.wheel.schedule(arrives, Event::Arrive.of(request));
        }
    }

    /// Requests on their way to a slice are reported when they arrive, too.
    pub(in crate::e5_2600) fn announce_arrivals_of(&mut self, slice: usize) {
        let ingress = self.latency.ingress;
        // What has arrived before now stands in the queue.
        let coming: Vec<_> = self.slices[slice].waiting.requests_after(self.now + ingress - 1).collect();
        coming.into_iter().for_each(|(ready, request)| self.announce(request, ready - ingress));
    }

    /// A request of which somebody may hear arrives in its slice's queue.
    pub(in crate::e5_2600) fn arrive<R: E5Reader>(&mut self, request: RequestId, reader: &mut R) {
        self.report(request, RequestStation::Arrived, reader);
    }

    /// A snoop arrives in its slice's queue, which takes one in a cycle: others come a cycle later.
    pub(in crate::e5_2600) fn snoop_arrives<R: E5Reader>(&mut self, snoop: RequestId, reader: &mut R) {
        let record = &mut self.pool[snoop].record;
        let slice = record.slice;
        let state = &mut self.slices[usize::from(slice)];
        let ready = self.now + self.latency.ingress;
        if state.waiting.has_one_of(ready) {
            self.wheel.schedule(self.now + self.latency.uclk, Event::SnoopArrive.of(snoop));
            return;
        }
        record.ingress_in = self.wheel.cycle();
        state.waiting.add_snoop(ready, snoop);
        self.report(snoop, RequestStation::Arrived, reader);
        self.wake(slice, reader);
    }

    /// A line arrives from memory.
    pub(in crate::e5_2600) fn fill<R: E5Reader>(&mut self, request: RequestId, reader: &mut R) {
        let slice = self.pool[request].record.slice;
        self.slices[usize::from(slice)].waiting.add_fill(request);
        self.wake(slice, reader);
        // Taken at once, it has bid for no cycle.
        let waits = self.slices[usize::from(slice)].waiting.has_fills();
        self.slice_state(slice, SliceState::ResponseBids, waits, reader);
    }

    /// The event that a slice set for itself.
    pub(in crate::e5_2600) fn pump<R: E5Reader>(&mut self, slice: u16, reader: &mut R) {
        let state = &mut self.slices[usize::from(slice)];
        if state.pump_at == self.now {
            state.pump_at = NEVER;
            self.wake(slice, reader);
        }
    }

    /// Lets the pipeline work now if it can, and sets its next event.
    #[inline(always)]
    pub(in crate::e5_2600) fn wake<R: E5Reader>(&mut self, slice: u16, reader: &mut R) {
        let state = &self.slices[usize::from(slice)];
        if state.waiting.is_empty() {
            return;
        }
        // Otherwise nothing can go now.
        if state.waiting.only_request().is_none_or(|first| first <= self.now) {
            self.work(slice, reader);
        } else {
            self.plan_pump(slice);
        }
    }

    #[inline(never)]
    fn work<R: E5Reader>(&mut self, slice: u16, reader: &mut R) {
        if self.slices[usize::from(slice)].pipeline_free <= self.now
            && !self.take_fill(slice, reader)
            && (self.links.is_empty() || !self.take_snoop(slice, reader))
        {
            self.take_request(slice, reader);
        }
        self.plan_pump(slice);
    }

    /// Sets the pipeline's next event, if something waits for one.
    #[inline]
    fn plan_pump(&mut self, slice: u16) {
        let state = &self.slices[usize::from(slice)];
        match state.waiting.only_request() {
            Some(first) if state.has_tor_entry() => self.pump_from(slice, first),
            None if !state.waiting.is_empty() => self.plan_among_others(slice),
            _ => {}
        }
    }

    #[inline(never)]
    fn plan_among_others(&mut self, slice: u16) {
        let state = &self.slices[usize::from(slice)];
        // The pipeline works neither before it is free nor again in this cycle, and an earlier event may be set
        // already.
        if state.pump_at <= state.pipeline_free.max(self.now + 1) {
            return;
        }
        if let Some(ready) = state.waiting.next_snoop().filter(|_| state.has_snoop_entry()) {
            self.pump_from(slice, ready);
        }
        let state = &self.slices[usize::from(slice)];
        let fill = state.waiting.has_fills().then_some(0);
        let ready = fill.or_else(|| state.waiting.next_request().filter(|_| state.has_tor_entry()));
        if let Some(ready) = ready {
            self.pump_from(slice, ready);
        }
    }

    /// Sets the pipeline's next event for something that may go from a tick on. If it could go now but did not, it
    /// lacks a tracker entry, and the home agent wakes the slice.
    #[inline]
    fn pump_from(&mut self, slice: u16, ready: Tick) {
        let state = &mut self.slices[usize::from(slice)];
        let next = ready.max(state.pipeline_free);
        if next > self.now && next < state.pump_at {
            state.pump_at = self.wheel.mark(next, slice as u8);
        }
    }

    /// Takes a line that has come from memory; false if none can be taken.
    fn take_fill<R: E5Reader>(&mut self, slice: u16, reader: &mut R) -> bool {
        let state = &self.slices[usize::from(slice)];
        let Some(request) = state.waiting.fill() else { return false };
        if state.egress_is_full() {
            self.turn_away(slice, IngressQueue::Responses, Refusal::Full, reader);
            return false;
        }
        let entry = &self.pool[request];
        let (line, kind) = (entry.line, entry.record.kind);
        let upgrade = kind.is_for_ownership() && entry.record.state.is_shared();
        if upgrade && self.take_right(slice, request, reader) {
            return true;
        }
        let (llc, from_device) = (&mut self.slices[usize::from(slice)].llc, kind == RequestKind::IoWrite);
        let (way, victim) =
            if from_device { llc.victim_of_last(line, self.parameters.device_ways) } else { llc.victim(line) };
        if (victim.state == LineState::Modified || victim.cores != 0) && !self.tracker_entry(slice, victim.line) {
            self.turn_away(slice, IngressQueue::Responses, Refusal::Tracker, reader);
            return false;
        }
        self.fill_taken(slice, reader);
        let (entry, state) = (&mut self.pool[request], &mut self.slices[usize::from(slice)]);
        let (granted, cores) = if from_device {
            (LineState::Modified, 0)
        } else {
            let shared = entry.granted_shared();
            (if shared { LineState::Forward } else { LineState::Exclusive }, 1 << self.map.within(entry.core.into()))
        };
        state.llc.fill(way, line, granted, cores);
        entry.record.victim = Some(victim.state);
        self.report(request, RequestStation::Filled, reader);
        // First out, then in: the eviction can always have the entry that the filled request gives up.
        self.leave_tor(request, reader);
        if victim.state != LineState::Invalid {
            self.evict(slice, victim, reader);
        }
        if from_device {
            let sent = self.acknowledgement(slice, Message::AcknowledgeFromCache, self.rings.io(), reader);
            self.wheel.schedule(sent + self.latency.to_io(slice), Event::Data.of(request));
            return true;
        }
        self.filled(request, reader);
        true
    }

    /// The pipeline takes a line that has come.
    fn fill_taken<R: E5Reader>(&mut self, slice: u16, reader: &mut R) {
        let state = &mut self.slices[usize::from(slice)];
        state.waiting.take_fill();
        state.pipeline_free = self.now + self.latency.uclk;
        let more = state.waiting.has_fills();
        let requests_wait = state.waiting.request(self.now).is_some();
        self.slice_state(slice, SliceState::ResponseBids, more, reader);
        self.slice_state(slice, SliceState::ResponseStarves, false, reader);
        if requests_wait {
            self.slice_state(slice, SliceState::RequestStarves, true, reader);
        }
    }

    fn filled<R: E5Reader>(&mut self, request: RequestId, reader: &mut R) {
        let entry = &self.pool[request];
        let (slice, core) = (entry.record.slice, self.map.within(entry.core.into()));
        if entry.data_is_on_its_way() {
            self.cores[usize::from(entry.core)].give(entry.line);
        }
        if entry.record.direct_to_core {
            self.acknowledgement(slice, Message::AcknowledgeFromCache, core, reader);
        } else {
            self.send_data(request, 0, reader);
        }
        self.end_step(request, reader);
    }

    /// The right to write to a line that was shared has come: the line is where it was, unless another socket has taken
    /// it away since. False if it has.
    #[cold]
    fn take_right<R: E5Reader>(&mut self, slice: u16, request: RequestId, reader: &mut R) -> bool {
        let (line, core) = (self.pool[request].line, self.pool[request].core);
        let Some(way) = self.slices[usize::from(slice)].llc.find(line) else { return false };
        self.fill_taken(slice, reader);
        let state = &mut self.slices[usize::from(slice)];
        let (own, first) =
            (1 << self.map.within(core.into()), usize::from(self.map.first_stop(self.map.socket(slice))));
        for other in bits(state.llc.cores(way) & !own) {
            self.cores[first + other].invalidate(line);
        }
        state.llc.set_state(way, LineState::Exclusive);
        state.llc.set_cores(way, own);
        state.llc.touch(way);
        self.leave_tor(request, reader);
        self.filled(request, reader);
        true
    }

    /// Takes the next request, if one can be taken.
    #[inline]
    fn take_request<R: E5Reader>(&mut self, slice: u16, reader: &mut R) {
        let state = &mut self.slices[usize::from(slice)];
        if !state.has_tor_entry() {
            return;
        }
        let retry = state.waiting.retry();
        let Some(request) = retry.or_else(|| state.waiting.request(self.now)) else { return };
        let line = self.pool[request].line;
        if state.egress_is_full() {
            self.reject(request, Refusal::Full, reader);
            return;
        }
        if !self.tracker_entry(slice, line) {
            self.reject(request, Refusal::Tracker, reader);
            return;
        }
        self.slice_state(slice, SliceState::RequestStarves, false, reader);
        let state = &mut self.slices[usize::from(slice)];
        state.pipeline_free = self.now + self.latency.uclk;
        if retry.is_some() {
            state.waiting.take_retry();
        } else {
            state.waiting.take_request();
        }
        if let Some(owner) = state.busy(line) {
            // The line has a request under way: requests to one address do not pass each other.
            let mut last = owner;
            while self.pool[last].next != NO_REQUEST {
                last = self.pool[last].next;
            }
            self.pool[last].next = request;
            self.reject(request, Refusal::Conflict, reader);
        } else {
            self.look_up(slice, request, reader);
        }
    }

    #[inline]
    fn look_up<R: E5Reader>(&mut self, slice: u16, request: RequestId, reader: &mut R) {
        let (entry, state) = (&mut self.pool[request], &self.slices[usize::from(slice)]);
        let way = state.llc.find(entry.line);
        let record = &mut entry.record;
        record.ingress_out = self.wheel.cycle();
        record.state = way.map_or(LineState::Invalid, |way| state.llc.state(way));
        let kind = record.kind;
        // A line that other sockets may have cannot be written to without its home agent's leave.
        let owns = kind.is_for_ownership() || kind.is_writeback();
        let way = way.filter(|_| !(record.state.is_shared() && owns));
        record.miss = way.is_none() || kind.carries_data_home();
        reader.read(self.now, E5Fact::Request(RequestStation::LookedUp, record));
        self.enter_tor(request, reader);
        self.return_credit(slice);
        if kind.passes_through() {
            self.pass_through(slice, request, way, reader);
            return;
        }
        match way {
            None => {
                let to = self.way_home(request);
                if kind.is_writeback() {
                    // The line was given up while its writeback was on the way: the data goes on to memory.
                    self.message(slice, Message::DataFromCache, to, reader);
                }
                self.message(slice, Message::AddressFromCache, to, reader);
                self.request_home(request, reader);
            }
            Some(way) if kind.is_writeback() => {
                self.take_writeback(slice, request, way);
                let core = self.map.within(self.pool[request].core.into());
                self.acknowledgement(slice, Message::AcknowledgeFromCache, core, reader);
                self.wheel.schedule(self.now + self.latency.llc_quick, Event::Step.of(request));
            }
            Some(way) => self.grant(slice, request, way, reader),
        }
    }
}
