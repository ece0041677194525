//! What a look-up or a fill leads to: lines granted to cores, taken back from them, or given up.

use pericore_engine::NEVER;
use pericore_facts::e5_2600::E5Reader;

use crate::e5_2600::Model;
use crate::e5_2600::event::Event;
use crate::e5_2600::request::RequestId;
use pericore_facts::LineState;
use pericore_facts::e5_2600::{Message, NO_THREAD, RequestKind};
use pericore_parts::llc::{Victim, Way, bits};

impl Model {
    /// A core's modified line is taken into the LLC.
    #[inline]
    pub(in crate::e5_2600) fn take_writeback(&mut self, slice: u16, request: RequestId, way: Way) {
        let llc = &mut self.slices[usize::from(slice)].llc;
        llc.set_state(way, LineState::Modified);
        llc.touch(way);
        if self.pool[request].record.kind == RequestKind::WritebackToInvalid {
            llc.set_cores(way, llc.cores(way) & !(1 << self.map.within(self.pool[request].core.into())));
        }
    }

    /// A load or store hits: answers, once other cores that may hold the line are snooped.
    pub(in crate::e5_2600) fn grant<R: E5Reader>(&mut self, slice: u16, request: RequestId, way: Way, reader: &mut R) {
        let entry = &mut self.pool[request];
        let own = 1_u8 << self.map.within(entry.core.into());
        let llc = &mut self.slices[usize::from(slice)].llc;
        let cores = llc.cores(way);
        let others = cores & !own;
        let store = entry.record.kind.is_for_ownership();
        llc.set_cores(way, if store { own } else { cores | own });
        llc.touch(way);
        entry.shared = others != 0 || entry.record.state.is_shared();
        // A load need not ask when several cores share the line: then none of them can have written it.
        if others == 0 || !(store || others.count_ones() == 1) {
            self.send_data(request, self.latency.llc_data, reader);
        } else {
            entry.snooped = others;
            self.snoop_cores(slice, request, way, reader);
        }
    }

    /// Other cores hold a line that a load or store wants: they give it up, or keep it for reading only.
    #[inline(never)]
    fn snoop_cores<R: E5Reader>(&mut self, slice: u16, request: RequestId, way: Way, reader: &mut R) {
        let entry = &self.pool[request];
        let (line, store) = (entry.line, entry.record.kind.is_for_ownership());
        if self.take_from_cores(request, slice, line, store) {
            self.slices[usize::from(slice)].llc.set_state(way, LineState::Modified);
        }
        self.message(slice, Message::SnoopFromCache, self.map.within(slice), reader);
        let delay = self.snoop_takes(slice, self.pool[request].snooped, reader);
        self.wheel.schedule(self.now + delay, Event::Step.of(request));
    }

    /// Takes a line from the snooped cores of a slice's socket, or leaves it there for reading only. True if one had
    /// modified it, which is noted in the request.
    pub(in crate::e5_2600) fn take_from_cores(
        &mut self,
        request: RequestId,
        slice: u16,
        line: u32,
        invalidates: bool,
    ) -> bool {
        let first = usize::from(self.map.first_stop(self.map.socket(slice)));
        let entry = &mut self.pool[request];
        for number in bits(entry.snooped) {
            let core = &mut self.cores[first + number];
            let modified = if invalidates { core.invalidate(line) } else { core.share(line) };
            entry.modified_in |= u8::from(modified) << number;
        }
        entry.modified_in != 0
    }

    /// A line gives way to another.
    pub(in crate::e5_2600) fn evict<R: E5Reader>(&mut self, slice: u16, victim: Victim, reader: &mut R) {
        let first = self.map.first_stop(self.map.socket(slice));
        let mut record = self.record(RequestKind::Eviction, NO_THREAD, slice, victim.line);
        record.state = victim.state;
        let request = self.pool.add(record, victim.line, first as u8);
        self.pool[request].snooped = victim.cores;
        let modified = self.take_from_cores(request, slice, victim.line, true) || victim.state == LineState::Modified;
        self.pool[request].record.miss = modified;
        self.enter_tor(request, reader);
        if modified {
            self.take_tracker(request);
        }
        let delay = if victim.cores == 0 {
            self.latency.llc_quick
        } else {
            self.message(slice, Message::SnoopFromCache, self.map.within(slice), reader);
            self.snoop_takes(slice, victim.cores, reader)
        };
        self.wheel.schedule(self.now + delay, Event::Step.of(request));
    }

    /// The next step of a request in the slice.
    pub(in crate::e5_2600) fn step<R: E5Reader>(&mut self, request: RequestId, reader: &mut R) {
        let entry = &mut self.pool[request];
        let (snooped, modified_in) = (std::mem::take(&mut entry.snooped), std::mem::take(&mut entry.modified_in));
        let (kind, slice, core, miss) = (entry.record.kind, entry.record.slice, entry.core, entry.record.miss);
        let completed = entry.record.tracker_out != NEVER;
        let first = self.map.first_stop(self.map.socket(slice));
        for responding in bits(snooped) {
            self.acknowledgement(
                first + responding as u16,
                Message::AcknowledgeFromCore,
                self.map.within(slice),
                reader,
            );
        }
        // What a core has modified comes to the slice with its answer.
        for core in bits(modified_in) {
            self.message(first + core as u16, Message::DataFromCore, self.map.within(slice), reader);
        }
        if kind == RequestKind::Snoop {
            self.respond_to_snoop(request, reader);
        } else if kind.passes_through() {
            self.step_through(request, reader);
        } else if kind.is_read() {
            self.send_data(request, 0, reader);
        } else if kind == RequestKind::Eviction && miss && !completed {
            let to = self.way_home(request);
            self.message(slice, Message::AddressFromCache, to, reader);
            self.message(slice, Message::DataFromCache, to, reader);
            self.send_home(request, reader);
        } else {
            self.leave_tor(request, reader);
            self.end_step(request, reader);
            if kind.is_writeback() {
                self.cores[usize::from(core)].writebacks -= 1;
                self.resume(core, reader);
            }
        }
    }

    /// The core gets its line, or the leave to overwrite it.
    pub(in crate::e5_2600) fn send_data<R: E5Reader>(&mut self, request: RequestId, delay: u64, reader: &mut R) {
        let (core, slice) = (self.pool[request].core, self.pool[request].record.slice);
        let overwrites = self.pool[request].record.kind == RequestKind::Overwrite;
        let to = self.map.within(core.into());
        let sent = if overwrites {
            self.acknowledgement(slice, Message::AcknowledgeFromCache, to, reader)
        } else {
            self.message(slice, Message::DataFromCache, to, reader)
        };
        let at = sent + delay + self.latency.core_slice(core, slice);
        self.wheel.schedule(at, Event::Data.of(request));
    }
}
