//! The table of requests: entries come and go, and with them the credits of the request queue.

use pericore_hardware::signal::SignalSink;

use super::Model;
use super::request::{NO_REQUEST, RequestId};
use crate::ledger::e5_2600::RequestKind;

impl Model {
    /// A queue entry of the slice is free: the next stalled request may come.
    pub(super) fn return_credit(&mut self, slice: u16) {
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
    pub(super) fn enter_tor<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let entry = &mut self.pool[request];
        entry.record.tor_in = self.wheel.cycle();
        entry.tor_tag = self.wires.tags.tor(&entry.record);
        let state = &mut self.slices[usize::from(entry.record.slice)];
        entry.tor_slot = if entry.record.kind == RequestKind::Snoop {
            state.take_snoop_entry(entry.line, request)
        } else {
            state.take_tor_entry(entry.line, request)
        };
        state.wires.tor.enter(entry.tor_tag, self.now, sink);
        if entry.is_read_miss() {
            state.wires.pressure.read_misses.enter(0, self.now, sink);
        }
    }

    /// A request leaves the table; those that waited for its line may try again.
    #[inline(never)]
    pub(super) fn leave_tor<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        self.give_tor_entry(request, sink);
    }

    /// The same, as a part of its caller.
    #[inline(always)]
    pub(super) fn give_tor_entry<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let entry = &mut self.pool[request];
        entry.record.tor_out = self.wheel.cycle();
        let slice = entry.record.slice;
        let state = &mut self.slices[usize::from(slice)];
        state.free_tor_entry(entry.tor_slot);
        state.wires.tor.leave(entry.tor_tag, self.now, sink);
        if entry.is_read_miss() {
            state.wires.pressure.read_misses.leave(0, self.now, sink);
        }
        if entry.next != NO_REQUEST {
            self.let_try_again(slice, request);
        }
        self.wake(slice, sink);
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
