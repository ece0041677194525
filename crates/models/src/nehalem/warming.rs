//! Caches filled by function: what is Nehalem's of it.

use super::Model;
use super::event::Event;
use super::parameters::CORES;
use super::socket::Cache;
use pericore_parts::core::Core;
use pericore_parts::line::LINE_BYTES;
use pericore_parts::program::{ByFunction, Cycles, FoundIn, Program, Want};
use pericore_parts::warming::{Inclusive, Warming, fill};
use pericore_workload::Access;

impl Model {
    /// Fills the caches with the lines of the threads that are about to begin. Devices' lines do not stay in the LLC.
    pub(super) fn warm(&mut self) {
        let bytes = self.parameters.cache_bytes() * u64::from(self.parameters.sockets);
        fill(self, bytes);
    }
}

impl Warming for Model {
    fn threads(&self) -> usize {
        if self.around { 0 } else { self.threads.len() }
    }

    fn aim(&mut self, thread: usize) -> (Access, u32) {
        let thread = &mut self.threads[thread];
        let access = thread.generator.warming_access();
        let line = (thread.placement.place(access.address) / LINE_BYTES) as u32;
        self.sockets[usize::from(thread.core) / CORES].llc.prefetch(line);
        (access, line)
    }

    fn warm_access(&mut self, thread: usize, access: Access, line: u32) -> bool {
        let core = self.threads[thread].core;
        if access.page != 0 {
            let (page, entry) = self.translation.page_among_nodes(access.page, line, self.parameters.node());
            if self.translation.warm(core.into(), page) {
                self.warm_core(core, entry, false);
            }
        }
        self.warm_core(core, line, access.store)
    }
}

impl Inclusive<16, 8192> for Model {
    fn core(&mut self, core: u8) -> &mut Core {
        &mut self.cores[usize::from(core)]
    }

    fn socket_of(&self, core: u8) -> (u8, u8) {
        let socket = core / CORES as u8;
        (socket, self.first_core(socket))
    }

    fn first_core(&self, socket: u8) -> u8 {
        socket * CORES as u8
    }

    fn sockets(&self) -> u8 {
        self.sockets.len() as u8
    }

    fn llc(&mut self, socket: u8, _line: u32) -> &mut Cache {
        &mut self.sockets[usize::from(socket)].llc
    }
}

impl ByFunction for Model {
    fn program_mut(&mut self) -> Option<&mut Program> {
        self.work.program.as_mut()
    }

    fn core_number(&self, thread: u16) -> u16 {
        self.threads[usize::from(thread)].core.into()
    }

    fn foresee(&self, core: u16, line: u32) {
        self.sockets[usize::from(core) / CORES].llc.prefetch(line);
    }

    /// LLC hits of 40 cycles, memory of 60 ns (docs/calibration.md).
    fn cycles(&self) -> Cycles {
        let (l2, interval) = (self.parameters.l2_latency, self.parameters.request_interval);
        Cycles { l2, cache: 40, memory: 176, interval }
    }

    fn window(&self) -> u64 {
        self.parameters.reorder_buffer
    }

    fn reach(&mut self, core: u16, line: u32, want: Want) -> FoundIn {
        self.warm_l2(core as u8, line, want.stores())
    }

    fn holds(&mut self, core: u16, line: u32) -> bool {
        self.cores[usize::from(core)].l2.find(line).is_some()
    }

    fn fetch(&mut self, core: u16, line: u32, want: Want) -> FoundIn {
        self.warm_fetch(core as u8, line, want.stores())
    }

    fn give_up(&mut self, core: u16, line: u32) {
        self.warm_l1_gives_up(core as u8, line);
    }

    fn go_around(&mut self, _: u16, line: u32) {
        self.warm_around(line);
    }

    fn wake(&mut self, thread: u16) {
        if self.threads[usize::from(thread)].state.rouse() {
            self.wheel.schedule(self.now, Event::Issue.of(thread));
        }
    }
}
