//! The home agent: tracker, credits of the memory controller, answers.

use super::dram::{Arrival, Outcome};
use super::event::Event;
use super::home_queues::Egress;
use super::links::{Action, Letter, Origin};
use super::parameters::MOST_SOCKETS;
use super::remote::InHand;
use super::request::RequestId;
use super::{Model, Parameters};
use crate::engine::Ring;
use crate::ledger::{HomeQueue, PacketKind, Pending, RequestKind, RingKind};
use crate::signal::{SignalSink, Tick};
use std::collections::VecDeque;

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
    in_hand: InHand,
    /// Snoops and completions that wait for the address ring, and the first tick at which it takes another.
    pub addresses: VecDeque<RequestId>,
    pub address_free: Tick,
    /// Messages that wait for an entry in a link's ring stop: by the address ring for either link, and by the data ring.
    pub waiting_for_links: [u16; 4],
    /// Messages that wait for the address and for the data ring, or for an entry at the link.
    pub egress: [Egress; 2],
    /// Requests that wait for another to the same line.
    pub conflicts: u16,
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
            in_hand: InHand::new(parameters.sockets, parameters.tracker_entries),
            addresses: VecDeque::with_capacity(16),
            address_free: 0,
            waiting_for_links: [0; 4],
            egress: [Egress::default(); 2],
            conflicts: 0,
        }
    }

    /// The request for a line that is being served.
    pub fn in_hand(&self, line: u32) -> Option<RequestId> {
        self.in_hand.find(line)
    }

    /// Begins to serve a request for a line.
    pub fn take_in_hand(&mut self, line: u32, request: RequestId) {
        self.in_hand.add(line, request);
    }

    /// The request for a line has been served.
    pub fn drop_in_hand(&mut self, line: u32) {
        self.in_hand.remove(line);
    }
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
    pub(super) fn request_home<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        self.take_tracker(request);
        self.send_home(request, sink);
    }

    /// Sends a request that has its tracker entry to the home agent.
    pub(super) fn send_home<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let record = &self.pool[request].record;
        let at = self.now + self.latency.llc_miss + self.latency.to_home(record.slice);
        if !record.remote {
            self.reach_home(request, at, Event::Accept);
            return;
        }
        let here = self.map.socket(record.slice);
        let way = (here, record.nid);
        let (asking, data) = match record.kind {
            // Links tell reads of code and of data not apart here.
            RequestKind::DataRead | RequestKind::CodeRead => (PacketKind::RdData, None),
            RequestKind::ReadForOwnership => (PacketKind::RdInvOwn, None),
            RequestKind::IoRead => (PacketKind::RdCur, None),
            RequestKind::IoWrite => (PacketKind::InvItoE, None),
            RequestKind::StreamPart if !record.completed => (PacketKind::NonSnpWr, Some(PacketKind::NonSnpWrDataPtl)),
            kind if kind.carries_data_home() => (PacketKind::NonSnpWr, Some(PacketKind::NonSnpWrData)),
            _ => (PacketKind::WbMtoI, Some(PacketKind::WbIData)),
        };
        // A write and its data are two packets; it is accepted with the data.
        let action = if data.is_some() { Action::Announce } else { Action::Accept };
        let letter = Letter { origin: Origin::Other, way, kind: asking, requester: here, action, request };
        self.send_packet(letter, at, sink);
        if let Some(data) = data {
            let letter =
                Letter { origin: Origin::Other, way, kind: data, requester: here, action: Action::Accept, request };
            self.send_packet(letter, at, sink);
        }
    }

    /// A message for the home agent arrives there at `at`, or later if others do: it takes one in a cycle.
    pub(super) fn reach_home(&mut self, request: RequestId, at: Tick, event: Event) {
        let home = &mut self.homes[usize::from(self.pool[request].record.nid)];
        let at = at.max(home.accept_free);
        home.accept_free = at + self.latency.uclk;
        self.wheel.schedule(at, event.of(request));
    }

    /// The home agent accepts a request.
    pub(super) fn accept<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let entry = &mut self.pool[request];
        entry.record.tracker_in = self.wheel.cycle();
        let region = self.map.region(entry.line);
        entry.record.region = region;
        let read = entry.record.kind.reads_memory();
        let (index, from) = (usize::from(entry.record.nid), usize::from(entry.record.remote));
        let wires = &self.wires.homes[index];
        let asks = entry.record.kind == RequestKind::IoWrite;
        if !asks {
            let (wire, tags) = if read { wires.reads } else { wires.writes };
            sink.pulse(wire, tags[from], self.now, 1);
        }
        let (wire, tag) = wires.regions[usize::from(region)];
        sink.pulse(wire, tag, self.now, 1);
        sink.enter(wires.tracker.0, wires.tracker.1[from], self.now);
        if asks {
            // Memory has nothing to do: the line is about to be written.
            self.plan_answer(request, self.now);
            return;
        }
        if self.links.is_empty() || !self.pool[request].record.kind.is_read() || self.begin_read(request, sink) {
            self.go_to_memory(request, sink);
        }
    }

    /// The modified line that a snoop found comes to the home agent, to be written.
    pub(super) fn snoop_write<S: SignalSink>(&mut self, snoop: RequestId, sink: &mut S) {
        let entry = &mut self.pool[snoop];
        let (region, record) = (self.map.region(entry.line), &mut entry.record);
        record.snoop_write = self.wheel.cycle();
        record.region = region;
        let wires = &self.wires.homes[usize::from(record.nid)];
        let (wire, tags) = wires.writes;
        sink.pulse(wire, tags[usize::from(record.remote)], self.now, 1);
        let (wire, tag) = wires.regions[usize::from(region)];
        sink.pulse(wire, tag, self.now, 1);
        self.go_to_memory(snoop, sink);
    }

    /// A request goes to its channel's queue, as soon as there is a credit for it.
    pub(super) fn go_to_memory<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let entry = &mut self.pool[request];
        entry.place = self.map.place(entry.line);
        let (read, home) = (entry.record.kind.reads_memory(), entry.record.nid);
        let channel = usize::from(entry.place.channel) % CHANNELS;
        let (agent, wires) = (&mut self.homes[usize::from(home)], &self.wires.homes[usize::from(home)]);
        let (credits, queue, pending) = if read {
            (&mut agent.read_credits[channel], &mut agent.reads[channel], Pending::Reads)
        } else {
            (&mut agent.write_credits[channel], &mut agent.writes[channel], Pending::Writes)
        };
        if read {
            // No document says when the short way is open: with nothing else pending in the channel (assumption). It saves no time here.
            let idle = *credits == self.parameters.dram.reads;
            entry.record.bypass = Some(idle);
            let (wire, tags) = wires.bypass;
            sink.pulse(wire, tags[usize::from(idle)], self.now, 1);
        }
        if *credits == 0 {
            queue.push(request);
            return;
        }
        *credits -= 1;
        if *credits == 0 {
            let (wire, tags) = wires.no_credits[pending as usize];
            sink.enter(wire, tags[channel], self.now);
        }
        self.ledger.home_enter(home, HomeQueue::Credits(pending, channel), self.now);
        if read {
            self.request_memory(request, self.now);
        } else {
            self.plan_write(request, self.now, sink);
        }
    }

    /// A credit that nothing waits for is free again.
    fn credit_free<S: SignalSink>(&mut self, home: usize, queue: Pending, channel: usize, sink: &mut S) {
        let agent = &mut self.homes[home];
        let credits = match queue {
            Pending::Reads => &mut agent.read_credits[channel],
            Pending::Writes => &mut agent.write_credits[channel],
        };
        if *credits == 0 {
            let (wire, tags) = self.wires.homes[home].no_credits[queue as usize];
            sink.leave(wire, tags[channel], self.now);
        }
        *credits += 1;
        self.ledger.home_leave(home as u8, HomeQueue::Credits(queue, channel), self.now);
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
        record.written = self.wheel.cycle();
        let wires = &self.wires.homes[usize::from(record.nid)];
        let part = record.kind == RequestKind::StreamPart && !record.completed;
        let (wire, tag) = if part { wires.written_part } else { wires.written };
        sink.pulse(wire, tag, self.now, 1);
        self.request_memory(request, self.now);
    }

    fn request_memory(&mut self, request: RequestId, from: Tick) {
        let entry = &self.pool[request];
        let place = entry.place;
        let queue = if entry.record.kind.reads_memory() { Pending::Reads } else { Pending::Writes };
        let clock = self.clocks.dclk;
        let channel = &mut self.channels[usize::from(place.channel)];
        let earliest = clock.cycles(from + self.latency.home_to_memory + clock.ticks() - 1);
        let cycle = channel.last_arrival().map_or(earliest, |last| earliest.max(last + 1));
        let (line, bank, row) = (entry.line, place.bank, place.row);
        let partial = entry.record.kind == RequestKind::StreamPart && !entry.record.completed;
        channel.announce(Arrival { cycle, owner: request, line, bank, row, queue, partial });
        let tick = cycle * clock.ticks();
        self.channel_next.bring_forward(place.channel.into(), tick);
        self.memory_next = self.memory_next.min(tick);
    }

    /// What a channel has just told the home agent.
    pub(super) fn take_outcomes<S: SignalSink>(&mut self, channel: usize, sink: &mut S) {
        let (home, channel) = self.map.home_and_channel(channel);
        for index in 0..self.outcomes.len() {
            match self.outcomes[index] {
                Outcome::Data { owner, cycle } => {
                    self.memory_answers(owner, cycle * self.clocks.dclk.ticks(), sink);
                    match self.homes[home].reads[channel].pop() {
                        Some(next) => self.request_memory(next, self.now + self.latency.credit_return),
                        None => self.credit_free(home, Pending::Reads, channel, sink),
                    }
                }
                Outcome::Posted { owner } => self.plan_answer(owner, self.now),
                Outcome::WriteCredit => match self.homes[home].writes[channel].pop() {
                    Some(next) => {
                        let edge = self.clocks.uclk.align_up(self.now + self.latency.credit_return);
                        self.plan_write(next, edge, sink);
                    }
                    None => self.credit_free(home, Pending::Writes, channel, sink),
                },
            }
        }
        self.outcomes.clear();
    }

    pub(super) fn plan_answer(&mut self, request: RequestId, from: Tick) {
        let home = &mut self.homes[usize::from(self.pool[request].record.nid)];
        let at = self.clocks.uclk.align_up(from + self.latency.memory_to_home).max(home.answer_free);
        home.answer_free = at + self.latency.uclk;
        self.wheel.schedule(at, Event::Answer.of(request));
    }

    /// The home agent answers, and its tracker entry is free.
    pub(super) fn answer<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let entry = &mut self.pool[request];
        if matches!(entry.record.kind, RequestKind::Snoop | RequestKind::DirectoryWrite) {
            // What a snoop found, or a directory bit, has been written; nobody waits for it.
            self.end_step(request);
            return;
        }
        entry.record.tracker_out = self.wheel.cycle();
        let (kind, slice) = (entry.record.kind, entry.record.slice);
        let (home, remote) = (entry.record.nid, entry.record.remote);
        let wires = &self.wires.homes[usize::from(home)];
        sink.leave(wires.tracker.0, wires.tracker.1[usize::from(remote)], self.now);
        if remote {
            self.answer_remote(request, sink);
        } else if kind.is_read() {
            self.answer_read(request, sink);
        } else if kind == RequestKind::IoRead {
            sink.pulse(wires.to_cache.0, wires.to_cache.1, self.now, 1);
            self.wheel.schedule(self.now + self.latency.to_home(slice), Event::Step.of(request));
            self.travel(home, RingKind::Block, self.rings.home(), self.map.within(slice), sink);
        } else {
            sink.pulse(wires.completion, 0, self.now, 1);
            let next = if kind == RequestKind::IoWrite { Event::Fill } else { Event::Step };
            self.wheel.schedule(self.now + self.latency.to_home(slice), next.of(request));
            self.travel(home, RingKind::Acknowledge, self.rings.home(), self.map.within(slice), sink);
        }
        if !self.directories.is_empty() {
            self.update_directory(request, sink);
        }
        if kind.is_read() && !self.links.is_empty() {
            self.end_in_hand(request, sink);
        }
        let trackers = self.trackers(slice, home);
        trackers.free += 1;
        let mut waiting = std::mem::take(&mut trackers.waiting);
        while waiting != 0 {
            let slice = waiting.trailing_zeros() as u16;
            waiting &= waiting - 1;
            self.wake(slice, sink);
        }
    }

    /// Answers a read of this socket.
    fn answer_read<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let entry = &mut self.pool[request];
        let home = entry.record.nid;
        let wires = &self.wires.homes[usize::from(home)];
        let to_slice = self.now + self.latency.to_home(entry.record.slice);
        let (from, slice) = (self.rings.home(), self.map.within(entry.record.slice));
        let core = self.map.within(entry.core.into());
        if entry.record.forwarded {
            // The data comes from another cache.
            sink.pulse(wires.completion, 0, self.now, 1);
            self.wheel.schedule(to_slice, Event::Part.of(request));
            self.travel(home, RingKind::Acknowledge, from, slice, sink);
            return;
        }
        // The fill and the data are separate steps.
        entry.open = 2;
        self.wheel.schedule(to_slice, Event::Fill.of(request));
        // Loads get their data straight from here; stores through the slice, which must first see the line owned
        // (assumption: no document says which requests use Direct2Core).
        if entry.record.kind.only_reads() {
            entry.record.direct_to_core = true;
            let to_core = self.now + self.latency.to_home(entry.core.into());
            sink.pulse(wires.direct, 0, self.now, 1);
            sink.pulse(wires.to_core.0, wires.to_core.1, self.now, 1);
            sink.pulse(wires.completion, 0, self.now, 1);
            self.wheel.schedule(to_core, Event::Data.of(request));
            self.travel(home, RingKind::Block, from, core, sink);
            self.travel(home, RingKind::Acknowledge, from, slice, sink);
        } else {
            sink.pulse(wires.to_cache.0, wires.to_cache.1, self.now, 1);
            self.travel(home, RingKind::Block, from, slice, sink);
        }
    }

    /// Answers a request of another socket.
    fn answer_remote<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let entry = &self.pool[request];
        let (home, kind) = (entry.record.nid, entry.record.kind);
        let requester = self.map.socket(entry.record.slice);
        if !kind.reads_memory() || entry.record.forwarded {
            self.send_address(home, request, sink);
            return;
        }
        let (wire, tag) = self.wires.homes[usize::from(home)].to_remote;
        sink.pulse(wire, tag, self.now, 1);
        let packet = match kind {
            RequestKind::IoRead => PacketKind::DataNc,
            _ if entry.granted_shared() => PacketKind::DataFCmp,
            _ => PacketKind::DataECmp,
        };
        self.travel(home, RingKind::Block, self.rings.home(), self.rings.io(), sink);
        let at = self.now + self.latency.stop_to_stop;
        let letter = Letter {
            origin: Origin::Home,
            way: (home, requester),
            kind: packet,
            requester,
            action: Action::Data,
            request,
        };
        self.send_packet(letter, at, sink);
    }
}
