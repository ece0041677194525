//! Requests come in, and the major mode follows what waits.

use super::arrival::{Arrival, Outcome};
use super::channel::{Channel, Completing, Forward};
use super::observer::Observer;
use super::plan::{Lane, Plan};
use crate::facts::{MajorMode, Pending};

impl Channel {
    /// Takes the next request in; true if the plan must be made anew.
    #[inline(always)]
    pub(super) fn arrive<W: Observer>(&mut self, observer: &mut W, out: &mut Vec<Outcome>) -> bool {
        let Some(new) = self.arrivals.pop() else { return false };
        self.arrival = self.arrivals.front().map_or(u64::MAX, |next| next.cycle);
        let Arrival { cycle, owner, line, queue, partial, isochronous, .. } = new;
        let pending_write = self.lane(Lane::Writes).contains(line);
        self.sequence += 1;
        let lane = match queue {
            Pending::Reads => {
                self.enter(queue, isochronous, cycle, observer);
                if pending_write {
                    observer.forwards(cycle);
                    let done = cycle + self.timing.forward;
                    self.forwards.push(Forward { done, entered: cycle, owner });
                    self.remember(done);
                    return false;
                }
                if isochronous { Lane::Isochronous } else { Lane::Reads }
            }
            Pending::Writes => {
                out.push(Outcome::Posted { owner });
                if pending_write || self.is_completing(line) {
                    observer.merges(cycle);
                    out.push(Outcome::WriteCredit { line, isochronous });
                    return false;
                }
                self.enter(queue, isochronous, cycle, observer);
                if partial { Lane::Underfills } else { Lane::Writes }
            }
        };
        let candidate = self.take(lane, new, cycle, observer);
        let switches = match lane {
            // The first read takes over from the writes.
            Lane::Reads => self.lane(lane).len() == 1,
            Lane::Writes => self.drain_writes(cycle, observer),
            Lane::Isochronous => self.begin_isochronous(cycle, observer),
            Lane::Underfills => {
                self.remember(self.underfill_errand(cycle));
                self.drain_writes(cycle, observer);
                true
            }
        };
        switches || candidate.is_some_and(|candidate| self.consider(lane, candidate, cycle))
    }

    /// Puts a request into a lane, whose rank wakes if it sleeps. Gives the bank's candidate if it is now another one.
    #[inline(always)]
    fn take<W: Observer>(&mut self, lane: Lane, new: Arrival, cycle: u64, observer: &mut W) -> Option<Plan> {
        let bank = usize::from(new.bank) % super::Layout::BANKS;
        self.rank_up(self.banks.layout.rank_of(bank), cycle, observer);
        self.idle.remove(bank);
        let waiting = &mut self.lanes[lane as usize];
        let before = (waiting.pending, waiting.hits);
        let slot = waiting.push(&new, self.sequence);
        waiting.note_hit(bank, slot, self.banks.open_row(bank), cycle.saturating_sub(self.timing.starvation));
        if before == (waiting.pending, waiting.hits) {
            return None;
        }
        Some(self.candidates.arrived(lane, &self.banks, waiting, bank, cycle.max(self.bus_free)))
    }

    /// The rest of a partial write's line has come: the write can go out.
    pub(super) fn complete<W: Observer>(&mut self, write: Completing, cycle: u64, observer: &mut W) {
        let Completing { entered, line, row, bank, isochronous, .. } = write;
        self.sequence += 1;
        let queue = Pending::Writes;
        let write = Arrival { cycle: entered, owner: 0, line, bank, row, queue, partial: false, isochronous };
        self.take(Lane::Writes, write, cycle, observer);
        self.drain_writes(cycle, observer);
    }

    /// True if a partial write of the line is being completed.
    fn is_completing(&self, line: u32) -> bool {
        self.lane(Lane::Underfills).contains(line) || self.completing.iter().any(|write| write.line == line)
    }

    /// Changes to write major mode if many writes are pending and some of them can go out; true if the mode has changed.
    pub(super) fn drain_writes<W: Observer>(&mut self, cycle: u64, observer: &mut W) -> bool {
        let many = self.held[Pending::Writes as usize] >= self.timing.write_high;
        if self.mode != MajorMode::Read || !many {
            return false;
        }
        // Writes that lack a part of their line cannot be drained: that comes first.
        let mode = if self.lane(Lane::Writes).len() > self.timing.write_low {
            MajorMode::Write
        } else if self.lane(Lane::Underfills).len() > 0 {
            MajorMode::Partial
        } else {
            return false;
        };
        self.set_mode(mode, cycle, observer);
        true
    }

    /// An isochronous read has come: until there is none any more, nothing else is served. True if the mode changes.
    fn begin_isochronous<W: Observer>(&mut self, cycle: u64, observer: &mut W) -> bool {
        let changes = self.mode != MajorMode::Isochronous;
        if changes {
            self.interrupted = self.mode;
            self.set_mode(MajorMode::Isochronous, cycle, observer);
        }
        changes
    }

    /// The last isochronous read is served: what was interrupted goes on.
    pub(super) fn end_isochronous<W: Observer>(&mut self, cycle: u64, observer: &mut W) {
        self.set_mode(self.interrupted, cycle, observer);
        self.drain_writes(cycle, observer);
    }

    pub(super) fn set_mode<W: Observer>(&mut self, mode: MajorMode, cycle: u64, observer: &mut W) {
        if mode == self.mode {
            return;
        }
        let preempts = self.lane(Lane::Reads).len() > 0 && self.lane(Lane::Writes).len() > 0;
        observer.changes_mode(self.mode, mode, preempts, cycle);
        self.mode = mode;
        self.remember(self.underfill_errand(cycle));
    }

    fn capacity(&self, queue: Pending) -> u8 {
        match queue {
            Pending::Reads => self.timing.reads,
            Pending::Writes => self.timing.writes,
        }
    }

    /// An entry is about to be added to a queue.
    fn enter<W: Observer>(&mut self, queue: Pending, isochronous: bool, cycle: u64, observer: &mut W) {
        self.held[queue as usize] += 1;
        observer.enters(queue, isochronous, self.held[queue as usize] == self.capacity(queue), cycle);
    }

    /// An entry has been taken from a queue.
    pub(super) fn leave<W: Observer>(&mut self, queue: Pending, entered: u64, cycle: u64, observer: &mut W) {
        let was_full = self.held[queue as usize] == self.capacity(queue);
        self.held[queue as usize] -= 1;
        observer.leaves(queue, was_full, entered, cycle);
    }
}
