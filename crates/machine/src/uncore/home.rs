//! The home agent: tracker, credits of the memory controller, answers.

use super::Model;
use super::dram::{Arrival, Outcome};
use super::event::Event;
use super::request::RequestId;
use crate::engine::Ring;
use crate::ledger::{Pending, RequestKind};
use crate::signal::{SignalSink, Tick};

/// Memory channels that a home agent serves at most.
pub const CHANNELS: usize = 4;
/// Tracker entries that the data structures have room for (guide 2.4.4.1).
pub const TRACKER: usize = 128;

/// The state of a home agent.
#[derive(Debug)]
pub struct HomeAgent {
    /// Tracker entries that slices may still take.
    pub trackers_free: u16,
    /// Slices that wait for a tracker entry, one bit each.
    pub waiting: u32,
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
    /// An idle home agent.
    pub fn new(trackers: u16, reads: u8, writes: u8) -> Self {
        Self {
            trackers_free: trackers,
            waiting: 0,
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
    matches!(kind, RequestKind::DataRead | RequestKind::ReadForOwnership)
}

impl Model {
    /// True if a tracker entry can be had; otherwise the slice is woken when one is given back.
    pub(super) fn tracker_entry(&mut self, slice: u16) -> bool {
        let free = self.home.trackers_free > 0;
        if !free {
            self.home.waiting |= 1 << slice;
        }
        free
    }

    /// Takes a tracker entry for a request and sends it to the home agent.
    pub(super) fn request_home(&mut self, request: RequestId) {
        self.home.trackers_free -= 1;
        self.send_home(request);
    }

    /// Sends a request that has its tracker entry to the home agent.
    pub(super) fn send_home(&mut self, request: RequestId) {
        let slice = self.pool[request].record.slice;
        let at = self.now + self.latency.llc_miss + self.latency.to_home(slice);
        let at = at.max(self.home.accept_free);
        self.home.accept_free = at + self.latency.uclk;
        self.wheel.schedule(at, Event::Accept.of(request));
    }

    /// The home agent accepts a request.
    pub(super) fn accept<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let entry = &mut self.pool[request];
        entry.record.tracker_in = self.now;
        let read = is_read(entry.record.kind);
        entry.place = self.map.place(entry.line);
        let channel = usize::from(entry.place.channel);
        let wires = &self.wires.homes[0];
        let (wire, tag) = if read { wires.reads } else { wires.writes };
        sink.pulse(wire, tag, self.now, 1);
        sink.pulse(wires.region.0, wires.region.1, self.now, 1);
        sink.enter(wires.tracker.0, wires.tracker.1, self.now);
        let home = &mut self.home;
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
        let at = edge.max(self.home.write_free);
        self.home.write_free = at + self.latency.uclk;
        if at == self.now {
            self.write(request, sink);
        } else {
            self.wheel.schedule(at, Event::Write.of(request));
        }
    }

    /// The home agent hands write data to the memory controller.
    pub(super) fn write<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        self.pool[request].record.written = self.now;
        let (wire, tag) = self.wires.homes[0].written;
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
        channel.announce(Arrival { cycle, owner: request, line, bank, row, queue, partial: false });
        let tick = cycle * clock.ticks();
        let next = &mut self.channel_next[usize::from(place.channel)];
        *next = (*next).min(tick);
        self.memory_next = self.memory_next.min(tick);
    }

    /// What a channel has just told the home agent.
    pub(super) fn take_outcomes<S: SignalSink>(&mut self, channel: usize, sink: &mut S) {
        for index in 0..self.outcomes.len() {
            match self.outcomes[index] {
                Outcome::Data { owner, cycle } => {
                    self.plan_answer(owner, cycle * self.clocks.dclk.ticks());
                    match self.home.reads[channel].pop() {
                        Some(next) => self.request_memory(next, self.now + self.latency.credit_return),
                        None => self.home.read_credits[channel] += 1,
                    }
                }
                Outcome::Posted { owner } => self.plan_answer(owner, self.now),
                Outcome::WriteCredit => match self.home.writes[channel].pop() {
                    Some(next) => {
                        let edge = self.clocks.uclk.align_up(self.now + self.latency.credit_return);
                        self.plan_write(next, edge, sink);
                    }
                    None => self.home.write_credits[channel] += 1,
                },
            }
        }
        self.outcomes.clear();
    }

    fn plan_answer(&mut self, request: RequestId, from: Tick) {
        let at = self.clocks.uclk.align_up(from + self.latency.memory_to_home).max(self.home.answer_free);
        self.home.answer_free = at + self.latency.uclk;
        self.wheel.schedule(at, Event::Answer.of(request));
    }

    /// The home agent answers, and its tracker entry is free.
    pub(super) fn answer<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let entry = &mut self.pool[request];
        entry.record.tracker_out = self.now;
        let (kind, core, slice) = (entry.record.kind, entry.core, entry.record.slice);
        let wires = &self.wires.homes[0];
        sink.leave(wires.tracker.0, wires.tracker.1, self.now);
        let to_slice = self.now + self.latency.to_home(slice);
        if !is_read(kind) {
            sink.pulse(wires.completion, 0, self.now, 1);
            self.wheel.schedule(to_slice, Event::Step.of(request));
        } else {
            // The fill and the data are separate steps.
            entry.open = 2;
            self.wheel.schedule(to_slice, Event::Fill.of(request));
            // Loads get their data straight from here; stores through the slice, which must first see the line owned
            // (assumption: no document says which requests use Direct2Core).
            if kind == RequestKind::DataRead {
                entry.record.direct_to_core = true;
                sink.pulse(wires.direct, 0, self.now, 1);
                sink.pulse(wires.to_core.0, wires.to_core.1, self.now, 1);
                sink.pulse(wires.completion, 0, self.now, 1);
                self.wheel.schedule(self.now + self.latency.to_home(core.into()), Event::Data.of(request));
            } else {
                sink.pulse(wires.to_cache.0, wires.to_cache.1, self.now, 1);
            }
        }
        self.home.trackers_free += 1;
        let mut waiting = std::mem::take(&mut self.home.waiting);
        while waiting != 0 {
            let slice = waiting.trailing_zeros() as u16;
            waiting &= waiting - 1;
            self.wake(slice, sink);
        }
    }
}
