//! When each bank, bank group and rank may take its next command.

use super::layout::Layout;
use super::timing::Timing;

/// Row of a closed bank.
pub const CLOSED: u32 = u32::MAX;

/// What a bank itself can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum Step {
    /// A read or a write.
    Column,
    Activate,
    Precharge,
}

impl Step {
    /// How many there are.
    pub const COUNT: usize = 3;
}

/// What the channel, a rank or a group limits beyond a bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum Limit {
    Read,
    Write,
    Activate,
}

impl Limit {
    /// How many there are.
    const COUNT: usize = 3;
}

/// Earliest cycles for commands, raised by each command that goes out.
#[derive(Debug, Clone)]
pub struct Banks {
    pub layout: Layout,
    pub open_row: [u32; Layout::BANKS],
    /// Banks with an open row.
    pub open: u64,
    /// When a bank is ready for its own sake, by [`Step`].
    pub ready: [[u64; Layout::BANKS]; Step::COUNT],
    /// Cycle of the last command that used the open row.
    pub last_use: [u64; Layout::BANKS],
    /// Earliest cycles for any bank, by [`Limit`].
    channel: [u64; Limit::COUNT],
    /// The same for the sake of a rank.
    ranks: [[u64; Layout::RANKS]; Limit::COUNT],
    /// The same for the sake of a group, at [`Layout::group_of`].
    groups: [[u64; Layout::BANKS]; Limit::COUNT],
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
            ready: [[0; Layout::BANKS]; Step::COUNT],
            last_use: [0; Layout::BANKS],
            channel: [0; Limit::COUNT],
            ranks: [[0; Layout::RANKS]; Limit::COUNT],
            groups: [[0; Layout::BANKS]; Limit::COUNT],
            activates: [[0; 4]; Layout::RANKS],
            oldest: [0; Layout::RANKS],
        }
    }

    /// The earliest cycle for a command to a bank but for the bank's own sake.
    #[inline(always)]
    pub fn limit(&self, limit: Limit, bank: usize) -> u64 {
        let (channel, ranks, groups) =
            (self.channel[limit as usize], &self.ranks[limit as usize], &self.groups[limit as usize]);
        channel.max(ranks[self.layout.rank_of(bank)]).max(groups[self.layout.group_of(bank)])
    }

    #[inline(always)]
    fn raise_group(&mut self, limit: Limit, bank: usize, to: u64) {
        raise(&mut self.groups[limit as usize][self.layout.group_of(bank)], to);
    }

    /// Commands of one direction follow each other.
    #[inline(always)]
    fn raise_columns(&mut self, limit: Limit, bank: usize, cycle: u64, t: &Timing) {
        let own = self.layout.rank_of(bank);
        let (within, elsewhere) = (cycle + t.tccd_s, cycle + t.burst + t.trtrs);
        for (rank, at) in self.ranks[limit as usize].iter_mut().enumerate().take(self.layout.ranks) {
            raise(at, if rank == own { within } else { elsewhere });
        }
    }

    pub fn activated(&mut self, bank: usize, row: u32, cycle: u64, t: &Timing) {
        let rank = self.layout.rank_of(bank);
        self.open_row[bank] = row;
        self.open |= 1 << bank;
        self.ready[Step::Column as usize][bank] = cycle + t.trcd;
        self.ready[Step::Precharge as usize][bank] = cycle + t.tras;
        self.ready[Step::Activate as usize][bank] = cycle + t.trc;
        self.last_use[bank] = cycle;
        let oldest = usize::from(self.oldest[rank]) % 4;
        self.activates[rank][oldest] = cycle + t.tfaw;
        let next = (oldest + 1) % 4;
        self.oldest[rank] = next as u8;
        // The slot that comes next holds the fourth activate back from the one that would follow.
        let any = (cycle + t.trrd_s).max(self.activates[rank][next]);
        raise(&mut self.ranks[Limit::Activate as usize][rank], any);
        self.raise_group(Limit::Activate, bank, cycle + t.trrd_l);
    }

    pub fn read(&mut self, bank: usize, cycle: u64, t: &Timing) {
        raise(&mut self.ready[Step::Precharge as usize][bank], cycle + t.trtp);
        self.last_use[bank] = cycle;
        raise(&mut self.channel[Limit::Write as usize], cycle + t.cl - t.cwl + t.burst + t.trtrs);
        self.raise_columns(Limit::Read, bank, cycle, t);
        self.raise_group(Limit::Read, bank, cycle + t.tccd_l);
    }

    pub fn written(&mut self, bank: usize, cycle: u64, t: &Timing) {
        let last_data = cycle + t.cwl + t.burst;
        raise(&mut self.ready[Step::Precharge as usize][bank], last_data + t.twr);
        self.last_use[bank] = cycle;
        // Data of the other direction must have left the bus in any case.
        raise(&mut self.channel[Limit::Read as usize], (last_data + t.trtrs).saturating_sub(t.cl));
        raise(&mut self.ranks[Limit::Read as usize][self.layout.rank_of(bank)], last_data + t.twtr_s);
        self.raise_columns(Limit::Write, bank, cycle, t);
        self.raise_group(Limit::Write, bank, cycle + t.tccd_l_wr);
        self.raise_group(Limit::Read, bank, last_data + t.twtr_l);
    }

    pub fn precharged(&mut self, bank: usize, cycle: u64, t: &Timing) {
        self.open_row[bank] = CLOSED;
        self.open &= !(1 << bank);
        raise(&mut self.ready[Step::Activate as usize][bank], cycle + t.trp);
    }

    /// A rank takes no command before `cycle`: it is busy for itself.
    pub fn held(&mut self, rank: usize, cycle: u64) {
        self.ready[Step::Activate as usize][self.layout.range(rank)].iter_mut().for_each(|at| raise(at, cycle));
    }
}
