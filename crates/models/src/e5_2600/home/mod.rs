//! The home agent: its tracker, and the requests that come to it.

mod acknowledgements;
mod agent;
mod directory;
mod finding;
mod in_hand;
mod lookups;
mod queues;
mod remote;
mod responses;
mod ring_slots;
mod to_memory;

use agent::Trackers;
pub use agent::{CHANNELS, HomeAgent, QueueCredits};
pub use directory::Directory;
pub use finding::Finding;
use pericore_engine::Tick;
use pericore_facts::e5_2600::E5Reader;

use crate::e5_2600::Model;
use crate::e5_2600::event::Event;
use crate::e5_2600::links::{Action, NewPacket, Origin};
use crate::e5_2600::parameters::MOST_SOCKETS;
use crate::e5_2600::request::RequestId;
use pericore_facts::e5_2600::{PacketKind, Rare, RequestKind, RequestStation};

impl Model {
    /// The tracker entries that a slice's requests for a line take.
    #[inline]
    pub(in crate::e5_2600) fn trackers(&mut self, slice: u16, home: u8) -> &mut Trackers {
        let requester = usize::from(self.map.socket(slice)) % MOST_SOCKETS as usize;
        &mut self.homes[usize::from(home)].trackers[requester]
    }

    /// True if a tracker entry for a line can be had; otherwise the slice is woken when one is given back.
    #[inline]
    pub(in crate::e5_2600) fn tracker_entry(&mut self, slice: u16, line: u32) -> bool {
        let trackers = self.trackers(slice, self.map.home(line));
        let free = trackers.free > 0;
        if !free {
            trackers.waiting |= 1 << slice;
        }
        free
    }

    /// Takes the tracker entry that a request needs.
    #[inline]
    pub(in crate::e5_2600) fn take_tracker(&mut self, request: RequestId) {
        let record = &self.pool[request].record;
        let (slice, home) = (record.slice, record.nid);
        self.trackers(slice, home).free -= 1;
    }

    /// Takes a tracker entry for a request and sends it to the home agent.
    pub(in crate::e5_2600) fn request_home<R: E5Reader>(&mut self, request: RequestId, reader: &mut R) {
        self.take_tracker(request);
        self.send_home(request, reader);
    }

    /// Sends a request that has its tracker entry to the home agent.
    #[inline]
    pub(in crate::e5_2600) fn send_home<R: E5Reader>(&mut self, request: RequestId, reader: &mut R) {
        let record = &self.pool[request].record;
        let at = self.now + self.latency.llc_miss + self.latency.to_home(record.slice);
        if record.remote {
            self.send_to_other_socket(request, at, reader);
        } else {
            self.reach_home(request, at, Event::Accept);
        }
    }

    /// Sends a request to the home agent of another socket; its packets come to the ring stop of their link at a tick.
    #[inline(never)]
    fn send_to_other_socket<R: E5Reader>(&mut self, request: RequestId, at: Tick, reader: &mut R) {
        let record = &self.pool[request].record;
        let here = self.map.socket(record.slice);
        let way = (here, record.nid);
        let (asking, data) = match record.kind {
            // Links tell reads of code and of data not apart here.
            RequestKind::DataRead | RequestKind::CodeRead => (PacketKind::RdData, None),
            RequestKind::ReadForOwnership => (PacketKind::RdInvOwn, None),
            RequestKind::IoRead => (PacketKind::RdCur, None),
            RequestKind::IoWrite | RequestKind::Overwrite => (PacketKind::InvItoE, None),
            RequestKind::StreamPart if !record.completed => (PacketKind::NonSnpWr, Some(PacketKind::NonSnpWrDataPtl)),
            kind if kind.carries_data_home() => (PacketKind::NonSnpWr, Some(PacketKind::NonSnpWrData)),
            _ => (PacketKind::WbMtoI, Some(PacketKind::WbIData)),
        };
        // A write and its data are two packets; it is accepted with the data.
        let action = if data.is_some() { Action::Announce } else { Action::Accept };
        let new = NewPacket { origin: Origin::Other, way, kind: asking, requester: here, action, request };
        self.send_packet(new, at, reader);
        if let Some(data) = data {
            let new =
                NewPacket { origin: Origin::Other, way, kind: data, requester: here, action: Action::Accept, request };
            self.send_packet(new, at, reader);
        }
    }

    /// A message for the home agent arrives there at `at`, or later if others do: it takes one in a cycle.
    #[inline]
    pub(in crate::e5_2600) fn reach_home(&mut self, request: RequestId, at: Tick, event: Event) {
        let home = &mut self.homes[usize::from(self.pool[request].record.nid)];
        let at = at.max(home.accept_free);
        home.accept_free = at + self.latency.uclk;
        self.wheel.schedule(at, event.of(request));
    }

    /// The home agent accepts a request.
    pub(in crate::e5_2600) fn accept<R: E5Reader>(&mut self, request: RequestId, reader: &mut R) {
        let entry = &mut self.pool[request];
        entry.record.tracker_in = self.wheel.cycle();
        entry.record.region = self.map.region(entry.line);
        self.remote_requests[usize::from(entry.record.nid)] += u64::from(entry.record.remote);
        self.report(request, RequestStation::AtHome, reader);
        if self.pool[request].record.kind == RequestKind::IoWrite {
            // Memory has nothing to do: the line is about to be written.
            self.plan_response(request, self.now);
            return;
        }
        if self.links.is_empty() || !self.pool[request].record.kind.is_read() || self.begin_read(request, reader) {
            self.serve(request, reader);
        }
    }

    /// A request whose turn it is goes to memory, if that has anything to do for it.
    pub(in crate::e5_2600) fn serve<R: E5Reader>(&mut self, request: RequestId, reader: &mut R) {
        if self.pool[request].record.kind == RequestKind::Overwrite {
            self.memory_responds(request, self.now, reader);
        } else {
            self.go_to_memory(request, reader);
        }
    }

    /// The modified line that a snoop found comes to the home agent, to be written.
    pub(in crate::e5_2600) fn snoop_write<R: E5Reader>(&mut self, snoop: RequestId, reader: &mut R) {
        let entry = &mut self.pool[snoop];
        entry.record.note(Rare::SnoopWritten);
        entry.record.region = self.map.region(entry.line);
        self.report(snoop, RequestStation::SnoopWritten, reader);
        self.go_to_memory(snoop, reader);
    }
}
