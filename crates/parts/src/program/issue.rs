//! Hardware threads take a program's accesses, whichever family's model they are of.

use pericore_engine::Tick;

use crate::work::Work;
use pericore_workload::ProgramKind;

/// Accesses that a thread may take before other events get their turn.
const RUN: u32 = 64;

/// What an access wants of its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// To load from it.
    Data,
    /// To store to it.
    Own,
    /// To run it.
    Code,
}

/// What became of an access at the L2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reached {
    /// The L2 has the line.
    Hit,
    /// It does not: a request has gone out, or one before it will do.
    Miss,
    /// No request could go out.
    NoBuffer,
}

/// Why a hardware thread takes no access now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pause {
    /// It waits for a buffer.
    ForBuffer,
    /// The program has none for it yet.
    ForAccess,
    /// The program has ended.
    Over,
}

/// A model whose cores run a program, and what it reports facts to.
pub trait Cores<F> {
    /// What it is to do.
    fn work(&mut self) -> &mut Work;
    /// Virtual time.
    fn now(&self) -> Tick;
    /// Ticks of a core's cycle, and between a thread's accesses to its L2.
    fn paces(&self) -> [Tick; 2];
    /// The core of a hardware thread.
    fn core_of(&self, thread: u16) -> usize;
    /// When a hardware thread can take its next access.
    fn ready(&mut self, thread: u16) -> &mut Tick;
    /// Lets a hardware thread go on at a tick.
    fn go_on(&mut self, thread: u16, at: Tick);
    /// A hardware thread has an access to take.
    fn begins(&mut self, _thread: u16, _facts: &mut F) {}
    /// A hardware thread takes no more accesses for now.
    fn pause(&mut self, thread: u16, why: Pause, facts: &mut F);
    /// Ends a hardware thread's pause if it waits for an access; true if it does.
    fn rouse(&mut self, thread: u16) -> bool;
    /// True if a core has room for what an access may drive out.
    fn has_room(&self, core: usize) -> bool;
    /// A load, store or fetch that missed the first level.
    fn demand(&mut self, thread: u16, line: u32, want: Want, facts: &mut F) -> Reached;
    /// Fetches a line that the L2's prefetchers want; false if it is there, or there is no room.
    fn prefetch(&mut self, thread: u16, line: u32, want: Want, facts: &mut F) -> bool;
    /// The first level gives a dirty line up.
    fn write_back_l1(&mut self, thread: u16, line: u32, facts: &mut F);
    /// Stores around the caches, to a whole line or a part of one; false if they must wait for a buffer.
    fn stream(&mut self, thread: u16, line: u32, whole: bool, facts: &mut F) -> bool;

    /// Lets a hardware thread take accesses until it must wait.
    fn run_program(&mut self, thread: u16, facts: &mut F) {
        let waits = (0..RUN).any(|_| !self.take_access(thread, facts));
        let now = self.now();
        let woken: Vec<u16> = self.work().program.as_mut().map_or_else(Vec::new, |program| program.woken().collect());
        for other in woken {
            if self.rouse(other) {
                self.go_on(other, now);
            }
        }
        if !waits {
            let at = (*self.ready(thread)).max(now);
            self.go_on(thread, at);
        }
    }

    /// One access; false if the thread must wait, and for what is set.
    fn take_access(&mut self, thread: u16, facts: &mut F) -> bool {
        let slot = usize::from(thread);
        let Some(program) = self.work().program.as_mut() else { return false };
        let Some(access) = program.front(slot) else {
            let (ended, drained) = (program.ended(), program.drained());
            self.pause(thread, if ended { Pause::Over } else { Pause::ForAccess }, facts);
            self.work().count(0, drained);
            return false;
        };
        let cycles = program.cycles(slot);
        self.begins(thread, facts);
        let ([cycle, interval], now) = (self.paces(), self.now());
        let ready = self.ready(thread);
        *ready = (*ready).max(now) + cycles * cycle;
        let at = *ready;
        if at > now {
            self.go_on(thread, at);
            return false;
        }
        let line = access.line;
        let taken = self.has_room(self.core_of(thread))
            && match access.kind {
                // Nothing but time. Pages that are gone never come this far.
                ProgramKind::Progress | ProgramKind::Unmap => true,
                ProgramKind::WriteBack => {
                    self.write_back_l1(thread, line, facts);
                    true
                }
                ProgramKind::NonTemporal => self.stream(thread, line, access.whole, facts),
                ProgramKind::Load => self.reach(thread, line, Want::Data, interval, facts),
                ProgramKind::Fetch => self.reach(thread, line, Want::Code, interval, facts),
                ProgramKind::Store | ProgramKind::Upgrade => self.reach(thread, line, Want::Own, interval, facts),
            };
        if !taken {
            self.pause(thread, Pause::ForBuffer, facts);
            return false;
        }
        let drained = self.work().program.as_mut().is_some_and(|program| {
            program.pop(slot);
            program.drained()
        });
        self.work().count(1, drained);
        true
    }

    /// An access at the L2, and what its prefetchers make of it; false if it must wait for a buffer.
    fn reach(&mut self, thread: u16, line: u32, want: Want, interval: Tick, facts: &mut F) -> bool {
        let reached = self.demand(thread, line, want, facts);
        if reached == Reached::NoBuffer {
            return false;
        }
        *self.ready(thread) += interval;
        let core = self.core_of(thread);
        let miss = reached == Reached::Miss;
        let wanted = self.work().program.as_mut().and_then(|program| program.prefetches(core, line, miss));
        let (lines, count) = wanted.unwrap_or_default();
        for &wanted in &lines[..count] {
            if self.prefetch(thread, wanted, want, facts)
                && let Some(program) = self.work().program.as_mut()
            {
                program.count_prefetch();
            }
        }
        true
    }
}
