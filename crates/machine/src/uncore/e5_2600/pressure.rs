//! What a slice's queues suffer: requests and responses that are turned away and try again, and queues that wait for each other.

use pericore_engine::NEVER;
use pericore_hardware::signal::{SignalSink, Wire, Wiring, WiringError};

use super::Model;
use super::pulses::Pulses;
use super::request::RequestId;
use super::wires::Tagged;
use crate::ledger::e5_2600::{IngressQueue, Refusal, SliceState};
use crate::uncore::levels::Levels;

/// Wires of what a slice suffers.
#[derive(Debug, Clone, Copy)]
pub struct PressureWires {
    /// What was turned away, by [`IngressQueue`] and [`Refusal`]; the tag has the bit of every reason, too.
    refused: [(Wire, [u64; Refusal::COUNT]); IngressQueue::COUNT],
    /// With the tag of each [`SliceState`].
    pub states: (Levels, [u64; SliceState::COUNT]),
    /// Data reads that missed and have no line yet.
    pub read_misses: Levels,
    /// Streaming stores that found the line modified.
    pub aliased: Tagged,
    /// Messages that went past an empty egress queue.
    pub bypass: Pulses,
    /// Messages that waited long, on the AK and on the BL ring.
    pub starved: [Tagged; 2],
}

impl PressureWires {
    /// Binds a slice's wires.
    pub fn bind(wiring: &mut Wiring, socket: u16, slice: u16, others: bool) -> Result<Self, WiringError> {
        let mut subevent = |event, name| wiring.subevent(socket, "cbo", slice, event, name);
        let (requests, any) = subevent("RxR_IRQ_RETRY", "ANY")?;
        let full = subevent("RxR_IRQ_RETRY", "FULL")?.1;
        let conflict = subevent("RxR_IRQ_RETRY", "ADDR_CONFLICT")?.1;
        let tracker = subevent("RxR_IRQ_RETRY", "RTID")?.1;
        let (responses, any_response) = subevent("RxR_ISMQ_RETRY", "ANY")?;
        let full_response = subevent("RxR_ISMQ_RETRY", "FULL")?.1;
        let tracker_response = subevent("RxR_ISMQ_RETRY", "RTID")?.1;
        // Responses have no conflicts: their line is theirs.
        let responses = (responses, [any_response | full_response, any_response, any_response | tracker_response]);
        let mut snoops = responses;
        if others {
            let (wire, any) = subevent("RxR_IPQ_RETRY", "ANY")?;
            let full = subevent("RxR_IPQ_RETRY", "FULL")?.1;
            // Snoops take no entry of a tracker.
            snoops = (wire, [any | full, any | subevent("RxR_IPQ_RETRY", "ADDR_CONFLICT")?.1, any]);
        }
        let (states, bids) = subevent("RxR_EXT_STARVED", "ISMQ_BIDS")?;
        let (responses_starve, requests_starve) =
            (subevent("RxR_EXT_STARVED", "ISMQ")?.1, subevent("RxR_EXT_STARVED", "IRQ")?.1);
        let aliased = subevent("MISC", "WC_ALIASING")?;
        let starved = [subevent("TxR_STARVED", "AK")?, subevent("TxR_STARVED", "BL")?];
        Ok(Self {
            refused: [(requests, [any | full, any | conflict, any | tracker]), responses, snoops],
            states: (states.into(), [bids, responses_starve, requests_starve]),
            read_misses: wiring.signal(socket, "cbo", slice, "ISMQ_DRD_MISS_OCC")?.into(),
            aliased,
            bypass: wiring.signal(socket, "cbo", slice, "TxR_ADS_USED")?.into(),
            starved,
        })
    }
}

impl Model {
    /// A request or a response could go now but is turned away. In a cycle only one is.
    #[cold]
    pub(super) fn turn_away<S: SignalSink>(&mut self, slice: u16, queue: IngressQueue, why: Refusal, sink: &mut S) {
        let state = &mut self.slices[usize::from(slice)];
        if state.refused_at == self.now {
            return;
        }
        state.refused_at = self.now;
        let wires = &self.slices[usize::from(slice)].wires.pressure;
        let (wire, tags) = wires.refused[queue as usize];
        sink.pulse(wire, tags[why as usize], self.now, 1);
        self.ledger.turned_away(slice, queue, why);
        if queue == IngressQueue::Responses {
            self.slice_state(slice, SliceState::ResponseStarves, true, sink);
        }
    }

    /// A request for a line that has another one under way waits among the rejected ones.
    #[cold]
    pub(super) fn reject<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let record = &mut self.pool[request].record;
        if record.rejected == NEVER {
            record.rejected = self.wheel.cycle();
            let wire = self.slices[usize::from(record.slice)].wires.ingress;
            wire.enter(self.wires.tags.rejected(record.tid), self.now, sink);
        }
    }

    /// A rejected request is taken after all.
    #[cold]
    pub(super) fn unreject<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let record = &self.pool[request].record;
        let wire = &self.slices[usize::from(record.slice)].wires.ingress;
        wire.leave(self.wires.tags.rejected(record.tid), self.now, sink);
    }

    /// A state of a slice's queues begins or ends, if it has not yet.
    #[inline]
    pub(super) fn slice_state<S: SignalSink>(&mut self, slice: u16, state: SliceState, on: bool, sink: &mut S) {
        let slice_states = &mut self.slices[usize::from(slice)];
        if (slice_states.states >> state as u8 & 1 == 1) != on {
            slice_states.states ^= 1 << state as u8;
            self.change_slice_state(slice, state, on, sink);
        }
    }

    #[cold]
    fn change_slice_state<S: SignalSink>(&mut self, slice: u16, state: SliceState, on: bool, sink: &mut S) {
        let (wire, tags) = &self.slices[usize::from(slice)].wires.pressure.states;
        wire.switch(tags[state as usize], on, self.now, sink);
        self.ledger.slice_state(slice, state, on, self.wheel.cycle());
    }
}
