//! The choice of the next command: first ready, then by kind, then by age (FR-FCFS).
//!
//! Each bank has at most one candidate for each lane, kept up to date as requests and commands come. A choice is then one pass over
//! the banks with candidates and without further branches: the earliest cycle, the urgency, the age and the bank of a candidate are
//! packed into one number, and the least number wins.

use super::banks::{Banks, Limit, Limits, Step};
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

/// The keys of a bank's candidate but for its age, by [`Step`].
const KEYS: [u64; Step::COUNT] = [Action::Activate.key(0), Action::PrechargeMiss.key(0), Action::Column.key(0)];

/// The candidates of one lane, by bank.
#[derive(Debug, Clone)]
pub struct Candidates {
    lane: Lane,
    /// The gates of the first group, by [`Step`].
    gates: [u8; Step::COUNT],
    /// When the bank itself is ready.
    ready: [u64; Layout::BANKS],
    /// Urgency, age and bank.
    key: [u64; Layout::BANKS],
    /// Which limit beyond the bank holds: the index into [`Limits`].
    gate: [u8; Layout::BANKS],
    /// Banks with a candidate.
    present: u64,
}

impl Candidates {
    pub const fn new(lane: Lane) -> Self {
        let gates = [Limit::Activate.gate(0) as u8, Limit::None.gate(0) as u8, lane.limit().gate(0) as u8];
        Self { lane, gates, ready: [0; Layout::BANKS], key: [0; Layout::BANKS], gate: [0; Layout::BANKS], present: 0 }
    }

    /// Works out a bank's candidate anew, after a command to the bank or a change of the queue.
    #[inline(always)]
    pub fn update(&mut self, banks: &Banks, queue: &PendingQueue, bank: usize) {
        if (self.present | queue.pending) >> bank & 1 == 1 {
            self.renew(banks, queue, bank);
        }
    }

    fn renew(&mut self, banks: &Banks, queue: &PendingQueue, bank: usize) {
        self.present = self.present & !(1 << bank) | queue.pending & 1 << bank;
        let (hit, age) = queue.next_of(bank);
        // A closed bank has no hit.
        let step = ((banks.open >> bank & 1) as usize + usize::from(hit)) % Step::COUNT;
        self.ready[bank] = banks.ready[step][bank];
        self.key[bank] = KEYS[step] | age;
        self.gate[bank] = self.gates[step] + banks.layout.group_of(bank) as u8;
    }

    /// The best candidate of some banks from `floor` on.
    #[inline]
    pub fn best(&self, some: u64, limits: &Limits, floor: u64) -> Plan {
        let mut least = NOBODY;
        let mut left = self.present & some;
        while left != 0 {
            let bank = left.trailing_zeros() as usize;
            left &= left - 1;
            let at = self.ready[bank].max(limits[usize::from(self.gate[bank])]).max(floor);
            least = least.min((at - floor) << WAIT_SHIFT | self.key[bank]);
        }
        self.unpack(least, floor)
    }

    fn unpack(&self, packed: u64, floor: u64) -> Plan {
        if packed == NOBODY {
            return Plan::SLEEP;
        }
        let key = packed % (1 << WAIT_SHIFT);
        let action = match key >> AGE_BITS {
            1 => Action::Column,
            2 => Action::Activate,
            _ => Action::PrechargeMiss,
        };
        Plan { cycle: floor + (packed >> WAIT_SHIFT), action, lane: self.lane, key }
    }
}

impl Plan {
    /// Nothing to do.
    pub const SLEEP: Self = Self { cycle: u64::MAX, action: Action::PrechargeIdle, lane: Lane::Reads, key: u64::MAX };

    /// The bank.
    pub const fn bank(&self) -> usize {
        (self.key % (1 << BANK_BITS)) as usize
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
