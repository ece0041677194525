//! A program on the cores of the Xeon 5500 series.

use pericore_engine::Tick;

use super::Model;
use super::event::Event;
use pericore_facts::nehalem::NehalemReader as Facts;
use pericore_parts::program::{Cores, Pause, Reached, Want};
use pericore_parts::work::Work;

impl<R: Facts> Cores<R> for Model {
    fn work(&mut self) -> &mut Work {
        &mut self.work
    }

    fn now(&self) -> Tick {
        self.now
    }

    fn paces(&self) -> [Tick; 2] {
        [self.times.core, self.times.l2_interval]
    }

    fn data_times(&self) -> [Tick; 2] {
        [self.times.l2_latency, self.times.queue_to_core]
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

    /// Loads and fetches are the same to the global queue.
    fn demand(&mut self, thread: u16, line: u32, want: Want, _: &mut R) -> Reached {
        let core = Cores::<R>::core_of(self, thread);
        let store = want.stores();
        let (reached, sends) = self.cores[core].reach_l2(line, store);
        if sends {
            self.request(core as u8, line, store);
        }
        if store && reached != Reached::NoBuffer {
            let evicted = self.cores[core].dirty_l1(line);
            self.write_back(core as u8, evicted);
        }
        reached
    }

    fn prefetch(&mut self, thread: u16, line: u32, want: Want, _: &mut R) -> bool {
        let core = Cores::<R>::core_of(self, thread);
        let store = want.stores();
        let sends = self.cores[core].take_prefetch(line, store);
        if sends {
            self.request(core as u8, line, store);
        }
        sends
    }

    fn write_back_l1(&mut self, thread: u16, line: u32, _: &mut R) {
        let core = Cores::<R>::core_of(self, thread);
        let evicted = self.cores[core].write_back_l1(line);
        self.write_back(core as u8, evicted);
    }

    fn stream(&mut self, thread: u16, line: u32, whole: bool, _: &mut R) -> bool {
        self.write_around(Cores::<R>::core_of(self, thread) as u8, line, !whole);
        true
    }
}
