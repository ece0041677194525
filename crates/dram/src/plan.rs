//! What can be sent, and what goes first: what is ready first, then by kind, then by age (FR-FCFS).

use super::banks::{Banks, Limit, Step};
use super::queue::{AGE_BITS, BANK_BITS};
use super::refresh::Refresh;

/// What is served at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Lane {
    /// Reads.
    Reads,
    /// Writes whose line is complete.
    Writes,
    /// Reads that complete a line for a partial write.
    Underfills,
    /// Reads with a deadline.
    Isochronous,
}

impl Lane {
    /// How many there are.
    pub const COUNT: usize = 4;
    /// All of them.
    pub const ALL: [Self; Self::COUNT] = [Self::Reads, Self::Writes, Self::Underfills, Self::Isochronous];

    #[inline(always)]
    pub(super) const fn limit(self) -> Limit {
        match self {
            Self::Reads | Self::Underfills | Self::Isochronous => Limit::Read,
            Self::Writes => Limit::Write,
        }
    }
}

/// What to send; what comes first here goes before what comes later if both can go out in the same cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Action {
    /// Close all rows of the bank's rank, or refresh it if none is open.
    Refresh,
    /// Read or write of an entry that the open row serves.
    Column,
    /// Open the row of the oldest entry of the bank.
    Activate,
    /// Close a row that is in the way of an entry.
    PrechargeMiss,
    /// Close a row that nobody needs.
    PrechargeIdle,
    /// Nothing yet: look for rows that nobody needs any more.
    Look,
}

// A key is the action, age and bank. A packed candidate has the cycles from now in the action's place: the parameters keep all waits below
// 2^20 cycles.

impl Action {
    /// What goes before what among commands of one cycle: action, age, bank.
    #[inline(always)]
    pub(super) const fn key(self, age: u64) -> u64 {
        (self as u64) << AGE_BITS | age
    }
}

/// A command and when it goes out, if nothing else happens before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    pub cycle: u64,
    pub(super) key: u64,
}

impl Plan {
    /// Nothing to do.
    pub const SLEEP: Self = Self { cycle: u64::MAX, key: u64::MAX };
    /// Not known: too early for anything, since nothing is sent in cycle 0.
    pub(super) const UNKNOWN: Self = Self { cycle: 0, key: 0 };

    /// Nothing before `cycle`, when there may be a row that nobody needs any more.
    pub const fn look(cycle: u64) -> Self {
        Self { cycle, key: Action::Look.key(0) }
    }

    /// What to send.
    #[inline(always)]
    pub const fn action(&self) -> Action {
        match self.key >> AGE_BITS {
            0 => Action::Refresh,
            1 => Action::Column,
            2 => Action::Activate,
            3 => Action::PrechargeMiss,
            4 => Action::PrechargeIdle,
            _ => Action::Look,
        }
    }

    /// True if no request is served.
    #[inline(always)]
    pub const fn is_idle(&self) -> bool {
        self.key >= Action::PrechargeIdle.key(0)
    }

    /// The bank.
    #[inline(always)]
    pub const fn bank(&self) -> usize {
        (self.key % (1 << BANK_BITS)) as usize
    }

    /// The same, not before `floor`.
    pub fn not_before(self, floor: u64) -> Self {
        Self { cycle: self.cycle.max(floor), ..self }
    }

    /// Takes another plan if it comes first.
    #[inline(always)]
    pub fn offer(&mut self, other: Self) {
        // One comparison of both numbers together: no branch, which nothing could predict.
        let least = self.order().min(other.order());
        *self = Self { cycle: (least >> u64::BITS) as u64, key: least as u64 };
    }

    /// What goes before what.
    #[inline(always)]
    const fn order(self) -> u128 {
        (self.cycle as u128) << u64::BITS | self.key as u128
    }

    /// Ranks that want a refresh: close their rows, then refresh.
    #[inline(never)]
    pub fn offer_refresh(&mut self, banks: &Banks, refresh: &Refresh, floor: u64) {
        for rank in refresh.wanting() {
            let own = banks.layout.range(rank);
            let first = own.start as u64;
            let open = banks.open & banks.layout.banks_of(rank);
            let cycle = if open == 0 {
                own.map(|bank| banks.ready(Step::Activate, bank)).fold(floor, u64::max)
            } else {
                let rows = own.filter(|bank| open >> bank & 1 == 1);
                rows.map(|bank| banks.ready(Step::Precharge, bank)).fold(floor, u64::max)
            };
            self.offer(Self { cycle, key: Action::Refresh.key(first) });
        }
    }
}
