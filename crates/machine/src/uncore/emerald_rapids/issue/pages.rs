//! Pages of a workload: looked up in the core's TLB, and walked for.
//!
//! Each socket, or cluster, has its own copy of the footprint, whose page tables lie in its own memory. Walks have an
//! opcode of their own, `DRdPTE`. The L2 stands for all of a core's caches, so a walk takes its latency at the least.

use pericore_facts::emerald_rapids::{Kind, Readers};
use pericore_parts::translation::{PageFound, Translation};
use pericore_workload::{Access, Workload};

use super::super::Model;
use super::super::address::{self, PAGE_LINES_SHIFT, REGION_BITS};
use super::super::core::{Aimed, Buffer, ThreadState};
use super::super::event::Event;
use super::super::request::NO_REQUEST;

impl Model {
    /// What looks up the pages of a workload that is about to run.
    pub(in super::super) fn translation_for(&self, workload: &Workload) -> Translation<Aimed> {
        Translation::new(workload.page_tables(), &self.parameters.translation, self.cores.len())
    }

    /// The line that has a page's entry, for a core.
    pub(in super::super) fn entry_of(&self, core: u16, page: u32) -> u32 {
        let own = u32::from(self.named_memory.unwrap_or_else(|| self.socket_of(core)));
        self.map.within(self.cluster_of(core), self.translation.entry(page)) | own << REGION_BITS
    }

    /// True if the prefetcher may go on from a line to another: in the same memory, and where pages lie anywhere, in
    /// the same 4 KiB.
    pub(super) fn may_prefetch(&self, line: u32, next: u32) -> bool {
        let in_page = (next ^ line) >> PAGE_LINES_SHIFT == 0;
        address::target(next) == address::target(line) && (in_page || !self.translation.is_on())
    }

    /// A thread has no more accesses; it waits for those that wait for their pages.
    pub(super) fn come_to_end<R: Readers>(&mut self, thread: u16, reader: &mut R) {
        let state = &mut self.threads[usize::from(thread)];
        if self.translation.delays(state.core.into(), thread) {
            state.state = ThreadState::ForBuffer;
        } else {
            self.finish(thread, reader);
        }
    }

    /// Looks up the page of a thread's access. True if the thread goes on, with that access or another; otherwise it
    /// waits, or will be told to go on.
    #[inline(never)]
    pub(super) fn find_page<R: Readers>(&mut self, thread: u16, (access, line): Aimed, reader: &mut R) -> bool {
        let core = self.threads[usize::from(thread)].core;
        let entry = self.entry_of(core, access.page);
        let pace = self.times.paces[usize::from(self.socket_of(core))];
        let state = &mut self.threads[usize::from(thread)];
        let at = state.ready.max(self.now);
        let Some(walks) = self.translation.of(core.into()) else { return true };
        let known = (Access { page: 0, ..access }, line);
        let found = walks.find(access.page);
        if found != PageFound::Nowhere {
            state.held = Some(known);
            if found == PageFound::Second && access.blocking {
                state.delayed_since = state.ready;
                state.ready = at + pace.second_tlb;
            }
            return true;
        }
        // Others may see the walk: it does not run ahead of time.
        if at > self.now {
            state.held = Some((access, line));
            self.wheel.schedule(at, Event::Issue.of(thread));
            return false;
        }
        if walks.waiting(thread) >= self.parameters.fill_buffers.into() {
            state.held = Some((access, line));
            state.state = ThreadState::ForBuffer;
            return false;
        }
        walks.delay(thread, access.page, entry, known);
        if access.blocking {
            state.delayed_since = state.ready;
            // No request has that number: the end of the walk lets it go on.
            state.state = ThreadState::ForData(NO_REQUEST);
        } else {
            let pause = self.pause_of(thread);
            self.threads[usize::from(thread)].ready = at + pace.hit_interval + pause;
        }
        self.begin_walks(core, reader);
        !access.blocking
    }

    /// Begins the walks of a core that are wanted, as far as it has walkers and buffers.
    fn begin_walks<R: Readers>(&mut self, core: u16, reader: &mut R) {
        while let Some((_, line)) = self.translation.begin(core.into()) {
            if self.l2s.at(core).access(line, false) {
                let latency = self.times.paces[usize::from(self.socket_of(core))].l2_latency;
                self.end_walk_after(core, line, latency);
                continue;
            }
            match self.cores[usize::from(core)].take_buffer(line, false) {
                Buffer::Taken => {
                    self.request(Kind::PageWalk, core, line, u16::MAX, reader);
                }
                Buffer::Joined => {}
                Buffer::Full => {
                    self.translation.give_up(core.into());
                    return;
                }
            }
        }
    }

    /// A line has come to a core: walks of the core that have read it end soon.
    #[inline]
    pub(super) fn entry_comes(&mut self, core: u16, line: u32) {
        if self.translation.is_on() {
            self.end_walk_after(core, line, self.times.mesh_to_use);
        }
    }

    /// Walks of a core that read a line have it after some ticks.
    fn end_walk_after(&mut self, core: u16, line: u32, ticks: u64) {
        let ends = self.now + ticks + self.times.paces[usize::from(self.socket_of(core))].walk;
        if self.translation.came(core.into(), line, ends) {
            self.wheel.schedule(ends, Event::Walked.of(core));
        }
    }

    /// Makes the accesses of a core whose pages are known by now, and begins the next walks.
    #[inline(never)]
    pub(super) fn go_on_with_pages<R: Readers>(&mut self, core: u16, reader: &mut R) {
        self.translation.end(core.into(), self.now);
        while let Some((thread, aimed)) = self.translation.take_known(core.into()) {
            let state = &mut self.threads[usize::from(thread)];
            if aimed.0.blocking {
                state.held = Some(aimed);
                state.ready = self.now;
                state.state = ThreadState::Running;
                self.issue(thread, reader);
            } else if !self.make_late(thread, aimed, reader) {
                self.translation.keep(core.into(), thread, aimed);
                break;
            }
        }
        self.begin_walks(core, reader);
    }

    /// Makes an access that has waited for its page; false if there is no buffer for it.
    fn make_late<R: Readers>(&mut self, thread: u16, (access, line): Aimed, reader: &mut R) -> bool {
        let core = self.threads[usize::from(thread)].core;
        if self.l2s.at(core).access(line, access.store) {
            self.work.done += 1;
            self.background_traffic(thread, line, reader);
            return true;
        }
        let full = self.cores[usize::from(core)].writebacks >= self.parameters.writeback_buffers;
        match if full { Buffer::Full } else { self.cores[usize::from(core)].take_buffer(line, access.store) } {
            Buffer::Taken => {
                let kind = self.kind_of(access, line);
                self.request(kind, core, line, thread, reader);
                self.prefetch(thread, line, access.store, reader);
                self.background_traffic(thread, line, reader);
                true
            }
            Buffer::Joined => {
                self.work.done += 1;
                true
            }
            Buffer::Full => false,
        }
    }
}
