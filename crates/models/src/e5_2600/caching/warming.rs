//! Caches and directories filled by function: what is the E5-2600's of it.

use crate::e5_2600::Model;
use crate::e5_2600::cores::ThreadKind;
use crate::e5_2600::event::Event;
use pericore_parts::core::Core;
use pericore_parts::line::LINE_BYTES;
use pericore_parts::llc::Llc;
use pericore_parts::program::{ByFunction, Cycles, FoundIn, Program, Want};
use pericore_parts::warming::{Inclusive, Warming, fill};
use pericore_workload::Access;

impl Model {
    /// Fills the caches with the lines of the threads and devices that are about to begin.
    pub(in crate::e5_2600) fn warm(&mut self) {
        let bytes = self.parameters.cache_bytes() * u64::from(self.parameters.sockets);
        fill(self, bytes);
    }
}

impl Warming for Model {
    fn threads(&self) -> usize {
        // Streaming stores leave nothing in the caches.
        let streams = self.threads.iter().any(|thread| thread.kind == ThreadKind::Streaming);
        if streams { 0 } else { self.threads.len() }
    }

    fn aim(&mut self, thread: usize) -> (Access, u32) {
        let thread = &mut self.threads[thread];
        let access = thread.generator.warming_access();
        let line = (thread.placement.place(access.address) / LINE_BYTES) as u32;
        self.slices[usize::from(self.map.slice(self.map.socket(thread.core.into()), line))].llc.prefetch(line);
        (access, line)
    }

    fn warm_access(&mut self, thread: usize, access: Access, line: u32) -> bool {
        let (kind, core) = (self.threads[thread].kind, self.threads[thread].core);
        match kind {
            ThreadKind::Device if access.store && access.whole => self.warm_device(self.map.socket(core.into()), line),
            ThreadKind::Device | ThreadKind::Streaming => false,
            ThreadKind::Cached => {
                if access.page != 0 {
                    let (page, entry) = self.translation.page_among_nodes(access.page, line, self.parameters.node());
                    if self.translation.warm(core.into(), page) {
                        self.warm_core(core, entry, false);
                    }
                }
                self.warm_core(core, line, access.store)
            }
        }
    }
}

impl Inclusive<20, 2048> for Model {
    fn core(&mut self, core: u8) -> &mut Core {
        &mut self.cores[usize::from(core)]
    }

    fn socket_of(&self, core: u8) -> (u8, u8) {
        let socket = self.map.socket(core.into());
        (socket, self.first_core(socket))
    }

    fn first_core(&self, socket: u8) -> u8 {
        self.map.first_stop(socket) as u8
    }

    fn sockets(&self) -> u8 {
        self.parameters.sockets
    }

    fn llc(&mut self, socket: u8, line: u32) -> &mut Llc {
        &mut self.slices[usize::from(self.map.slice(socket, line))].llc
    }

    fn device_ways(&self) -> u8 {
        self.parameters.device_ways
    }

    fn owns(&mut self, socket: u8, line: u32) {
        let home = self.map.home(line);
        if let Some(directory) = self.directories.get_mut(usize::from(home)) {
            directory.set(line, home != socket);
        }
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
        let socket = self.map.socket(core);
        self.slices[usize::from(self.map.slice(socket, line))].llc.prefetch(line);
    }

    /// LLC hits of 30 cycles, memory of 66 ns at 2.7 GHz (docs/calibration.md).
    fn cycles(&self) -> Cycles {
        let (l2, interval) = (self.parameters.l2_latency, self.parameters.request_interval);
        Cycles { l2, cache: 30, memory: 179, interval }
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
