//! The table of requests: entries come and go, and with them the credits of the request queue.

use pericore_facts::e5_2600::E5Reader;

use crate::e5_2600::Model;
use crate::e5_2600::request::{NO_REQUEST, RequestId};
use pericore_facts::e5_2600::{E5Fact, RequestKind, RequestStation};

impl Model {
    /// A queue entry of the slice is free: the next stalled request may come.
    #[inline]
    pub(in crate::e5_2600) fn return_credit(&mut self, slice: u16) {
        let state = &mut self.slices[usize::from(slice)];
        match state.stalled.pop() {
            None => state.credits += 1,
            Some(stalled) => {
                let at = self.now + self.latency.core_slice(self.pool[stalled].core, slice);
                self.send_at(stalled, at);
            }
        }
    }

    /// A request enters the table.
    #[inline(always)]
    pub(in crate::e5_2600) fn enter_tor<R: E5Reader>(&mut self, request: RequestId, reader: &mut R) {
        let entry = &mut self.pool[request];
        entry.record.tor_in = self.wheel.cycle();
        let state = &mut self.slices[usize::from(entry.record.slice)];
        entry.tor_slot = if entry.record.kind == RequestKind::Snoop {
            state.take_snoop_entry(entry.line, request)
        } else {
            state.take_tor_entry(entry.line, request)
        };
        reader.read(self.now, E5Fact::Request(RequestStation::Listed, &entry.record));
    }

    /// A request leaves the table; those that waited for its line may try again.
    #[inline(never)]
    pub(in crate::e5_2600) fn leave_tor<R: E5Reader>(&mut self, request: RequestId, reader: &mut R) {
        self.give_tor_entry(request, reader);
    }

    /// The same, as a part of its caller.
    #[inline(always)]
    pub(in crate::e5_2600) fn give_tor_entry<R: E5Reader>(&mut self, request: RequestId, reader: &mut R) {
        let entry = &mut self.pool[request];
        entry.record.tor_out = self.wheel.cycle();
        let slice = entry.record.slice;
        let state = &mut self.slices[usize::from(slice)];
        state.free_tor_entry(entry.tor_slot);
        reader.read(self.now, E5Fact::Request(RequestStation::Delisted, &entry.record));
        if entry.next != NO_REQUEST {
            self.let_try_again(slice, request);
        }
        self.wake(slice, reader);
    }

    /// Those that wait for a request's line may try again.
    #[cold]
    fn let_try_again(&mut self, slice: u16, request: RequestId) {
        let mut waiting = std::mem::replace(&mut self.pool[request].next, NO_REQUEST);
        while waiting != NO_REQUEST {
            let (entry, queues) = (&mut self.pool[waiting], &mut self.slices[usize::from(slice)].waiting);
            if entry.record.kind == RequestKind::Snoop {
                queues.add_snoop_retry(waiting);
            } else {
                queues.add_retry(waiting);
            }
            waiting = std::mem::replace(&mut entry.next, NO_REQUEST);
        }
    }
}
