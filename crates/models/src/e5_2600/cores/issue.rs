//! The core side of the model: threads issue accesses, misses become requests, data comes back.

use pericore_engine::Tick;
use pericore_facts::e5_2600::E5Reader;

use crate::e5_2600::Model;
use crate::e5_2600::cores::{ThreadKind, Wanted};
use crate::e5_2600::event::Event;
use crate::e5_2600::request::RequestId;
use pericore_facts::e5_2600::{Message, Record, RequestKind};
use pericore_parts::cache::{Evicted, Right};
use pericore_parts::core::{Buffer, Level, ThreadState};
use pericore_parts::program::Cores;

/// Accesses that a thread may run ahead on hits before other events get their turn.
const RUN_AHEAD: u32 = 64;

impl Model {
    /// Lets a thread issue until it must wait.
    pub(in crate::e5_2600) fn issue<R: E5Reader>(&mut self, thread: u16, reader: &mut R) {
        if self.work.program.is_some() {
            self.run_program(thread, reader);
            return;
        }
        let index = usize::from(thread);
        match self.threads[index].kind {
            ThreadKind::Cached => {}
            ThreadKind::Streaming => return self.issue_streaming(thread, reader),
            ThreadKind::Device => return self.issue_device(thread, reader),
        }
        let pace = self.latency.paces[usize::from(self.map.socket(self.threads[index].core.into()))];
        for _ in 0..RUN_AHEAD {
            let state = &mut self.threads[index];
            let at = state.ready.max(self.now);
            let (core, tid) = (state.core, state.tid);
            let Some(access) = state.next_access() else {
                self.threads[index].state = self.state_at_end(thread);
                return;
            };
            let Wanted { line, page, store, blocking, .. } = *access;
            if page != 0 {
                if self.find_page(thread, reader) {
                    continue;
                }
                return;
            }
            let cache = &mut self.cores[usize::from(core)];
            let (level, evicted) = if access.misses { (Level::Miss, None) } else { cache.access(line, store) };
            let (interval, latency) = match level {
                Level::L1 => (pace.l1_interval, pace.l1_latency),
                Level::L2 => (pace.l2_interval, pace.l2_latency),
                Level::Miss if at > self.now => {
                    // Hits are private to the core and may run ahead of time; what others see may not. If there is no
                    // buffer for the miss anyway, the thread need not wait for the time, only for the buffer.
                    access.misses = true;
                    if cache.is_full_for(line, self.parameters.streamer) {
                        state.state = ThreadState::ForBuffer;
                    } else {
                        self.wheel.schedule(at, Event::Issue.of(thread));
                    }
                    return;
                }
                Level::Miss => {
                    let full = cache.writebacks >= self.parameters.writeback_buffers;
                    let buffer =
                        if full { Buffer::Full } else { cache.take_streamed(line, store, self.parameters.streamer) };
                    match buffer {
                        Buffer::Taken => {
                            state.held = None;
                            let kind = if store { RequestKind::ReadForOwnership } else { RequestKind::DataRead };
                            let request = self.send_request(kind, core, tid, line, reader);
                            if self.system {
                                self.background_traffic(thread);
                            }
                            let state = &mut self.threads[index];
                            if blocking {
                                state.state = ThreadState::ForData(request);
                                return;
                            }
                            state.ready = at + pace.l1_interval + state.pause(&self.work.course);
                            continue;
                        }
                        Buffer::Joined if !blocking => (pace.l1_interval, 0),
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
                self.work.dependent.add(state.began(), at + latency);
            }
            state.ready = at + if blocking { latency } else { interval } + state.pause(&self.work.course);
            self.work.done += 1;
            if evicted.is_some() {
                self.write_back(core, evicted, reader);
            }
        }
        let ready = self.threads[index].ready;
        self.wheel.schedule(ready.max(self.now), Event::Issue.of(thread));
    }

    /// Sends a thread's miss to its slice.
    pub(in crate::e5_2600) fn request<R: E5Reader>(
        &mut self,
        kind: RequestKind,
        thread: u16,
        line: u32,
        reader: &mut R,
    ) -> RequestId {
        let (core, tid) = (self.threads[usize::from(thread)].core, self.threads[usize::from(thread)].tid);
        self.send_request(kind, core, tid, line, reader)
    }

    #[inline(always)]
    pub(in crate::e5_2600) fn send_request<R: E5Reader>(
        &mut self,
        kind: RequestKind,
        core: u8,
        tid: u8,
        line: u32,
        reader: &mut R,
    ) -> RequestId {
        let socket = self.map.socket(core.into());
        let (slice, pace) = (self.map.slice(socket, line), &self.latency.paces[usize::from(socket)]);
        let (miss_to_ring, request_interval) = (pace.miss_to_ring, pace.request_interval);
        self.slices[usize::from(slice)].llc.prefetch(line);
        let request = self.pool.add(self.record(kind, tid, slice, line), line, core);
        let sent = self.message(u16::from(core), Message::AddressFromCore, self.map.within(slice), reader);
        let leaves = self.cores[usize::from(core)].port.leave(sent + miss_to_ring, request_interval);
        self.send_to_slice(request, core, slice, leaves);
        request
    }

    /// Sends a request to its slice, once the slice's queue has room for it.
    #[inline]
    pub(in crate::e5_2600) fn send_to_slice(&mut self, request: RequestId, core: u8, slice: u16, sent: Tick) {
        let at = sent + self.latency.core_slice(core, slice);
        let state = &mut self.slices[usize::from(slice)];
        if state.credits == 0 {
            state.stalled.push(request);
        } else {
            state.credits -= 1;
            self.send_at(request, at);
        }
    }

    pub(in crate::e5_2600) fn write_back<R: E5Reader>(&mut self, core: u8, evicted: Option<Evicted>, reader: &mut R) {
        let Some(Evicted { line, .. }) = evicted else { return };
        let interval = self.latency.paces[usize::from(self.map.socket(core.into()))].writeback_interval;
        let state = &mut self.cores[usize::from(core)];
        state.writebacks += 1;
        state.port.put_off(self.now, interval);
        let kind = if state.keeps(line) { RequestKind::WritebackToExclusive } else { RequestKind::WritebackToInvalid };
        // The L2 belongs to the core as a whole: its writebacks go under the core's first thread.
        self.send_writeback(kind, core, line, reader);
    }

    /// A record of which nothing has happened yet.
    #[inline]
    pub(in crate::e5_2600) const fn record(&self, kind: RequestKind, tid: u8, slice: u16, line: u32) -> Record {
        let home = self.map.home(line);
        Record::new(kind, tid, slice, home, home != self.map.socket(slice))
    }

    /// Sends a line that a core gives up or writes back to its slice.
    pub(in crate::e5_2600) fn send_writeback<R: E5Reader>(
        &mut self,
        kind: RequestKind,
        core: u8,
        line: u32,
        reader: &mut R,
    ) {
        let stop = u16::from(core);
        let slice = self.map.slice(self.map.socket(stop), line);
        let record = self.record(kind, self.map.within(stop) * 2, slice, line);
        let request = self.pool.add(record, line, core);
        let to = self.map.within(slice);
        self.message(stop, Message::AddressFromCore, to, reader);
        let sent = self.message(stop, Message::DataFromCore, to, reader);
        self.send_to_slice(request, core, slice, sent);
    }

    /// Data arrives at the core.
    pub(in crate::e5_2600) fn data<R: E5Reader>(&mut self, request: RequestId, reader: &mut R) {
        let entry = &self.pool[request];
        if entry.record.kind.is_io() {
            self.device_response(request, reader);
            return;
        }
        if !self.core_takes(request, reader) {
            return;
        }
        let entry = &self.pool[request];
        let (core, line) = (entry.core, entry.line);
        let right = match entry.record.kind {
            kind if kind.is_for_ownership() => Right::Modified,
            _ if entry.shared => Right::Shared,
            _ => Right::Exclusive,
        };
        let (hit, brought) = (!entry.record.miss, entry.record.kind.reads_memory());
        let interval = self.latency.paces[usize::from(self.map.socket(core.into()))].memory_interval;
        let cache = &mut self.cores[usize::from(core)];
        if !hit && brought {
            cache.port.put_off(self.now, interval);
        }
        let evicted = if self.work.program.is_some() {
            // Its accesses were done when they were sent out.
            [cache.fill_l2(line, right), None]
        } else {
            let evicted = cache.fill(line, right);
            // What a walk reads is no access of the workload.
            if !self.translation.is_on() || !self.entry_comes(core, line) {
                self.work.done += 1;
            }
            evicted
        };
        // A hit stays in the table of requests until the core has its data: requests that wait for the line go to that
        // core. A miss left it when the line was filled.
        if hit {
            self.give_tor_entry(request, reader);
        }
        self.end_step(request, reader);
        let [from_l2, from_l1] = evicted;
        if from_l2.is_some() {
            self.write_back(core, from_l2, reader);
        }
        if from_l1.is_some() {
            self.write_back(core, from_l1, reader);
        }
        self.rouse_threads(core, Some((request, line)), reader);
    }

    /// A buffer of a core is free again: threads that waited for one go on.
    pub(in crate::e5_2600) fn resume<R: E5Reader>(&mut self, core: u8, reader: &mut R) {
        self.rouse_threads(core, None, reader);
    }

    /// A buffer of a core is free again, and perhaps a request's line has come: threads that waited for it go on.
    #[inline(always)]
    fn rouse_threads<R: E5Reader>(&mut self, core: u8, arrived: Option<(RequestId, u32)>, reader: &mut R) {
        if self.translation.is_on() {
            self.go_on_with_pages(core, reader);
        }
        let socket = self.map.socket(core.into());
        let ring_to_use = self.latency.paces[usize::from(socket)].ring_to_use;
        let (mut next, step) = self.assignment.threads(core.into(), socket);
        while let Some(state) = self.threads.get_mut(usize::from(next)) {
            let thread = next;
            next += step;
            if let (Some(held), Some((_, line))) = (&mut state.held, arrived) {
                held.misses &= held.line != line;
            }
            match state.state {
                ThreadState::ForBuffer => {}
                ThreadState::ForData(request) if arrived.is_some_and(|(arrived, _)| arrived == request) => {
                    let began = state.began();
                    state.ready = self.now + ring_to_use;
                    self.work.dependent.add(began, state.ready);
                }
                _ => continue,
            }
            state.state = ThreadState::Running;
            self.issue(thread, reader);
        }
    }
}
