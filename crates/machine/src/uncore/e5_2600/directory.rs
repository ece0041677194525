//! The snoop directory of a home agent: a bit with each line in memory that says whether a cache of another socket
//! may have it.
//!
//! The bit comes with the line when memory is read, so that snoops of other sockets wait for it; the home agent's own
//! socket is not in it and is snooped at once. A bit that must change is written to memory with its line.

use pericore_hardware::signal::{SignalSink, Tick};

use super::Model;
use super::request::RequestId;
use crate::ledger::e5_2600::{NO_THREAD, RequestKind};

/// Words of a page of bits: 4 KiB.
const PAGE: usize = 512;

/// The directory bits of a socket's memory. Pages of which no bit was ever set are not there: memory is large, and
/// what a workload reaches of it is not.
#[derive(Debug)]
pub struct Directory {
    pages: Vec<Option<Box<[u64; PAGE]>>>,
}

impl Directory {
    /// No line is anywhere else. `lines` is a power of two.
    pub fn new(lines: u64) -> Self {
        let words = (lines.div_ceil(64) as usize).next_power_of_two();
        Self { pages: vec![None; words.div_ceil(PAGE)] }
    }

    const fn place(&self, line: u32) -> (usize, usize, u32) {
        let word = line as usize / 64;
        ((word / PAGE) & (self.pages.len() - 1), word % PAGE, line % 64)
    }

    fn get(&self, line: u32) -> bool {
        let (page, word, bit) = self.place(line);
        self.pages[page].as_ref().is_some_and(|page| page[word] >> bit & 1 == 1)
    }

    /// Changes a line's bit.
    pub fn set(&mut self, line: u32, elsewhere: bool) {
        let (page, word, bit) = self.place(line);
        if !elsewhere && self.pages[page].is_none() {
            return;
        }
        let page = self.pages[page].get_or_insert_with(|| Box::new([0; PAGE]));
        page[word] = page[word] & !(1 << bit) | u64::from(elsewhere) << bit;
    }
}

impl Model {
    /// The sockets that are snooped before memory has answered: all but the requester's, and with a directory only
    /// the home agent's.
    pub(super) fn snooped_at_once(&self, home: u8, requester: u8) -> impl Iterator<Item = u8> + use<> {
        let all = self.directories.is_empty();
        (0..self.parameters.sockets).filter(move |&socket| socket != requester && (all || socket == home))
    }

    /// The directory bit of a line that a core reads has come with the line.
    #[inline(never)]
    pub(super) fn look_up_directory<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let entry = &mut self.pool[request];
        let (line, home) = (entry.line, entry.record.nid);
        let elsewhere = self.directories[usize::from(home)].get(line);
        entry.record.directory = Some(elsewhere);
        let (wire, tags) = self.wires.homes[usize::from(home)].directory_lookup;
        sink.pulse(wire, tags[usize::from(elsewhere)], self.now, 1);
        if elsewhere {
            let requester = self.map.socket(self.pool[request].record.slice);
            let others = (0..self.parameters.sockets).filter(|&socket| socket != requester && socket != home);
            for socket in others {
                self.snoop(request, socket, sink);
            }
        }
    }

    /// A request of a core or a device is answered: its line is somewhere else from now on, or nowhere else any more.
    #[inline(never)]
    pub(super) fn update_directory<S: SignalSink>(&mut self, request: RequestId, sink: &mut S) {
        let entry = &self.pool[request];
        let (line, home, kind, remote) = (entry.line, entry.record.nid, entry.record.kind, entry.record.remote);
        let directory = &mut self.directories[usize::from(home)];
        if remote && kind == RequestKind::Eviction {
            // The write itself brings the bit: a modified line is in no other cache. A core's writeback says nothing
            // of the kind: it only comes here if its slice has given the line up meanwhile, and another cache may
            // have it by now.
            directory.set(line, false);
            return;
        }
        let takes = kind.is_read() || (remote && kind == RequestKind::IoWrite);
        if !takes {
            return;
        }
        let before = directory.get(line);
        // All that were snooped have said what they keep.
        let after = remote || (before && entry.shared);
        if before == after {
            return;
        }
        directory.set(line, after);
        let (wire, tags) = self.wires.homes[usize::from(home)].directory_update;
        sink.pulse(wire, tags[usize::from(after)], self.now, 1);
        let mut record = self.record(RequestKind::DirectoryWrite, NO_THREAD, self.map.first_stop(home), line);
        record.directory = Some(after);
        let write = self.pool.add(record, line, self.map.first_stop(home) as u8);
        self.go_to_memory(write, sink);
    }

    /// A read's data is there, and with it its directory bit.
    pub(super) fn memory_answers<S: SignalSink>(&mut self, request: RequestId, from: Tick, sink: &mut S) {
        if !self.directories.is_empty() && self.pool[request].record.kind.is_read() {
            self.look_up_directory(request, sink);
        }
        let entry = &mut self.pool[request];
        if entry.awaited == 0 {
            self.plan_answer(request, from);
        } else {
            entry.data_at = from;
        }
    }
}
