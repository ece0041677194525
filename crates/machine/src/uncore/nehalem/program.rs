//! A program on the cores of the Xeon 5500 series.

use pericore_hardware::signal::{SignalSink, Tick};

use super::Model;
use super::event::Event;
use crate::uncore::program::{Cores, Pause, Reached, Want};
use crate::uncore::work::Work;

impl Cores for Model {
    fn work(&mut self) -> &mut Work {
        &mut self.work
    }

    fn now(&self) -> Tick {
        self.now
    }

    fn paces(&self) -> [Tick; 2] {
        [self.times.core, self.times.l2_interval]
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

    fn pause<S: SignalSink>(&mut self, thread: u16, why: Pause, _: &mut S) {
        self.threads[usize::from(thread)].state = why.into();
    }

    fn rouse(&mut self, thread: u16) -> bool {
        self.threads[usize::from(thread)].state.rouse()
    }

    fn has_room(&self, core: usize) -> bool {
        self.cores[core].writebacks < self.parameters.writeback_buffers
    }

    /// Loads and fetches are the same to the global queue.
    fn demand<S: SignalSink>(&mut self, thread: u16, line: u32, want: Want, _: &mut S) -> Reached {
        let core = self.core_of(thread);
        let store = want == Want::Own;
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

    fn prefetch<S: SignalSink>(&mut self, thread: u16, line: u32, want: Want, _: &mut S) -> bool {
        let core = self.core_of(thread);
        let store = want == Want::Own;
        let sends = self.cores[core].take_prefetch(line, store);
        if sends {
            self.request(core as u8, line, store);
        }
        sends
    }

    fn write_back_l1<S: SignalSink>(&mut self, thread: u16, line: u32, _: &mut S) {
        let core = self.core_of(thread);
        let evicted = self.cores[core].write_back_l1(line);
        self.write_back(core as u8, evicted);
    }

    /// Stores to a part of a line go out as those to a whole one: no event tells them apart.
    fn stream<S: SignalSink>(&mut self, thread: u16, line: u32, _: bool, _: &mut S) -> bool {
        self.write_around(self.core_of(thread) as u8, line);
        true
    }
}
