//! The commands of a channel: what each does to banks, queues and candidates.

use super::banks::{banks_of, rank_of};
use super::channel::{Channel, Completing, Outcome};
use super::plan::{Action, Lane, Plan};
use super::queue::NONE;
use super::timing::BANKS_PER_RANK;
use crate::ledger::{Command, CommandRecord, Ledger, MajorMode, Pending};
use crate::signal::SignalSink;

impl Channel {
    /// Sends the planned command.
    pub(super) fn send<S: SignalSink>(
        &mut self,
        cycle: u64,
        sink: &mut S,
        ledger: &mut Ledger,
        out: &mut Vec<Outcome>,
    ) {
        let Plan { bank, action, queue, .. } = self.plan;
        let rank = rank_of(bank);
        self.bus_free = cycle + 1;
        let mut row = 0;
        let command = match action {
            Action::Column if queue == Lane::Reads => {
                row = self.read(bank, cycle, sink, ledger, out);
                Command::Read
            }
            Action::Column if queue == Lane::Underfills => {
                row = self.underfill(bank, cycle, sink, ledger);
                Command::Underfill
            }
            Action::Column => {
                let mode = self.mode;
                row = self.write(bank, cycle, sink, ledger, out);
                if mode == MajorMode::Write { Command::WriteMajor } else { Command::WriteOpportunistic }
            }
            Action::Activate => {
                let queue = match queue {
                    Lane::Reads => &self.reads,
                    Lane::Writes => &self.writes,
                    Lane::Underfills => &self.underfills,
                };
                row = queue.row[usize::from(queue.head[usize::from(bank)])];
                self.banks.activated(bank, row, cycle, &self.timing);
                self.choose_hits(bank, row, cycle);
                self.update(bank);
                Command::Activate
            }
            Action::PrechargeMiss | Action::PrechargeIdle => {
                if action == Action::PrechargeMiss && queue == Lane::Reads {
                    self.note_preemption(bank, cycle, sink, ledger);
                }
                self.close(bank, cycle);
                if action == Action::PrechargeMiss { Command::PrechargeMiss } else { Command::PrechargeIdle }
            }
            Action::PrechargeAll => {
                let mut open = self.banks.open & banks_of(rank);
                while open != 0 {
                    self.close(open.trailing_zeros() as u8, cycle);
                    open &= open - 1;
                }
                Command::PrechargeAll
            }
            Action::Refresh => {
                self.banks.refreshed(rank, cycle, &self.timing);
                self.power.rest(rank, cycle + self.timing.trfc, &self.timing);
                for bank in 0..BANKS_PER_RANK {
                    self.update((rank * BANKS_PER_RANK + bank) as u8);
                }
                self.refresh.send(rank)
            }
        };
        let (wire, tag) = self.wires.commands[command as usize];
        sink.pulse(wire, tag, cycle * self.clock.ticks(), 1);
        let bank = bank % BANKS_PER_RANK as u8;
        ledger.command(self.number, CommandRecord { cycle, command, rank: rank as u8, bank, row });
    }

    /// Serves the bank's row hit among the reads, and says which row it wanted.
    fn read<S: SignalSink>(
        &mut self,
        bank: u8,
        cycle: u64,
        sink: &mut S,
        ledger: &mut Ledger,
        out: &mut Vec<Outcome>,
    ) -> u32 {
        let slot = self.reads.hit[usize::from(bank)];
        let s = usize::from(slot);
        out.push(Outcome::Data { owner: self.reads.owner[s], cycle: cycle + self.timing.cl + self.timing.burst });
        self.banks.read(bank, cycle, &self.timing);
        self.reads.remove(bank, slot);
        let starved = cycle.saturating_sub(self.timing.starvation);
        self.reads.choose_hit(bank, self.banks.open_row[usize::from(bank)], starved);
        self.update(bank);
        if self.reads.len() == 0 {
            self.no_reads_since = cycle;
        }
        self.leave(Pending::Reads, self.reads.entered[s], cycle, sink, ledger);
        self.note_read(cycle, sink, ledger);
        self.reads.row[s]
    }

    /// Reads the line of the bank's row hit among the partial writes, and says which row it wanted.
    fn underfill<S: SignalSink>(&mut self, bank: u8, cycle: u64, sink: &mut S, ledger: &mut Ledger) -> u32 {
        let slot = self.underfills.hit[usize::from(bank)];
        let s = usize::from(slot);
        let (line, row, entered) = (self.underfills.line[s], self.underfills.row[s], self.underfills.entered[s]);
        let done = cycle + self.timing.cl + self.timing.burst;
        self.banks.read(bank, cycle, &self.timing);
        self.underfills.remove(bank, slot);
        let starved = cycle.saturating_sub(self.timing.starvation);
        self.underfills.choose_hit(bank, self.banks.open_row[usize::from(bank)], starved);
        self.update(bank);
        self.completing.push(Completing { done, entered, line, row, bank });
        self.note_read(cycle, sink, ledger);
        if self.mode == MajorMode::Partial && self.underfills.len() == 0 {
            self.set_mode(MajorMode::Read, cycle, sink, ledger);
        }
        row
    }

    /// A read closes a row that other requests would have used.
    fn note_preemption<S: SignalSink>(&self, bank: u8, cycle: u64, sink: &mut S, ledger: &mut Ledger) {
        let row = self.banks.open_row[usize::from(bank)];
        let victim = if self.reads.wants(bank, row) {
            Pending::Reads
        } else if self.writes.wants(bank, row) {
            Pending::Writes
        } else {
            return;
        };
        let (wire, tags) = self.wires.preemption;
        sink.pulse(wire, tags[victim as usize], cycle * self.clock.ticks(), 1);
        ledger.preempted(self.number, victim);
    }

    /// Serves the bank's row hit among the writes, and says which row it wanted.
    fn write<S: SignalSink>(
        &mut self,
        bank: u8,
        cycle: u64,
        sink: &mut S,
        ledger: &mut Ledger,
        out: &mut Vec<Outcome>,
    ) -> u32 {
        let slot = self.writes.hit[usize::from(bank)];
        out.push(Outcome::WriteCredit);
        self.banks.written(bank, cycle, &self.timing);
        self.writes.remove(bank, slot);
        let starved = cycle.saturating_sub(self.timing.starvation);
        self.writes.choose_hit(bank, self.banks.open_row[usize::from(bank)], starved);
        self.update(bank);
        self.leave(Pending::Writes, self.writes.entered[usize::from(slot)], cycle, sink, ledger);
        if self.writes.len() <= self.timing.write_low && self.mode == MajorMode::Write {
            self.set_mode(MajorMode::Read, cycle, sink, ledger);
            self.drain_writes(cycle, sink, ledger);
        }
        self.writes.row[usize::from(slot)]
    }

    fn close(&mut self, bank: u8, cycle: u64) {
        self.banks.precharged(bank, cycle, &self.timing);
        self.reads.hit[usize::from(bank)] = NONE;
        self.writes.hit[usize::from(bank)] = NONE;
        self.underfills.hit[usize::from(bank)] = NONE;
        self.update(bank);
        self.power.rest(rank_of(bank), cycle + self.timing.trp, &self.timing);
    }

    /// A command has gone to a bank, or an entry has left it.
    fn update(&mut self, bank: u8) {
        self.candidates[Lane::Reads as usize].update(&self.banks, &self.reads, bank);
        self.candidates[Lane::Writes as usize].update(&self.banks, &self.writes, bank);
        self.candidates[Lane::Underfills as usize].update(&self.banks, &self.underfills, bank);
        // Only a bank that was used or closed just now can become idle before the others.
        self.no_idle_before = self.no_idle_before.min(self.banks.last_use[usize::from(bank)] + self.timing.page_idle);
    }

    fn choose_hits(&mut self, bank: u8, row: u32, cycle: u64) {
        let starved = cycle.saturating_sub(self.timing.starvation);
        for queue in [&mut self.reads, &mut self.writes, &mut self.underfills] {
            if queue.pending >> bank & 1 == 1 {
                queue.choose_hit(bank, row, starved);
            }
        }
    }
}
