//! What a core's ring stop takes: a line each second cycle, which its L2 needs for it, and snoops of its caches more
//! slowly. Two may wait; what finds no place goes round the whole ring once more (2.3.7, `RING_BOUNCES`).
//!
//! Only what slices send can bounce: for lines that come straight from the home agent or a link there is a place, since
//! the core has kept a fill buffer for them; acknowledgements are taken as they come (assumptions).

use pericore_engine::Tick;
use pericore_facts::e5_2600::{E5Fact, E5Reader, RequestKind, RingKind, UncoreUse};

use crate::e5_2600::Model;
use crate::e5_2600::event::Event;
use crate::e5_2600::request::RequestId;
use pericore_parts::llc::bits;

impl Model {
    /// A core's data has come to its stop. False if it finds no place there, and comes again when it has been round.
    #[inline]
    pub(in crate::e5_2600) fn core_takes<R: E5Reader>(&mut self, request: RequestId, reader: &mut R) -> bool {
        let entry = &self.pool[request];
        // The leave to overwrite a line has none of its data.
        if entry.record.direct_to_core || entry.record.kind == RequestKind::Overwrite {
            return true;
        }
        let (cycle, lines) = (self.latency.uclk, &mut self.sinks[usize::from(entry.core)].lines);
        let takes = lines.has_place(self.now, cycle);
        if takes {
            lines.take(self.now, cycle);
        } else {
            self.data_bounces(request, reader);
        }
        takes
    }

    #[inline(never)]
    fn data_bounces<R: E5Reader>(&mut self, request: RequestId, reader: &mut R) {
        let entry = &self.pool[request];
        let (slice, core) = (entry.record.slice, self.map.within(entry.core.into()));
        let route = self.route(RingKind::Block, self.map.within(slice), core);
        reader.read(self.now, E5Fact::CoreBounces(slice, route));
        let again = self.now + self.round();
        self.wheel.schedule(again, Event::Data.of(request));
        self.throttle(slice, again, reader);
    }

    /// A slice snoops cores of its socket, one bit each. Gives the time that the snoop and its answers take.
    pub(in crate::e5_2600) fn snoop_takes<R: E5Reader>(&mut self, slice: u16, cores: u8, reader: &mut R) -> Tick {
        let (cycle, stop) = (self.latency.uclk, self.map.within(slice));
        let first = usize::from(self.map.first_stop(self.map.socket(slice)));
        let mut at = self.now;
        while bits(cores).any(|core| !self.sinks[first + core].snoops.has_place(at, cycle)) {
            // It goes to all cores, and ends at its sender.
            reader.read(self.now, E5Fact::CoreBounces(slice, self.route(RingKind::Snoop, stop, stop)));
            at += self.round();
        }
        bits(cores).for_each(|core| self.sinks[first + core].snoops.take(at, cycle));
        if at > self.now {
            self.throttle(slice, at, reader);
        }
        at - self.now + self.latency.core_snoop
    }

    /// Time of a message once round the ring.
    pub(in crate::e5_2600) fn round(&self) -> Tick {
        u64::from(self.parameters.ring_stops) * self.parameters.ring_hop * self.latency.uclk
    }

    /// A slice's stop holds new messages back, so that what goes round finds a place (choice: as long as that takes).
    fn throttle<R: E5Reader>(&mut self, slice: u16, until: Tick, reader: &mut R) {
        let state = &mut self.slices[usize::from(slice)];
        let begins = state.throttled_until == 0;
        state.throttled_until = state.throttled_until.max(until);
        state.egress_free = state.egress_free.max(until);
        self.wheel.schedule(state.throttled_until, Event::ThrottleEnds.of(slice));
        if begins {
            self.begins(UncoreUse::Throttle(slice), reader);
        }
    }

    /// A slice's stop sends new messages again, unless it is held back for longer.
    pub(in crate::e5_2600) fn end_throttle<R: E5Reader>(&mut self, slice: u16, reader: &mut R) {
        if self.slices[usize::from(slice)].throttled_until == self.now {
            self.slices[usize::from(slice)].throttled_until = 0;
            self.ends(UncoreUse::Throttle(slice), reader);
        }
    }
}
