//! The choice of the next command: first ready, then by kind, then by age (FR-FCFS).
//!
//! Each bank has at most one candidate for a lane: its row hit, an activate, or a precharge. Which it is follows from masks of banks,
//! which are kept up to date as requests and commands come. The banks of a group share the limits of group and rank, so that a group
//! that cannot beat what has been found already is passed over as a whole; within one, the earliest cycle, the age and the bank of a
//! candidate are packed into one number, and the least number wins.

use super::banks::{Banks, Limit};
use super::layout::Layout;
use super::queue::{BANK_BITS, PendingQueue};
use super::refresh::Refresh;
use super::timing::Timing;

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
}

impl Lane {
    /// How many there are.
    pub const COUNT: usize = 3;
    /// All of them.
    pub const ALL: [Self; Self::COUNT] = [Self::Reads, Self::Writes, Self::Underfills];

    const fn limit(self) -> Limit {
        match self {
            Self::Reads | Self::Underfills => Limit::Read,
            Self::Writes => Limit::Write,
        }
    }
}

/// What to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Read or write of an entry that the open row serves.
    Column,
    /// Open the row of the oldest entry of the bank.
    Activate,
    /// Close a row that is in the way of an entry.
    PrechargeMiss,
    /// Close a row that nobody needs.
    PrechargeIdle,
    /// Close all rows of the bank's rank.
    PrechargeAll,
    /// Refresh the bank's rank.
    Refresh,
}

impl Action {
    /// Place among commands that can go out in the same cycle.
    const fn urgency(self) -> u64 {
        match self {
            Self::PrechargeAll | Self::Refresh => 0,
            Self::Column => 1,
            Self::Activate => 2,
            Self::PrechargeMiss => 3,
            Self::PrechargeIdle => 4,
        }
    }

    /// What goes before what among commands of one cycle: urgency, age, bank.
    const fn key(self, age: u64) -> u64 {
        self.urgency() << AGE_BITS | age
    }
}

/// A command and when it goes out, if nothing else happens before.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub cycle: u64,
    pub action: Action,
    /// The queue that is served, for commands that serve one.
    pub lane: Lane,
    key: u64,
}

// A packed candidate: cycles from now (20 bits), age and bank (44). The parameters keep all waits below 2^20 cycles.
const AGE_BITS: u32 = 44;

/// What a lane has for the banks of one kind.
struct Kind<'a> {
    action: Action,
    banks: u64,
    ready: &'a [u64; Layout::BANKS],
    ages: &'a [u64; Layout::BANKS],
    /// What limits it beyond the bank.
    limit: Option<Limit>,
}

impl Plan {
    /// Nothing to do.
    pub const SLEEP: Self = Self { cycle: u64::MAX, action: Action::PrechargeIdle, lane: Lane::Reads, key: u64::MAX };

    /// The bank.
    pub const fn bank(&self) -> usize {
        (self.key % (1 << BANK_BITS)) as usize
    }

    /// The best candidate for some banks of a lane from `floor` on.
    pub fn best(banks: &Banks, queue: &PendingQueue, lane: Lane, allowed: u64, floor: u64) -> Self {
        let pending = queue.pending & allowed;
        let (hits, open) = (queue.hits & pending, banks.open & pending);
        let mut plan = Self { lane, ..Self::SLEEP };
        for kind in [
            Kind {
                action: Action::Column,
                banks: hits,
                ready: &banks.column,
                ages: &queue.hit_age,
                limit: Some(lane.limit()),
            },
            Kind {
                action: Action::Activate,
                banks: pending & !open,
                ready: &banks.activate,
                ages: &queue.head_age,
                limit: Some(Limit::Activate),
            },
            Kind {
                action: Action::PrechargeMiss,
                banks: open & !hits,
                ready: &banks.precharge,
                ages: &queue.head_age,
                limit: None,
            },
        ] {
            plan.consider(banks, &kind, floor);
        }
        plan
    }

    /// Takes the best candidate of a kind if it comes first. Kinds must be offered in the order of their urgency.
    #[inline(always)]
    fn consider(&mut self, banks: &Banks, kind: &Kind<'_>, floor: u64) {
        // What is less urgent must come earlier.
        let mut before = self.cycle;
        let mut left = kind.banks;
        while left != 0 {
            let mut members = left;
            let mut from = floor;
            if let Some(limit) = kind.limit {
                let first = left.trailing_zeros() as usize;
                let (rank, group) = (banks.layout.rank_of(first), banks.layout.group_of(first));
                members &= banks.layout.banks_of_group(group);
                from = from.max(banks.limit(limit, rank, group));
            }
            left &= !members;
            if from >= before {
                continue;
            }
            let mut least = u64::MAX;
            while members != 0 {
                let bank = members.trailing_zeros() as usize;
                members &= members - 1;
                least = least.min((kind.ready[bank].max(from) - from) << AGE_BITS | kind.ages[bank]);
            }
            let (cycle, key) = (from + (least >> AGE_BITS), kind.action.key(least % (1 << AGE_BITS)));
            if (cycle, key) < (self.cycle, self.key) {
                (self.cycle, self.key, self.action) = (cycle, key, kind.action);
                // Of the same kind, an older one of another group may still win in this cycle.
                before = before.min(cycle + 1);
            }
        }
    }

    /// Takes another plan if it comes first.
    pub fn offer(&mut self, other: Self) {
        if (other.cycle, other.key) < (self.cycle, self.key) {
            *self = other;
        }
    }

    /// Rows that nobody needs are closed after a while. Gives the earliest cycle at which one of them will be.
    pub fn offer_idle(&mut self, banks: &Banks, mut idle: u64, floor: u64, timing: &Timing) -> u64 {
        let mut next = u64::MAX;
        let action = Action::PrechargeIdle;
        while idle != 0 {
            let bank = idle.trailing_zeros() as usize;
            idle &= idle - 1;
            let cycle = (banks.last_use[bank] + timing.page_idle).max(banks.precharge[bank]).max(floor);
            next = next.min(cycle);
            self.offer(Self { cycle, action, lane: Lane::Reads, key: action.key(bank as u64) });
        }
        next
    }

    /// Ranks that want a refresh: close their rows, then refresh.
    pub fn offer_refresh(&mut self, banks: &Banks, refresh: &Refresh, floor: u64) {
        for rank in refresh.wanting() {
            let own = banks.layout.range(rank);
            let first = own.start as u64;
            let open = banks.open & banks.layout.banks_of(rank);
            let (cycle, action) = if open == 0 {
                (banks.activate[own].iter().fold(floor, |at, &ready| at.max(ready)), Action::Refresh)
            } else {
                let ready = own.filter(|bank| open >> bank & 1 == 1).map(|bank| banks.precharge[bank]);
                (ready.fold(floor, u64::max), Action::PrechargeAll)
            };
            self.offer(Self { cycle, action, lane: Lane::Reads, key: action.key(first) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::timing::Timing;
    use super::{Action, Banks, Lane, PendingQueue, Plan};

    #[test]
    fn a_row_hit_goes_before_an_older_miss_if_both_are_ready() {
        let timing = Timing::ddr3_1600();
        let (mut banks, mut queue) = (Banks::new(&timing), PendingQueue::new());
        banks.activated(3, 7, 0, &timing);
        queue.push(1, 5, 1, 0, 1, 0);
        let slot = queue.push(2, 3, 7, 0, 2, 0);
        queue.note_hit(3, slot, 7, 0);
        let plan = |allowed, floor| {
            let plan = Plan::best(&banks, &queue, Lane::Reads, allowed, floor);
            (plan.cycle, plan.bank(), plan.action)
        };
        // The activate of bank 5 is ready after tRRD, the read of bank 3 after tRCD.
        assert_eq!(plan(u64::MAX, 1), (5, 5, Action::Activate));
        assert_eq!(plan(u64::MAX, 20), (20, 3, Action::Column));
        assert_eq!(plan(1 << 5, 20), (20, 5, Action::Activate));
        assert_eq!(plan(0, 20).0, u64::MAX);
    }

    #[test]
    fn another_bank_group_goes_before_an_older_request_of_the_same_one() {
        let timing = Timing::ddr4_3200();
        let (mut banks, mut queue) = (Banks::new(&timing), PendingQueue::new());
        // Banks 0 and 4 are of one group, bank 1 is of the next.
        for (bank, cycle) in [(0, 0), (4, 8), (1, 16)] {
            banks.activated(bank, 7, cycle, &timing);
            let slot = queue.push(bank as u32, bank, 7, 0, bank as u64, cycle);
            queue.note_hit(bank, slot, 7, 0);
        }
        banks.read(0, 100, &timing);
        queue.remove(0, 0);
        queue.choose_hit(0, 7, 0);
        let plan = |allowed| {
            let plan = Plan::best(&banks, &queue, Lane::Reads, allowed, 101);
            (plan.cycle, plan.bank())
        };
        // tCCD_S is 4, tCCD_L is 8.
        assert_eq!(plan(u64::MAX), (104, 1));
        assert_eq!(plan(1 << 4), (108, 4));
    }

    #[test]
    fn of_two_groups_that_are_ready_together_the_older_request_goes_first() {
        let timing = Timing::ddr4_3200();
        let (banks, mut queue) = (Banks::new(&timing), PendingQueue::new());
        for (sequence, bank) in [(9, 0), (4, 3), (6, 17)] {
            queue.push(bank as u32, bank, 1, 0, sequence, 0);
        }
        let plan = Plan::best(&banks, &queue, Lane::Reads, u64::MAX, 50);
        assert_eq!((plan.cycle, plan.bank(), plan.action), (50, 3, Action::Activate));
    }
}
