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
    /// Nothing yet: look for rows that nobody needs any more.
    Look,
}

impl Action {
    /// Place among commands that can go out in the same cycle.
    const fn urgency(self) -> u64 {
        match self {
            Self::PrechargeAll | Self::Refresh => 0,
            Self::Column => 1,
            Self::Activate => 2,
            Self::PrechargeMiss => 3,
            Self::PrechargeIdle | Self::Look => 4,
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

// A packed candidate: cycles from now (20 bits), urgency (3), age and bank (41). The parameters keep all waits below 2^20 cycles.
const WAIT_SHIFT: u32 = AGE_BITS + 3;
const NOBODY: u64 = u64::MAX;

impl Step {
    const fn action(self) -> Action {
        match self {
            Self::Column => Action::Column,
            Self::Activate => Action::Activate,
            Self::Precharge => Action::PrechargeMiss,
        }
    }
}

/// A candidate: when it is ready, and what goes before what.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    cycle: u64,
    key: u64,
}

impl Candidate {
    const NONE: Self = Self { cycle: u64::MAX, key: u64::MAX };
    /// The best of its step must be looked for: ready before any other, and always too early.
    const UNKNOWN: Self = Self { cycle: 0, key: 0 };

    #[inline(always)]
    const fn offer(&mut self, other: Self) {
        if other.cycle < self.cycle || other.cycle == self.cycle && other.key < self.key {
            *self = other;
        }
    }

    #[inline(always)]
    const fn plan(self, lane: Lane) -> Plan {
        let action = match self.key >> AGE_BITS {
            1 => Action::Column,
            2 => Action::Activate,
            _ => Action::PrechargeMiss,
        };
        Plan { cycle: self.cycle, action, lane, key: self.key }
    }
}

/// The bank in an age or a key.
const fn bank_of(key: u64) -> usize {
    (key % (1 << BANK_BITS)) as usize
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
fn of_bank(lane: Lane, step: Step, banks: &Banks, queue: &PendingQueue, bank: usize, floor: u64) -> Candidate {
    let ready = banks.ready[step as usize][bank].max(floor);
    let (cycle, slot) = match step {
        Step::Column => (ready.max(banks.limit(lane.limit(), bank)), queue.hit[bank]),
        Step::Activate => (ready.max(banks.limit(Limit::Activate, bank)), queue.head[bank]),
        Step::Precharge => (ready, queue.head[bank]),
    };
    Candidate { cycle, key: step.action().key(queue.age(slot)) }
}

/// The best candidates of the lane that is served.
#[derive(Debug, Clone)]
pub struct Candidates {
    lane: Lane,
    /// Banks that are chosen from.
    some: u64,
    /// By [`Step`]. One that could have gone out before now may have been overtaken by an older one that was not ready then: it must be
    /// looked for, too.
    best: [Candidate; Step::COUNT],
}

impl Candidates {
    /// Nothing is known yet.
    pub const fn new() -> Self {
        Self { lane: Lane::Reads, some: 0, best: [Candidate::UNKNOWN; Step::COUNT] }
    }

    /// The best candidate of a step may have gone, or is no longer ready when it was.
    #[inline(always)]
    pub const fn forget(&mut self, step: Step) {
        self.best[step as usize] = Candidate::UNKNOWN;
    }

    /// A bank has no candidate at a step any more.
    #[inline(always)]
    pub fn leave(&mut self, step: Step, bank: usize) {
        if bank_of(self.best[step as usize].key) == bank {
            self.forget(step);
        }
    }

    /// A command has gone to a bank: it may have a candidate at another step.
    #[inline(always)]
    pub fn renew(&mut self, banks: &Banks, queues: &[PendingQueue; Lane::COUNT], bank: usize, floor: u64) {
        let queue = &queues[self.lane as usize];
        if queue.pending >> bank & 1 == 1 {
            let step = step_of(banks, queue, bank);
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
        candidate.plan(lane)
    }

    #[inline(always)]
    fn offer(&mut self, step: Step, candidate: Candidate) {
        if self.some >> bank_of(candidate.key) & 1 == 1 {
            self.best[step as usize].offer(candidate);
        }
    }

    /// The best candidate of a lane in some banks from `floor` on.
    #[inline(always)]
    pub fn best(&mut self, lane: Lane, some: u64, banks: &Banks, queue: &PendingQueue, floor: u64) -> Plan {
        if self.lane as u8 != lane as u8 || self.some != some {
            *self = Self { lane, some, ..Self::new() };
        }
        let column = self.best[Step::Column as usize];
        let mut best = if column.cycle >= floor { column } else { Candidate::NONE };
        // What is less urgent does not come before what can go out at once.
        if best.cycle != floor {
            let waiting = queue.pending & some & !queue.hits;
            best.offer(self.known_or(Step::Activate, waiting & !banks.open, banks, queue, floor));
            if best.cycle != floor {
                best.offer(self.known_or(Step::Precharge, waiting & banks.open, banks, queue, floor));
            }
        }
        if column.cycle < floor && banks.of_channel(lane.limit()) <= best.cycle {
            best.offer(self.known_or(Step::Column, queue.hits & some, banks, queue, floor));
        }
        best.plan(lane)
    }

    /// The best candidate of a step, which these banks are at.
    #[inline(always)]
    fn known_or(&mut self, step: Step, at: u64, banks: &Banks, queue: &PendingQueue, floor: u64) -> Candidate {
        let best = &mut self.best[step as usize];
        if best.cycle < floor {
            *best = look(self.lane, step, at, banks, queue, floor);
        }
        *best
    }
}

/// Finds the best candidate of a step among banks.
#[inline(always)]
fn look(lane: Lane, step: Step, mut left: u64, banks: &Banks, queue: &PendingQueue, floor: u64) -> Candidate {
    let ready = &banks.ready[step as usize];
    let slots = if step as usize == Step::Column as usize { &queue.hit } else { &queue.head };
    let mut least = NOBODY;
    let mut take = |bank: usize, at: u64| least = least.min((at - floor) << WAIT_SHIFT | queue.age(slots[bank]));
    if step as usize == Step::Precharge as usize {
        while left != 0 {
            let bank = left.trailing_zeros() as usize;
            left &= left - 1;
            take(bank, ready[bank].max(floor));
        }
    } else {
        let limit = if step as usize == Step::Column as usize { lane.limit() } else { Limit::Activate };
        let from = floor.max(banks.of_channel(limit));
        while left != 0 {
            let rank = banks.layout.rank_of(left.trailing_zeros() as usize);
            let mut own = left & banks.layout.banks_of(rank);
            left ^= own;
            let from = from.max(banks.of_rank(limit, rank));
            while own != 0 {
                let bank = own.trailing_zeros() as usize;
                own &= own - 1;
                take(bank, ready[bank].max(banks.of_group(limit, bank)).max(from));
            }
        }
    }
    if least == NOBODY {
        return Candidate::NONE;
    }
    let age = least % (1 << AGE_BITS);
    Candidate { cycle: floor + (least >> WAIT_SHIFT), key: step.action().key(age) }
}

impl Plan {
    /// Nothing to do.
    pub const SLEEP: Self = Self { cycle: u64::MAX, action: Action::PrechargeIdle, lane: Lane::Reads, key: u64::MAX };

    /// The same, not before `floor`.
    pub fn not_before(self, floor: u64) -> Self {
        Self { cycle: self.cycle.max(floor), ..self }
    }

    /// The bank.
    pub const fn bank(&self) -> usize {
        bank_of(self.key)
    }

    /// Nothing before `cycle`, when there may be a row that nobody needs any more.
    pub const fn look(cycle: u64) -> Self {
        Self { cycle, action: Action::Look, lane: Lane::Reads, key: Action::Look.key(0) }
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
            let cycle =
                (banks.last_use[bank] + timing.page_idle).max(banks.ready[Step::Precharge as usize][bank]).max(floor);
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
                (
                    banks.ready[Step::Activate as usize][own].iter().fold(floor, |at, &ready| at.max(ready)),
                    Action::Refresh,
                )
            } else {
                let ready =
                    own.filter(|bank| open >> bank & 1 == 1).map(|bank| banks.ready[Step::Precharge as usize][bank]);
                (ready.fold(floor, u64::max), Action::PrechargeAll)
            };
            self.offer(Self { cycle, action, lane: Lane::Reads, key: action.key(first) });
        }
    }
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
