//! The home agent: its tracker, and the requests that come to it.

use std::collections::VecDeque;

use pericore_engine::Ring;
use pericore_hardware::signal::{SignalSink, Tick};

use super::event::Event;
use super::home_queues::Egress;
use super::in_hand::InHand;
use super::links::{Action, Letter, Origin};
use super::parameters::MOST_SOCKETS;
use super::request::RequestId;
use super::{Model, Parameters};
use crate::ledger::e5_2600::{PacketKind, Rare, RequestKind};

/// Memory channels that a home agent serves at most.
pub(super) const CHANNELS: usize = 4;
/// Tracker entries that the data structures have room for (guide 2.4.4.1).
pub const TRACKER: usize = 128;

/// Tracker entries that belong to the requests of one socket.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trackers {
    /// Entries that slices may still take.
    pub(super) free: u16,
    /// Slices of the machine that wait for one, one bit each.
    pub(super) waiting: u32,
}

/// The state of a home agent.
#[derive(Debug)]
pub struct HomeAgent {
    /// By requesting socket.
    trackers: [Trackers; MOST_SOCKETS as usize],
    /// First ticks at which a request can be accepted, write data handed on, an answer sent: each once a cycle.
    accept_free: Tick,
    pub(super) write_free: Tick,
    pub(super) answer_free: Tick,
    pub(super) read_credits: [u8; CHANNELS],
    pub(super) write_credits: [u8; CHANNELS],
    /// Requests that wait for a credit.
    pub(super) reads: [Ring<RequestId, TRACKER>; CHANNELS],
    pub(super) writes: [Ring<RequestId, TRACKER>; CHANNELS],
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
    pub(super) fn trackers(&mut self, slice: u16, home: u8) -> &mut Trackers {
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
    #[inline]
    pub(super) fn send_home<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let record = &self.pool[request].record;
        let at = self.now + self.latency.llc_miss + self.latency.to_home(record.slice);
        if record.remote {
            self.send_to_other_socket(request, at, sink);
        } else {
            self.reach_home(request, at, Event::Accept);
        }
    }

    /// Sends a request to the home agent of another socket; its packets come to the ring stop of their link at a tick.
    #[inline(never)]
    fn send_to_other_socket<S: SignalSink>(&mut self, request: RequestId, at: Tick, sink: &mut S) {
        let record = &self.pool[request].record;
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
            let (wire, tags) = if read { &wires.reads } else { &wires.writes };
            wire.say(tags[from], self.now, sink);
        }
        let (wire, tag) = &wires.regions[usize::from(region)];
        wire.say(*tag, self.now, sink);
        wires.tracker.0.enter(wires.tracker.1[from], self.now, sink);
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
        record.note(Rare::SnoopWritten);
        record.region = region;
        let wires = &self.wires.homes[usize::from(record.nid)];
        let (wire, tags) = &wires.writes;
        wire.say(tags[usize::from(record.remote)], self.now, sink);
        let (wire, tag) = &wires.regions[usize::from(region)];
        wire.say(*tag, self.now, sink);
        self.go_to_memory(snoop, sink);
    }
}
