//! The threads that run on cores, and those of devices.

use pericore_engine::{NEVER, Tick};

use pericore_parts::core::ThreadState;
use pericore_parts::line::LINE_BYTES;
use pericore_workload::{Access, Course, Generator, Placement};

/// What a thread is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThreadKind {
    /// Loads and stores through the caches.
    Cached,
    /// Streaming stores.
    Streaming,
    /// A device: not on a core at all.
    Device,
}

/// An access of a thread to a line.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    pub line: u32,
    /// Its page, as [`Access::page`] has it, until that is known.
    pub page: u32,
    pub store: bool,
    /// Of a streaming store, the whole line is written.
    pub whole: bool,
    /// The next access cannot start before this one has its data.
    pub blocking: bool,
    /// It is known to miss, and will until its line comes.
    pub misses: bool,
}

/// A hardware thread with its share of the workload.
#[derive(Debug)]
pub struct Thread {
    pub generator: Generator,
    pub placement: Placement,
    pub core: u8,
    /// Thread ID on the wire: core of the socket * 2 + hardware thread (2.3.3.3, Table 2-12).
    pub tid: u8,
    /// When the next access can start.
    pub ready: Tick,
    /// When the access that is to start next would have, had its page been known; [`NEVER`] if it was.
    pub delayed_since: Tick,
    /// The access that is to start next, once it is made.
    pub held: Option<Wanted>,
    pub state: ThreadState,
    pub kind: ThreadKind,
    /// Of a device, its requests are isochronous.
    pub isochronous: bool,
    /// Requests of a device that are under way.
    pub outstanding: u8,
    /// Misses, or a device's lines, that its system has seen.
    pub accesses: u32,
}

impl Thread {
    /// Ticks that it pauses after an access.
    #[inline]
    pub fn pause(&mut self, course: &Course) -> Tick {
        match self.generator.pause() {
            0 => 0,
            picoseconds => course.pause(picoseconds),
        }
    }

    /// When a load began that is about to start, or has started.
    #[inline]
    pub const fn began(&mut self) -> Tick {
        if self.delayed_since == NEVER { self.ready } else { std::mem::replace(&mut self.delayed_since, NEVER) }
    }

    /// The access that is to start next: one that could not before, or a new one, until there are no more. The thread
    /// holds it until it has started.
    #[inline(always)]
    pub fn next_access(&mut self) -> Option<&mut Wanted> {
        if self.held.is_none() {
            let Access { address, page, store, whole, blocking, .. } = self.generator.next_access()?;
            let line = (self.placement.place(address) / LINE_BYTES) as u32;
            self.held = Some(Wanted { line, page, store, whole, blocking, misses: false });
        }
        self.held.as_mut()
    }
}
