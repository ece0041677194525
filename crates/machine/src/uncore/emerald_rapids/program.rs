//! A program on the cores of Emerald Rapids.
//!
//! The L2 stands for all of a core's caches: a line is modified in it from the first store on, although the first level has the data
//! until it gives the line up. What the L2 gives up takes the first level's copy along.

use pericore_engine::Tick;

use super::Model;
use super::core::Buffer;
use super::event::Event;
use pericore_facts::emerald_rapids::{Kind, Readers};
use pericore_parts::program::{Cores, Pause, Reached, Want};
use pericore_parts::work::Work;

/// No thread counts the request's end as that of an access.
const NOBODY: u16 = u16::MAX;

impl<R: Readers> Cores<R> for Model {
    fn work(&mut self) -> &mut Work {
        &mut self.work
    }

    fn now(&self) -> Tick {
        self.now
    }

    fn paces(&self) -> [Tick; 2] {
        [self.times.paces[0].cycle, self.times.paces[0].hit_interval]
    }

    fn data_times(&self) -> [Tick; 2] {
        [self.times.paces[0].l2_latency, self.times.mesh_to_use]
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

    /// A core sleeps until it gets its first access.
    fn begins(&mut self, thread: u16, reader: &mut R) {
        let state = &mut self.threads[usize::from(thread)];
        state.accesses += 1;
        if state.accesses == 1 {
            let number = state.core;
            let core = &mut self.cores[usize::from(number)];
            core.running += 1;
            if core.running == 1 {
                self.power.core_wakes(self.socket_of(number).into(), self.now, reader);
                self.core_works(number, true);
            }
        }
    }

    fn pause(&mut self, thread: u16, why: Pause, reader: &mut R) {
        let state = &mut self.threads[usize::from(thread)];
        if why == Pause::Over && state.accesses > 0 {
            return self.finish(thread, reader);
        }
        state.state = why.into();
    }

    fn rouse(&mut self, thread: u16) -> bool {
        self.threads[usize::from(thread)].state.rouse()
    }

    fn has_room(&self, core: usize) -> bool {
        self.cores[core].writebacks < self.parameters.writeback_buffers
    }

    fn demand(&mut self, thread: u16, line: u32, want: Want, reader: &mut R) -> Reached {
        let number = self.threads[usize::from(thread)].core;
        let store = want.stores();
        if self.l2s.at(number).access(line, store) {
            return Reached::Hit;
        }
        match self.cores[usize::from(number)].take_buffer(line, store) {
            Buffer::Taken => {
                let kind = match want {
                    Want::Data => Kind::DataRead,
                    Want::Own => Kind::Ownership,
                    Want::Code => Kind::CodeRead,
                    Want::Whole => Kind::FullStore,
                };
                self.request(kind, number, line, NOBODY, reader);
                Reached::Miss
            }
            Buffer::Joined => Reached::Miss,
            Buffer::Full => Reached::NoBuffer,
        }
    }

    fn prefetch(&mut self, thread: u16, line: u32, want: Want, reader: &mut R) -> bool {
        let number = self.threads[usize::from(thread)].core;
        let sends = self.take_prefetch(number, line, want == Want::Own);
        if sends {
            let kind = match want {
                Want::Data => Kind::DataPrefetch,
                Want::Own | Want::Whole => Kind::OwnershipPrefetch,
                Want::Code => Kind::CodePrefetch,
            };
            self.request(kind, number, line, NOBODY, reader);
        }
        sends
    }

    fn write_back_l1(&mut self, thread: u16, line: u32, _: &mut R) {
        let core = self.threads[usize::from(thread)].core;
        self.l2s.at(core).write_back_l1(line);
    }

    fn stream(&mut self, thread: u16, line: u32, whole: bool, reader: &mut R) -> bool {
        let number = self.threads[usize::from(thread)].core;
        if self.cores[usize::from(number)].take_buffer(line, true) != Buffer::Taken {
            // A line that is on its way must go out before the next store to it.
            return false;
        }
        let held = self.l2s.at(number).snoop(line, true).map(|state| (line, state));
        self.write_back(number, held, reader);
        let kind = if whole { Kind::StreamFull } else { Kind::StreamPart };
        self.request(kind, number, line, NOBODY, reader);
        true
    }
}
