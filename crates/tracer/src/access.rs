//! What a traced program does, as its observer sees it.

use crate::layout;
use crate::{Error, Note};

/// Something that left a thread's first-level caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Access {
    /// Virtual address of the first byte. Of [`Kind::Progress`], the nanoseconds that the thread is about to sleep.
    pub address: u64,
    /// Instructions that the thread had begun. Never falls within a thread.
    pub instructions: u64,
    /// Bytes. An access that crosses into another line comes as two, each with all bytes: the first with its own
    /// address, the second with its line's.
    pub size: u64,
    /// The thread, as an index into [`Source::threads`].
    pub thread: u32,
    /// What it is.
    pub kind: Kind,
    /// Of a load or a store: its address was made of what the thread's load or store so many loads and stores ago has
    /// brought, so that it cannot begin before that has come; 0 if none of the last 255 is known to be waited for.
    pub after: u8,
}

/// Kinds of accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A load that missed: the line is read.
    Load,
    /// A store that missed: the line is read for ownership, and is dirty from now on.
    Store,
    /// The first store to a line that a load had brought: ownership is asked for, without data; the line is dirty from
    /// now on.
    Upgrade,
    /// A dirty line that had to make room, for the access before: it is written to the next level.
    WriteBack,
    /// A line of instructions that missed.
    Fetch,
    /// Stores that go around the caches to one line, combined.
    NonTemporal,
    /// No access: the pages of a range are gone, and whatever the caches hold of them.
    Unmap,
    /// No access: so far the thread has come. Threads that need nothing beyond their caches say so now and then, and at
    /// their end; and before they sleep, for how long.
    Progress,
}

impl Kind {
    /// All kinds, in the order of their codes.
    pub const ALL: [Self; 8] = [
        Self::Load,
        Self::Store,
        Self::Upgrade,
        Self::WriteBack,
        Self::Fetch,
        Self::NonTemporal,
        Self::Unmap,
        Self::Progress,
    ];

    /// The kind with a code, in a record or a trace file.
    pub(crate) fn from_code(code: u64) -> Option<Self> {
        Self::ALL.get(usize::try_from(code).ok()?).copied()
    }

    /// The code.
    pub(crate) const fn code(self) -> u64 {
        match self {
            Self::Load => layout::KIND_LOAD,
            Self::Store => layout::KIND_STORE,
            Self::Upgrade => layout::KIND_UPGRADE,
            Self::WriteBack => layout::KIND_WRITE_BACK,
            Self::Fetch => layout::KIND_FETCH,
            Self::NonTemporal => layout::KIND_NON_TEMPORAL,
            Self::Unmap => layout::KIND_UNMAP,
            Self::Progress => layout::KIND_PROGRESS,
        }
    }
}

/// A thread of a traced program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thread {
    /// The process: one number for each fork and each exec(), and so for each address space.
    pub process: u32,
    /// The process that this one was forked from, if it was. Its memory began as a copy of that one's.
    pub forked_from: Option<u32>,
    /// The process as the kernel numbers it.
    pub pid: u32,
    /// The program: a path, its end cut off if it is very long.
    pub program: String,
    /// What the thread has done. Complete once the source has ended.
    pub counts: Counts,
}

/// What a thread has done, hits included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Instructions begun.
    pub instructions: u64,
    /// Loads.
    pub loads: u64,
    /// Stores; instructions that load and store at once count here.
    pub stores: u64,
    /// Lines of instructions fetched: those of each block of code, each time it ran.
    pub fetches: u64,
    /// Records passed on, of all kinds.
    pub passed: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        // A trace file may say anything of its threads.
        self.instructions = self.instructions.saturating_add(other.instructions);
        self.loads = self.loads.saturating_add(other.loads);
        self.stores = self.stores.saturating_add(other.stores);
        self.fetches = self.fetches.saturating_add(other.fetches);
        self.passed = self.passed.saturating_add(other.passed);
    }
}

/// What is known at the end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Over all threads.
    pub total: Counts,
    /// Threads, over all processes.
    pub threads: u32,
    /// Processes.
    pub processes: u32,
    /// What was not observed, and why.
    pub notes: Vec<Note>,
}

/// A stream of accesses: a running program, or a trace of one.
///
/// Consume it as a sequence: what depends on nothing but the order of the accesses comes out the same from a replay.
/// While a program runs, a thread whose ring is full waits, and others may wait for it: do not wait for one thread's
/// accesses and refuse those of others.
pub trait Source {
    /// Replaces the batch by the next accesses, at least one, and waits for them if need be. False at the end.
    ///
    /// Threads come in short runs, in the order in which they got on.
    ///
    /// # Errors
    /// The program could not be observed, or the trace is damaged.
    fn next_batch(&mut self, batch: &mut Vec<Access>) -> Result<bool, Error>;

    /// The threads so far, those of all accesses delivered among them.
    fn threads(&self) -> &[Thread];

    /// Totals and notes. Complete once `next_batch` has returned false.
    fn summary(&self) -> Summary;
}

/// Sums threads up.
pub(crate) fn summarise(threads: &[Thread], notes: Vec<Note>) -> Summary {
    let mut total = Counts::default();
    for thread in threads {
        total += thread.counts;
    }
    let processes: std::collections::BTreeSet<u32> = threads.iter().map(|thread| thread.process).collect();
    Summary { total, threads: threads.len() as u32, processes: processes.len() as u32, notes }
}
