//! A core: its L2, its buffers, and the threads that run on it.

use pericore_engine::search::matches;
use pericore_engine::{NEVER, Tick};

use super::tags::sizes::{L2_SET_BITS, L2_WAYS};
use super::tags::{AllTags, Tags};
pub use pericore_parts::core::{Buffer, ThreadState};
use pericore_parts::host::prefetch;
use pericore_parts::request_port::RequestPort;
use pericore_workload::{Access, Generator};

/// States of a line in an L2; the order is the order of rights.
pub const SHARED: u8 = 1;
pub const EXCLUSIVE: u8 = 2;
pub const MODIFIED: u8 = 3;

const FREE: u32 = u32::MAX;
const BUFFERS: usize = 32;
/// Buffers of this number and above are for prefetches.
const FIRST_PREFETCH: u32 = 16;

/// An access, and the line that it goes to.
pub type Aimed = (Access, u32);

/// A hardware thread with its share of the workload.
#[derive(Debug)]
pub struct Thread {
    pub generator: Generator,
    /// Core, numbered over the machine.
    pub core: u16,
    /// When the next access can start.
    pub ready: Tick,
    /// When the access that is to start next would have, had its page been known; [`NEVER`] if it was.
    pub delayed_since: Tick,
    /// An access that was made but could not start.
    pub held: Option<Aimed>,
    /// The access after that, made early so that the host can bring what it looks up.
    pub coming: Option<Aimed>,
    pub state: ThreadState,
    /// Accesses so far, which time the background traffic.
    pub accesses: u64,
    /// The line of the access before: an access to it again hits the L1.
    pub last_line: u32,
    /// Of a device: its requests are isochronous.
    pub isochronous: bool,
    /// The lines that missed last, of a load and of a store: each may be a walk of its own.
    pub last_miss: [u32; 2],
}

impl Thread {
    /// When a load began that is about to start, or has started.
    pub const fn began(&mut self) -> Tick {
        if self.delayed_since == NEVER { self.ready } else { std::mem::replace(&mut self.delayed_since, NEVER) }
    }

    /// Makes no more accesses, and says how many it would have made.
    pub fn stop(&mut self) -> u64 {
        self.generator.stop() + u64::from(self.coming.take().is_some())
    }
}

/// A core's buffers.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Core {
    /// Lines on their way: of loads and stores, then of prefetches.
    buffers: [u32; BUFFERS],
    used: u32,
    /// Buffers whose line will come with the right to write.
    writable: u32,
    demand: u32,
    prefetch: u32,
    /// Writebacks under way.
    pub writebacks: u8,
    /// Where its requests for lines leave.
    pub port: RequestPort,
    /// Threads that have not finished.
    pub running: u8,
}

impl Core {
    /// An idle core.
    pub fn new(fill_buffers: u8, prefetch_buffers: u8) -> Self {
        Self {
            buffers: [FREE; BUFFERS],
            used: 0,
            writable: 0,
            demand: (1 << fill_buffers) - 1,
            prefetch: ((1 << prefetch_buffers) - 1) << FIRST_PREFETCH,
            writebacks: 0,
            port: RequestPort::default(),
            running: 0,
        }
    }

    /// Tells the host that a request's end is about to be told.
    #[inline]
    pub fn prefetch(&self) {
        prefetch(self);
        prefetch(&self.buffers[16]);
        prefetch(&self.used);
    }

    /// Gets a buffer for a miss.
    pub fn take_buffer(&mut self, line: u32, store: bool) -> Buffer {
        let same = matches(&self.buffers, u32::MAX, line);
        if same != 0 {
            return if !store || same & self.writable != 0 { Buffer::Joined } else { Buffer::Full };
        }
        self.take(line, store, self.demand)
    }

    /// Gets a buffer for a request that nobody waits for; false if the line is on its way, or there is no room.
    pub fn take_aside(&mut self, line: u32, store: bool) -> bool {
        matches(&self.buffers, u32::MAX, line) == 0 && self.take(line, store, self.prefetch) == Buffer::Taken
    }

    fn take(&mut self, line: u32, store: bool, among: u32) -> Buffer {
        let free = among & !self.used;
        if free == 0 {
            return Buffer::Full;
        }
        let index = free.trailing_zeros();
        self.buffers[index as usize] = line;
        self.used |= 1 << index;
        self.writable |= u32::from(store) << index;
        Buffer::Taken
    }

    /// True if a line is on its way.
    #[inline]
    pub fn expects(&self, line: u32) -> bool {
        matches(&self.buffers, u32::MAX, line) != 0
    }

    /// True if all buffers for loads and stores are taken, none of them by a line.
    #[inline]
    pub fn is_full(&self, line: u32) -> bool {
        self.demand & !self.used == 0 && matches(&self.buffers, u32::MAX, line) == 0
    }

    /// A line has come: its buffer is free.
    #[inline]
    pub fn give_buffer(&mut self, line: u32) {
        let buffer = matches(&self.buffers, u32::MAX, line);
        if buffer != 0 {
            self.buffers[buffer.trailing_zeros() as usize] = FREE;
            self.used &= !buffer;
            self.writable &= !buffer;
        }
    }
}

/// The L2s of all cores, and that of one.
pub type AllL2s = AllTags<L2_WAYS, L2_SET_BITS>;
pub type L2<'a> = Tags<'a, L2_WAYS, 0, L2_WAYS, L2_SET_BITS>;

impl AllL2s {
    /// That of a core.
    #[inline]
    pub fn at(&mut self, core: u16) -> L2<'_> {
        self.of(core)
    }
}

impl L2<'_> {
    /// Looks an access up; true if it hits.
    pub fn access(&mut self, line: u32, store: bool) -> bool {
        let Some(found) = self.find(line) else { return false };
        let state = self.get(found).state;
        if store && state == SHARED {
            return false;
        }
        if store && state != MODIFIED {
            self.set(found, MODIFIED, 0);
        }
        self.touch(found);
        true
    }

    /// Puts a line into the L2; gives what must be given up for it: line and state.
    pub fn fill(&mut self, line: u32, state: u8) -> Option<(u32, u8)> {
        if let Some(found) = self.find(line) {
            let old = self.get(found).state;
            self.set(found, old.max(state), 0);
            return None;
        }
        self.insert(line, state, 0).map(|old| (old.line, old.state))
    }

    /// The first level gives a dirty line up. If the L2 has it no more, its data has gone already.
    pub fn write_back_l1(&mut self, line: u32) {
        if let Some(found) = self.find(line) {
            self.set(found, MODIFIED, 0);
        }
    }

    /// A snoop that leaves the line where it is and takes what is newer than memory; true if there was any.
    pub fn clean(&mut self, line: u32) -> bool {
        let Some(found) = self.find(line) else { return false };
        let modified = self.get(found).state == MODIFIED;
        if modified {
            self.set(found, EXCLUSIVE, 0);
        }
        modified
    }

    /// A snoop: takes the line away, or leaves it for reading only. Gives the state that it had.
    pub fn snoop(&mut self, line: u32, invalidate: bool) -> Option<u8> {
        let found = self.find(line)?;
        let state = self.get(found).state;
        if invalidate {
            self.clear(found);
        } else {
            self.set(found, SHARED, 0);
        }
        Some(state)
    }
}
