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

/// Earliest cycles by [`Limit`].
type Limits = [u64; Limit::COUNT];

/// A bank: all that a command to it changes lies in one cache line of the host.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
struct Bank {
    /// When it is ready for its own sake, by [`Step`].
    ready: [u64; Step::COUNT],
    open_row: u32,
}

/// A rank: the limits of its banks, and its last activates.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Rank {
    limits: Limits,
    /// When each of the last four activates no longer counts for tFAW, as a ring.
    activates: [u64; 4],
    oldest: u8,
}

/// A bank group.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
struct Group {
    limits: Limits,
}

/// Earliest cycles for commands, raised by each command that goes out. In memory what concerns all banks comes first.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct Banks {
    /// Banks with an open row.
    pub open: u64,
    pub layout: Layout,
    /// For any bank.
    channel: Limits,
    ranks: [Rank; Layout::RANKS],
    /// At [`Layout::group_of`].
    groups: [Group; Layout::BANKS],
    banks: [Bank; Layout::BANKS],
}

fn raise(at: &mut u64, to: u64) {
    *at = (*at).max(to);
}

impl Banks {
    pub fn new(timing: &Timing) -> Self {
        let limits = [0; Limit::COUNT];
        Self {
            banks: [Bank { ready: [0; Step::COUNT], open_row: CLOSED }; Layout::BANKS],
            ranks: [Rank { limits, activates: [0; 4], oldest: 0 }; Layout::RANKS],
            groups: [Group { limits }; Layout::BANKS],
            channel: limits,
            open: 0,
            layout: Layout::new(timing),
        }
    }

    /// The row that is open in a bank, or [`CLOSED`].
    #[inline(always)]
    pub const fn open_row(&self, bank: usize) -> u32 {
        self.banks[bank % Layout::BANKS].open_row
    }

    /// When a bank is ready for a step for its own sake.
    #[inline(always)]
    pub const fn ready(&self, step: Step, bank: usize) -> u64 {
        self.banks[bank % Layout::BANKS].ready[step as usize]
    }

    /// The earliest cycle for a command to any bank.
    #[inline(always)]
    pub const fn of_channel(&self, limit: Limit) -> u64 {
        self.channel[limit as usize]
    }

    /// The earliest cycle for a command to a bank, for the sake of its rank and group.
    #[inline(always)]
    pub fn of_rank(&self, limit: Limit, bank: usize) -> u64 {
        let rank = &self.ranks[self.layout.rank_of(bank)];
        rank.limits[limit as usize].max(self.groups[self.layout.group_of(bank)].limits[limit as usize])
    }

    #[inline(always)]
    const fn bank(&mut self, bank: usize) -> &mut Bank {
        &mut self.banks[bank % Layout::BANKS]
    }

    #[inline(always)]
    fn raise_group(&mut self, limit: Limit, bank: usize, to: u64) {
        raise(&mut self.groups[self.layout.group_of(bank)].limits[limit as usize], to);
    }

    /// Commands of one direction follow each other.
    #[inline(always)]
    fn raise_columns(&mut self, limit: Limit, bank: usize, cycle: u64, t: &Timing) {
        let own = self.layout.rank_of(bank);
        let (within, elsewhere) = (cycle + t.tccd_s, cycle + t.burst + t.trtrs);
        for (number, rank) in self.ranks.iter_mut().enumerate().take(self.layout.ranks()) {
            raise(&mut rank.limits[limit as usize], if number == own { within } else { elsewhere });
        }
    }

    #[inline]
    pub fn activated(&mut self, bank: usize, row: u32, cycle: u64, t: &Timing) {
        *self.bank(bank) = Bank { ready: [cycle + t.trcd, cycle + t.trc, cycle + t.tras], open_row: row };
        self.open |= 1 << bank;
        let rank = &mut self.ranks[self.layout.rank_of(bank)];
        let oldest = usize::from(rank.oldest) % 4;
        rank.activates[oldest] = cycle + t.tfaw;
        let next = (oldest + 1) % 4;
        rank.oldest = next as u8;
        // The slot that comes next holds the fourth activate back from the one that would follow.
        let any = (cycle + t.trrd_s).max(rank.activates[next]);
        raise(&mut rank.limits[Limit::Activate as usize], any);
        self.raise_group(Limit::Activate, bank, cycle + t.trrd_l);
    }

    #[inline]
    pub fn read(&mut self, bank: usize, cycle: u64, t: &Timing) {
        raise(&mut self.bank(bank).ready[Step::Precharge as usize], cycle + t.trtp);
        raise(&mut self.channel[Limit::Write as usize], cycle + t.cl - t.cwl + t.burst + t.trtrs);
        self.raise_columns(Limit::Read, bank, cycle, t);
        self.raise_group(Limit::Read, bank, cycle + t.tccd_l);
    }

    pub fn written(&mut self, bank: usize, cycle: u64, t: &Timing) {
        let last_data = cycle + t.cwl + t.burst;
        raise(&mut self.bank(bank).ready[Step::Precharge as usize], last_data + t.twr);
        // Data of the other direction must have left the bus in any case.
        raise(&mut self.channel[Limit::Read as usize], (last_data + t.trtrs).saturating_sub(t.cl));
        raise(&mut self.ranks[self.layout.rank_of(bank)].limits[Limit::Read as usize], last_data + t.twtr_s);
        self.raise_columns(Limit::Write, bank, cycle, t);
        self.raise_group(Limit::Write, bank, cycle + t.tccd_l_wr);
        self.raise_group(Limit::Read, bank, last_data + t.twtr_l);
    }

    #[inline]
    pub fn precharged(&mut self, bank: usize, cycle: u64, t: &Timing) {
        self.open &= !(1 << bank);
        let bank = self.bank(bank);
        bank.open_row = CLOSED;
        raise(&mut bank.ready[Step::Activate as usize], cycle + t.trp);
    }

    /// A rank takes no command before `cycle`: it is busy for itself.
    pub fn held(&mut self, rank: usize, cycle: u64) {
        let banks = &mut self.banks[self.layout.range(rank)];
        banks.iter_mut().for_each(|bank| raise(&mut bank.ready[Step::Activate as usize], cycle));
    }
}
