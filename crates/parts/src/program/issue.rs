//! Hardware threads take a program's accesses, whichever family's model they are of.

use pericore_engine::Tick;

use super::Waiting;
use super::dependence::DataState;
use crate::work::Work;
use pericore_workload::ProgramKind;

/// Accesses that a thread may take before other events get their turn.
const RUN: u32 = 64;

/// Nanoseconds that a thread sleeps at most: an hour. Virtual time has an end, and a trace may say anything.
const LONGEST_SLEEP: u64 = 3_600_000_000_000;

/// What an access wants of its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// To load from it.
    Data,
    /// To store to it.
    Own,
    /// To run it.
    Code,
    /// To overwrite all of it, for which its data is not needed.
    Whole,
}

impl Want {
    /// The line is modified from now on.
    pub const fn stores(self) -> bool {
        matches!(self, Self::Own | Self::Whole)
    }
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
    /// Ticks from an access to its data if the L2 has the line, and from a line's arrival at the core.
    fn data_times(&self) -> [Tick; 2];
    /// Instructions that a core has under way: so far it looks ahead of a load that waits.
    fn window(&self) -> u64;
    /// True if a core has requested a line that has not come.
    fn expects(&self, core: usize, line: u32) -> bool;
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
            self.sleep(thread, at);
        }
    }

    /// Goes on at a tick, or sooner if an event is under way that says so.
    fn sleep(&mut self, thread: u16, at: Tick) {
        let now = self.now();
        if self.program().is_some_and(|program| program.set_alarm(thread.into(), now, at)) {
            self.go_on(thread, at);
        }
    }

    /// One access; false if the thread must wait, and for what is set.
    fn take_access(&mut self, thread: u16, facts: &mut F) -> bool {
        let slot = usize::from(thread);
        let mut soonest = Tick::MAX;
        for index in 0.. {
            let Some(access) = self.program().and_then(|program| program.left_behind(slot, index)) else { break };
            match self.usable(thread, &access, Some(index)) {
                Some(at) if at <= self.now() => return self.take_up(thread, index, &access, facts),
                Some(at) => soonest = soonest.min(at),
                None => {}
            }
        }
        let oldest = self.program().and_then(|program| program.left_behind(slot, 0));
        let Some(program) = self.program() else { return false };
        let Some(access) = program.front(slot) else {
            let (ended, drained) = (program.ended(), program.drained());
            if oldest.is_some() {
                self.wait_for_data(thread, soonest, facts);
            } else {
                self.pause(thread, if ended { Pause::Over } else { Pause::ForAccess }, facts);
            }
            self.work().count(0, drained);
            return false;
        };
        let cycles = program.cycles(slot);
        self.begins(thread, facts);
        let ([cycle, _], now) = (self.paces(), self.now());
        let ready = self.ready(thread);
        *ready = (*ready).max(now) + cycles * cycle;
        let at = *ready;
        if oldest.is_some_and(|oldest| access.begun - oldest.begun > self.window()) {
            self.wait_for_data(thread, soonest, facts);
            return false;
        }
        if at > now {
            if oldest.is_some() {
                self.wait_for_data(thread, at.min(soonest), facts);
            } else {
                self.sleep(thread, at);
            }
            return false;
        }
        if self.usable(thread, &access, None).is_none_or(|at| at > now) {
            let has_room = self.program().is_some_and(|program| program.leave_behind(slot));
            if !has_room {
                self.wait_for_data(thread, soonest, facts);
            }
            return has_room;
        }
        if !self.carry_out(thread, &access, facts) {
            self.pause(thread, Pause::ForBuffer, facts);
            return false;
        }
        self.done(|program| program.pop(slot));
        true
    }

    /// The program, if there is one.
    fn program(&mut self) -> Option<&mut super::Program> {
        self.work().program.as_mut()
    }

    /// From when on an access has its address; none if what it is made of has not come. Of what was left behind, and
    /// where among that, the thread hears as the line arrives, and of that it is said when it can be used.
    fn usable(&mut self, thread: u16, access: &Waiting, left_behind: Option<usize>) -> Option<Tick> {
        if access.kind == ProgramKind::Upgrade && self.is_loaded_later(thread, access.line, left_behind) {
            return None;
        }
        match self.program().and_then(|program| program.awaited(access)) {
            None => Some(0),
            Some(DataState::Since(at)) => Some(at),
            Some(DataState::Waiting) => None,
            Some(DataState::OfLine(line)) if self.expects(self.core_of(thread), line) => None,
            Some(DataState::OfLine(_)) if left_behind.is_some() => {
                let [_, arrival_to_use] = self.data_times();
                let usable = self.now() + arrival_to_use;
                self.program()?.arrived(access, usable);
                Some(usable)
            }
            Some(DataState::OfLine(_)) => Some(0),
        }
    }

    /// True if the load that brings a line to the first level waits itself, or for the line: what is stored to it has
    /// the store buffer until then, and the thread goes on.
    fn is_loaded_later(&mut self, thread: u16, line: u32, left_behind: Option<usize>) -> bool {
        self.expects(self.core_of(thread), line)
            || self.program().is_some_and(|program| program.waits_before(thread.into(), line, left_behind))
    }

    /// Waits for a line, and until a tick at the most.
    fn wait_for_data(&mut self, thread: u16, at_most: Tick, facts: &mut F) {
        self.pause(thread, Pause::ForBuffer, facts);
        if at_most != Tick::MAX {
            self.sleep(thread, at_most);
        }
    }

    /// Takes what was left behind; false if the thread must wait.
    fn take_up(&mut self, thread: u16, index: usize, access: &Waiting, facts: &mut F) -> bool {
        if !self.carry_out(thread, access, facts) {
            self.pause(thread, Pause::ForBuffer, facts);
            return false;
        }
        self.done(|program| program.take_up(usize::from(thread), index));
        true
    }

    /// An access has had its turn.
    fn done(&mut self, taken: impl FnOnce(&mut super::Program)) {
        let drained = self.program().is_some_and(|program| {
            taken(program);
            program.drained()
        });
        self.work().count(1, drained);
    }

    /// Does what an access wants; false if it must wait for a buffer.
    fn carry_out(&mut self, thread: u16, access: &Waiting, facts: &mut F) -> bool {
        let line = access.line;
        self.has_room(self.core_of(thread))
            && match access.kind {
                // Nothing but time. Pages that are gone never come this far.
                ProgramKind::Progress | ProgramKind::Unmap => {
                    let asleep = self.work().course.pause(access.asleep.min(LONGEST_SLEEP) * 1000);
                    *self.ready(thread) += asleep;
                    true
                }
                ProgramKind::WriteBack => {
                    self.write_back_l1(thread, line, facts);
                    true
                }
                ProgramKind::NonTemporal => self.stream(thread, line, access.whole, facts),
                ProgramKind::Store if access.whole => self.reach(thread, access, Want::Whole, facts),
                ProgramKind::Load => self.reach(thread, access, Want::Data, facts),
                ProgramKind::Fetch => self.reach(thread, access, Want::Code, facts),
                ProgramKind::Store | ProgramKind::Upgrade => self.reach(thread, access, Want::Own, facts),
            }
    }

    /// An access at the L2, and what its prefetchers make of it; false if it must wait for a buffer.
    fn reach(&mut self, thread: u16, access: &Waiting, want: Want, facts: &mut F) -> bool {
        let line = access.line;
        let is_sampled = self.program().is_some_and(|program| program.windows.is_some());
        let is_new = is_sampled && !self.expects(self.core_of(thread), line);
        let reached = self.demand(thread, line, want, facts);
        let ([_, interval], [l2_latency, _]) = (self.paces(), self.data_times());
        let state = match reached {
            Reached::NoBuffer => return false,
            Reached::Hit => DataState::Since(self.now() + l2_latency),
            Reached::Miss => DataState::OfLine(line),
        };
        if let Some(program) = self.program() {
            program.note(access, state);
            if reached == Reached::Miss && is_new {
                program.count_request();
            }
        }
        *self.ready(thread) += interval;
        if want == Want::Whole {
            // Nothing is read ahead for it.
            return true;
        }
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
