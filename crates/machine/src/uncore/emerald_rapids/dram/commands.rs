//! The commands of a subchannel: what each does to banks and queues, and what counts of it.

use super::banks::{banks_of, rank_of};
use super::subchannel::{Action, BUFFER, Outcome, Plan, RPQ, Subchannel, WPQ};
use super::timing::BANKS_PER_RANK;
use crate::ledger::emerald_rapids::compiled::deed;
use crate::ledger::{Command, CommandRecord};
use crate::signal::SignalSink;
use crate::uncore::emerald_rapids::account::Account;

/// Why a row is opened or closed: for a read, a write, or the read before a write of part of a line.
const FOR_READ: usize = 0;
const FOR_WRITE: usize = 1;
const FOR_UNDERFILL: usize = 2;

/// Kinds of column commands, as the signal numbers them.
const REGULAR: u8 = 0;
const UNDERFILL: u8 = 2;
const PLAIN_WRITE: u8 = 4;

impl Subchannel {
    /// Sends the planned command.
    pub(super) fn send<S: SignalSink>(
        &mut self,
        cycle: u64,
        account: &mut Account,
        sink: &mut S,
        out: &mut Vec<Outcome>,
    ) {
        let Plan { bank, action, slot, write, starved, .. } = self.plan;
        let rank = rank_of(bank);
        let (half, tick, socket, channel) = (self.half(), self.tick(cycle), self.socket, self.channel);
        self.bus_free = cycle + 1;
        let queue = if write { &self.writes } else { &self.reads };
        let row = queue.row[usize::from(slot)];
        let partial = write && queue.partial >> slot & 1 == 1;
        let purpose = match (write, partial) {
            (false, _) => FOR_READ,
            (true, false) => FOR_WRITE,
            (true, true) => FOR_UNDERFILL,
        };
        let command = match action {
            Action::Column if write && !partial => {
                self.write(bank, slot, cycle, starved, account, sink, out);
                if self.write_mode { Command::WriteMajor } else { Command::WriteOpportunistic }
            }
            Action::Column => {
                self.read(bank, slot, cycle, partial, starved, account, sink, out);
                if partial { Command::Underfill } else { Command::Read }
            }
            Action::Activate => {
                account.deed(ACTIVATES[purpose][half], socket, channel, tick, sink);
                let kind = if write { 3 } else { 0 } + if starved { 2 } else { 0 };
                account.activate(socket, channel, self.pseudo, kind, tick, sink);
                self.banks.activated(bank, row, cycle, &self.timing);
                Command::Activate
            }
            Action::PrechargeMiss => {
                account.deed(PRECHARGES[purpose][half], socket, channel, tick, sink);
                self.banks.precharged(bank, cycle, &self.timing);
                Command::PrechargeMiss
            }
            Action::PrechargeIdle => {
                account.deed(PAGE_TABLE[half], socket, channel, tick, sink);
                self.banks.precharged(bank, cycle, &self.timing);
                Command::PrechargeIdle
            }
            Action::PrechargeAll => {
                account.deed(ALL_ROWS[half], socket, channel, tick, sink);
                let mut open = self.banks.open & banks_of(rank);
                while open != 0 {
                    self.banks.precharged(open.trailing_zeros() as u8, cycle, &self.timing);
                    open &= open - 1;
                }
                Command::PrechargeAll
            }
            Action::Refresh => {
                self.banks.refreshed(rank, cycle, &self.timing);
                self.owed[rank] -= 1;
                let forced = self.wanted[rank].take() == Some(true);
                account.deed(if forced { FORCED[half] } else { TIMELY[half] }, socket, channel, tick, sink);
                if forced { Command::RefreshForced } else { Command::RefreshIdle }
            }
        };
        let bank = bank % BANKS_PER_RANK as u8;
        account.ledger.command(self.number, CommandRecord { cycle, command, rank: rank as u8, bank, row });
    }

    /// Reads a line for its own sake, or (`partial`) before part of it is written.
    #[expect(clippy::too_many_arguments, reason = "the parts of a command and where to tell of it")]
    fn read<S: SignalSink>(
        &mut self,
        bank: u8,
        slot: u8,
        cycle: u64,
        partial: bool,
        starved: bool,
        account: &mut Account,
        sink: &mut S,
        out: &mut Vec<Outcome>,
    ) {
        let (half, tick, socket, channel) = (self.half(), self.tick(cycle), self.socket, self.channel);
        let done = cycle + self.timing.cl + self.timing.burst;
        account.column(socket, channel, self.pseudo, if partial { UNDERFILL } else { REGULAR }, tick, sink);
        account.deed(READS_IN[usize::from(self.write_mode)][half], socket, channel, tick, sink);
        account.deed(if starved { READ_STARVED[half] } else { READ_NORMAL[half] }, socket, channel, tick, sink);
        self.banks.read(bank, cycle, &self.timing);
        if partial {
            self.writes.partial &= !(1 << slot);
            // The write needs what is read now.
            let column = &mut self.banks.column[usize::from(bank)];
            *column = (*column).max(done);
            return;
        }
        self.buffered.push_back(done);
        account.enter(BUFFER[half], socket, channel, tick, sink);
        out.push(Outcome::Data { owner: self.reads.owner[usize::from(slot)], cycle: done });
        self.reads.remove(bank, slot);
        if self.reads.len() == 0 {
            self.no_reads_since = cycle;
        }
        account.leave(RPQ[half], socket, channel, tick, sink);
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a command and where to tell of it")]
    fn write<S: SignalSink>(
        &mut self,
        bank: u8,
        slot: u8,
        cycle: u64,
        starved: bool,
        account: &mut Account,
        sink: &mut S,
        out: &mut Vec<Outcome>,
    ) {
        let (half, tick, socket, channel) = (self.half(), self.tick(cycle), self.socket, self.channel);
        account.column(socket, channel, self.pseudo, PLAIN_WRITE, tick, sink);
        account.deed(WRITES_IN[usize::from(self.write_mode)][half], socket, channel, tick, sink);
        account.deed(if starved { WRITE_STARVED[half] } else { WRITE_NORMAL[half] }, socket, channel, tick, sink);
        out.push(Outcome::WriteCredit);
        self.banks.written(bank, cycle, &self.timing);
        self.writes.remove(bank, slot);
        account.leave(WPQ[half], socket, channel, tick, sink);
        if self.writes.len() <= self.timing.write_low {
            self.set_mode(false, cycle, account, sink);
        }
    }
}

type Halves = [u16; 2];
const ACTIVATES: [Halves; 3] = [
    [deed!("imc/ACT_COUNT.RD_PCH0"), deed!("imc/ACT_COUNT.RD_PCH1")],
    [deed!("imc/ACT_COUNT.WR_PCH0"), deed!("imc/ACT_COUNT.WR_PCH1")],
    [deed!("imc/ACT_COUNT.UFILL_PCH0"), deed!("imc/ACT_COUNT.UFILL_PCH1")],
];
const PRECHARGES: [Halves; 3] = [
    [deed!("imc/PRE_COUNT.RD_PCH0"), deed!("imc/PRE_COUNT.RD_PCH1")],
    [deed!("imc/PRE_COUNT.WR_PCH0"), deed!("imc/PRE_COUNT.WR_PCH1")],
    [deed!("imc/PRE_COUNT.UFILL_PCH0"), deed!("imc/PRE_COUNT.UFILL_PCH1")],
];
const PAGE_TABLE: Halves = [deed!("imc/PRE_COUNT.PGT_PCH0"), deed!("imc/PRE_COUNT.PGT_PCH1")];
const ALL_ROWS: Halves = [deed!("imc/DRAM_PRE_ALL.PCH0"), deed!("imc/DRAM_PRE_ALL.PCH1")];
const FORCED: Halves = [deed!("imc/DRAM_REFRESH.PANIC_PCH0"), deed!("imc/DRAM_REFRESH.PANIC_PCH1")];
const TIMELY: Halves = [deed!("imc/DRAM_REFRESH.HIGH_PCH0"), deed!("imc/DRAM_REFRESH.HIGH_PCH1")];
/// By major mode: read, write.
const READS_IN: [Halves; 2] = [
    [deed!("imc/CAS_MM.RD_RMM_PCH0"), deed!("imc/CAS_MM.RD_RMM_PCH1")],
    [deed!("imc/CAS_MM.RD_WMM_PCH0"), deed!("imc/CAS_MM.RD_WMM_PCH1")],
];
const WRITES_IN: [Halves; 2] = [
    [deed!("imc/CAS_MM.WR_RMM_PCH0"), deed!("imc/CAS_MM.WR_RMM_PCH1")],
    [deed!("imc/CAS_MM.WR_WMM_PCH0"), deed!("imc/CAS_MM.WR_WMM_PCH1")],
];
const READ_NORMAL: Halves = [deed!("imc/RD_CAS_PRIO.NORMAL_PCH0"), deed!("imc/RD_CAS_PRIO.NORMAL_PCH1")];
const READ_STARVED: Halves = [deed!("imc/RD_CAS_PRIO.STARVED_PCH0"), deed!("imc/RD_CAS_PRIO.STARVED_PCH1")];
const WRITE_NORMAL: Halves = [deed!("imc/WR_CAS_PRIO.NORMAL_PCH0"), deed!("imc/WR_CAS_PRIO.NORMAL_PCH1")];
const WRITE_STARVED: Halves = [deed!("imc/WR_CAS_PRIO.STARVED_PCH0"), deed!("imc/WR_CAS_PRIO.STARVED_PCH1")];
