//! Refresh of the ranks: owed every tREFI, paid when the rank is idle, forced when the debt is too high.

use super::banks::banks_of;
use super::timing::{RANKS, Timing};
use crate::ledger::Command;

/// The refresh debts of a channel.
#[derive(Debug, Clone)]
pub struct Refresh {
    due: [u64; RANKS],
    owed: [u64; RANKS],
    /// The refresh that a rank is getting ready for.
    wanted: [Option<Command>; RANKS],
    /// Banks of the ranks that are getting ready.
    blocked: u32,
}

impl Refresh {
    /// Debts fall due in turn, so that no two ranks refresh together.
    pub fn new(timing: &Timing) -> Self {
        let due = std::array::from_fn(|rank| timing.trefi * (rank as u64 + 1) / RANKS as u64);
        Self { due, owed: [0; RANKS], wanted: [None; RANKS], blocked: 0 }
    }

    /// The next cycle at which a refresh falls due.
    pub fn next_due(&self) -> u64 {
        self.due[0].min(self.due[1])
    }

    /// Counts the refreshes that have fallen due.
    pub fn fall_due(&mut self, cycle: u64, timing: &Timing) {
        for rank in 0..RANKS {
            while self.due[rank] <= cycle {
                self.due[rank] += timing.trefi;
                self.owed[rank] += 1;
            }
        }
    }

    /// Decides for each rank whether its refresh is now wanted; `busy` are the banks with pending requests.
    pub fn decide(&mut self, busy: u32, timing: &Timing) {
        for rank in 0..RANKS {
            if self.owed[rank] == 0 || self.wanted[rank].is_some() {
                continue;
            }
            if busy & banks_of(rank) == 0 {
                self.wanted[rank] = Some(Command::RefreshIdle);
            } else if self.owed[rank] >= timing.refresh_debt {
                self.wanted[rank] = Some(Command::RefreshForced);
            }
            if self.wanted[rank].is_some() {
                self.blocked |= banks_of(rank);
            }
        }
    }

    /// True if a rank owes refreshes, so that [`Refresh::decide`] could change something.
    pub fn is_owed(&self) -> bool {
        self.owed.iter().any(|&owed| owed != 0)
    }

    /// The ranks that are getting ready for a refresh.
    pub fn wanting(&self) -> impl Iterator<Item = usize> + use<> {
        let wanted = self.wanted;
        (0..RANKS).filter(move |&rank| wanted[rank].is_some())
    }

    /// Banks of the ranks that are getting ready: they take no other command.
    pub const fn blocked(&self) -> u32 {
        self.blocked
    }

    /// True if a rank owes a refresh.
    pub fn owes(&self, rank: usize) -> bool {
        self.owed[rank] != 0
    }

    /// True if a rank's refresh falls due by `cycle`.
    pub fn is_due(&self, rank: usize, cycle: u64) -> bool {
        self.due[rank] <= cycle
    }

    /// The ranks refresh themselves from now on. They owe nothing.
    pub fn suspend(&mut self) {
        self.due = [u64::MAX; RANKS];
    }

    /// The controller refreshes the ranks again.
    pub fn resume(&mut self, cycle: u64, timing: &Timing) {
        self.due = std::array::from_fn(|rank| cycle + timing.trefi * (rank as u64 + 1) / RANKS as u64);
    }

    /// The refresh of a rank goes out: says which kind it was.
    pub fn send(&mut self, rank: usize) -> Command {
        self.owed[rank] -= 1;
        self.blocked &= !banks_of(rank);
        self.wanted[rank].take().unwrap_or(Command::RefreshIdle)
    }
}
