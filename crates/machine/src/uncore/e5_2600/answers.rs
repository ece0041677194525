//! The home agent's answers: data and completions, to this socket and to others.

use pericore_hardware::signal::{SignalSink, Tick};

use super::Model;
use super::event::Event;
use super::links::{Action, Letter, Origin};
use super::request::RequestId;
use crate::ledger::e5_2600::{PacketKind, RequestKind, RingKind};

impl Model {
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
        wires.tracker.0.leave(wires.tracker.1[usize::from(remote)], self.now, sink);
        if remote {
            self.answer_remote(request, sink);
        } else if kind.is_read() {
            self.answer_read(request, sink);
        } else if kind == RequestKind::IoRead {
            wires.to_cache.0.say(wires.to_cache.1, self.now, sink);
            self.wheel.schedule(self.now + self.latency.to_home(slice), Event::Step.of(request));
            self.travel(home, RingKind::Block, self.rings.home(), self.map.within(slice), sink);
        } else {
            wires.completion.say(0, self.now, sink);
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
            wires.completion.say(0, self.now, sink);
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
            wires.direct.say(0, self.now, sink);
            wires.to_core.0.say(wires.to_core.1, self.now, sink);
            wires.completion.say(0, self.now, sink);
            self.wheel.schedule(to_core, Event::Data.of(request));
            self.travel(home, RingKind::Block, from, core, sink);
            self.travel(home, RingKind::Acknowledge, from, slice, sink);
        } else {
            wires.to_cache.0.say(wires.to_cache.1, self.now, sink);
            self.travel(home, RingKind::Block, from, slice, sink);
        }
    }

    /// Answers a request of another socket.
    #[inline(never)]
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
