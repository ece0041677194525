//! The home agent's answers: data and completions, to this socket and to others.

use pericore_engine::Tick;
use pericore_facts::e5_2600::E5Reader;

use crate::e5_2600::Model;
use crate::e5_2600::event::Event;
use crate::e5_2600::links::{Action, NewPacket, Origin};
use crate::e5_2600::request::RequestId;
use pericore_facts::e5_2600::{PacketKind, Rare, RequestKind, RequestStation, RingKind};

impl Model {
    #[inline]
    pub(in crate::e5_2600) fn plan_response(&mut self, request: RequestId, from: Tick) {
        let home = &mut self.homes[usize::from(self.pool[request].record.nid)];
        let at = self.clocks.uclk.align_up(from + self.latency.memory_to_home).max(home.response_free);
        home.response_free = at + self.latency.uclk;
        self.wheel.schedule(at, Event::Respond.of(request));
    }

    /// The home agent answers, and its tracker entry is free.
    pub(in crate::e5_2600) fn respond<R: E5Reader>(&mut self, request: RequestId, reader: &mut R) {
        let entry = &mut self.pool[request];
        if matches!(entry.record.kind, RequestKind::Snoop | RequestKind::DirectoryWrite) {
            // What a snoop found, or a directory bit, has been written; nobody waits for it.
            self.end_step(request, reader);
            return;
        }
        entry.record.tracker_out = self.wheel.cycle();
        // Loads get their data straight from here; stores through the slice, which must first see the line owned
        // (assumption: no document says which requests use Direct2Core). What another cache sends does not come from
        // here: the core's data goes another way than was meant (assumption: no document says what overrides it).
        let record = &mut entry.record;
        if self.parameters.direct_to_core && record.kind.only_reads() && !record.remote {
            if record.forwarded {
                record.note(Rare::DirectOverridden);
            } else {
                record.direct_to_core = true;
            }
        }
        let (kind, slice) = (entry.record.kind, entry.record.slice);
        let (home, remote) = (entry.record.nid, entry.record.remote);
        self.report(request, RequestStation::Answered, reader);
        if remote {
            self.respond_to_remote(request, reader);
        } else if kind.is_read() {
            self.respond_to_read(request, reader);
        } else if kind == RequestKind::IoRead {
            self.wheel.schedule(self.now + self.latency.to_home(slice), Event::Step.of(request));
            self.travel(home, RingKind::Block, self.rings.home(), self.map.within(slice), reader);
        } else {
            self.acknowledge(request, reader);
        }
        if !self.directories.is_empty() {
            self.update_directory(request, reader);
        }
        if kind.is_read() && !self.links.is_empty() {
            self.end_in_hand(request, reader);
        }
        let trackers = self.trackers(slice, home);
        trackers.free += 1;
        let mut waiting = std::mem::take(&mut trackers.waiting);
        while waiting != 0 {
            let slice = waiting.trailing_zeros() as u16;
            waiting &= waiting - 1;
            self.wake(slice, reader);
        }
    }

    /// Answers a read of this socket.
    fn respond_to_read<R: E5Reader>(&mut self, request: RequestId, reader: &mut R) {
        let entry = &mut self.pool[request];
        let (home, kind) = (entry.record.nid, entry.record.kind);
        if entry.record.forwarded {
            // The data comes from another cache.
            self.acknowledge(request, reader);
            return;
        }
        // The fill and the data are separate steps.
        entry.open = 2;
        let direct = entry.record.direct_to_core;
        if kind.reads_memory() {
            let stop = if direct { entry.core.into() } else { entry.record.slice };
            let next = if direct { Event::Data } else { Event::Fill };
            self.wheel.schedule(self.now + self.latency.to_home(stop), next.of(request));
            self.travel(home, RingKind::Block, self.rings.home(), self.map.within(stop), reader);
        }
        if direct || !kind.reads_memory() {
            self.acknowledge(request, reader);
        }
    }

    /// Answers a request of another socket.
    #[inline(never)]
    fn respond_to_remote<R: E5Reader>(&mut self, request: RequestId, reader: &mut R) {
        let entry = &self.pool[request];
        let (home, kind) = (entry.record.nid, entry.record.kind);
        let requester = self.map.socket(entry.record.slice);
        if !kind.reads_memory() || entry.record.forwarded {
            self.send_address(home, request, reader);
            return;
        }
        let packet = match kind {
            RequestKind::IoRead => PacketKind::DataNc,
            _ if entry.granted_shared() => PacketKind::DataFCmp,
            _ => PacketKind::DataECmp,
        };
        self.travel(home, RingKind::Block, self.rings.home(), self.rings.io(), reader);
        let at = self.now + self.latency.stop_to_stop;
        let new = NewPacket {
            origin: Origin::Home,
            way: (home, requester),
            kind: packet,
            requester,
            action: Action::Data,
            request,
        };
        self.send_packet(new, at, reader);
    }
}
