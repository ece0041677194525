//! Caches filled by function: the lines of a workload move between them as they would, but take no virtual time, and
//! neither signals nor the ledger hear of them.

use super::Model;
use super::parameters::CORES;
use crate::ledger::LineState;
use crate::uncore::cache::{Evicted, Right};
use crate::uncore::core::Level;
use crate::uncore::line::LINE_BYTES;
use crate::uncore::llc::bits;
use crate::uncore::warming::Turns;

impl Model {
    /// Fills the caches with the lines of the threads that are about to begin; their walks go on from there.
    pub(super) fn warm(&mut self) {
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
        let right = match (store, self.warm_llc(core, line, store)) {
            (true, _) => Right::Modified,
            (false, true) => Right::Shared,
            (false, false) => Right::Exclusive,
        };
        for evicted in self.cores[usize::from(core)].fill(line, right) {
            self.warm_write_back(core, evicted);
        }
        true
    }

    /// The LLC of a core's socket has the line from now on; true if other cores of the socket read it, too.
    fn warm_llc(&mut self, core: u8, line: u32, store: bool) -> bool {
        let (socket, own) = (usize::from(core) / CORES, 1 << (usize::from(core) % CORES));
        let llc = &mut self.sockets[socket].llc;
        if let Some(way) = llc.find(line) {
            let others = llc.cores(way) & !own;
            llc.touch(way);
            if store || others.count_ones() == 1 {
                self.snoop_cores(socket, way, line, store, Some(core));
            }
            let llc = &mut self.sockets[socket].llc;
            llc.set_cores(way, if store { own } else { llc.cores(way) | own });
            return others != 0;
        }
        for other in (0..self.sockets.len()).filter(|&other| other != socket) {
            if let Some(way) = self.sockets[other].llc.find(line) {
                self.drop_line(other, way, line);
            }
        }
        let llc = &mut self.sockets[socket].llc;
        let (way, victim) = llc.victim(line);
        llc.fill(way, line, LineState::Exclusive, own);
        for other in bits(victim.cores) {
            self.cores[socket * CORES + other].invalidate(victim.line);
        }
        false
    }

    /// What a core gives up goes to the LLC.
    fn warm_write_back(&mut self, core: u8, evicted: Option<Evicted>) {
        let Some(Evicted { line, .. }) = evicted else { return };
        let keeps = self.cores[usize::from(core)].keeps(line);
        let llc = &mut self.sockets[usize::from(core) / CORES].llc;
        let Some(way) = llc.find(line) else { return };
        llc.set_state(way, LineState::Modified);
        if !keeps {
            llc.set_cores(way, llc.cores(way) & !(1 << (usize::from(core) % CORES)));
        }
    }
}
