//! The core side: threads issue accesses, misses become requests, data comes back.

mod pages;

use pericore_engine::Tick;

use super::Model;
use super::Thread;
use super::event::Event;
use super::parameters::CORES;
use super::request::RequestId;
use pericore_facts::nehalem::{Kind, NehalemReader as Facts};
use pericore_parts::cache::{Evicted, Right};
use pericore_parts::core::{Buffer, Level, ThreadState};
use pericore_parts::line::LINE_BYTES;
use pericore_parts::program::Cores;
use pericore_workload::Access;

/// Accesses that a thread may run ahead on hits before other events get their turn.
const RUN_AHEAD: u32 = 64;

impl Model {
    /// Lets a thread issue until it must wait.
    pub(super) fn issue<R: Facts>(&mut self, thread: u16, reader: &mut R) {
        if self.work.program.is_some() {
            self.run_program(thread, reader);
            return;
        }
        let index = usize::from(thread);
        for _ in 0..RUN_AHEAD {
            let state = &mut self.threads[index];
            let fresh = |state: &mut Thread| {
                let access = state.generator.next_access()?;
                Some(Access { address: state.placement.place(access.address), ..access })
            };
            let Some(access) = state.held.take().or_else(|| fresh(state)) else {
                self.threads[index].state = self.state_at_end(thread);
                return;
            };
            if access.page != 0 {
                if self.find_page(thread, access) {
                    continue;
                }
                return;
            }
            let at = state.ready.max(self.now);
            let line = (access.address / LINE_BYTES) as u32;
            let core = usize::from(state.core);
            if self.around && access.store {
                if at > self.now {
                    state.held = Some(access);
                    self.wheel.schedule(at, Event::Issue.of(thread));
                    return;
                }
                if self.cores[core].writebacks >= self.parameters.writeback_buffers {
                    state.held = Some(access);
                    state.state = ThreadState::ForBuffer;
                    return;
                }
                self.write_around(core as u8, line, !access.whole);
                self.threads[index].ready = at + self.times.l1_interval;
                self.work.done += 1;
                continue;
            }
            let (level, evicted) = self.cores[core].access(line, access.store);
            let (interval, latency) = match level {
                Level::L1 => (self.times.l1_interval, self.times.l1_latency),
                Level::L2 => (self.times.l2_interval, self.times.l2_latency),
                Level::Miss if at > self.now => {
                    // Hits are private to the core and may run ahead of time; what others see may not. A miss without a
                    // buffer waits for the buffer alone.
                    state.held = Some(access);
                    if self.cores[core].is_full(line) {
                        state.state = ThreadState::ForBuffer;
                    } else {
                        self.wheel.schedule(at, Event::Issue.of(thread));
                    }
                    return;
                }
                Level::Miss => {
                    let full = self.cores[core].writebacks >= self.parameters.writeback_buffers;
                    let buffer = if full { Buffer::Full } else { self.cores[core].take_buffer(line, access.store) };
                    match buffer {
                        Buffer::Taken => {
                            let request = self.request(core as u8, line, access.store);
                            if access.blocking {
                                self.threads[index].state = ThreadState::ForData(request);
                                return;
                            }
                            self.threads[index].ready = at + self.times.l1_interval + self.pause_of(thread);
                            continue;
                        }
                        Buffer::Joined if !access.blocking => (self.times.l1_interval, 0),
                        Buffer::Joined | Buffer::Full => {
                            let state = &mut self.threads[index];
                            state.held = Some(access);
                            state.state = ThreadState::ForBuffer;
                            return;
                        }
                    }
                }
            };
            if access.blocking {
                self.work.dependent.add(self.threads[index].began(), at + latency);
            }
            let busy = if access.blocking { latency } else { interval };
            self.threads[index].ready = at + busy + self.pause_of(thread);
            self.work.done += 1;
            self.write_back(core as u8, evicted);
        }
        let ready = self.threads[index].ready;
        self.wheel.schedule(ready.max(self.now), Event::Issue.of(thread));
    }

    /// Ticks that a thread pauses after an access.
    pub(super) fn pause_of(&mut self, thread: u16) -> Tick {
        match self.threads[usize::from(thread)].generator.pause() {
            0 => 0,
            picoseconds => self.work.course.pause(picoseconds),
        }
    }

    /// A core's miss goes to the global queue.
    pub(super) fn request(&mut self, core: u8, line: u32, store: bool) -> RequestId {
        let socket = core as usize / CORES;
        self.sockets[socket].llc.prefetch(line);
        let request = self.new_request(if store { Kind::Own } else { Kind::Read }, socket as u8, core, line);
        let leaves = self.cores[usize::from(core)].port.leave(self.now, self.times.request_interval);
        self.wheel.schedule(leaves + self.times.core_to_queue, Event::Arrive.of(request));
        request
    }

    pub(super) fn write_back(&mut self, core: u8, evicted: Option<Evicted>) {
        if let Some(Evicted { line, .. }) = evicted {
            self.write_out(Kind::WriteBack, core, line);
        }
    }

    /// Stores around the caches: a whole line, or a part of one, goes out without being read.
    pub(super) fn write_around(&mut self, core: u8, line: u32, partial: bool) {
        self.cores[usize::from(core)].invalidate(line);
        self.write_out(Kind::Around { partial }, core, line);
    }

    fn write_out(&mut self, kind: Kind, core: u8, line: u32) {
        self.cores[usize::from(core)].writebacks += 1;
        let request = self.new_request(kind, core / CORES as u8, core, line);
        self.wheel.schedule(self.now + self.times.core_to_queue, Event::Arrive.of(request));
    }

    /// Data is on its way from the queue to its core, which keeps the line if it has a right to it. The line is in the
    /// caches at once: until the data has come nothing can tell, but for snoops, which then find it.
    pub(super) fn deliver<R: Facts>(
        &mut self,
        request: RequestId,
        core: u8,
        line: u32,
        right: Option<Right>,
        reader: &mut R,
    ) {
        let cache = &mut self.cores[usize::from(core)];
        let program = self.work.program.is_some();
        let evicted = match right {
            // A program's accesses were done when they were sent out.
            Some(right) if program => [cache.fill_l2(line, right), None],
            Some(right) => cache.fill(line, right),
            None => {
                cache.give_buffer(line);
                [None, None]
            }
        };
        // Words between cores and devices are no accesses of the workload, and neither is what a walk reads.
        let is_entry = self.translation.is_on() && self.entry_comes(core, line);
        if !program && self.devices.is_empty() && !is_entry {
            self.work.done += 1;
        }
        for evicted in evicted {
            self.write_back(core, evicted);
        }
        self.resume(core, Some(request), reader);
    }

    /// A buffer of a core is free again, and perhaps a request's data has come: threads that waited for it go on.
    pub(super) fn resume<R: Facts>(&mut self, core: u8, arrived: Option<RequestId>, reader: &mut R) {
        if self.translation.is_on() {
            self.go_on_with_pages(core, reader);
        }
        let (first, step) = self.assignment.threads(core.into(), core / CORES as u8);
        for hardware_thread in 0..u16::from(self.parameters.threads_per_core) {
            let thread = first + hardware_thread * step;
            let Some(state) = self.threads.get_mut(usize::from(thread)) else { return };
            match state.state {
                ThreadState::ForBuffer => {}
                ThreadState::ForData(request) if Some(request) == arrived => {
                    let began = state.began();
                    state.ready = self.now + self.times.queue_to_core;
                    self.work.dependent.add(began, state.ready);
                }
                _ => continue,
            }
            state.state = ThreadState::Running;
            self.issue(thread, reader);
        }
    }
}
