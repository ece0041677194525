//! The home agent: tracker, credits of the memory controller, answers.

use super::dram::{Arrival, Outcome};
use super::event::Event;
use super::parameters::MOST_SOCKETS;
use super::request::RequestId;
use super::{Model, Parameters};
use crate::engine::Ring;
use crate::ledger::{Pending, Record, RequestKind, RingKind};
use crate::signal::{SignalSink, Tick};

/// Memory channels that a home agent serves at most.
const CHANNELS: usize = 4;
/// Tracker entries that the data structures have room for (guide 2.4.4.1).
pub const TRACKER: usize = 128;

/// Tracker entries that belong to the requests of one socket.
#[derive(Debug, Clone, Copy)]
struct Trackers {
    /// Entries that slices may still take.
    free: u16,
    /// Slices of the machine that wait for one, one bit each.
    waiting: u32,
}

/// The state of a home agent.
#[derive(Debug)]
pub struct HomeAgent {
    /// By requesting socket.
    trackers: [Trackers; MOST_SOCKETS as usize],
    /// First ticks at which a request can be accepted, write data handed on, an answer sent: each once a cycle.
    accept_free: Tick,
    write_free: Tick,
    answer_free: Tick,
    read_credits: [u8; CHANNELS],
    write_credits: [u8; CHANNELS],
    /// Requests that wait for a credit.
    reads: [Ring<RequestId, TRACKER>; CHANNELS],
    writes: [Ring<RequestId, TRACKER>; CHANNELS],
}

impl HomeAgent {
    /// The idle home agent of a socket.
    pub fn new(socket: u8, parameters: &Parameters) -> Self {
        let (reads, writes) = (parameters.dram.reads, parameters.dram.writes);
        // A fixed share for each socket: the real division is set by firmware and not published.
        let others = u16::from(parameters.sockets) - 1;
        let remote = parameters.tracker_remote.checked_div(others).unwrap_or(0);
        let own = parameters.tracker_entries - others * remote;
        let free = |requester: usize| if requester == usize::from(socket) { own } else { remote };
        Self {
            trackers: std::array::from_fn(|requester| Trackers { free: free(requester), waiting: 0 }),
            accept_free: 0,
            write_free: 0,
            answer_free: 0,
            read_credits: [reads; CHANNELS],
            write_credits: [writes; CHANNELS],
            reads: std::array::from_fn(|_| Ring::new(0)),
            writes: std::array::from_fn(|_| Ring::new(0)),
        }
    }
}

const fn is_read(kind: RequestKind) -> bool {
    kind.reads_memory()
}

impl Model {
    /// The tracker entries that a slice's requests for a line take.
    fn trackers(&mut self, slice: u16, home: u8) -> &mut Trackers {
        let requester = usize::from(self.map.socket(slice)) % MOST_SOCKETS as usize;
        &mut self.homes[usize::from(home)].trackers[requester]
    }

    /// True if a tracker entry for a line can be had; otherwise the slice is woken when one is given back.
    pub(super) fn tracker_entry(&mut self, slice: u16, line: u32) -> bool {
        let trackers = self.trackers(slice, self.map.home(line));
        let free = trackers.free > 0;
        if !free {
            trackers.waiting |= 1 << slice;
        }
        free
    }

    /// Takes the tracker entry that a request needs.
    pub(super) fn take_tracker(&mut self, request: RequestId) {
        let record = &self.pool[request].record;
        let (slice, home) = (record.slice, record.nid);
        self.trackers(slice, home).free -= 1;
    }

    /// Takes a tracker entry for a request and sends it to the home agent.
    pub(super) fn request_home(&mut self, request: RequestId) {
        self.take_tracker(request);
        self.send_home(request);
    }

    /// Sends a request that has its tracker entry to the home agent.
    pub(super) fn send_home(&mut self, request: RequestId) {
        let record = &self.pool[request].record;
        let mut at = self.now + self.latency.llc_miss + self.latency.to_home(record.slice);
        if record.remote {
            at += self.latency.link;
        }
        let home = &mut self.homes[usize::from(record.nid)];
        let at = at.max(home.accept_free);
        home.accept_free = at + self.latency.uclk;
        self.wheel.schedule(at, Event::Accept.of(request));
    }

    /// The home agent accepts a request.
    pub(super) fn accept<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let entry = &mut self.pool[request];
        entry.record.tracker_in = self.now;
        let read = is_read(entry.record.kind);
        entry.place = self.map.place(entry.line);
        let channel = usize::from(entry.place.channel) % CHANNELS;
        let (index, from) = (usize::from(entry.record.nid), usize::from(entry.record.remote));
        let wires = &self.wires.homes[index];
        let asks = entry.record.kind == RequestKind::IoWrite;
        if !asks {
            let (wire, tags) = if read { wires.reads } else { wires.writes };
            sink.pulse(wire, tags[from], self.now, 1);
        }
        sink.pulse(wires.region.0, wires.region.1, self.now, 1);
        sink.enter(wires.tracker.0, wires.tracker.1[from], self.now);
        self.request_travels(request, sink);
        if asks {
            // Memory has nothing to do: the line is about to be written.
            self.plan_answer(request, self.now);
            return;
        }
        let home = &mut self.homes[index];
        let (credits, queue) = if read {
            (&mut home.read_credits[channel], &mut home.reads[channel])
        } else {
            (&mut home.write_credits[channel], &mut home.writes[channel])
        };
        if *credits == 0 {
            queue.push(request);
            return;
        }
        *credits -= 1;
        if read {
            self.request_memory(request, self.now);
        } else {
            self.plan_write(request, self.now, sink);
        }
    }

    /// Gives a write its turn at or after an uncore edge.
    fn plan_write<S: SignalSink>(&mut self, request: RequestId, edge: Tick, sink: &mut S) {
        let home = &mut self.homes[usize::from(self.pool[request].record.nid)];
        let at = edge.max(home.write_free);
        home.write_free = at + self.latency.uclk;
        if at == self.now {
            self.write(request, sink);
        } else {
            self.wheel.schedule(at, Event::Write.of(request));
        }
    }

    /// The home agent hands write data to the memory controller.
    pub(super) fn write<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let record = &mut self.pool[request].record;
        record.written = self.now;
        let wires = &self.wires.homes[usize::from(record.nid)];
        let part = record.kind == RequestKind::StreamPart && !record.completed;
        let (wire, tag) = if part { wires.written_part } else { wires.written };
        sink.pulse(wire, tag, self.now, 1);
        self.request_memory(request, self.now);
    }

    fn request_memory(&mut self, request: RequestId, from: Tick) {
        let entry = &self.pool[request];
        let place = entry.place;
        let queue = if is_read(entry.record.kind) { Pending::Reads } else { Pending::Writes };
        let clock = self.clocks.dclk;
        let channel = &mut self.channels[usize::from(place.channel)];
        let earliest = clock.cycles(from + self.latency.home_to_memory + clock.ticks() - 1);
        let cycle = channel.last_arrival().map_or(earliest, |last| earliest.max(last + 1));
        let (line, bank, row) = (entry.line, place.bank, place.row);
        let partial = entry.record.kind == RequestKind::StreamPart && !entry.record.completed;
        channel.announce(Arrival { cycle, owner: request, line, bank, row, queue, partial });
        let tick = cycle * clock.ticks();
        let next = &mut self.channel_next[usize::from(place.channel)];
        *next = (*next).min(tick);
        self.memory_next = self.memory_next.min(tick);
    }

    /// What a channel has just told the home agent.
    pub(super) fn take_outcomes<S: SignalSink>(&mut self, channel: usize, sink: &mut S) {
        let channels = usize::from(self.parameters.channels);
        let (home, channel) = (channel / channels, channel % channels);
        for index in 0..self.outcomes.len() {
            match self.outcomes[index] {
                Outcome::Data { owner, cycle } => {
                    self.plan_answer(owner, cycle * self.clocks.dclk.ticks());
                    match self.homes[home].reads[channel].pop() {
                        Some(next) => self.request_memory(next, self.now + self.latency.credit_return),
                        None => self.homes[home].read_credits[channel] += 1,
                    }
                }
                Outcome::Posted { owner } => self.plan_answer(owner, self.now),
                Outcome::WriteCredit => match self.homes[home].writes[channel].pop() {
                    Some(next) => {
                        let edge = self.clocks.uclk.align_up(self.now + self.latency.credit_return);
                        self.plan_write(next, edge, sink);
                    }
                    None => self.homes[home].write_credits[channel] += 1,
                },
            }
        }
        self.outcomes.clear();
    }

    fn plan_answer(&mut self, request: RequestId, from: Tick) {
        let home = &mut self.homes[usize::from(self.pool[request].record.nid)];
        let at = self.clocks.uclk.align_up(from + self.latency.memory_to_home).max(home.answer_free);
        home.answer_free = at + self.latency.uclk;
        self.wheel.schedule(at, Event::Answer.of(request));
    }

    /// The home agent answers, and its tracker entry is free.
    pub(super) fn answer<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let entry = &mut self.pool[request];
        entry.record.tracker_out = self.now;
        let (kind, core, slice) = (entry.record.kind, entry.core, entry.record.slice);
        let (home, remote) = (entry.record.nid, entry.record.remote);
        let wires = &self.wires.homes[usize::from(home)];
        sink.leave(wires.tracker.0, wires.tracker.1[usize::from(remote)], self.now);
        let mut to_slice = self.now + self.latency.to_home(slice);
        if remote {
            to_slice += self.latency.link;
        }
        if !is_read(kind) {
            if remote {
                sink.pulse(wires.completion_remote.0, wires.completion_remote.1, self.now, 1);
            } else {
                sink.pulse(wires.completion, 0, self.now, 1);
            }
            let next = if kind == RequestKind::IoWrite { Event::Fill } else { Event::Step };
            self.wheel.schedule(to_slice, next.of(request));
        } else if kind == RequestKind::IoRead {
            sink.pulse(wires.to_cache.0, wires.to_cache.1, self.now, 1);
            self.wheel.schedule(to_slice, Event::Step.of(request));
        } else {
            // The fill and the data are separate steps.
            entry.open = 2;
            self.wheel.schedule(to_slice, Event::Fill.of(request));
            // Loads get their data straight from here; stores through the slice, which must first see the line owned
            // (assumption: no document says which requests use Direct2Core).
            if remote {
                sink.pulse(wires.to_remote.0, wires.to_remote.1, self.now, 1);
            } else if kind == RequestKind::DataRead {
                entry.record.direct_to_core = true;
                sink.pulse(wires.direct, 0, self.now, 1);
                sink.pulse(wires.to_core.0, wires.to_core.1, self.now, 1);
                sink.pulse(wires.completion, 0, self.now, 1);
                self.wheel.schedule(self.now + self.latency.to_home(core.into()), Event::Data.of(request));
            } else {
                sink.pulse(wires.to_cache.0, wires.to_cache.1, self.now, 1);
            }
        }
        self.answer_travels(request, sink);
        let trackers = self.trackers(slice, home);
        trackers.free += 1;
        let mut waiting = std::mem::take(&mut trackers.waiting);
        while waiting != 0 {
            let slice = waiting.trailing_zeros() as u16;
            waiting &= waiting - 1;
            self.wake(slice, sink);
        }
    }

    /// The ring journeys of a request's way to its home agent's stop from another socket.
    fn request_travels<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let Record { remote, nid, kind, .. } = self.pool[request].record;
        if remote {
            let (io, home) = (self.rings.io(), self.rings.home());
            self.travel(nid, RingKind::Address, io, home, sink);
            if !is_read(kind) {
                self.travel(nid, RingKind::Block, io, home, sink);
            }
        }
    }

    /// The ring journeys of an answer: to the slice, to the core, or over the links and on.
    fn answer_travels<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let entry = &self.pool[request];
        let Record { remote, nid, kind, slice, direct_to_core, .. } = entry.record;
        let (core, requester) = (self.map.within(entry.core.into()), self.map.socket(slice));
        let (io, home, slice) = (self.rings.io(), self.rings.home(), self.map.within(slice));
        let ring = if is_read(kind) { RingKind::Block } else { RingKind::Acknowledge };
        if remote {
            // Completions cross the links as requests do, over the AD ring (`TxR_AD.NDR`).
            let out = if is_read(kind) { RingKind::Block } else { RingKind::Address };
            self.travel(nid, out, home, io, sink);
            self.travel(requester, ring, io, slice, sink);
        } else if direct_to_core {
            self.travel(nid, RingKind::Block, home, core, sink);
            self.travel(nid, RingKind::Acknowledge, home, slice, sink);
        } else {
            self.travel(nid, ring, home, slice, sink);
        }
    }
}
