//! Pages of a workload: looked up in the core's TLB, and walked for.

use pericore_facts::nehalem::NehalemReader as Facts;
use pericore_parts::NO_REQUEST;
use pericore_parts::core::{Buffer, Level, ThreadState};
use pericore_parts::line::LINE_BYTES;
use pericore_parts::translation::{PageFound, Translation};
use pericore_workload::{Access, Workload};

use crate::nehalem::Model;
use crate::nehalem::event::Event;

impl Model {
    /// What looks up the pages of a workload that is about to run.
    pub(in crate::nehalem) fn translation_for(&self, workload: &Workload) -> Translation<Access> {
        Translation::new(workload.page_tables(), &self.parameters.translation, self.cores.len())
    }

    /// The state of a thread that has no more accesses: it waits for those that wait for their pages.
    pub(in crate::nehalem) fn state_at_end(&self, thread: u16) -> ThreadState {
        let waits = self.translation.delays(self.threads[usize::from(thread)].core.into(), thread);
        if waits { ThreadState::ForBuffer } else { ThreadState::Finished }
    }

    /// Looks up the page of a thread's access. True if the thread goes on, with that access or another; otherwise it
    /// waits, or will be told to go on.
    #[inline(never)]
    pub(in crate::nehalem) fn find_page(&mut self, thread: u16, access: Access) -> bool {
        let state = &mut self.threads[usize::from(thread)];
        let (core, at) = (state.core, state.ready.max(self.now));
        let line = (access.address / LINE_BYTES) as u32;
        let (page, entry) = self.translation.page_among_nodes(access.page, line, self.parameters.node());
        let Some(walks) = self.translation.of(core.into()) else { return true };
        let known = Access { page: 0, ..access };
        let found = walks.find(page);
        if found != PageFound::Nowhere {
            state.held = Some(known);
            if found == PageFound::Second && access.blocking {
                state.delayed_since = state.ready;
                state.ready = at + self.times.second_tlb;
            }
            return true;
        }
        // Others may see the walk: it does not run ahead of time.
        if at > self.now {
            state.held = Some(access);
            self.wheel.schedule(at, Event::Issue.of(thread));
            return false;
        }
        if walks.waiting(thread) >= self.parameters.fill_buffers.into() {
            state.held = Some(access);
            state.state = ThreadState::ForBuffer;
            return false;
        }
        walks.delay(thread, page, entry, known);
        if access.blocking {
            state.delayed_since = state.ready;
            // No request has that number: the end of the walk lets it go on.
            state.state = ThreadState::ForData(NO_REQUEST);
        } else {
            let pause = self.pause_of(thread);
            self.threads[usize::from(thread)].ready = at + self.times.l1_interval + pause;
        }
        self.begin_walks(core);
        !access.blocking
    }

    /// Begins the walks of a core that are wanted, as far as it has walkers and buffers.
    fn begin_walks(&mut self, core: u8) {
        while let Some((_, line)) = self.translation.begin(core.into()) {
            let cache = &mut self.cores[usize::from(core)];
            let (level, evicted) = cache.access(line, false);
            let latency = match level {
                Level::L1 => self.times.l1_latency,
                Level::L2 => self.times.l2_latency,
                Level::Miss => match cache.take_buffer(line, false) {
                    Buffer::Taken => {
                        self.request(core, line, false);
                        continue;
                    }
                    Buffer::Joined => continue,
                    Buffer::Full => {
                        self.translation.give_up(core.into());
                        return;
                    }
                },
            };
            self.end_walk_after(core, line, latency);
            self.write_back(core, evicted);
        }
    }

    /// A line is on its way to a core: true if walks of the core have read it, which end soon.
    pub(in crate::nehalem) fn entry_comes(&mut self, core: u8, line: u32) -> bool {
        self.end_walk_after(core, line, self.times.queue_to_core)
    }

    /// Walks of a core that read a line have it after some ticks; true if there are any.
    fn end_walk_after(&mut self, core: u8, line: u32, ticks: u64) -> bool {
        let ends = self.now + ticks + self.times.walk;
        let any = self.translation.came(core.into(), line, ends);
        if any {
            self.wheel.schedule(ends, Event::Walked.of(core.into()));
        }
        any
    }

    /// Makes the accesses of a core whose pages are known by now, and begins the next walks.
    #[inline(never)]
    pub(in crate::nehalem) fn go_on_with_pages<R: Facts>(&mut self, core: u8, reader: &mut R) {
        self.translation.end(core.into(), self.now);
        while let Some((thread, access)) = self.translation.take_known(core.into()) {
            let state = &mut self.threads[usize::from(thread)];
            if access.blocking {
                state.held = Some(access);
                state.ready = self.now;
                state.state = ThreadState::Running;
                self.issue(thread, reader);
            } else if !self.make_late(core, access) {
                self.translation.keep(core.into(), thread, access);
                break;
            }
        }
        self.begin_walks(core);
    }

    /// Makes an access that has waited for its page; false if there is no buffer for it.
    fn make_late(&mut self, core: u8, access: Access) -> bool {
        let line = (access.address / LINE_BYTES) as u32;
        let cache = &mut self.cores[usize::from(core)];
        let full = cache.writebacks >= self.parameters.writeback_buffers;
        if self.around && access.store {
            if full {
                return false;
            }
            self.write_around(core, line, !access.whole);
            self.work.done += 1;
            return true;
        }
        let (level, evicted) = cache.access(line, access.store);
        if level == Level::Miss {
            match if full { Buffer::Full } else { cache.take_buffer(line, access.store) } {
                Buffer::Taken => {
                    self.request(core, line, access.store);
                    return true;
                }
                Buffer::Joined => {}
                Buffer::Full => return false,
            }
        }
        self.work.done += 1;
        self.write_back(core, evicted);
        true
    }
}
