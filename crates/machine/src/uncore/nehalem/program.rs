//! Hardware threads take a program's accesses.

use super::Model;
use super::event::Event;
use super::parameters::{CORES, Parameters};
use crate::signal::SignalSink;
use crate::uncore::core::{Buffer, ThreadState};
use crate::uncore::program::Program;
use crate::workload::{Nodes, ProgramKind, ProgramSettings, ProgramSource};

/// Accesses that a thread may take before other events get their turn.
const RUN: u32 = 64;
/// Buffers that prefetches leave to the program's own misses.
const RESERVED: u32 = 2;

/// A program on the cores of a machine.
pub fn program(parameters: &Parameters, source: Box<dyn ProgramSource>, settings: ProgramSettings) -> Program {
    let cores = CORES * usize::from(parameters.sockets);
    let nodes = Nodes { count: parameters.sockets, bytes: parameters.memory(), span: parameters.node() };
    Program::new(source, settings, parameters.limits().threads.into(), cores, nodes)
}

impl Model {
    /// Lets a hardware thread take accesses until it must wait.
    pub(super) fn issue_program<S: SignalSink>(&mut self, thread: u16, _: &mut S) {
        for _ in 0..RUN {
            if !self.take_access(thread) {
                self.wake_threads();
                return;
            }
        }
        self.wake_threads();
        self.wheel.schedule(self.threads[usize::from(thread)].ready.max(self.now), Event::Issue.of(thread));
    }

    /// One access; false if the thread must wait, and for what is set.
    fn take_access(&mut self, thread: u16) -> bool {
        let index = usize::from(thread);
        let Some(program) = &mut self.program else { return false };
        let Some(access) = program.front(index) else {
            self.threads[index].state = if program.ended() { ThreadState::Finished } else { ThreadState::ForAccess };
            if program.drained() {
                self.total = self.done;
            }
            return false;
        };
        let state = &mut self.threads[index];
        state.ready = state.ready.max(self.now) + program.cycles(index) * self.times.core;
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
                self.write_back(core, evicted);
            }
            ProgramKind::NonTemporal => self.write_around(core, line),
            ProgramKind::Load | ProgramKind::Store | ProgramKind::Upgrade | ProgramKind::Fetch => {
                let hit = cache.access_l2(line, store);
                if !hit {
                    match cache.take_buffer(line, store) {
                        Buffer::Taken => drop(self.request(core, line, store)),
                        Buffer::Joined => {}
                        Buffer::Full => {
                            state.state = ThreadState::ForBuffer;
                            return false;
                        }
                    }
                }
                if store {
                    let evicted = self.cores[usize::from(core)].dirty_l1(line);
                    self.write_back(core, evicted);
                }
                self.threads[index].ready += self.times.l2_interval;
                self.prefetch(core, line, !hit);
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
        for thread in program.woken() {
            let state = &mut self.threads[usize::from(thread)];
            if state.state == ThreadState::ForAccess {
                state.state = ThreadState::Running;
                self.wheel.schedule(self.now, Event::Issue.of(thread));
            }
        }
    }

    /// Sends what the L2's prefetchers want.
    fn prefetch(&mut self, core: u8, line: u32, miss: bool) {
        let Some((lines, count)) =
            self.program.as_mut().and_then(|program| program.prefetches(core.into(), line, miss))
        else {
            return;
        };
        for &wanted in &lines[..count] {
            let cache = &mut self.cores[usize::from(core)];
            if cache.free_buffers() <= RESERVED || cache.has_or_expects(wanted) {
                continue;
            }
            if cache.take_buffer(wanted, false) == Buffer::Taken {
                self.request(core, wanted, false);
                if let Some(program) = &mut self.program {
                    program.count_prefetch();
                }
            }
        }
    }
}
