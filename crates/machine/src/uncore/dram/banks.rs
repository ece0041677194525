//! When each bank, bank group and rank may take its next command.

use super::layout::Layout;
use super::timing::Timing;

/// Row of a closed bank.
pub const CLOSED: u32 = u32::MAX;

/// What a rank or a group limits beyond its single banks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum Limit {
    Read,
    Write,
    Activate,
}

const LIMITS: usize = 3;

/// Earliest cycles for commands, raised by each command that goes out.
#[derive(Debug, Clone)]
pub struct Banks {
    pub layout: Layout,
    pub open_row: [u32; Layout::BANKS],
    /// Banks with an open row.
    pub open: u64,
    pub activate: [u64; Layout::BANKS],
    /// Read or write, for the bank's own sake.
    pub column: [u64; Layout::BANKS],
    pub precharge: [u64; Layout::BANKS],
    /// Cycle of the last command that used the open row.
    pub last_use: [u64; Layout::BANKS],
    /// By [`Limit`].
    pub of_rank: [[u64; Layout::RANKS]; LIMITS],
    pub of_group: [[u64; Layout::GROUPS]; LIMITS],
    /// The last four activates of each rank, as a ring.
    activates: [[u64; 4]; Layout::RANKS],
    oldest: [u8; Layout::RANKS],
}

fn raise(at: &mut u64, to: u64) {
    *at = (*at).max(to);
}

impl Banks {
    pub fn new(timing: &Timing) -> Self {
        Self {
            layout: Layout::new(timing),
            open_row: [CLOSED; Layout::BANKS],
            open: 0,
            activate: [0; Layout::BANKS],
            column: [0; Layout::BANKS],
            precharge: [0; Layout::BANKS],
            last_use: [0; Layout::BANKS],
            of_rank: [[0; Layout::RANKS]; LIMITS],
            of_group: [[0; Layout::GROUPS]; LIMITS],
            activates: [[0; 4]; Layout::RANKS],
            oldest: [0; Layout::RANKS],
        }
    }

    /// The limits of a rank's group, both levels taken together.
    pub fn limit(&self, limit: Limit, rank: usize, group: usize) -> u64 {
        self.of_rank[limit as usize][rank].max(self.of_group[limit as usize][group])
    }

    pub fn activated(&mut self, bank: usize, row: u32, cycle: u64, t: &Timing) {
        let (rank, group) = (self.layout.rank_of(bank), self.layout.group_of(bank));
        self.open_row[bank] = row;
        self.open |= 1 << bank;
        self.column[bank] = cycle + t.trcd;
        self.precharge[bank] = cycle + t.tras;
        self.activate[bank] = cycle + t.trc;
        self.last_use[bank] = cycle;
        self.of_group[Limit::Activate as usize][group] = cycle + t.trrd_l;
        let oldest = usize::from(self.oldest[rank]) % 4;
        self.activates[rank][oldest] = cycle + t.tfaw;
        let next = (oldest + 1) % 4;
        self.oldest[rank] = next as u8;
        // The slot that comes next holds the fourth activate back from the one that would follow.
        self.of_rank[Limit::Activate as usize][rank] = (cycle + t.trrd_s).max(self.activates[rank][next]);
    }

    pub fn read(&mut self, bank: usize, cycle: u64, t: &Timing) {
        let (own, group) = (self.layout.rank_of(bank), self.layout.group_of(bank));
        raise(&mut self.precharge[bank], cycle + t.trtp);
        self.last_use[bank] = cycle;
        raise(&mut self.of_group[Limit::Read as usize][group], cycle + t.tccd_l);
        let [reads, writes, _] = &mut self.of_rank;
        for rank in 0..self.layout.ranks % (Layout::RANKS + 1) {
            let gap = if rank == own { t.tccd_s } else { t.burst + t.trtrs };
            raise(&mut reads[rank], cycle + gap);
            raise(&mut writes[rank], cycle + t.cl - t.cwl + t.burst + t.trtrs);
        }
    }

    pub fn written(&mut self, bank: usize, cycle: u64, t: &Timing) {
        let (own, group) = (self.layout.rank_of(bank), self.layout.group_of(bank));
        let last_data = cycle + t.cwl + t.burst;
        raise(&mut self.precharge[bank], last_data + t.twr);
        self.last_use[bank] = cycle;
        raise(&mut self.of_group[Limit::Write as usize][group], cycle + t.tccd_l_wr);
        raise(&mut self.of_group[Limit::Read as usize][group], last_data + t.twtr_l);
        // Data of the other direction must have left the bus in any case.
        let turned = (last_data + t.trtrs).saturating_sub(t.cl);
        let [reads, writes, _] = &mut self.of_rank;
        for rank in 0..self.layout.ranks % (Layout::RANKS + 1) {
            let (gap, read) =
                if rank == own { (t.tccd_s, turned.max(last_data + t.twtr_s)) } else { (t.burst + t.trtrs, turned) };
            raise(&mut writes[rank], cycle + gap);
            raise(&mut reads[rank], read);
        }
    }

    pub fn precharged(&mut self, bank: usize, cycle: u64, t: &Timing) {
        self.open_row[bank] = CLOSED;
        self.open &= !(1 << bank);
        raise(&mut self.activate[bank], cycle + t.trp);
    }

    pub fn refreshed(&mut self, rank: usize, cycle: u64, t: &Timing) {
        self.held(rank, cycle + t.trfc);
    }

    /// A rank takes no command before `cycle`: it is busy for itself.
    pub fn held(&mut self, rank: usize, cycle: u64) {
        self.activate[self.layout.range(rank)].iter_mut().for_each(|at| raise(at, cycle));
    }
}
