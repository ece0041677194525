//! The snoop directory of a home agent: a bit with each line in memory that says whether a cache of another socket
//! may have it.
//!
//! The bit comes with the line when memory is read, so that snoops of other sockets wait for it; the home agent's own
//! socket is not in it and is snooped at once. A bit that must change is written to memory with its line.

use pericore_engine::Tick;
use pericore_facts::e5_2600::E5Reader;

use crate::e5_2600::Model;
use crate::e5_2600::request::RequestId;
use pericore_facts::e5_2600::{NO_THREAD, RequestKind, RequestStation};

impl Model {
    /// The sockets that are snooped before memory has answered: all but the requester's, and with a directory only
    /// the home agent's.
    pub(in crate::e5_2600) fn snooped_at_once(&self, home: u8, requester: u8) -> impl Iterator<Item = u8> + use<> {
        let all = self.directories.is_empty();
        (0..self.parameters.sockets).filter(move |&socket| socket != requester && (all || socket == home))
    }

    /// The directory bit of a line that a core reads has come with the line.
    #[inline(never)]
    pub(in crate::e5_2600) fn look_up_directory<R: E5Reader>(&mut self, request: RequestId, reader: &mut R) {
        let entry = &mut self.pool[request];
        let (line, home) = (entry.line, entry.record.nid);
        let elsewhere = self.directories[usize::from(home)].get(line);
        entry.record.directory = Some(elsewhere);
        self.report(request, RequestStation::DirectoryRead, reader);
        if elsewhere {
            let requester = self.map.socket(self.pool[request].record.slice);
            let others = (0..self.parameters.sockets).filter(|&socket| socket != requester && socket != home);
            for socket in others {
                self.snoop(request, socket, reader);
            }
        }
    }

    /// A request of a core or a device is answered: its line is somewhere else from now on, or nowhere else any more.
    #[inline(never)]
    pub(in crate::e5_2600) fn update_directory<R: E5Reader>(&mut self, request: RequestId, reader: &mut R) {
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
        let mut record = self.record(RequestKind::DirectoryWrite, NO_THREAD, self.map.first_stop(home), line);
        record.directory = Some(after);
        let write = self.pool.add(record, line, self.map.first_stop(home) as u8);
        self.report(write, RequestStation::DirectoryChanged, reader);
        self.go_to_memory(write, reader);
    }

    /// A read's data is there, and with it its directory bit.
    pub(in crate::e5_2600) fn memory_responds<R: E5Reader>(&mut self, request: RequestId, from: Tick, reader: &mut R) {
        if !self.directories.is_empty() && self.pool[request].record.kind.is_read() {
            self.look_up_directory(request, reader);
        }
        let entry = &mut self.pool[request];
        if entry.awaited == 0 {
            self.plan_response(request, from);
        } else {
            entry.data_at = from;
        }
    }
}
