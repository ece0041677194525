//! Refresh of the ranks: owed every tREFI, paid when the rank is idle, forced when the debt is too high.

use super::layout::Layout;
use super::timing::Timing;
use crate::facts::Command;

/// The refresh debts of a channel, in memory as they stand here: first what is looked at in each step.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct Refresh {
    /// Banks of the ranks that are getting ready.
    blocked: u64,
    /// Ranks that owe refreshes, one bit each.
    owing: u8,
    /// Ranks that are getting ready for a refresh, one bit each, and for which kind.
    wanting: u8,
    wanted: [Command; Layout::RANKS],
    /// The least of what is due.
    next: u64,
    due: [u64; Layout::RANKS],
    owed: [u64; Layout::RANKS],
}

impl Refresh {
    /// Debts fall due in turn, so that no two ranks refresh together.
    pub fn new(timing: &Timing) -> Self {
        let mut refresh = Self {
            due: [u64::MAX; Layout::RANKS],
            next: u64::MAX,
            owed: [0; Layout::RANKS],
            owing: 0,
            wanting: 0,
            wanted: [Command::RefreshIdle; Layout::RANKS],
            blocked: 0,
        };
        refresh.resume(0, timing);
        refresh
    }

    /// The next cycle at which a refresh falls due.
    pub const fn next_due(&self) -> u64 {
        self.next
    }

    fn set_next(&mut self) {
        self.next = self.due.iter().fold(u64::MAX, |least, &due| least.min(due));
    }

    /// Counts the refreshes that have fallen due.
    pub fn fall_due(&mut self, cycle: u64, timing: &Timing) {
        for rank in 0..Layout::RANKS {
            while self.due[rank] <= cycle {
                self.due[rank] += timing.trefi;
                self.owed[rank] += 1;
                self.owing |= 1 << rank;
            }
        }
        self.set_next();
    }

    /// Decides for each rank whether its refresh is now wanted; `busy` are the banks with pending requests.
    pub fn decide(&mut self, busy: u64, layout: &Layout, timing: &Timing) {
        let mut undecided = self.owing & !self.wanting;
        while undecided != 0 {
            let rank = undecided.trailing_zeros() as usize;
            undecided &= undecided - 1;
            let idle = busy & layout.banks_of(rank) == 0;
            if idle || self.owed[rank] >= timing.refresh_debt {
                self.wanted[rank] = if idle { Command::RefreshIdle } else { Command::RefreshForced };
                self.wanting |= 1 << rank;
                self.blocked |= layout.banks_of(rank);
            }
        }
    }

    /// True if a rank owes refreshes, so that [`Refresh::decide`] could change something.
    pub const fn is_owed(&self) -> bool {
        self.owing != 0
    }

    /// The ranks that are getting ready for a refresh.
    pub fn wanting(&self) -> impl Iterator<Item = usize> + use<> {
        let wanting = self.wanting;
        (0..Layout::RANKS).filter(move |rank| wanting >> rank & 1 == 1)
    }

    /// Banks of the ranks that are getting ready: they take no other command.
    pub const fn blocked(&self) -> u64 {
        self.blocked
    }

    /// True if a rank owes a refresh.
    pub const fn owes(&self, rank: usize) -> bool {
        self.owing >> rank & 1 == 1
    }

    /// True if a rank's refresh falls due by `cycle`.
    pub const fn is_due(&self, rank: usize, cycle: u64) -> bool {
        self.due[rank] <= cycle
    }

    /// The ranks refresh themselves from now on. They owe nothing.
    pub const fn suspend(&mut self) {
        self.due = [u64::MAX; Layout::RANKS];
        self.next = u64::MAX;
    }

    /// The controller refreshes the ranks, again or from the start.
    pub fn resume(&mut self, cycle: u64, timing: &Timing) {
        let ranks = u64::from(timing.ranks);
        for (rank, due) in (1..=ranks).zip(&mut self.due) {
            *due = cycle + timing.trefi * rank / ranks;
        }
        self.set_next();
    }

    /// The refresh of a rank goes out: says which kind it was.
    pub fn send(&mut self, rank: usize, layout: &Layout) -> Command {
        self.owed[rank] -= 1;
        if self.owed[rank] == 0 {
            self.owing &= !(1 << rank);
        }
        self.blocked &= !layout.banks_of(rank);
        self.wanting &= !(1 << rank);
        self.wanted[rank]
    }
}
