//! Hardware threads take a program's accesses.

use super::super::Model;
use super::super::core::{Buffer, ThreadState};
use super::super::event::Event;
use crate::ledger::RequestKind;
use crate::signal::SignalSink;
use crate::workload::ProgramKind;

/// Accesses that a thread may take before other events get their turn.
const RUN: u32 = 64;
/// Buffers that prefetches leave to the program's own misses.
const RESERVED: u32 = 2;

impl Model {
    /// Lets a hardware thread take accesses until it must wait.
    pub(in super::super) fn issue_program<S: SignalSink>(&mut self, thread: u16, sink: &mut S) {
        for _ in 0..RUN {
            if !self.take_turn(thread, sink) {
                self.wake_threads();
                return;
            }
        }
        self.wake_threads();
        self.wheel.schedule(self.threads[usize::from(thread)].ready.max(self.now), Event::Issue.of(thread));
    }

    /// One access; false if the thread must wait, and for what is set.
    fn take_turn<S: SignalSink>(&mut self, thread: u16, sink: &mut S) -> bool {
        let index = usize::from(thread);
        let Some(program) = &mut self.program else { return false };
        let Some(access) = program.front(index) else {
            self.threads[index].state = if program.ended { ThreadState::Finished } else { ThreadState::ForAccess };
            if program.drained() {
                self.total = self.done;
            }
            return false;
        };
        let state = &mut self.threads[index];
        state.ready = state.ready.max(self.now) + program.cycles(index) * self.latency.uclk;
        if state.ready > self.now {
            self.wheel.schedule(state.ready, Event::Issue.of(thread));
            return false;
        }
        let core = state.core;
        let cache = &mut self.cores[usize::from(core)];
        if cache.writebacks >= self.parameters.writeback_buffers {
            state.state = ThreadState::ForBuffer;
            return false;
        }
        let line = access.line;
        let store = matches!(access.kind, ProgramKind::Store | ProgramKind::Upgrade);
        match access.kind {
            // Nothing but time. Pages that are gone never come this far.
            ProgramKind::Progress | ProgramKind::Unmap => {}
            ProgramKind::WriteBack => {
                let evicted = cache.write_back_l1(line);
                self.write_back(core, evicted, sink);
            }
            ProgramKind::NonTemporal => {
                cache.invalidate(line);
                self.write_around(core, line, sink);
            }
            ProgramKind::Load | ProgramKind::Store | ProgramKind::Upgrade | ProgramKind::Fetch => {
                let hit = cache.access_l2(line, store);
                if !hit {
                    match cache.take_buffer(line, store) {
                        Buffer::Taken => drop(self.request(thread, line, store, sink)),
                        Buffer::Joined => {}
                        Buffer::Full => {
                            state.state = ThreadState::ForBuffer;
                            return false;
                        }
                    }
                }
                if store {
                    let evicted = self.cores[usize::from(core)].dirty_l1(line);
                    self.write_back(core, evicted, sink);
                }
                self.threads[index].ready += self.latency.l2_interval;
                self.prefetch(thread, line, !hit, sink);
            }
        }
        self.done += 1;
        if let Some(program) = &mut self.program {
            program.pop(index);
            if program.drained() {
                self.total = self.done;
            }
        }
        true
    }

    /// Threads that had nothing to do have an access.
    fn wake_threads(&mut self) {
        let Some(program) = &mut self.program else { return };
        for thread in program.woken.drain(..) {
            let state = &mut self.threads[usize::from(thread)];
            if state.state == ThreadState::ForAccess {
                state.state = ThreadState::Running;
                self.wheel.schedule(self.now, Event::Issue.of(thread));
            }
        }
    }

    /// Stores around the caches: the line goes out without being read. The catalogue's streaming opcodes have no place in this model
    /// yet; it goes as a write-back that gives the line up, which is the same traffic.
    fn write_around<S: SignalSink>(&mut self, core: u8, line: u32, sink: &mut S) {
        self.cores[usize::from(core)].writebacks += 1;
        self.send_writeback(RequestKind::WritebackToInvalid, core, line, sink);
    }

    /// Sends prefetches as data reads: into the L2 they are no LLC prefetches, which have opcodes of their own.
    fn prefetch<S: SignalSink>(&mut self, thread: u16, line: u32, miss: bool, sink: &mut S) {
        let core = usize::from(self.threads[usize::from(thread)].core);
        let Some(program) = self.program.as_mut().filter(|program| program.settings.prefetch) else { return };
        let (lines, count) = program.prefetchers[core].wants(line, miss);
        for &wanted in &lines[..count] {
            let cache = &mut self.cores[core];
            if cache.free_buffers() <= RESERVED || cache.has_or_expects(wanted) {
                continue;
            }
            if cache.take_buffer(wanted, false) == Buffer::Taken {
                self.request(thread, wanted, false, sink);
                if let Some(program) = &mut self.program {
                    program.counts.prefetches += 1;
                }
            }
        }
    }
}
