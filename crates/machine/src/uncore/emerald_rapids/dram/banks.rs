//! When each bank, bank group and rank may take its next command.

use super::timing::{BANKS, BANKS_PER_RANK, GROUPS_PER_RANK, RANKS, Timing};

/// Row of a closed bank.
pub const CLOSED: u32 = u32::MAX;
const GROUPS: usize = RANKS * GROUPS_PER_RANK;

/// Earliest cycles for commands, raised by each command that goes out.
#[derive(Debug)]
pub struct Banks {
    pub open_row: [u32; BANKS],
    /// Banks with an open row.
    pub open: u64,
    pub activate: [u64; BANKS],
    /// Read or write, for the bank's own sake.
    pub column: [u64; BANKS],
    pub precharge: [u64; BANKS],
    /// Cycle of the last command that used the open row.
    pub last_use: [u64; BANKS],
    group_read: [u64; GROUPS],
    group_write: [u64; GROUPS],
    group_activate: [u64; GROUPS],
    rank_activate: [u64; RANKS],
    rank_read: [u64; RANKS],
    rank_write: [u64; RANKS],
    /// The last four activates of each rank, as a ring.
    activates: [[u64; 4]; RANKS],
    oldest: [u8; RANKS],
}

/// Rank of a bank number.
pub const fn rank_of(bank: u8) -> usize {
    bank as usize / BANKS_PER_RANK
}

const fn group_of(bank: u8) -> usize {
    rank_of(bank) * GROUPS_PER_RANK + bank as usize % GROUPS_PER_RANK
}

/// The banks of a rank, as a mask.
pub const fn banks_of(rank: usize) -> u64 {
    ((1 << BANKS_PER_RANK) - 1) << (rank * BANKS_PER_RANK)
}

fn raise(at: &mut u64, to: u64) {
    *at = (*at).max(to);
}

impl Banks {
    pub const fn new() -> Self {
        Self {
            open_row: [CLOSED; BANKS],
            open: 0,
            activate: [0; BANKS],
            column: [0; BANKS],
            precharge: [0; BANKS],
            last_use: [0; BANKS],
            group_read: [0; GROUPS],
            group_write: [0; GROUPS],
            group_activate: [0; GROUPS],
            rank_activate: [0; RANKS],
            rank_read: [0; RANKS],
            rank_write: [0; RANKS],
            activates: [[0; 4]; RANKS],
            oldest: [0; RANKS],
        }
    }

    pub const fn is_open(&self, bank: u8) -> bool {
        self.open >> bank & 1 == 1
    }

    /// First cycle for a read or write of an open bank.
    pub fn column_at(&self, bank: u8, write: bool) -> u64 {
        let (group, rank) = (group_of(bank), rank_of(bank));
        let (by_group, by_rank) = if write {
            (self.group_write[group], self.rank_write[rank])
        } else {
            (self.group_read[group], self.rank_read[rank])
        };
        self.column[usize::from(bank)].max(by_group).max(by_rank)
    }

    /// First cycle for an activate of a closed bank.
    pub fn activate_at(&self, bank: u8) -> u64 {
        self.activate[usize::from(bank)].max(self.group_activate[group_of(bank)]).max(self.rank_activate[rank_of(bank)])
    }

    pub fn activated(&mut self, bank: u8, row: u32, cycle: u64, t: &Timing) {
        let (b, rank) = (usize::from(bank), rank_of(bank));
        self.open_row[b] = row;
        self.open |= 1 << bank;
        self.column[b] = cycle + t.trcd;
        self.precharge[b] = cycle + t.tras;
        self.activate[b] = cycle + t.trc;
        self.last_use[b] = cycle;
        self.group_activate[group_of(bank)] = cycle + t.trrd_l;
        let oldest = usize::from(self.oldest[rank]);
        self.activates[rank][oldest] = cycle + t.tfaw;
        self.oldest[rank] = (oldest as u8 + 1) % 4;
        // The slot that comes next holds the fourth activate back from the one that would follow.
        let fourth = self.activates[rank][usize::from(self.oldest[rank])];
        self.rank_activate[rank] = (cycle + t.trrd_s).max(fourth);
    }

    pub fn read(&mut self, bank: u8, cycle: u64, t: &Timing) {
        let (b, own, group) = (usize::from(bank), rank_of(bank), group_of(bank));
        raise(&mut self.precharge[b], cycle + t.trtp);
        self.last_use[b] = cycle;
        raise(&mut self.group_read[group], cycle + t.tccd_l);
        for rank in 0..RANKS {
            let gap = if rank == own { t.tccd_s } else { t.burst + t.trtrs };
            raise(&mut self.rank_read[rank], cycle + gap);
            raise(&mut self.rank_write[rank], cycle + t.cl - t.cwl + t.burst + t.trtrs);
        }
    }

    pub fn written(&mut self, bank: u8, cycle: u64, t: &Timing) {
        let (b, own, group) = (usize::from(bank), rank_of(bank), group_of(bank));
        let last_data = cycle + t.cwl + t.burst;
        raise(&mut self.precharge[b], last_data + t.twr);
        self.last_use[b] = cycle;
        raise(&mut self.group_write[group], cycle + t.tccd_l_wr);
        raise(&mut self.group_read[group], last_data + t.twtr_l);
        for rank in 0..RANKS {
            let gap = if rank == own { t.tccd_s } else { t.burst + t.trtrs };
            raise(&mut self.rank_write[rank], cycle + gap);
            let read = if rank == own { last_data + t.twtr_s } else { (last_data + t.trtrs).saturating_sub(t.cl) };
            // Data of the other direction must have left the bus in any case.
            raise(&mut self.rank_read[rank], read.max((last_data + t.trtrs).saturating_sub(t.cl)));
        }
    }

    pub fn precharged(&mut self, bank: u8, cycle: u64, t: &Timing) {
        let b = usize::from(bank);
        self.open_row[b] = CLOSED;
        self.open &= !(1 << bank);
        raise(&mut self.activate[b], cycle + t.trp);
    }

    pub fn refreshed(&mut self, rank: usize, cycle: u64, t: &Timing) {
        for bank in rank * BANKS_PER_RANK..(rank + 1) * BANKS_PER_RANK {
            raise(&mut self.activate[bank], cycle + t.trfc);
        }
    }

    /// The subchannel wakes: no activate before `cycle`.
    pub fn woken(&mut self, cycle: u64) {
        self.rank_activate.iter_mut().for_each(|at| raise(at, cycle));
    }

    /// First cycle at which all banks of a rank are closed and ready for a refresh; only if none is open.
    pub fn refresh_at(&self, rank: usize) -> u64 {
        let own = rank * BANKS_PER_RANK..(rank + 1) * BANKS_PER_RANK;
        // Of an activate's two limits only the one that holds for the bank's own sake matters: tRP, and tRC is longer.
        self.activate[own].iter().fold(0, |at, &ready| at.max(ready))
    }
}
