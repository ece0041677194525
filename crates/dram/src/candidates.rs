//! The choice of the next command of a lane: first ready, then by kind, then by age (FR-FCFS).
//!
//! Each bank has at most one candidate in the lane that is served: a column command, an activate or a precharge. The best one of each of
//! these three steps is kept. A command raises the limits of its own step only and changes one bank, so that the others' best stay
//! what they were; a new candidate is compared with one. Where a best one must be looked for, that is one pass over the banks that are
//! at this step: wait, age and bank of a candidate are packed into one number, and the least number wins. Nothing here branches
//! on which candidate is the better one, since nothing could predict that.

use super::banks::{Banks, Limit, Step};
use super::plan::{Action, Lane, Plan};
use super::queue::{AGE_BITS, PendingQueue};

/// The best candidates of the lane that is served.
#[derive(Debug, Clone)]
pub struct Candidates {
    lane: Lane,
    /// Banks that are chosen from.
    some: u64,
    /// From when on the best ones are the best.
    floor: u64,
    /// By [`Step`]. One that could have gone out before now may have been overtaken by an older one that was not ready then: it must be
    /// looked for again.
    best: [Plan; Step::COUNT],
}

impl Candidates {
    /// Nothing is known yet.
    pub const fn new() -> Self {
        Self { lane: Lane::Reads, some: 0, floor: 0, best: [Plan::UNKNOWN; Step::COUNT] }
    }

    /// The lane that is served.
    #[inline(always)]
    pub const fn lane(&self) -> Lane {
        self.lane
    }

    /// The limits of a step have been raised.
    #[inline(always)]
    pub const fn forget(&mut self, step: Step) {
        self.best[step as usize] = Plan::UNKNOWN;
    }

    /// A bank's row is closed.
    #[inline(always)]
    pub const fn closed(&mut self, bank: usize) {
        self.leave(Step::Precharge, bank);
        self.leave(Step::Column, bank);
    }

    #[inline(always)]
    const fn leave(&mut self, step: Step, bank: usize) {
        if self.best[step as usize].bank() == bank {
            self.forget(step);
        }
    }

    /// A command has gone to a bank: from `floor` on it may have another candidate.
    #[inline(always)]
    pub fn renew(&mut self, banks: &Banks, queues: &[PendingQueue; Lane::COUNT], bank: usize, floor: u64) {
        let queue = &queues[self.lane as usize];
        if queue.pending >> bank & 1 == 1 {
            let step = step_of(banks, queue, bank);
            self.offer(step, of_bank(self.lane, step, banks, queue, bank, floor));
        }
    }

    /// A request has come that gives its bank another candidate, which is told.
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
        if self.lane as u8 != lane as u8 || self.some != some || self.floor > floor {
            *self = Self { lane, some, ..Self::new() };
        }
        self.floor = floor;
        let (hits, waiting) = (queue.hits & some, queue.pending & some & !queue.hits);
        let (open, closed) = (waiting & banks.open, waiting & !banks.open);
        let column = || best_gated(lane.limit(), hits, banks, floor, |bank| queue.age_of_hit(bank));
        let mut best = self.known_or(Step::Column, hits, floor, column);
        let activate = || best_gated(Limit::Activate, closed, banks, floor, |bank| queue.age_of_oldest(bank));
        best.offer(self.known_or(Step::Activate, closed, floor, activate));
        let precharge = || best_precharge(open, banks, floor, |bank| queue.age_of_oldest(bank));
        best.offer(self.known_or(Step::Precharge, open, floor, precharge));
        best
    }

    /// The best candidate of a step, at which these banks are.
    #[inline(always)]
    fn known_or(&mut self, step: Step, there: u64, floor: u64, look: impl FnOnce() -> Plan) -> Plan {
        let best = &mut self.best[step as usize];
        if best.cycle < floor {
            *best = if there == 0 { Plan::SLEEP } else { look() };
        }
        *best
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
    let ready = banks.ready(step, bank).max(floor);
    let gated = |limit| ready.max(banks.of_channel(limit)).max(banks.of_rank(limit, bank));
    let (cycle, key) = match step {
        Step::Column => (gated(lane.limit()), Action::Column.key(queue.age_of_hit(bank))),
        Step::Activate => (gated(Limit::Activate), Action::Activate.key(queue.age_of_oldest(bank))),
        Step::Precharge => (ready, Action::PrechargeMiss.key(queue.age_of_oldest(bank))),
    };
    Plan { cycle, key }
}

/// The best candidate for a step that is limited beyond the banks.
#[inline(always)]
fn best_gated(limit: Limit, some: u64, banks: &Banks, floor: u64, age: impl Fn(usize) -> u64) -> Plan {
    let (step, action) = match limit {
        Limit::Activate => (Step::Activate, Action::Activate),
        Limit::Read | Limit::Write => (Step::Column, Action::Column),
    };
    let from = banks.of_channel(limit).max(floor);
    best_of(some, floor, action, |bank| (banks.ready(step, bank).max(banks.of_rank(limit, bank)).max(from), age(bank)))
}

#[inline(always)]
fn best_precharge(some: u64, banks: &Banks, floor: u64, age: impl Fn(usize) -> u64) -> Plan {
    best_of(some, floor, Action::PrechargeMiss, |bank| (banks.ready(Step::Precharge, bank).max(floor), age(bank)))
}

/// The best candidate of some banks, of which there is at least one; `candidate` gives a bank's cycle, which is not before `floor`, and age.
#[inline(always)]
fn best_of(mut some: u64, floor: u64, action: Action, candidate: impl Fn(usize) -> (u64, u64)) -> Plan {
    let mut least = u64::MAX;
    while some != 0 {
        let bank = some.trailing_zeros() as usize;
        some &= some - 1;
        let (cycle, age) = candidate(bank);
        // The parameters keep all waits below 2^20 cycles.
        least = least.min((cycle - floor) << AGE_BITS | age);
    }
    Plan { cycle: floor + (least >> AGE_BITS), key: action.key(least % (1 << AGE_BITS)) }
}

#[cfg(test)]
mod tests {
    use super::super::timing::Timing;
    use super::{Action, Banks, Candidates, Lane, PendingQueue};
    use crate::arrival::Arrival;
    use crate::facts::Pending;

    fn read(line: u32, bank: u8, row: u32, cycle: u64) -> Arrival {
        Arrival { cycle, owner: 0, line, bank, row, queue: Pending::Reads, partial: false, isochronous: false }
    }

    #[test]
    fn a_row_hit_goes_before_an_older_miss_if_both_are_ready() {
        let timing = Timing::ddr3_1600();
        let (mut banks, mut queue) = (Banks::new(&timing), PendingQueue::new());
        banks.activated(3, 7, 0, &timing);
        queue.push(&read(1, 5, 1, 0), 1);
        let slot = queue.push(&read(2, 3, 7, 0), 2);
        queue.note_hit(3, slot, 7, 0);
        let best = |some, floor| Candidates::new().best(Lane::Reads, some, &banks, &queue, floor);
        for (floor, expected) in [(1, (5, 5, Action::Activate)), (20, (20, 3, Action::Column))] {
            // The activate of bank 5 is ready after tRRD, the read of bank 3 after tRCD.
            let plan = best(u64::MAX, floor);
            assert_eq!((plan.cycle, plan.bank(), plan.action()), expected);
        }
        let only = best(1 << 5, 20);
        assert_eq!((only.bank(), only.action()), (5, Action::Activate));
        assert_eq!(best(1, 20).cycle, u64::MAX);
    }

    #[test]
    fn another_bank_group_goes_before_an_older_request_of_the_same_one() {
        let timing = Timing::ddr4_3200();
        let (mut banks, mut queue) = (Banks::new(&timing), PendingQueue::new());
        // Banks 0 and 4 are of one group, bank 1 is of the next.
        for (bank, cycle) in [(0, 0), (4, 8), (1, 16)] {
            banks.activated(bank, 7, cycle, &timing);
            let slot = queue.push(&read(bank as u32, bank as u8, 7, cycle), bank as u64);
            queue.note_hit(bank, slot, 7, 0);
        }
        banks.read(0, 100, &timing);
        queue.take_hit(0);
        queue.choose_hit(0, 7, 0);
        let best = |some| {
            let plan = Candidates::new().best(Lane::Reads, some, &banks, &queue, 101);
            (plan.cycle, plan.bank())
        };
        // tCCD_S is 4, tCCD_L is 8.
        assert_eq!(best(u64::MAX), (104, 1));
        assert_eq!(best(1 << 4), (108, 4));
    }
}
