//! The core side of the model: threads issue accesses, misses become requests, data comes back.

use pericore_hardware::signal::{SignalSink, Tick};

use super::Model;
use super::event::Event;
use super::request::RequestId;
use super::thread::{ThreadKind, Wanted};
use crate::ledger::e5_2600::{Message, Record, RequestKind};
use crate::uncore::cache::{Evicted, Right};
use crate::uncore::core::{Buffer, Level, ThreadState};
use crate::uncore::program::Cores;

/// Accesses that a thread may run ahead on hits before other events get their turn.
const RUN_AHEAD: u32 = 64;

impl Model {
    /// Lets a thread issue until it must wait.
    pub(super) fn issue<S: SignalSink>(&mut self, thread: u16, sink: &mut S) {
        if self.work.program.is_some() {
            self.run_program(thread, sink);
            return;
        }
        let index = usize::from(thread);
        match self.threads[index].kind {
            ThreadKind::Cached => {}
            ThreadKind::Streaming => return self.issue_streaming(thread, sink),
            ThreadKind::Device => return self.issue_device(thread, sink),
        }
        for _ in 0..RUN_AHEAD {
            let state = &mut self.threads[index];
            let at = state.ready.max(self.now);
            let (core, tid) = (state.core, state.tid);
            let Some(access) = state.next_access() else {
                state.state = ThreadState::Finished;
                return;
            };
            let Wanted { line, store, blocking, .. } = *access;
            let cache = &mut self.cores[usize::from(core)];
            let (level, evicted) = if access.misses { (Level::Miss, None) } else { cache.access(line, store) };
            let (interval, latency) = match level {
                Level::L1 => (self.latency.l1_interval, self.latency.l1_latency),
                Level::L2 => (self.latency.l2_interval, self.latency.l2_latency),
                Level::Miss if at > self.now => {
                    // Hits are private to the core and may run ahead of time; what others see may not. If there is no buffer
                    // for the miss anyway, the thread need not wait for the time, only for the buffer.
                    access.misses = true;
                    if cache.is_full(line) {
                        state.state = ThreadState::ForBuffer;
                    } else {
                        self.wheel.schedule(at, Event::Issue.of(thread));
                    }
                    return;
                }
                Level::Miss => {
                    let full = cache.writebacks >= self.parameters.writeback_buffers;
                    let buffer = if full { Buffer::Full } else { cache.take_buffer(line, store) };
                    match buffer {
                        Buffer::Taken => {
                            state.held = None;
                            let kind = if store { RequestKind::ReadForOwnership } else { RequestKind::DataRead };
                            let request = self.send_request(kind, core, tid, line, sink);
                            let state = &mut self.threads[index];
                            if blocking {
                                state.state = ThreadState::ForData(request);
                                return;
                            }
                            state.ready = at + self.latency.l1_interval + state.pause(&self.work.course);
                            continue;
                        }
                        Buffer::Joined if !blocking => (self.latency.l1_interval, 0),
                        Buffer::Joined | Buffer::Full => {
                            access.misses = true;
                            state.state = ThreadState::ForBuffer;
                            return;
                        }
                    }
                }
            };
            state.held = None;
            if blocking {
                self.work.dependent.add(state.ready, at + latency);
            }
            state.ready = at + if blocking { latency } else { interval } + state.pause(&self.work.course);
            self.work.done += 1;
            if evicted.is_some() {
                self.write_back(core, evicted, sink);
            }
        }
        let ready = self.threads[index].ready;
        self.wheel.schedule(ready.max(self.now), Event::Issue.of(thread));
    }

    /// Sends a thread's miss to its slice.
    pub(super) fn request<S: SignalSink>(
        &mut self,
        kind: RequestKind,
        thread: u16,
        line: u32,
        sink: &mut S,
    ) -> RequestId {
        let (core, tid) = (self.threads[usize::from(thread)].core, self.threads[usize::from(thread)].tid);
        self.send_request(kind, core, tid, line, sink)
    }

    #[inline(always)]
    fn send_request<S: SignalSink>(
        &mut self,
        kind: RequestKind,
        core: u8,
        tid: u8,
        line: u32,
        sink: &mut S,
    ) -> RequestId {
        let slice = self.map.slice(self.map.socket(core.into()), line);
        self.slices[usize::from(slice)].llc.prefetch(line);
        let request = self.pool.add(self.record(kind, tid, slice, line), line, core);
        let sent = self.message(u16::from(core), Message::AddressFromCore, self.map.within(slice), sink);
        let request_free = &mut self.cores[usize::from(core)].request_free;
        let leaves = (sent + self.latency.miss_to_ring).max(*request_free);
        *request_free = leaves + self.latency.request_interval;
        self.send_to_slice(request, core, slice, leaves);
        request
    }

    /// Sends a request to its slice, once the slice's queue has room for it.
    #[inline]
    pub(super) fn send_to_slice(&mut self, request: RequestId, core: u8, slice: u16, sent: Tick) {
        let at = sent + self.latency.core_slice(core, slice);
        let state = &mut self.slices[usize::from(slice)];
        if state.credits == 0 {
            state.stalled.push(request);
        } else {
            state.credits -= 1;
            self.send_at(request, at);
        }
    }

    pub(super) fn write_back<S: SignalSink>(&mut self, core: u8, evicted: Option<Evicted>, sink: &mut S) {
        let Some(Evicted { line, .. }) = evicted else { return };
        let state = &mut self.cores[usize::from(core)];
        state.writebacks += 1;
        let kind = if state.keeps(line) { RequestKind::WritebackToExclusive } else { RequestKind::WritebackToInvalid };
        // The L2 belongs to the core as a whole: its writebacks go under the core's first thread.
        self.send_writeback(kind, core, line, sink);
    }

    /// A record of which nothing has happened yet.
    pub(super) const fn record(&self, kind: RequestKind, tid: u8, slice: u16, line: u32) -> Record {
        let home = self.map.home(line);
        Record::new(kind, tid, slice, home, home != self.map.socket(slice))
    }

    /// Sends a line that a core gives up or writes back to its slice.
    pub(super) fn send_writeback<S: SignalSink>(&mut self, kind: RequestKind, core: u8, line: u32, sink: &mut S) {
        let stop = u16::from(core);
        let slice = self.map.slice(self.map.socket(stop), line);
        let record = self.record(kind, self.map.within(stop) * 2, slice, line);
        let request = self.pool.add(record, line, core);
        let to = self.map.within(slice);
        self.message(stop, Message::AddressFromCore, to, sink);
        let sent = self.message(stop, Message::DataFromCore, to, sink);
        self.send_to_slice(request, core, slice, sent);
    }

    /// Data arrives at the core.
    pub(super) fn data<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let entry = &self.pool[request];
        if entry.record.kind.is_io() {
            self.device_answer(request, sink);
            return;
        }
        let (core, line) = (entry.core, entry.line);
        let right = match entry.record.kind {
            RequestKind::ReadForOwnership => Right::Modified,
            _ if entry.shared => Right::Shared,
            _ => Right::Exclusive,
        };
        let hit = !entry.record.miss;
        let cache = &mut self.cores[usize::from(core)];
        let evicted = if self.work.program.is_some() {
            // Its accesses were done when they were sent out.
            [cache.fill_l2(line, right), None]
        } else {
            self.work.done += 1;
            cache.fill(line, right)
        };
        // A hit stays in the table of requests until the core has its data: whoever waits for the line asks that core. A miss left it when
        // the line was filled.
        if hit {
            self.give_tor_entry(request, sink);
        }
        self.end_step(request);
        let [from_l2, from_l1] = evicted;
        if from_l2.is_some() {
            self.write_back(core, from_l2, sink);
        }
        if from_l1.is_some() {
            self.write_back(core, from_l1, sink);
        }
        self.rouse_threads(core, Some((request, line)), sink);
    }

    /// A buffer of a core is free again: threads that waited for one go on.
    pub(super) fn resume<S: SignalSink>(&mut self, core: u8, sink: &mut S) {
        self.rouse_threads(core, None, sink);
    }

    /// A buffer of a core is free again, and perhaps a request's line has come: threads that waited for it go on.
    #[inline(always)]
    fn rouse_threads<S: SignalSink>(&mut self, core: u8, arrived: Option<(RequestId, u32)>, sink: &mut S) {
        let (mut next, step) = self.seats.threads(core.into(), self.map.socket(core.into()));
        while let Some(state) = self.threads.get_mut(usize::from(next)) {
            let thread = next;
            next += step;
            if let (Some(held), Some((_, line))) = (&mut state.held, arrived) {
                held.misses &= held.line != line;
            }
            match state.state {
                ThreadState::ForBuffer => {}
                ThreadState::ForData(request) if arrived.is_some_and(|(arrived, _)| arrived == request) => {
                    let began = std::mem::replace(&mut state.ready, self.now + self.latency.ring_to_use);
                    self.work.dependent.add(began, state.ready);
                }
                _ => continue,
            }
            state.state = ThreadState::Running;
            self.issue(thread, sink);
        }
    }
}
