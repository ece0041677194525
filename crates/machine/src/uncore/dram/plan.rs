//! The choice of the next command: first ready, then by kind, then by age (FR-FCFS).
//!
//! Each bank has at most one candidate in the lane that is served: a column command, an activate or a precharge. The best one of each of
//! these three steps is kept. A command raises the limits of its own step only and changes one bank, so that the others' best stay
//! what they were; a new candidate is compared with one. Where a best one must be looked for, that is one pass over the banks that are
//! at this step: cycle, age and bank of a candidate are packed into one number, and the least number wins.

use super::banks::{Banks, Limit, Step};
use super::layout::Layout;
use super::queue::{AGE_BITS, BANK_BITS, PendingQueue};
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

// A key is the action (from bit 41 on), age and bank. A packed candidate has the cycles from now above its age and bank; the parameters
// keep all waits below 2^20 cycles.

impl Action {
    /// What goes before what among commands of one cycle: action, age, bank.
    const fn key(self, age: u64) -> u64 {
        (self as u64) << AGE_BITS | age
    }
}

/// A command and when it goes out, if nothing else happens before.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub cycle: u64,
    key: u64,
}

impl Plan {
    /// Nothing to do.
    pub const SLEEP: Self = Self { cycle: u64::MAX, key: u64::MAX };
    /// Not made: too early for anything.
    const UNKNOWN: Self = Self { cycle: 0, key: 0 };

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
    pub const fn is_idle(&self) -> bool {
        self.key >= Action::PrechargeIdle.key(0)
    }

    /// The bank.
    #[inline(always)]
    pub const fn bank(&self) -> usize {
        (self.key % (1 << BANK_BITS)) as usize
    }

    /// The best of a step's candidates, from waits, ages and banks.
    #[inline(always)]
    const fn unpack(least: u64, floor: u64, action: Action) -> Self {
        Self { cycle: floor + (least >> AGE_BITS), key: action.key(least % (1 << AGE_BITS)) }
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

    /// Rows that nobody needs are closed after a while. Gives the earliest cycle at which one of them will be.
    #[inline(never)]
    pub fn offer_idle(&mut self, banks: &Banks, mut idle: u64, floor: u64, timing: &Timing) -> u64 {
        let mut next = u64::MAX;
        while idle != 0 {
            let bank = idle.trailing_zeros() as usize;
            idle &= idle - 1;
            let cycle =
                (banks.last_use[bank] + timing.page_idle).max(banks.ready[Step::Precharge as usize][bank]).max(floor);
            next = next.min(cycle);
            self.offer(Self { cycle, key: Action::PrechargeIdle.key(bank as u64) });
        }
        next
    }

    /// Ranks that want a refresh: close their rows, then refresh.
    #[inline(never)]
    pub fn offer_refresh(&mut self, banks: &Banks, refresh: &Refresh, floor: u64) {
        for rank in refresh.wanting() {
            let own = banks.layout.range(rank);
            let first = own.start as u64;
            let open = banks.open & banks.layout.banks_of(rank);
            let cycle = if open == 0 {
                banks.ready[Step::Activate as usize][own].iter().fold(floor, |at, &ready| at.max(ready))
            } else {
                let rows = own.filter(|bank| open >> bank & 1 == 1);
                rows.map(|bank| banks.ready[Step::Precharge as usize][bank]).fold(floor, u64::max)
            };
            self.offer(Self { cycle, key: Action::Refresh.key(first) });
        }
    }
}

impl Step {
    const fn action(self) -> Action {
        match self {
            Self::Column => Action::Column,
            Self::Activate => Action::Activate,
            Self::Precharge => Action::PrechargeMiss,
        }
    }
}

/// What a bank with requests is to be asked for next.
#[inline(always)]
const fn step_of(banks: &Banks, queue: &PendingQueue, bank: usize) -> Step {
    if queue.hits >> bank & 1 == 1 {
        Step::Column
    } else if banks.open >> bank & 1 == 1 {
        Step::Precharge
    } else {
        Step::Activate
    }
}

/// The candidate of a bank, from `floor` on.
#[inline(always)]
fn of_bank(lane: Lane, step: Step, banks: &Banks, queue: &PendingQueue, bank: usize, floor: u64) -> Plan {
    let ready = banks.ready[step as usize][bank].max(floor);
    let (cycle, slot) = match step {
        Step::Column => (ready.max(banks.limit(lane.limit(), bank)), queue.hit[bank]),
        Step::Activate => (ready.max(banks.limit(Limit::Activate, bank)), queue.head[bank]),
        Step::Precharge => (ready, queue.head[bank]),
    };
    Plan { cycle, key: step.action().key(queue.age(slot)) }
}

/// The best candidates of the lane that is served.
#[derive(Debug, Clone)]
pub struct Candidates {
    lane: Lane,
    /// Banks that are chosen from.
    some: u64,
    /// By [`Step`]. One that could have gone out before now may have been overtaken by an older one that was not ready then: it must be
    /// looked for, too.
    best: [Plan; Step::COUNT],
}

impl Candidates {
    /// Nothing is known yet.
    pub const fn new() -> Self {
        Self { lane: Lane::Reads, some: 0, best: [Plan::UNKNOWN; Step::COUNT] }
    }

    /// The lane that is served.
    pub const fn lane(&self) -> Lane {
        self.lane
    }

    /// The best candidate of a step may have gone, or is no longer ready when it was.
    #[inline(always)]
    pub const fn forget(&mut self, step: Step) {
        self.best[step as usize] = Plan::UNKNOWN;
    }

    /// A bank has no candidate at a step any more.
    #[inline(always)]
    pub fn leave(&mut self, step: Step, bank: usize) {
        if self.best[step as usize].bank() == bank {
            self.forget(step);
        }
    }

    /// A command has gone to a bank: it may have a candidate at another step.
    #[inline(always)]
    pub fn renew(&mut self, banks: &Banks, queues: &[PendingQueue; Lane::COUNT], bank: usize, floor: u64) {
        let queue = &queues[self.lane as usize];
        if queue.pending >> bank & 1 == 1 {
            let step = step_of(banks, queue, bank);
            // Another one is looked for in any case.
            if self.best[step as usize].cycle >= floor {
                self.offer(step, of_bank(self.lane, step, banks, queue, bank, floor));
            }
        }
    }

    /// A request has come that gives its bank a candidate, which is told.
    #[inline(always)]
    pub fn arrived(&mut self, lane: Lane, banks: &Banks, queue: &PendingQueue, bank: usize, floor: u64) -> Plan {
        let step = step_of(banks, queue, bank);
        let candidate = of_bank(lane, step, banks, queue, bank, floor);
        if self.lane as u8 == lane as u8 {
            self.leave(Step::Precharge, bank);
            self.offer(step, candidate);
        }
        candidate
    }

    #[inline(always)]
    fn offer(&mut self, step: Step, candidate: Plan) {
        if self.some >> candidate.bank() & 1 == 1 {
            self.best[step as usize].offer(candidate);
        }
    }

    /// The best candidate of a lane in some banks from `floor` on.
    #[inline(always)]
    pub fn best(&mut self, lane: Lane, some: u64, banks: &Banks, queue: &PendingQueue, floor: u64) -> Plan {
        if self.lane as u8 != lane as u8 || self.some != some {
            *self = Self { lane, some, ..Self::new() };
        }
        let waiting = queue.pending & some & !queue.hits;
        let (hits, closed, open) = (queue.hits & some, waiting & !banks.open, waiting & banks.open);
        let mut best = self.known_or(Step::Column, hits, floor, || look_for_column(lane, hits, banks, queue, floor));
        best.offer(self.known_or(Step::Activate, closed, floor, || look_for_activate(closed, banks, queue, floor)));
        best.offer(self.known_or(Step::Precharge, open, floor, || look_for_precharge(open, banks, queue, floor)));
        best
    }

    /// The best candidate of a step, which these banks are at.
    #[inline(always)]
    fn known_or(&mut self, step: Step, at: u64, floor: u64, look: impl FnOnce() -> Plan) -> Plan {
        let best = &mut self.best[step as usize];
        if best.cycle < floor {
            *best = if at == 0 { Plan::SLEEP } else { look() };
        }
        *best
    }
}

/// Finds the best precharge in the way of a request among banks.
#[inline(always)]
fn look_for_precharge(mut left: u64, banks: &Banks, queue: &PendingQueue, floor: u64) -> Plan {
    let ready = &banks.ready[Step::Precharge as usize];
    let mut least = u64::MAX;
    while left != 0 {
        let bank = left.trailing_zeros() as usize;
        left &= left - 1;
        least = least.min((ready[bank].max(floor) - floor) << AGE_BITS | queue.age(queue.head[bank]));
    }
    Plan::unpack(least, floor, Action::PrechargeMiss)
}

#[inline(always)]
fn look_for_activate(left: u64, banks: &Banks, queue: &PendingQueue, floor: u64) -> Plan {
    let least = least(left, banks, Step::Activate, Limit::Activate, floor, |bank| queue.age(queue.head[bank]));
    Plan::unpack(least, floor, Action::Activate)
}

#[inline(always)]
fn look_for_column(lane: Lane, left: u64, banks: &Banks, queue: &PendingQueue, floor: u64) -> Plan {
    let least = least(left, banks, Step::Column, lane.limit(), floor, |bank| queue.age(queue.hit[bank]));
    Plan::unpack(least, floor, Action::Column)
}

#[inline(always)]
fn least(mut left: u64, banks: &Banks, step: Step, limit: Limit, floor: u64, age: impl Fn(usize) -> u64) -> u64 {
    let ready = &banks.ready[step as usize];
    let from = floor.max(banks.of_channel(limit));
    let mut least = u64::MAX;
    while left != 0 {
        let bank = left.trailing_zeros() as usize;
        left &= left - 1;
        let rank = banks.of_rank(limit, banks.layout.rank_of(bank));
        let at = ready[bank].max(rank).max(banks.of_group(limit, bank)).max(from);
        least = least.min((at - floor) << AGE_BITS | age(bank));
    }
    least
}

#[cfg(test)]
mod tests {
    use super::super::timing::Timing;
    use super::{Action, Banks, Candidates, Lane, PendingQueue};

    /// The candidates of everything in a queue.
    fn candidates(banks: &Banks, queue: &PendingQueue) -> Candidates {
        let mut candidates = Candidates::new(Lane::Reads);
        (0..64).for_each(|bank| candidates.update(banks, queue, bank));
        candidates
    }

    #[test]
    fn a_row_hit_goes_before_an_older_miss_if_both_are_ready() {
        let timing = Timing::ddr3_1600();
        let (mut banks, mut queue) = (Banks::new(&timing), PendingQueue::new());
        banks.activated(3, 7, 0, &timing);
        queue.push(1, 5, 1, 0, 1, 0);
        let slot = queue.push(2, 3, 7, 0, 2, 0);
        queue.note_hit(3, slot, 7, 0);
        let candidates = candidates(&banks, &queue);
        for (floor, expected) in [(1, (5, 5, Action::Activate)), (20, (20, 3, Action::Column))] {
            // The activate of bank 5 is ready after tRRD, the read of bank 3 after tRCD.
            let plan = candidates.best(u64::MAX, &banks.limits, floor);
            assert_eq!((plan.cycle, plan.bank(), plan.action), expected);
        }
        let only = candidates.best(1 << 5, &banks.limits, 20);
        assert_eq!((only.bank(), only.action), (5, Action::Activate));
        assert_eq!(candidates.best(1, &banks.limits, 20).cycle, u64::MAX);
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
        let candidates = candidates(&banks, &queue);
        let plan = |some| {
            let plan = candidates.best(some, &banks.limits, 101);
            (plan.cycle, plan.bank())
        };
        // tCCD_S is 4, tCCD_L is 8.
        assert_eq!(plan(u64::MAX), (104, 1));
        assert_eq!(plan(1 << 4), (108, 4));
    }
}
