//! The choice of the next command: first ready, then by kind, then by age (FR-FCFS).
//!
//! Each bank has at most one candidate for each queue, kept up to date as requests and commands come. A choice is then one pass over
//! the banks with candidates and without further branches: the earliest cycle, the kind, the age and the bank of a candidate are
//! packed into one number, and the least number wins.

use super::banks::{Banks, rank_of};
use super::queue::{NONE, PendingQueue};
use super::refresh::Refresh;
use super::timing::{BANKS, BANKS_PER_RANK, RANKS, Timing};

/// What is served at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// A command and when it goes out, if nothing else happens before.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub cycle: u64,
    pub bank: u8,
    pub action: Action,
    /// The queue that is served, for commands that serve one.
    pub queue: Lane,
    /// Kind, age and bank, as in a packed candidate.
    key: u64,
}

/// Kinds of candidates, the most urgent first; commands for refreshes come before all of them.
const COLUMN: u64 = 1;
const ACTIVATE: u64 = 2;
const PRECHARGE: u64 = 3;
const IDLE: u64 = 4;

// A packed candidate: cycles from now (20 bits), kind (3), age (37), bank (4). The parameters keep all waits below 2^20 cycles.
const BANK_BITS: u32 = 4;
const KIND_SHIFT: u32 = 41;
const WAIT_SHIFT: u32 = 44;
const NOBODY: u64 = u64::MAX;

const fn key(kind: u64, sequence: u64, bank: u8) -> u64 {
    kind << KIND_SHIFT | sequence << BANK_BITS | bank as u64
}

/// The candidates of one queue, by bank.
#[derive(Debug, Clone)]
pub struct Candidates {
    /// When the bank itself is ready.
    ready: [u64; BANKS],
    /// Kind, age and bank. Stale if the queue has nothing for the bank.
    key: [u64; BANKS],
    /// Which of the rank's limits holds: the index into [`Gates`].
    gate: [u8; BANKS],
}

/// When each rank can take column commands of the queue, activates, and precharges (always), in this order for each rank; padded to
/// a power of two.
pub type Gates = [u64; 8];

/// The limits of the ranks for a queue, from `floor` on.
pub fn gates(banks: &Banks, queue: Lane, floor: u64) -> Gates {
    let column = match queue {
        Lane::Reads | Lane::Underfills => &banks.rank_read,
        Lane::Writes => &banks.rank_write,
    };
    const { assert!(RANKS == 2) };
    let from = |cycle: u64| cycle.max(floor);
    let (first, second) = (from(column[0]), from(column[1]));
    let [third, fourth] = banks.rank_activate.map(from);
    [floor, first, third, floor, floor, second, fourth, floor]
}

impl Candidates {
    pub const fn new() -> Self {
        Self { ready: [0; BANKS], key: [NOBODY; BANKS], gate: [0; BANKS] }
    }

    /// Works out a bank's candidate anew, after a command to the bank or a change of the queue.
    pub fn update(&mut self, banks: &Banks, queue: &PendingQueue, bank: u8) {
        if queue.pending >> bank & 1 == 0 {
            return;
        }
        let b = usize::from(bank);
        let hit = queue.hit[b];
        let (ready, kind, slot) = if hit != NONE {
            (banks.column[b], COLUMN, hit)
        } else if banks.open >> bank & 1 == 1 {
            (banks.precharge[b], PRECHARGE, queue.head[b])
        } else {
            (banks.activate[b], ACTIVATE, queue.head[b])
        };
        self.ready[b] = ready;
        self.key[b] = key(kind, queue.sequence[usize::from(slot)], bank);
        self.gate[b] = rank_of(bank) as u8 * 4 + kind as u8;
    }

    fn pack(&self, bank: usize, gates: &Gates, floor: u64) -> u64 {
        let ready = self.ready[bank].max(gates[usize::from(self.gate[bank]) % 8]);
        (ready - floor) << WAIT_SHIFT | self.key[bank]
    }

    /// The best candidate of some banks from `floor` on.
    pub fn best(&self, gates: &Gates, floor: u64, mut banks: u32, queue: Lane) -> Plan {
        let mut least = NOBODY;
        while banks != 0 {
            let bank = banks.trailing_zeros() as usize % BANKS;
            banks &= banks - 1;
            least = least.min(self.pack(bank, gates, floor));
        }
        unpack(least, floor, queue)
    }

    /// The candidate of one bank.
    pub fn of(&self, bank: u8, gates: &Gates, floor: u64, queue: Lane) -> Plan {
        unpack(self.pack(usize::from(bank), gates, floor), floor, queue)
    }
}

fn unpack(packed: u64, floor: u64, queue: Lane) -> Plan {
    let key = packed & ((1 << WAIT_SHIFT) - 1);
    if key == NOBODY >> (64 - WAIT_SHIFT) {
        return Plan::SLEEP;
    }
    let action = match key >> KIND_SHIFT {
        COLUMN => Action::Column,
        ACTIVATE => Action::Activate,
        _ => Action::PrechargeMiss,
    };
    let bank = (key % (1 << BANK_BITS)) as u8;
    Plan { cycle: floor + (packed >> WAIT_SHIFT), bank, action, queue, key }
}

impl Plan {
    /// Nothing to do.
    pub const SLEEP: Self =
        Self { cycle: u64::MAX, bank: 0, action: Action::PrechargeIdle, queue: Lane::Reads, key: NOBODY };

    /// Takes another plan if it comes first.
    pub fn offer(&mut self, other: Self) {
        if (other.cycle, other.key) < (self.cycle, self.key) {
            *self = other;
        }
    }

    /// Rows that nobody needs are closed after a while. Gives the earliest cycle at which one of them will be.
    pub fn offer_idle(&mut self, banks: &Banks, mut idle: u32, floor: u64, timing: &Timing) -> u64 {
        let mut next = u64::MAX;
        while idle != 0 {
            let bank = idle.trailing_zeros() as u8;
            idle &= idle - 1;
            let b = usize::from(bank);
            let cycle = (banks.last_use[b] + timing.page_idle).max(banks.precharge[b]).max(floor);
            next = next.min(cycle);
            self.offer(Self {
                cycle,
                bank,
                action: Action::PrechargeIdle,
                queue: Lane::Reads,
                key: key(IDLE, 0, bank),
            });
        }
        next
    }

    /// Ranks that want a refresh: close their rows, then refresh.
    pub fn offer_refresh(&mut self, banks: &Banks, refresh: &Refresh, floor: u64) {
        for rank in refresh.wanting() {
            let members = super::banks::banks_of(rank);
            let first = members.trailing_zeros() as usize;
            let own = first..first + BANKS_PER_RANK;
            let open = banks.open & members;
            let (cycle, action) = if open == 0 {
                (banks.activate[own].iter().fold(floor, |at, &ready| at.max(ready)), Action::Refresh)
            } else {
                let ready = own.filter(|bank| open >> bank & 1 == 1).map(|bank| banks.precharge[bank]);
                (ready.fold(floor, u64::max), Action::PrechargeAll)
            };
            self.offer(Self { cycle, bank: first as u8, action, queue: Lane::Reads, key: first as u64 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::timing::Timing;
    use super::{Action, Banks, Candidates, Lane, PendingQueue, gates};

    #[test]
    fn a_row_hit_goes_before_an_older_miss_if_both_are_ready() {
        let timing = Timing::ddr3_1600();
        let (mut banks, mut queue, mut candidates) = (Banks::new(), PendingQueue::new(), Candidates::new());
        banks.activated(3, 7, 0, &timing);
        queue.push(1, 5, 1, 0, 1, 0);
        let slot = queue.push(2, 3, 7, 0, 2, 0);
        queue.note_hit(3, slot, 7, 0);
        candidates.update(&banks, &queue, 5);
        candidates.update(&banks, &queue, 3);
        let plan = |floor| candidates.best(&gates(&banks, Lane::Reads, floor), floor, 1 << 3 | 1 << 5, Lane::Reads);
        // The activate of bank 5 is ready after tRRD, the read of bank 3 after tRCD.
        assert_eq!((plan(1).cycle, plan(1).bank, plan(1).action), (5, 5, Action::Activate));
        assert_eq!((plan(20).cycle, plan(20).bank, plan(20).action), (20, 3, Action::Column));
        let only = candidates.best(&gates(&banks, Lane::Reads, 20), 20, 1 << 5, Lane::Reads);
        assert_eq!((only.bank, only.action), (5, Action::Activate));
        let none = candidates.best(&gates(&banks, Lane::Reads, 20), 20, 0, Lane::Reads);
        assert_eq!(none.cycle, u64::MAX);
    }
}
