//! A program on the cores of the E5-2600.

use pericore_hardware::signal::{SignalSink, Tick};

use super::Model;
use super::event::Event;
use crate::ledger::e5_2600::RequestKind;
use crate::uncore::program::{Cores, Pause, Reached, Want};
use crate::uncore::work::Work;

/// What an access asks for when it misses the L2. Prefetches into the L2 have the opcodes of what they stand for: the guide's prefetch
/// opcodes are those of prefetches into the LLC.
const fn kind_of(want: Want) -> RequestKind {
    match want {
        Want::Data => RequestKind::DataRead,
        Want::Own => RequestKind::ReadForOwnership,
        Want::Code => RequestKind::CodeRead,
    }
}

impl Cores for Model {
    fn work(&mut self) -> &mut Work {
        &mut self.work
    }

    fn now(&self) -> Tick {
        self.now
    }

    fn paces(&self) -> [Tick; 2] {
        [self.latency.uclk, self.latency.l2_interval]
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

    fn demand<S: SignalSink>(&mut self, thread: u16, line: u32, want: Want, sink: &mut S) -> Reached {
        let core = self.core_of(thread);
        let store = want == Want::Own;
        let (reached, sends) = self.cores[core].reach_l2(line, store);
        if sends {
            self.request(kind_of(want), thread, line, sink);
        }
        if store && reached != Reached::NoBuffer {
            let evicted = self.cores[core].dirty_l1(line);
            self.write_back(core as u8, evicted, sink);
        }
        reached
    }

    fn prefetch<S: SignalSink>(&mut self, thread: u16, line: u32, want: Want, sink: &mut S) -> bool {
        let core = self.core_of(thread);
        let store = want == Want::Own;
        let sends = self.cores[core].take_prefetch(line, store);
        if sends {
            self.request(kind_of(want), thread, line, sink);
        }
        sends
    }

    fn write_back_l1<S: SignalSink>(&mut self, thread: u16, line: u32, sink: &mut S) {
        let core = self.core_of(thread);
        let evicted = self.cores[core].write_back_l1(line);
        self.write_back(core as u8, evicted, sink);
    }

    fn stream<S: SignalSink>(&mut self, thread: u16, line: u32, whole: bool, sink: &mut S) -> bool {
        self.stream_out(thread, line, whole, sink)
    }
}
