//! When each bank, bank group and rank may take its next command.

use super::layout::Layout;
use super::timing::Timing;

/// Row of a closed bank.
pub const CLOSED: u32 = u32::MAX;

/// What a bank itself can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum Step {
    Activate,
    Precharge,
    /// A read or a write.
    Column,
}

impl Step {
    /// How many there are.
    pub const COUNT: usize = 3;
}

/// What limits a command beyond its bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum Limit {
    Read,
    Write,
    Activate,
    None,
}

impl Limit {
    /// The place of a group's limit among all.
    pub const fn gate(self, group: usize) -> usize {
        const { assert!((Self::None as usize + 1) * Layout::GROUPS <= LIMITS) };
        self as usize * Layout::GROUPS + group
    }
}

/// Earliest cycles of commands for the sake of rank and group, by [`Limit::gate`].
pub type Limits = [u64; LIMITS];

/// Any gate's number lies below this.
const LIMITS: usize = 1 << u8::BITS;

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
    pub limits: Limits,
    /// First cycle for a write after the reads so far, if [`Limits`] do not have it yet.
    after_reads: u64,
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
            limits: [0; LIMITS],
            after_reads: 0,
            activates: [[0; 4]; Layout::RANKS],
            oldest: [0; Layout::RANKS],
        }
    }

    /// Raises a limit of all groups: to the first cycle within a rank, to the second elsewhere.
    #[inline(always)]
    fn raise_groups(&mut self, limit: Limit, own: usize, within: u64, elsewhere: u64) {
        let own = self.layout.groups_of(own);
        let first = limit.gate(0);
        for (group, at) in self.limits[first..first + Layout::GROUPS].iter_mut().enumerate().take(self.layout.groups) {
            raise(at, if own.contains(&group) { within } else { elsewhere });
        }
    }

    /// Makes the limits of writes hold for the reads so far, before writes are looked at.
    pub fn settle_writes(&mut self) {
        if self.after_reads != 0 {
            self.raise_groups(Limit::Write, 0, self.after_reads, self.after_reads);
            self.after_reads = 0;
        }
    }

    pub fn activated(&mut self, bank: usize, row: u32, cycle: u64, t: &Timing) {
        let (rank, group) = (self.layout.rank_of(bank), self.layout.group_of(bank));
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
        for group in self.layout.groups_of(rank) {
            raise(&mut self.limits[Limit::Activate.gate(group) % LIMITS], any);
        }
        raise(&mut self.limits[Limit::Activate.gate(group)], cycle + t.trrd_l);
    }

    pub fn read(&mut self, bank: usize, cycle: u64, t: &Timing) {
        let (own, group) = (self.layout.rank_of(bank), self.layout.group_of(bank));
        raise(&mut self.ready[Step::Precharge as usize][bank], cycle + t.trtp);
        self.last_use[bank] = cycle;
        self.after_reads = cycle + t.cl - t.cwl + t.burst + t.trtrs;
        self.raise_groups(Limit::Read, own, cycle + t.tccd_s, cycle + t.burst + t.trtrs);
        raise(&mut self.limits[Limit::Read.gate(group)], cycle + t.tccd_l);
    }

    pub fn written(&mut self, bank: usize, cycle: u64, t: &Timing) {
        let (own, group) = (self.layout.rank_of(bank), self.layout.group_of(bank));
        let last_data = cycle + t.cwl + t.burst;
        raise(&mut self.ready[Step::Precharge as usize][bank], last_data + t.twr);
        self.last_use[bank] = cycle;
        // Data of the other direction must have left the bus in any case.
        let turned = (last_data + t.trtrs).saturating_sub(t.cl);
        self.raise_groups(Limit::Read, own, turned.max(last_data + t.twtr_s), turned);
        self.raise_groups(Limit::Write, own, cycle + t.tccd_s, cycle + t.burst + t.trtrs);
        raise(&mut self.limits[Limit::Write.gate(group)], cycle + t.tccd_l_wr);
        raise(&mut self.limits[Limit::Read.gate(group)], last_data + t.twtr_l);
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
