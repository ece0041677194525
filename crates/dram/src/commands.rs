//! The commands: what each does to banks and queues.

use super::arrival::Outcome;
use super::banks::Step;
use super::channel::{Channel, Completing};
use super::observer::{Observer, Sent};
use super::plan::{Action, Lane};
use super::queue::Removed;
use crate::facts::{Command, CommandRecord, MajorMode, Pending};

impl Channel {
    /// Sends the planned command.
    pub(super) fn send<W: Observer>(&mut self, cycle: u64, observer: &mut W, out: &mut Vec<Outcome>) {
        let (action, bank, lane) = (self.plan.action(), self.plan.bank(), self.candidates.lane());
        let rank = self.banks.layout.rank_of(bank);
        let mode = self.mode;
        let starved_before = cycle.saturating_sub(self.timing.starvation);
        let (mut row, mut starved, mut closes) = (0, false, false);
        self.bus_free = cycle + 1;
        let command = match action {
            Action::Column => {
                self.bus_free = cycle + self.timing.command;
                let served = self.serve(lane, bank, cycle);
                (row, starved) = (served.row, served.oldest && served.entered < starved_before);
                let command = match lane {
                    Lane::Reads | Lane::Isochronous => self.read(lane, &served, cycle, observer, out),
                    Lane::Underfills => self.underfill(&served, bank, cycle, observer),
                    Lane::Writes => self.write(&served, cycle, observer, out),
                };
                closes = self.timing.closes_pages && self.close_behind(bank, row, starved_before);
                command
            }
            Action::Activate => {
                self.bus_free = cycle + self.timing.command;
                let queue = self.lane(lane);
                row = queue.row_of_oldest(bank);
                starved = queue.is_starved(bank, starved_before);
                self.banks.activated(bank, row, cycle, &self.timing);
                for queue in self.lanes.iter_mut().filter(|queue| queue.pending >> bank & 1 == 1) {
                    queue.choose_hit(bank, row, starved_before);
                }
                self.candidates.forget(Step::Activate);
                self.renew(bank);
                Command::Activate
            }
            Action::PrechargeMiss => {
                starved = self.lane(lane).is_starved(bank, starved_before);
                if matches!(lane, Lane::Reads | Lane::Isochronous) {
                    self.note_preemption(bank, starved_before, cycle, observer);
                }
                self.close(bank, cycle);
                Command::PrechargeMiss
            }
            // A look is not sent: it ends in another plan.
            Action::PrechargeIdle | Action::Look => {
                self.close(bank, cycle);
                Command::PrechargeIdle
            }
            Action::Refresh => self.refresh(rank, cycle),
        };
        let bank = self.banks.layout.within_rank(bank);
        let record = CommandRecord { cycle, command, rank: rank as u8, bank, row, closes };
        observer.command(&Sent { record, lane, mode, starved });
    }

    /// Closes all rows of a rank, or refreshes it if none is open.
    #[inline(never)]
    fn refresh(&mut self, rank: usize, cycle: u64) -> Command {
        let mut open = self.banks.open & self.banks.layout.banks_of(rank);
        if open == 0 {
            let done = cycle + self.timing.trfc;
            self.hold(rank, done);
            self.rest(rank, done);
            // Nothing is due any more when the rank would have rested without the refresh.
            self.power.set_next();
            self.errand = self.next_errand(cycle);
            let command = self.refresh.send(rank, &self.banks.layout);
            self.decide_refresh();
            return command;
        }
        while open != 0 {
            self.close(open.trailing_zeros() as usize, cycle);
            open &= open - 1;
        }
        Command::PrechargeAll
    }

    /// Closes a row behind the column command that was sent to it, unless a request wants it.
    fn close_behind(&mut self, bank: usize, row: u32, starved_before: u64) -> bool {
        let is_completed = |write: Completing| (usize::from(write.bank), write.row) == (bank, row);
        let closes = !Lane::ALL.into_iter().any(|lane| self.lane(lane).wants(bank, row, starved_before))
            // A partial write whose line is on its way wants it next.
            && !self.completing.iter().any(is_completed);
        if closes {
            self.close(bank, self.banks.ready(Step::Precharge, bank));
        }
        closes
    }

    /// A column command serves the bank's row hit in a lane.
    #[inline(always)]
    fn serve(&mut self, lane: Lane, bank: usize, cycle: u64) -> Removed {
        if lane == Lane::Writes {
            self.banks.written(bank, cycle, &self.timing);
        } else {
            self.banks.read(bank, cycle, &self.timing);
        }
        let starved_before = cycle.saturating_sub(self.timing.starvation);
        let queue = &mut self.lanes[lane as usize];
        let served = queue.take_hit(bank);
        queue.choose_hit(bank, served.row, starved_before);
        if self.pending() >> bank & 1 == 0 {
            let due = (cycle + self.timing.page_idle).max(self.banks.ready(Step::Precharge, bank));
            self.idle.insert(bank, due);
            self.decide_refresh();
        }
        self.candidates.forget(Step::Column);
        self.renew(bank);
        // Only a bank that was used just now can become idle before the others.
        self.no_idle_before = self.no_idle_before.min(cycle + self.timing.page_idle);
        served
    }

    fn read<W: Observer>(
        &mut self,
        lane: Lane,
        served: &Removed,
        cycle: u64,
        observer: &mut W,
        out: &mut Vec<Outcome>,
    ) -> Command {
        if self.lane(Lane::Reads).len() == 0 {
            self.no_reads_since = cycle;
        }
        out.push(Outcome::Data { owner: served.owner, cycle: cycle + self.timing.cl + self.timing.burst });
        self.leave(Pending::Reads, served.entered, cycle, observer);
        self.note_read(cycle, observer);
        if lane == Lane::Isochronous && self.lane(lane).len() == 0 {
            self.end_isochronous(cycle, observer);
        }
        Command::Read
    }

    /// Reads the line of a partial write.
    fn underfill<W: Observer>(&mut self, served: &Removed, bank: usize, cycle: u64, observer: &mut W) -> Command {
        let Removed { line, row, entered, isochronous, .. } = *served;
        let done = cycle + self.timing.cl + self.timing.burst;
        self.completing.push(Completing { done, entered, line, row, bank: bank as u8, isochronous });
        self.remember(done);
        self.note_read(cycle, observer);
        if self.mode == MajorMode::Partial && self.lane(Lane::Underfills).len() == 0 {
            self.set_mode(MajorMode::Read, cycle, observer);
        }
        Command::Underfill
    }

    fn write<W: Observer>(
        &mut self,
        served: &Removed,
        cycle: u64,
        observer: &mut W,
        out: &mut Vec<Outcome>,
    ) -> Command {
        let mode = self.mode;
        out.push(Outcome::WriteCredit { line: served.line, isochronous: served.isochronous });
        self.leave(Pending::Writes, served.entered, cycle, observer);
        if self.lane(Lane::Writes).len() <= self.timing.write_low && mode == MajorMode::Write {
            self.set_mode(MajorMode::Read, cycle, observer);
            self.drain_writes(cycle, observer);
        }
        if mode == MajorMode::Write { Command::WriteMajor } else { Command::WriteOpportunistic }
    }

    /// A read closes a row that other requests would have used.
    fn note_preemption<W: Observer>(&self, bank: usize, starved: u64, cycle: u64, observer: &mut W) {
        let row = self.banks.open_row(bank);
        if [Lane::Reads, Lane::Isochronous].into_iter().any(|lane| self.lane(lane).wants(bank, row, starved)) {
            observer.preempts(Pending::Reads, cycle);
        } else if [Lane::Writes, Lane::Underfills].into_iter().any(|lane| self.lane(lane).wants(bank, row, starved)) {
            // What a write of a part reads first is an entry of the write queue, too.
            observer.preempts(Pending::Writes, cycle);
        }
    }

    fn close(&mut self, bank: usize, cycle: u64) {
        self.idle.remove(bank);
        self.banks.precharged(bank, cycle, &self.timing);
        self.lanes.iter_mut().for_each(|queue| queue.no_hit(bank));
        self.candidates.closed(bank);
        self.renew(bank);
        self.rest(self.banks.layout.rank_of(bank), cycle + self.timing.trp);
    }
}
