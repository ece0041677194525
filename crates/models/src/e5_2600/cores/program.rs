//! A program on the cores of the E5-2600.

use pericore_engine::Tick;
use pericore_facts::e5_2600::E5Reader;

use crate::e5_2600::Model;
use crate::e5_2600::event::Event;
use pericore_facts::e5_2600::RequestKind;
use pericore_parts::program::{Cores, Pause, Reached, Want};
use pericore_parts::work::Work;

/// What an access asks for when it misses the L2. Prefetches into the L2 have the opcodes of what they stand for: the
/// guide's prefetch opcodes are those of prefetches into the LLC.
const fn kind_of(want: Want) -> RequestKind {
    match want {
        Want::Data => RequestKind::DataRead,
        Want::Own => RequestKind::ReadForOwnership,
        Want::Code => RequestKind::CodeRead,
        Want::Whole => RequestKind::Overwrite,
    }
}

impl<R: E5Reader> Cores<R> for Model {
    fn work(&mut self) -> &mut Work {
        &mut self.work
    }

    fn now(&self) -> Tick {
        self.now
    }

    fn paces(&self) -> [Tick; 2] {
        [self.latency.uclk, self.latency.paces[0].l2_interval]
    }

    fn data_times(&self) -> [Tick; 2] {
        [self.latency.paces[0].l2_latency, self.latency.paces[0].ring_to_use]
    }

    fn window(&self) -> u64 {
        self.parameters.reorder_buffer
    }

    fn expects(&self, core: usize, line: u32) -> bool {
        self.cores[core].expects(line)
    }

    fn core_of(&self, thread: u16) -> usize {
        self.threads[usize::from(thread)].core.into()
    }

    fn ready(&mut self, thread: u16) -> &mut Tick {
        &mut self.threads[usize::from(thread)].ready
    }

    fn go_on(&mut self, thread: u16, at: Tick) {
        self.wheel.schedule(at, Event::Issue.of(thread));
    }

    fn pause(&mut self, thread: u16, why: Pause, _: &mut R) {
        self.threads[usize::from(thread)].state = why.into();
    }

    fn rouse(&mut self, thread: u16) -> bool {
        self.threads[usize::from(thread)].state.rouse()
    }

    fn has_room(&self, core: usize) -> bool {
        self.cores[core].writebacks < self.parameters.writeback_buffers
    }

    fn demand(&mut self, thread: u16, line: u32, want: Want, reader: &mut R) -> Reached {
        let core = Cores::<R>::core_of(self, thread);
        let store = want.stores();
        let (reached, sends) = self.cores[core].reach_l2(line, store);
        if sends {
            // A directory's bit lies in memory with the line: then that is read in any case.
            let reads = want == Want::Whole && !self.directories.is_empty();
            self.request(kind_of(if reads { Want::Own } else { want }), thread, line, reader);
        }
        if store && reached != Reached::NoBuffer {
            let evicted = self.cores[core].dirty_l1(line);
            self.write_back(core as u8, evicted, reader);
        }
        reached
    }

    fn prefetch(&mut self, thread: u16, line: u32, want: Want, reader: &mut R) -> bool {
        let core = Cores::<R>::core_of(self, thread);
        let store = want.stores();
        let sends = self.cores[core].take_prefetch(line, store);
        if sends {
            self.request(kind_of(want), thread, line, reader);
        }
        sends
    }

    fn write_back_l1(&mut self, thread: u16, line: u32, reader: &mut R) {
        let core = Cores::<R>::core_of(self, thread);
        let evicted = self.cores[core].write_back_l1(line);
        self.write_back(core as u8, evicted, reader);
    }

    fn stream(&mut self, thread: u16, line: u32, whole: bool, reader: &mut R) -> bool {
        self.stream_out(thread, line, whole, reader)
    }
}
