//! An agent's way onto the mesh: while its queue of acknowledgements, or of snoops, is full, requests that would need a
//! place there are turned away (Tables 2-101 to 2-119, AK_NON_UPI and IV_NON_UPI).

use pericore_engine::Tick;

use super::super::Model;
use super::super::event::Event;
use super::super::request::{Request, RequestId};
use pericore_facts::emerald_rapids::{Found, Kind, Lookup, Queue, Readers, Reason, Ring};

/// The agent's side of its mesh stop; the other is the core's.
const OWN: u8 = 0;

/// True if what answers a request is an acknowledgement, without data.
const fn is_acknowledged(kind: Kind) -> bool {
    match kind {
        Kind::StreamFull | Kind::StreamPart | Kind::Flush | Kind::FlushOpt | Kind::Clean => true,
        Kind::DmaWrite | Kind::DmaWriteNear | Kind::DmaWriteback => true,
        _ => kind.is_writeback() || kind.needs_no_data(),
    }
}

impl Model {
    /// The queue that a request needs and that has no room, and when it has some again. Nearly always both have.
    #[inline]
    pub(in super::super) fn full_egress(&mut self, request: RequestId) -> Option<(Reason, Tick)> {
        let Request { socket, cha, .. } = self.pool[request];
        let (at, tile) = (u16::from(socket), self.places.cha[usize::from(cha)]);
        let acknowledgements = self.mesh.room_at(at, (Ring::Acknowledge, OWN), tile, self.now);
        let snoops = self.mesh.room_at(at, (Ring::Invalidate, OWN), tile, self.now);
        if acknowledgements.is_none() && snoops.is_none() {
            return None;
        }
        self.needed(request, acknowledgements, snoops)
    }

    #[inline(never)]
    fn needed(
        &mut self,
        request: RequestId,
        acknowledgements: Option<Tick>,
        snoops: Option<Tick>,
    ) -> Option<(Reason, Tick)> {
        let Request { socket, cha, line, class, .. } = self.pool[request];
        let kind = class.kind;
        if let Some(room) = acknowledgements
            && matches!(kind.queue(), Queue::Core | Queue::Io)
            && is_acknowledged(kind)
        {
            return Some((Reason::Acknowledge, room));
        }
        let room = snoops.filter(|_| kind.lookup() != Lookup::None && !kind.is_writeback())?;
        let found = self.look_up(socket, cha, line).0;
        matches!(found, Found::FilterExclusive | Found::FilterShared).then_some((Reason::Invalidate, room))
    }

    /// Turns a request away until there is room.
    pub(in super::super) fn wait_for_egress<R: Readers>(
        &mut self,
        request: RequestId,
        of: Reason,
        room: Tick,
        reader: &mut R,
    ) {
        self.report_reject(request, of, reader);
        let event = if of == Reason::Acknowledge { Event::AcknowledgeRoom } else { Event::InvalidateRoom };
        self.wheel.schedule(room, event.of(request));
    }

    /// There is room again for what a request needs.
    pub(in super::super) fn has_room<R: Readers>(&mut self, request: RequestId, of: Reason, reader: &mut R) {
        let Request { socket, cha, .. } = self.pool[request];
        self.try_again(request, of, reader);
        self.wake_pipeline(socket, cha, self.now);
    }
}
