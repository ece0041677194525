//! Caches filled by function: the lines of a workload move between them as they would, but take no virtual time, and
//! neither signals nor the ledger see them.

use std::collections::VecDeque;

use super::cache::{Evicted, Right};
use super::core::{Core, Level};
use super::llc::{Llc, bits};
use super::program::FoundIn;
use pericore_facts::LineState;
use pericore_workload::Access;

/// Accesses that a thread makes in a turn. Dependent loads make one: they come as much slower.
const IN_A_TURN: u32 = 16;
/// Lines that come from memory for each line that the caches hold, in sixteenths: replacement does not go round evenly.
const FILLED: u64 = 24;
/// Accesses for each line that the caches hold, at most. Of as many lines, drawn at random, one in 3,000 is left out.
const MADE: u64 = 8;
/// Accesses in which memory gave no line, for each thread, after which all lines of the workload are in caches.
const ALL_HITS: u64 = 1 << 16;

/// Accesses that are known before they are made, so that the host can bring what they look up.
const AHEAD: usize = 32;

/// What fills caches: the threads of a workload on a model.
pub trait Warming {
    /// Threads, or devices, that access memory.
    fn threads(&self) -> usize;

    /// A thread's next access and its line; the host is told that the line will be looked up.
    fn aim(&mut self, thread: usize) -> (Access, u32);

    /// A thread makes an access to a line; true if the line came from memory, or from another socket.
    fn warm_access(&mut self, thread: usize, access: Access, line: u32) -> bool;

    /// All accesses have been made.
    fn finish(&mut self) {}
}

/// Fills caches of so many bytes in all with the lines of the threads that are about to begin; their walks go on from
/// there.
pub fn fill(model: &mut impl Warming, bytes: u64) {
    let mut turns = Turns::new(bytes, model.threads());
    let mut coming = VecDeque::with_capacity(AHEAD);
    while let Some(thread) = turns.next() {
        let (access, line) = model.aim(thread);
        turns.made(access);
        coming.push_back((thread, access, line));
        if coming.len() < AHEAD {
            continue;
        }
        if let Some((thread, access, line)) = coming.pop_front()
            && model.warm_access(thread, access, line)
        {
            turns.missed();
        }
    }
    for (thread, access, line) in coming {
        model.warm_access(thread, access, line);
    }
    model.finish();
}

/// A machine whose sockets each have an LLC that holds all lines of their cores' caches. The LLC, or a slice of it, has
/// so many ways and sets.
pub trait Inclusive<const WAYS: usize, const SETS: usize> {
    /// A core, numbered over the machine.
    fn core(&mut self, core: u8) -> &mut Core;

    /// The socket of a core, and the first core there.
    fn socket_of(&self, core: u8) -> (u8, u8);

    /// The first core of a socket.
    fn first_core(&self, socket: u8) -> u8;

    /// Sockets.
    fn sockets(&self) -> u8;

    /// What has the tags of a line in a socket.
    fn llc(&mut self, socket: u8, line: u32) -> &mut Llc<WAYS, SETS>;

    /// Ways of a set into which devices bring lines: the last so many.
    fn device_ways(&self) -> u8 {
        WAYS as u8
    }

    /// A socket has a line alone from now on.
    fn owns(&mut self, _socket: u8, _line: u32) {}

    /// A core loads or stores a line; true if it came from memory, or from another socket.
    fn warm_core(&mut self, core: u8, line: u32, store: bool) -> bool {
        let (level, evicted) = self.core(core).access(line, store);
        self.warm_write_back(core, evicted);
        if level != Level::Miss {
            return false;
        }
        let (found, shared) = self.warm_llc(core, line, store);
        let right = match (store, shared) {
            (true, _) => Right::Modified,
            (false, true) => Right::Shared,
            (false, false) => Right::Exclusive,
        };
        for evicted in self.core(core).fill(line, right) {
            self.warm_write_back(core, evicted);
        }
        found == FoundIn::Memory
    }

    /// The LLC of a core's socket has the line from now on. Whether it had it before, and true if other cores of the
    /// socket read it, too.
    fn warm_llc(&mut self, core: u8, line: u32, store: bool) -> (FoundIn, bool) {
        let (socket, first) = self.socket_of(core);
        let own = 1_u8 << (core - first);
        let llc = self.llc(socket, line);
        if let Some(way) = llc.find(line) {
            let others = llc.cores(way) & !own;
            llc.set_cores(way, if store { own } else { llc.cores(way) | own });
            llc.touch(way);
            if store || others.count_ones() == 1 {
                self.warm_snoop(socket, line, others, store);
            }
            return (FoundIn::Cache, others != 0);
        }
        self.warm_fill(socket, line, LineState::Exclusive, own);
        (FoundIn::Memory, false)
    }

    /// A core's access that missed the first level of a program's tracer.
    fn warm_l2(&mut self, core: u8, line: u32, store: bool) -> FoundIn {
        let has_it = self.core(core).access_l2(line, store);
        let found = if has_it { FoundIn::L2 } else { self.warm_fetch(core, line, store) };
        if store {
            let evicted = self.core(core).dirty_l1(line);
            self.warm_write_back(core, evicted);
        }
        found
    }

    /// A core's L2 gets a line that it does not have, or has for reading only.
    fn warm_fetch(&mut self, core: u8, line: u32, store: bool) -> FoundIn {
        let (found, shared) = self.warm_llc(core, line, store);
        let right = if shared && !store { Right::Shared } else { Right::Exclusive };
        let evicted = self.core(core).l2.put(line, right).filter(|evicted| evicted.right == Right::Modified);
        self.warm_write_back(core, evicted);
        found
    }

    /// The first level of a program's tracer gives a dirty line up.
    fn warm_l1_gives_up(&mut self, core: u8, line: u32) {
        let evicted = self.core(core).write_back_l1(line);
        self.warm_write_back(core, evicted);
    }

    /// A line is stored to around the caches: no socket has it any more.
    fn warm_around(&mut self, line: u32) {
        for socket in 0..self.sockets() {
            self.warm_take(socket, line);
        }
    }

    /// A socket loses a line.
    fn warm_take(&mut self, socket: u8, line: u32) {
        let llc = self.llc(socket, line);
        if let Some(way) = llc.find(line) {
            let holders = llc.cores(way);
            llc.remove(way);
            self.warm_snoop(socket, line, holders, true);
        }
    }

    /// A device writes a line into the LLC of a socket; true if the line was not there.
    fn warm_device(&mut self, socket: u8, line: u32) -> bool {
        let llc = self.llc(socket, line);
        let Some(way) = llc.find(line) else {
            self.warm_fill(socket, line, LineState::Modified, 0);
            return true;
        };
        let cores = llc.cores(way);
        llc.set_cores(way, 0);
        llc.touch(way);
        llc.set_state(way, LineState::Modified);
        self.warm_snoop(socket, line, cores, true);
        false
    }

    /// A line comes into a socket that does not have it, and leaves all others.
    fn warm_fill(&mut self, socket: u8, line: u32, state: LineState, cores: u8) {
        for other in (0..self.sockets()).filter(|&other| other != socket) {
            self.warm_take(other, line);
        }
        self.owns(socket, line);
        let (first, device_ways) = (self.first_core(socket), self.device_ways());
        let llc = self.llc(socket, line);
        let (way, victim) = if cores == 0 { llc.victim_of_last(line, device_ways) } else { llc.victim(line) };
        llc.fill(way, line, state, cores);
        for other in bits(victim.cores) {
            self.core(first + other as u8).invalidate(victim.line);
        }
    }

    /// Cores of a socket give a line up, or keep it for reading only.
    fn warm_snoop(&mut self, socket: u8, line: u32, cores: u8, store: bool) {
        let first = self.first_core(socket);
        let mut modified = false;
        for core in bits(cores) {
            let core = self.core(first + core as u8);
            modified |= if store { core.invalidate(line) } else { core.share(line) };
        }
        let llc = self.llc(socket, line);
        if let Some(way) = llc.find(line).filter(|_| modified) {
            llc.set_state(way, LineState::Modified);
        }
    }

    /// What a core gives up goes to the LLC.
    fn warm_write_back(&mut self, core: u8, evicted: Option<Evicted>) {
        let Some(Evicted { line, .. }) = evicted else { return };
        let keeps = self.core(core).keeps(line);
        let (socket, first) = self.socket_of(core);
        let llc = self.llc(socket, line);
        let Some(way) = llc.find(line) else { return };
        llc.set_state(way, LineState::Modified);
        if !keeps {
            llc.set_cores(way, llc.cores(way) & !(1 << (core - first)));
        }
    }
}

/// The order of the accesses that fill caches.
#[derive(Debug)]
struct Turns {
    /// Lines that are still to come from memory, and accesses that are still to be made, at most.
    remaining: u64,
    accesses: u64,
    threads: usize,
    thread: usize,
    /// Accesses left of the turn.
    left: u32,
    /// Accesses since memory gave a line.
    hits: u64,
}

impl Turns {
    /// For caches of so many bytes in all.
    const fn new(bytes: u64, threads: usize) -> Self {
        let lines = bytes / 64;
        Self { remaining: lines * FILLED / 16, accesses: lines * MADE, threads, thread: 0, left: IN_A_TURN, hits: 0 }
    }

    /// The thread that makes the next access, until the caches are full or hold all that the workload reaches.
    const fn next(&mut self) -> Option<usize> {
        let done = self.remaining == 0 || self.accesses == 0 || self.hits > ALL_HITS * self.threads as u64;
        if self.threads == 0 || done {
            return None;
        }
        self.accesses -= 1;
        if self.left == 0 {
            self.thread = (self.thread + 1) % self.threads;
            self.left = IN_A_TURN;
        }
        self.hits += 1;
        self.left -= 1;
        Some(self.thread)
    }

    /// The access is made.
    const fn made(&mut self, access: Access) {
        if access.blocking {
            self.left = 0;
        }
    }

    /// An access's line came from memory.
    const fn missed(&mut self) {
        self.remaining = self.remaining.saturating_sub(1);
        self.hits = 0;
    }
}

#[cfg(test)]
mod tests;
