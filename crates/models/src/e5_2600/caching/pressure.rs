//! What a slice's queues suffer: requests and responses that are turned away and try again, and queues that wait for
//! each other.

use pericore_engine::NEVER;

use crate::e5_2600::Model;
use crate::e5_2600::request::RequestId;
use pericore_facts::e5_2600::{
    E5Fact, E5Reader, IngressQueue, Refusal, Refused, RequestStation, SliceState, UncoreUse,
};

impl Model {
    /// A request or a response could go now but is turned away. In a cycle only one is.
    #[cold]
    pub(in crate::e5_2600) fn turn_away<R: E5Reader>(
        &mut self,
        slice: u16,
        queue: IngressQueue,
        why: Refusal,
        reader: &mut R,
    ) {
        let state = &mut self.slices[usize::from(slice)];
        if state.refused_at == self.now {
            return;
        }
        state.refused_at = self.now;
        reader.read(self.now, E5Fact::Refuses(Refused::Slice(slice, queue, why)));
        if queue == IngressQueue::Responses {
            self.slice_state(slice, SliceState::ResponseStarves, true, reader);
        }
    }

    /// A request is turned away, for whatever reason, and is among the rejected ones from its first time on until it
    /// leaves the queue.
    #[cold]
    pub(in crate::e5_2600) fn reject<R: E5Reader>(&mut self, request: RequestId, why: Refusal, reader: &mut R) {
        self.turn_away(self.pool[request].record.slice, IngressQueue::Requests, why, reader);
        let record = &mut self.pool[request].record;
        if record.rejected == NEVER {
            record.rejected = self.wheel.cycle();
            self.report(request, RequestStation::Rejected, reader);
        }
    }

    /// A state of a slice's queues begins or ends, if it has not yet.
    #[inline]
    pub(in crate::e5_2600) fn slice_state<R: E5Reader>(
        &mut self,
        slice: u16,
        state: SliceState,
        on: bool,
        reader: &mut R,
    ) {
        let slice_states = &mut self.slices[usize::from(slice)];
        if (slice_states.states >> state as u8 & 1 == 1) != on {
            slice_states.states ^= 1 << state as u8;
            self.change_slice_state(slice, state, on, reader);
        }
    }

    #[cold]
    fn change_slice_state<R: E5Reader>(&self, slice: u16, state: SliceState, on: bool, reader: &mut R) {
        self.switch(UncoreUse::Slice(slice, state), on, reader);
    }
}
