//! Pages of a workload: looked up in the core's TLB, and walked for.

use pericore_facts::e5_2600::{E5Reader, RequestKind};
use pericore_parts::NO_REQUEST;
use pericore_parts::core::{Buffer, Level, ThreadState};
use pericore_parts::translation::{PageFound, Translation};
use pericore_workload::Workload;

use crate::e5_2600::Model;
use crate::e5_2600::cores::{ThreadKind, Wanted};
use crate::e5_2600::event::Event;

impl Model {
    /// What looks up the pages of a workload that is about to run.
    pub(in crate::e5_2600) fn translation_for(&self, workload: &Workload) -> Translation<Wanted> {
        Translation::new(workload.page_tables(), &self.parameters.translation, self.cores.len())
    }

    /// The state of a thread that has no more accesses: it waits for those that wait for their pages.
    #[inline]
    pub(in crate::e5_2600) fn state_at_end(&self, thread: u16) -> ThreadState {
        let waits = self.translation.delays(self.threads[usize::from(thread)].core.into(), thread);
        if waits { ThreadState::ForBuffer } else { ThreadState::Finished }
    }

    /// Looks up the page of the access that a thread holds. True if the thread goes on, with that access or another;
    /// otherwise it waits, or will be told to go on.
    #[inline(never)]
    pub(in crate::e5_2600) fn find_page<R: E5Reader>(&mut self, thread: u16, reader: &mut R) -> bool {
        let state = &mut self.threads[usize::from(thread)];
        let (core, at) = (state.core, state.ready.max(self.now));
        let pace = self.latency.paces[usize::from(self.map.socket(core.into()))];
        let Some(wanted) = &mut state.held else { return true };
        let Wanted { line, page, blocking, .. } = *wanted;
        let (page, entry) = self.translation.page_among_nodes(page, line, self.parameters.node());
        let Some(walks) = self.translation.of(core.into()) else { return true };
        let found = walks.find(page);
        if found != PageFound::Nowhere {
            wanted.page = 0;
            if found == PageFound::Second && blocking {
                state.delayed_since = state.ready;
                state.ready = at + pace.second_tlb;
            }
            return true;
        }
        // Others may see the walk: it does not run ahead of time.
        if at > self.now {
            self.wheel.schedule(at, Event::Issue.of(thread));
            return false;
        }
        if walks.waiting(thread) >= self.parameters.fill_buffers.into() {
            state.state = ThreadState::ForBuffer;
            return false;
        }
        walks.delay(thread, page, entry, Wanted { page: 0, ..*wanted });
        state.held = None;
        if blocking {
            state.delayed_since = state.ready;
            // No request has that number: the end of the walk lets it go on.
            state.state = ThreadState::ForData(NO_REQUEST);
        } else {
            state.ready = at + pace.l1_interval + state.pause(&self.work.course);
        }
        self.begin_walks(core, reader);
        !blocking
    }

    /// Begins the walks of a core that are wanted, as far as it has walkers and buffers.
    fn begin_walks<R: E5Reader>(&mut self, core: u8, reader: &mut R) {
        let pace = self.latency.paces[usize::from(self.map.socket(core.into()))];
        while let Some((thread, line)) = self.translation.begin(core.into()) {
            let cache = &mut self.cores[usize::from(core)];
            let (level, evicted) = cache.access(line, false);
            let latency = match level {
                Level::L1 => pace.l1_latency,
                Level::L2 => pace.l2_latency,
                Level::Miss => match cache.take_streamed(line, false, self.parameters.streamer) {
                    Buffer::Taken => {
                        let tid = self.threads[usize::from(thread)].tid;
                        self.send_request(RequestKind::DataRead, core, tid, line, reader);
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
            self.write_back(core, evicted, reader);
        }
    }

    /// A line has come to a core: true if walks of the core have read it, which end soon.
    #[inline(never)]
    pub(in crate::e5_2600) fn entry_comes(&mut self, core: u8, line: u32) -> bool {
        let ring_to_use = self.latency.paces[usize::from(self.map.socket(core.into()))].ring_to_use;
        self.end_walk_after(core, line, ring_to_use)
    }

    /// Walks of a core that read a line have it after some ticks; true if there are any.
    fn end_walk_after(&mut self, core: u8, line: u32, ticks: u64) -> bool {
        let walk = self.latency.paces[usize::from(self.map.socket(core.into()))].walk;
        let ends = self.now + ticks + walk;
        let any = self.translation.came(core.into(), line, ends);
        if any {
            self.wheel.schedule(ends, Event::Walked.of(core.into()));
        }
        any
    }

    /// Makes the accesses of a core whose pages are known by now, and begins the next walks.
    #[inline(never)]
    pub(in crate::e5_2600) fn go_on_with_pages<R: E5Reader>(&mut self, core: u8, reader: &mut R) {
        self.translation.end(core.into(), self.now);
        while let Some((thread, wanted)) = self.translation.take_known(core.into()) {
            let state = &mut self.threads[usize::from(thread)];
            if wanted.blocking {
                state.held = Some(wanted);
                state.ready = self.now;
                state.state = ThreadState::Running;
                self.issue(thread, reader);
            } else if !self.make_late(thread, wanted, reader) {
                self.translation.keep(core.into(), thread, wanted);
                break;
            }
        }
        self.begin_walks(core, reader);
    }

    /// Makes an access that has waited for its page; false if there is no buffer for it.
    fn make_late<R: E5Reader>(&mut self, thread: u16, wanted: Wanted, reader: &mut R) -> bool {
        let Wanted { line, store, whole, .. } = wanted;
        let (core, tid, kind) = {
            let state = &self.threads[usize::from(thread)];
            (state.core, state.tid, state.kind)
        };
        if kind == ThreadKind::Streaming {
            return self.stream_out(thread, line, whole, reader);
        }
        let cache = &mut self.cores[usize::from(core)];
        let (level, evicted) = cache.access(line, store);
        if level == Level::Miss {
            let full = cache.writebacks >= self.parameters.writeback_buffers;
            match if full { Buffer::Full } else { cache.take_streamed(line, store, self.parameters.streamer) } {
                Buffer::Taken => {
                    let kind = if store { RequestKind::ReadForOwnership } else { RequestKind::DataRead };
                    self.send_request(kind, core, tid, line, reader);
                    if self.system {
                        self.background_traffic(thread);
                    }
                    return true;
                }
                Buffer::Joined => {}
                Buffer::Full => return false,
            }
        }
        self.work.done += 1;
        self.write_back(core, evicted, reader);
        true
    }
}
