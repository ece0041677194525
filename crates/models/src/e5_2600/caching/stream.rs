//! Requests that leave the caches of the cores alone: streaming stores of cores, and reads and writes of devices.
//!
//! A streaming store and a device's write past the LLC take the line away from everybody and go to memory. Where the
//! line was modified, the new data is laid over it, so that a whole line is written. A device's write into the LLC
//! takes the line over without reading it. A device's read leaves everything where it is.

use pericore_engine::NEVER;
use pericore_facts::e5_2600::E5Reader;

use crate::e5_2600::Model;
use crate::e5_2600::cores::Wanted;
use crate::e5_2600::event::Event;
use crate::e5_2600::request::RequestId;
use pericore_facts::LineState;
use pericore_facts::e5_2600::{Message, Rare, RequestKind, RequestStation};
use pericore_parts::core::{Buffer, ThreadState};
use pericore_parts::llc::Way;

impl Model {
    /// Lets a thread issue streaming stores until it must wait.
    #[inline(never)]
    pub(in crate::e5_2600) fn issue_streaming<R: E5Reader>(&mut self, thread: u16, reader: &mut R) {
        let index = usize::from(thread);
        loop {
            let state = &mut self.threads[index];
            if state.ready > self.now {
                self.wheel.schedule(state.ready, Event::Issue.of(thread));
                return;
            }
            let Some(&mut Wanted { line, page, whole, .. }) = state.next_access() else {
                self.threads[index].state = self.state_at_end(thread);
                return;
            };
            if page != 0 {
                if self.find_page(thread, reader) {
                    continue;
                }
                return;
            }
            if !self.stream_out(thread, line, whole, reader) {
                self.threads[index].state = ThreadState::ForBuffer;
                return;
            }
            let state = &mut self.threads[index];
            state.held = None;
            let socket = usize::from(self.map.socket(state.core.into()));
            state.ready = self.now + self.latency.paces[socket].l1_interval;
        }
    }

    /// Sends a streaming store to a line. False if there is no buffer: a line that is on its way must go out before the
    /// next store to it.
    pub(in crate::e5_2600) fn stream_out<R: E5Reader>(
        &mut self,
        thread: u16,
        line: u32,
        whole: bool,
        reader: &mut R,
    ) -> bool {
        let (core, tid) = (self.threads[usize::from(thread)].core, self.threads[usize::from(thread)].tid);
        if self.cores[usize::from(core)].take_buffer(line, true) != Buffer::Taken {
            return false;
        }
        if self.cores[usize::from(core)].invalidate(line) {
            let interval = self.latency.paces[usize::from(self.map.socket(core.into()))].writeback_interval;
            let state = &mut self.cores[usize::from(core)];
            state.writebacks += 1;
            state.port.put_off(self.now, interval);
            self.send_writeback(RequestKind::WritebackToInvalid, core, line, reader);
        }
        let kind = if whole { RequestKind::StreamWhole } else { RequestKind::StreamPart };
        let stop = u16::from(core);
        let socket = self.map.socket(stop);
        let (slice, pace) = (self.map.slice(socket, line), self.latency.paces[usize::from(socket)]);
        let request = self.pool.add(self.record(kind, tid, slice, line), line, core);
        let to = self.map.within(slice);
        self.message(stop, Message::AddressFromCore, to, reader);
        let sent = self.message(stop, Message::DataFromCore, to, reader);
        let port = &mut self.cores[usize::from(core)].port;
        let leaves = port.leave(sent + pace.miss_to_ring, pace.request_interval);
        self.send_to_slice(request, core, slice, leaves);
        true
    }

    /// A request that leaves the cores' caches alone has been looked up and has its entry in the table of requests.
    #[inline(never)]
    pub(in crate::e5_2600) fn pass_through<R: E5Reader>(
        &mut self,
        slice: u16,
        request: RequestId,
        way: Option<Way>,
        reader: &mut R,
    ) {
        let kind = self.pool[request].record.kind;
        let Some(way) = way else {
            self.go_home(slice, request, reader);
            return;
        };
        let llc = &mut self.slices[usize::from(slice)].llc;
        let (state, cores) = (llc.state(way), llc.cores(way));
        let line = self.pool[request].line;
        let read = kind == RequestKind::IoRead;
        let snooped = if read && cores.count_ones() != 1 { 0 } else { cores };
        self.pool[request].snooped = snooped;
        let modified = self.take_from_cores(request, slice, line, !read) || state == LineState::Modified;
        let llc = &mut self.slices[usize::from(slice)].llc;
        match kind {
            RequestKind::IoRead if modified => llc.set_state(way, LineState::Modified),
            RequestKind::IoRead => {}
            RequestKind::IoWrite => {
                llc.set_state(way, LineState::Modified);
                llc.set_cores(way, 0);
            }
            _ => {
                llc.remove(way);
                // Together with the modified data it is a whole line that goes to memory.
                self.pool[request].record.completed |= modified;
                if modified && kind.is_stream() {
                    self.pool[request].record.note(Rare::Aliased);
                    self.report(request, RequestStation::Aliased, reader);
                }
            }
        }
        if snooped == 0 {
            self.wheel.schedule(self.now + self.latency.llc_quick, Event::Step.of(request));
        } else {
            self.message(slice, Message::SnoopFromCache, self.map.within(slice), reader);
            let delay = self.snoop_takes(slice, snooped, reader);
            self.wheel.schedule(self.now + delay, Event::Step.of(request));
        }
    }

    fn go_home<R: E5Reader>(&mut self, slice: u16, request: RequestId, reader: &mut R) {
        let to = self.way_home(request);
        self.message(slice, Message::AddressFromCache, to, reader);
        if self.pool[request].record.kind.carries_data_home() {
            self.message(slice, Message::DataFromCache, to, reader);
        }
        self.request_home(request, reader);
    }

    /// The next step of such a request: its snoops are answered, or the home agent has.
    #[inline(never)]
    pub(in crate::e5_2600) fn step_through<R: E5Reader>(&mut self, request: RequestId, reader: &mut R) {
        let record = &self.pool[request].record;
        let (kind, slice, at_home) = (record.kind, record.slice, record.tracker_out != NEVER);
        let (core, io) = (self.pool[request].core, self.rings.io());
        if kind.carries_data_home() && !at_home {
            // The line was in the LLC and is gone. Its entry of the tracker is taken when there is one.
            if !self.tracker_entry(slice, self.pool[request].line) {
                self.wheel.schedule(self.now + self.latency.llc_quick, Event::Step.of(request));
                return;
            }
            self.go_home(slice, request, reader);
            return;
        }
        self.leave_tor(request, reader);
        if kind.is_stream() {
            let line = self.pool[request].line;
            self.acknowledgement(slice, Message::AcknowledgeFromCache, self.map.within(core.into()), reader);
            self.cores[usize::from(core)].give_buffer(line);
            self.end_step(request, reader);
            // A program's stores were done when they were sent out.
            self.work.done += u64::from(self.work.program.is_none());
            self.resume(core, reader);
            return;
        }
        if kind == RequestKind::IoRead && at_home && self.pool[request].record.remote {
            // The line has come by a link and gone on from there.
            self.end_step(request, reader);
            return;
        }
        let sent = if kind == RequestKind::IoRead {
            self.message(slice, Message::DataFromCache, io, reader)
        } else {
            self.acknowledgement(slice, Message::AcknowledgeFromCache, io, reader)
        };
        self.wheel.schedule(sent + self.latency.to_io(slice), Event::Data.of(request));
    }
}
