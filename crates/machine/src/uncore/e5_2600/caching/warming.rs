//! Caches and directories filled by function: the lines of a workload move between them as they would, but take no
//! virtual time, and neither signals nor the ledger hear of them.

use super::super::Model;
use super::super::thread::ThreadKind;
use crate::ledger::LineState;
use crate::uncore::cache::{Evicted, Right};
use crate::uncore::core::Level;
use crate::uncore::line::LINE_BYTES;
use crate::uncore::llc::bits;
use crate::uncore::warming::Turns;

impl Model {
    /// Fills the caches with the lines of the threads that are about to begin; their walks go on from there.
    pub(in super::super) fn warm(&mut self) {
        if self.threads.iter().any(|thread| thread.kind != ThreadKind::Cached) {
            return;
        }
        let bytes = self.parameters.cache_bytes() * u64::from(self.parameters.sockets);
        let mut turns = Turns::new(bytes, self.threads.len());
        while let Some(number) = turns.next() {
            let thread = &mut self.threads[number];
            let access = thread.generator.warming_access();
            let (line, core) = ((thread.placement.place(access.address) / LINE_BYTES) as u32, thread.core);
            turns.made(access, self.warm_access(core, line, access.store));
        }
    }

    /// A core loads or stores a line; true if the core had to ask for it.
    fn warm_access(&mut self, core: u8, line: u32, store: bool) -> bool {
        let (level, evicted) = self.cores[usize::from(core)].access(line, store);
        self.warm_write_back(core, evicted);
        if level != Level::Miss {
            return false;
        }
        let shared = self.warm_llc(core, line, store);
        let right = match (store, shared) {
            (true, _) => Right::Modified,
            (false, true) => Right::Shared,
            (false, false) => Right::Exclusive,
        };
        for evicted in self.cores[usize::from(core)].fill(line, right) {
            self.warm_write_back(core, evicted);
        }
        true
    }

    /// A core's slice has the line from now on; true if other cores of the socket read it, too.
    fn warm_llc(&mut self, core: u8, line: u32, store: bool) -> bool {
        let socket = self.map.socket(core.into());
        let own = 1_u8 << self.map.within(core.into());
        let slice = self.map.slice(socket, line);
        let llc = &mut self.slices[usize::from(slice)].llc;
        if let Some(way) = llc.find(line) {
            let others = llc.cores(way) & !own;
            llc.set_cores(way, if store { own } else { llc.cores(way) | own });
            llc.touch(way);
            if store || others.count_ones() == 1 {
                self.warm_snoop(slice, line, others, store);
            }
            return others != 0;
        }
        self.warm_home(socket, line);
        let llc = &mut self.slices[usize::from(slice)].llc;
        let (way, victim) = llc.victim(line);
        llc.fill(way, line, LineState::Exclusive, own);
        for other in bits(victim.cores) {
            self.cores[usize::from(self.map.first_stop(socket)) + other].invalidate(victim.line);
        }
        false
    }

    /// Cores of a slice's socket give a line up, or keep it for reading only.
    fn warm_snoop(&mut self, slice: u16, line: u32, cores: u8, store: bool) {
        let first = usize::from(self.map.first_stop(self.map.socket(slice)));
        let mut modified = false;
        for core in bits(cores) {
            let core = &mut self.cores[first + core];
            modified |= if store { core.invalidate(line) } else { core.share(line) };
        }
        let llc = &mut self.slices[usize::from(slice)].llc;
        if let Some(way) = llc.find(line).filter(|_| modified) {
            llc.set_state(way, LineState::Modified);
        }
    }

    /// A socket gets a line alone: the others give their copies up, and the directory of the line's home says where
    /// it is.
    fn warm_home(&mut self, socket: u8, line: u32) {
        for other in (0..self.parameters.sockets).filter(|&other| other != socket) {
            let slice = self.map.slice(other, line);
            let llc = &mut self.slices[usize::from(slice)].llc;
            if let Some(way) = llc.find(line) {
                let cores = llc.cores(way);
                llc.remove(way);
                self.warm_snoop(slice, line, cores, true);
            }
        }
        let home = self.map.home(line);
        if let Some(directory) = self.directories.get_mut(usize::from(home)) {
            directory.set(line, home != socket);
        }
    }

    /// What a core gives up goes to its slice.
    fn warm_write_back(&mut self, core: u8, evicted: Option<Evicted>) {
        let Some(Evicted { line, .. }) = evicted else { return };
        let keeps = self.cores[usize::from(core)].keeps(line);
        let slice = self.map.slice(self.map.socket(core.into()), line);
        let llc = &mut self.slices[usize::from(slice)].llc;
        let Some(way) = llc.find(line) else { return };
        llc.set_state(way, LineState::Modified);
        if !keeps {
            llc.set_cores(way, llc.cores(way) & !(1 << self.map.within(core.into())));
        }
    }
}
