//! A program's accesses on the model's cores: in place of a generator, the threads take them from a [`ProgramSource`].
//!
//! The source has been through a first-level cache for each thread already, so these accesses begin at the L2. Threads
//! go to hardware threads in turn. The stream is read in its own order, one access at a time, whatever its batches
//! were, and so far ahead at most that a thread which has nothing to do does not make others run away.

mod buffers;
mod by_function;
mod caches;
mod dependence;
mod issue;
mod prefetch;
mod sampled;
#[cfg(test)]
mod tests;
mod windows;

use pericore_engine::clock::HORIZON;
use pericore_engine::{Period, Tick};

use super::line::LINE_BYTES;
use buffers::Buffers;
pub use buffers::{Cycles, FoundIn};
pub use by_function::ByFunction;
use dependence::{DataState, MOST_LEFT_BEHIND, Recent, ThreadAccess};
pub use issue::{Cores, Pause, Reached, Want};
use pericore_workload::{Nodes, Pages, ProgramKind, ProgramSettings, ProgramSource};
use prefetch::{MOST, Prefetcher};
use std::collections::VecDeque;
pub use windows::Stage;
use windows::{AHEAD, Windows};

/// Core cycles that the instructions of a hardware thread take altogether: half a day, and with the longest cycle half
/// of the time that there is. Only a trace that no program has written says more; its instructions take no time from
/// then on.
const MOST_CYCLES: Tick = HORIZON / 2 / Period::LONGEST;

/// An access that waits for its turn on a hardware thread.
#[derive(Debug, Clone, Copy)]
pub struct Waiting {
    /// The line's number: its address over 64 bytes.
    pub line: u32,
    /// What is done with it.
    pub kind: ProgramKind,
    /// Stores that write the whole line: around the caches, or a string instruction's.
    pub whole: bool,
    /// Nanoseconds that the thread sleeps from here on.
    pub asleep: u64,
    /// Instructions since the thread's access before.
    instructions: u64,
    /// Instructions of the hardware thread by then.
    begun: u64,
    /// Of a load or a store.
    demand: Option<ThreadAccess>,
}

impl Waiting {
    /// How much it is of what is read ahead. A thread that misses nothing has a record each 2^20 instructions: with as
    /// many of these as of accesses a program of a minute would be read to its end before anything runs.
    const fn weight(&self) -> usize {
        match self.kind {
            ProgramKind::Progress => 64,
            _ => 1,
        }
    }
}

/// A hardware thread's share of the program.
#[derive(Debug, Default)]
struct Slot {
    /// Its socket.
    socket: u8,
    queue: VecDeque<Waiting>,
    /// What waits for its address, in order.
    left_behind: VecDeque<Waiting>,
    /// Instructions of its accesses so far.
    begun: u64,
    /// Thousandths of a core cycle that instructions have taken beyond whole cycles.
    thousandths: u64,
    /// Whole cycles that they have taken.
    cycles: Tick,
    starving: bool,
    /// When its next event comes; in the past if none is under way.
    alarm: Tick,
}

/// A thread of the program.
#[derive(Debug, Default)]
struct Thread {
    /// Instructions as of its last access.
    instructions: u64,
    /// Loads and stores that were read.
    demands: u64,
    recent: Recent,
}

/// A program on the cores of a machine.
#[derive(Debug)]
pub struct Program {
    source: Box<dyn ProgramSource>,
    settings: ProgramSettings,
    pages: Pages,
    slots: Vec<Slot>,
    prefetchers: Vec<Prefetcher>,
    /// The program's threads.
    threads: Vec<Thread>,
    /// What is read ahead, by its weight.
    waiting: usize,
    ended: bool,
    /// Hardware threads that starved and have an access now.
    woken: Vec<u16>,
    counts: ProgramCounts,
    /// Of a program that is sampled.
    windows: Option<Windows>,
    /// Of each core, between windows.
    buffers: Vec<Buffers>,
}

/// What a program did to the model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProgramCounts {
    /// Accesses taken from the source, by [`ProgramKind`].
    pub kinds: [u64; ProgramKind::COUNT],
    /// L2 prefetches sent out.
    pub prefetches: u64,
    /// Accesses that the L2 did not have and had not requested, those that were passed over among them; of a sampled
    /// program. Prefetches are not: how many there are between windows is known less well.
    pub beyond_l2: u64,
    /// Accesses that were passed over.
    pub passed_over: u64,
    /// Lines that they brought from memory.
    pub brought: u64,
    /// Bytes of the pages that were touched.
    pub touched: u64,
    /// The source has ended.
    pub ended: bool,
}

impl ProgramCounts {
    /// Accesses of a kind.
    pub const fn of(&self, kind: ProgramKind) -> u64 {
        self.kinds[kind as usize]
    }
}

impl Program {
    /// A program before its first access, on hardware threads of these sockets.
    pub fn new(
        source: Box<dyn ProgramSource>,
        settings: ProgramSettings,
        threads: impl Iterator<Item = u8>,
        cores: usize,
        nodes: Nodes,
    ) -> Self {
        Self {
            source,
            settings,
            pages: Pages::new(settings.pages, settings.numa, nodes),
            slots: threads.map(|socket| Slot { socket, ..Slot::default() }).collect(),
            prefetchers: (0..cores).map(|_| Prefetcher::default()).collect(),
            threads: Vec::new(),
            waiting: 0,
            ended: false,
            woken: Vec::new(),
            counts: ProgramCounts::default(),
            windows: None,
            buffers: vec![Buffers::default(); cores],
        }
    }

    /// What it has done.
    pub fn counts(&self) -> ProgramCounts {
        ProgramCounts { touched: self.pages.touched(), ended: self.ended, ..self.counts }
    }

    /// True if every access has had its turn.
    #[inline]
    pub const fn drained(&self) -> bool {
        self.ended && self.waiting == 0
    }

    /// True if the source has ended.
    pub const fn ended(&self) -> bool {
        self.ended
    }

    /// Hardware threads that starved and have an access now.
    pub fn woken(&mut self) -> impl Iterator<Item = u16> + '_ {
        self.woken.drain(..)
    }

    /// The lines that a core's prefetchers want after an access, if they are on.
    #[inline]
    pub fn prefetches(&mut self, core: usize, line: u32, miss: bool) -> Option<([u32; MOST], usize)> {
        self.settings.prefetch.then(|| self.prefetchers[core].wants(line, miss))
    }

    /// A prefetch was sent out.
    pub const fn count_prefetch(&mut self) {
        self.counts.prefetches += 1;
    }

    /// The L2 did not have what an access wanted, and had not requested it.
    pub const fn count_request(&mut self) {
        self.counts.beyond_l2 += 1;
    }

    /// The access whose turn it is on a hardware thread. `None` if there is none for now; the thread is told when
    /// there is.
    #[inline]
    pub fn front(&mut self, slot: usize) -> Option<Waiting> {
        while self.slots[slot].queue.is_empty() && !self.is_shut() && self.waiting < AHEAD {
            self.pull();
        }
        let front = self.slots[slot].queue.front().copied();
        self.slots[slot].starving = front.is_none() && !self.ended;
        front
    }

    /// The time from the access before to the one at the front, in core cycles. Taken once.
    #[inline]
    pub fn cycles(&mut self, slot: usize) -> Tick {
        let slot = &mut self.slots[slot];
        let Some(front) = slot.queue.front_mut() else { return 0 };
        let taken = std::mem::take(&mut front.instructions).saturating_mul(self.settings.cycles);
        let thousandths = taken.saturating_add(slot.thousandths);
        slot.thousandths = thousandths % 1000;
        let cycles = (thousandths / 1000).min(MOST_CYCLES - slot.cycles);
        slot.cycles += cycles;
        cycles
    }

    /// True if a hardware thread needs an event of its own to go on at a tick: none that is under way comes as soon.
    pub fn set_alarm(&mut self, slot: usize, now: Tick, at: Tick) -> bool {
        let alarm = &mut self.slots[slot].alarm;
        let needs = *alarm <= now || *alarm > at;
        if needs {
            *alarm = at;
        }
        needs
    }

    /// How far what an access waits for has come; nothing if it waits for none.
    #[inline]
    pub fn awaited(&self, access: &Waiting) -> Option<DataState> {
        let ThreadAccess { thread, after, .. } = access.demand.filter(|demand| demand.after != 0)?;
        Some(self.threads[thread as usize].recent.state(after))
    }

    /// What an access waits for is here, and can be used from a tick on.
    pub fn arrived(&mut self, access: &Waiting, usable: Tick) {
        if let Some(ThreadAccess { thread, after, .. }) = access.demand {
            self.threads[thread as usize].recent.note(after, DataState::Since(usable));
        }
    }

    /// Notes how far a load or a store has come.
    #[inline]
    pub fn note(&mut self, access: &Waiting, state: DataState) {
        if let Some(ThreadAccess { thread, number, .. }) = access.demand {
            self.threads[thread as usize].recent.note(number, state);
        }
    }

    /// What a hardware thread has left behind, in order.
    #[inline]
    pub fn left_behind(&self, slot: usize, index: usize) -> Option<Waiting> {
        self.slots[slot].left_behind.get(index).copied()
    }

    /// True if a hardware thread has left an access to a line behind, before one of those that it has or before the
    /// next.
    pub fn waits_before(&self, slot: usize, line: u32, left_behind: Option<usize>) -> bool {
        let all = &self.slots[slot].left_behind;
        all.iter().take(left_behind.unwrap_or(all.len())).any(|access| access.line == line)
    }

    /// Leaves the front access behind, to be taken when its address is known; false if there is no room.
    pub fn leave_behind(&mut self, slot: usize) -> bool {
        let state = &mut self.slots[slot];
        if state.left_behind.len() == MOST_LEFT_BEHIND {
            return false;
        }
        let Some(access) = state.queue.pop_front() else { return false };
        state.left_behind.push_back(access);
        self.note(&access, DataState::Waiting);
        true
    }

    /// An access that was left behind has had its turn.
    pub fn take_up(&mut self, slot: usize, index: usize) {
        let taken = self.slots[slot].left_behind.remove(index);
        self.settle(taken);
    }

    /// The front access has had its turn.
    #[inline]
    pub fn pop(&mut self, slot: usize) {
        let taken = self.slots[slot].queue.pop_front();
        self.settle(taken);
    }

    /// An access has had its turn: reads on for those that have none.
    #[inline]
    fn settle(&mut self, taken: Option<Waiting>) {
        self.waiting -= taken.map_or(0, |access| access.weight());
        if let Some(windows) = &mut self.windows {
            windows.made_one();
        }
        while self.waiting < AHEAD && !self.is_shut() && self.slots.iter().any(|slot| slot.starving) {
            self.pull();
        }
    }

    /// Reads one access and gives it to its hardware thread.
    fn pull(&mut self) {
        let Some((number, access)) = self.read() else { return };
        if let Some(windows) = &mut self.windows {
            windows.read_one();
        }
        let slot = &mut self.slots[number];
        slot.begun = access.begun;
        slot.queue.push_back(access);
        self.waiting += access.weight();
        if std::mem::take(&mut slot.starving) {
            self.woken.push(number as u16);
        }
    }

    /// The next access of a hardware thread.
    fn read(&mut self) -> Option<(usize, Waiting)> {
        let access = loop {
            let Some(access) = self.source.next_access() else {
                self.ended = true;
                return None;
            };
            self.counts.kinds[access.kind as usize] += 1;
            if access.kind != ProgramKind::Unmap {
                break access;
            }
            self.pages.unmap(access.process, access.address, access.size);
        };
        if let Some(windows) = self.windows.as_mut().filter(|_| access.kind != ProgramKind::Progress) {
            windows.see(access.thread);
        }
        let thread = access.thread as usize;
        if self.threads.len() <= thread {
            self.threads.resize_with(thread + 1, Thread::default);
        }
        let state = &mut self.threads[thread];
        let instructions = access.instructions.saturating_sub(state.instructions);
        state.instructions = access.instructions.max(state.instructions);
        let demand = matches!(access.kind, ProgramKind::Load | ProgramKind::Store).then(|| {
            state.demands += 1;
            let after = if access.after == 0 { 0 } else { state.demands.saturating_sub(access.after.into()) };
            ThreadAccess { thread: access.thread, number: state.demands, after }
        });
        let store = matches!(access.kind, ProgramKind::Store | ProgramKind::Upgrade | ProgramKind::NonTemporal);
        let number = thread % self.slots.len();
        let slot = &self.slots[number];
        let physical = match access.kind {
            ProgramKind::Progress => 0,
            _ => self.pages.touch(access.process, access.forked_from, access.address, store, slot.socket),
        };
        let (line, whole) = ((physical / LINE_BYTES) as u32, access.size >= LINE_BYTES);
        let begun = slot.begun.saturating_add(instructions);
        let asleep = if access.kind == ProgramKind::Progress { access.address } else { 0 };
        Some((number, Waiting { line, kind: access.kind, whole, asleep, instructions, begun, demand }))
    }
}
