//! When each bank and rank may take its next command.

use super::timing::{BANKS, BANKS_PER_RANK, RANKS, Timing};

/// Row of a closed bank.
pub const CLOSED: u32 = u32::MAX;

/// Earliest cycles for commands, raised by each command that goes out.
#[derive(Debug, Clone)]
pub struct Banks {
    pub open_row: [u32; BANKS],
    /// Banks with an open row.
    pub open: u32,
    pub activate: [u64; BANKS],
    /// Read or write, for the bank's own sake.
    pub column: [u64; BANKS],
    pub precharge: [u64; BANKS],
    /// Cycle of the last command that used the open row.
    pub last_use: [u64; BANKS],
    pub rank_activate: [u64; RANKS],
    pub rank_read: [u64; RANKS],
    pub rank_write: [u64; RANKS],
    /// The last four activates of each rank, as a ring.
    activates: [[u64; 4]; RANKS],
    oldest: [u8; RANKS],
}

/// Rank of a bank number.
pub const fn rank_of(bank: u8) -> usize {
    bank as usize / BANKS_PER_RANK
}

/// The banks of a rank, as a mask.
pub const fn banks_of(rank: usize) -> u32 {
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
            rank_activate: [0; RANKS],
            rank_read: [0; RANKS],
            rank_write: [0; RANKS],
            activates: [[0; 4]; RANKS],
            oldest: [0; RANKS],
        }
    }

    pub fn activated(&mut self, bank: u8, row: u32, cycle: u64, t: &Timing) {
        let (b, rank) = (usize::from(bank), rank_of(bank));
        self.open_row[b] = row;
        self.open |= 1 << bank;
        self.column[b] = cycle + t.trcd;
        self.precharge[b] = cycle + t.tras;
        self.activate[b] = cycle + t.trc;
        self.last_use[b] = cycle;
        let oldest = usize::from(self.oldest[rank]);
        self.activates[rank][oldest] = cycle + t.tfaw;
        self.oldest[rank] = (oldest as u8 + 1) % 4;
        // The slot that comes next holds the fourth activate back from the one that would follow.
        let fourth = self.activates[rank][usize::from(self.oldest[rank])];
        self.rank_activate[rank] = (cycle + t.trrd).max(fourth);
    }

    pub fn read(&mut self, bank: u8, cycle: u64, t: &Timing) {
        let (b, own) = (usize::from(bank), rank_of(bank));
        raise(&mut self.precharge[b], cycle + t.trtp);
        self.last_use[b] = cycle;
        for rank in 0..RANKS {
            let gap = if rank == own { t.tccd } else { t.burst + t.trtrs };
            raise(&mut self.rank_read[rank], cycle + gap);
            raise(&mut self.rank_write[rank], cycle + t.cl - t.cwl + t.burst + t.trtrs);
        }
    }

    pub fn written(&mut self, bank: u8, cycle: u64, t: &Timing) {
        let (b, own) = (usize::from(bank), rank_of(bank));
        let last_data = cycle + t.cwl + t.burst;
        raise(&mut self.precharge[b], last_data + t.twr);
        self.last_use[b] = cycle;
        for rank in 0..RANKS {
            let gap = if rank == own { t.tccd } else { t.burst + t.trtrs };
            raise(&mut self.rank_write[rank], cycle + gap);
            let read = if rank == own { last_data + t.twtr } else { (last_data + t.trtrs).saturating_sub(t.cl) };
            raise(&mut self.rank_read[rank], read);
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

    /// A rank takes no command before `cycle`: it wakes from a power state.
    pub fn held(&mut self, rank: usize, cycle: u64) {
        for bank in rank * BANKS_PER_RANK..(rank + 1) * BANKS_PER_RANK {
            raise(&mut self.activate[bank], cycle);
        }
    }
}
