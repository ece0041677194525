//! A pending queue: entries chained by bank, oldest first.

use super::timing::{BANKS, MOST_WRITES};
use crate::uncore::search::matches;

/// No entry.
pub const NONE: u8 = u8::MAX;
/// Line number of a free entry; beyond any memory.
const FREE: u32 = u32::MAX;
const ROOM: usize = MOST_WRITES;

/// Requests that wait for their column command.
#[derive(Debug, Clone)]
pub struct PendingQueue {
    pub line: [u32; ROOM],
    pub row: [u32; ROOM],
    /// Order of arrival in the channel.
    pub sequence: [u64; ROOM],
    /// Cycle of arrival.
    pub entered: [u64; ROOM],
    /// The request, for reads.
    pub owner: [u16; ROOM],
    next: [u8; ROOM],
    /// Oldest entry of each bank.
    pub head: [u8; BANKS],
    tail: [u8; BANKS],
    /// The entry of each bank that the open row serves next.
    pub hit: [u8; BANKS],
    /// Banks with entries.
    pub pending: u32,
    used: u32,
    len: u8,
}

impl PendingQueue {
    pub const fn new() -> Self {
        Self {
            line: [FREE; ROOM],
            row: [0; ROOM],
            sequence: [0; ROOM],
            entered: [0; ROOM],
            owner: [0; ROOM],
            next: [NONE; ROOM],
            head: [NONE; BANKS],
            tail: [NONE; BANKS],
            hit: [NONE; BANKS],
            pending: 0,
            used: 0,
            len: 0,
        }
    }

    pub const fn len(&self) -> u8 {
        self.len
    }

    /// The entry of a line, if there is one.
    pub fn find(&self, line: u32) -> Option<u8> {
        let found = matches(&self.line, u32::MAX, line);
        (found != 0).then(|| found.trailing_zeros() as u8)
    }

    /// Adds an entry. Credits keep the queue from overflowing.
    pub fn push(&mut self, line: u32, bank: u8, row: u32, owner: u16, sequence: u64, cycle: u64) -> u8 {
        let slot = self.used.trailing_ones() as u8;
        let (s, b) = (usize::from(slot), usize::from(bank));
        self.line[s] = line;
        self.row[s] = row;
        self.sequence[s] = sequence;
        self.entered[s] = cycle;
        self.owner[s] = owner;
        self.next[s] = NONE;
        if self.head[b] == NONE {
            self.head[b] = slot;
            self.pending |= 1 << bank;
        } else {
            self.next[usize::from(self.tail[b])] = slot;
        }
        self.tail[b] = slot;
        self.used |= 1 << slot;
        self.len += 1;
        slot
    }

    /// Removes an entry of a bank.
    pub fn remove(&mut self, bank: u8, slot: u8) {
        let (s, b) = (usize::from(slot), usize::from(bank));
        let after = self.next[s];
        if self.head[b] == slot {
            self.head[b] = after;
            if after == NONE {
                self.pending &= !(1 << bank);
            }
        } else {
            let mut before = self.head[b];
            while self.next[usize::from(before)] != slot {
                before = self.next[usize::from(before)];
            }
            self.next[usize::from(before)] = after;
            if after == NONE {
                self.tail[b] = before;
            }
        }
        self.line[s] = FREE;
        self.used &= !(1 << slot);
        self.len -= 1;
    }

    /// Chooses the entry of a bank that an open row serves next: the oldest of that row, unless the bank's oldest entry is for
    /// another row and came before `starved`.
    pub fn choose_hit(&mut self, bank: u8, row: u32, starved: u64) {
        let b = usize::from(bank);
        let head = self.head[b];
        let mut slot = head;
        while slot != NONE && self.row[usize::from(slot)] != row {
            slot = self.next[usize::from(slot)];
        }
        if slot != head && self.entered[usize::from(head)] < starved {
            slot = NONE;
        }
        self.hit[b] = slot;
    }

    /// True if an entry of a bank is for a row.
    pub fn wants(&self, bank: u8, row: u32) -> bool {
        let mut slot = self.head[usize::from(bank)];
        while slot != NONE && self.row[usize::from(slot)] != row {
            slot = self.next[usize::from(slot)];
        }
        slot != NONE
    }

    /// A new entry is the bank's hit if it is for the open row, none came before, and no starved entry waits for another row.
    pub fn note_hit(&mut self, bank: u8, slot: u8, open_row: u32, starved: u64) {
        let (b, s) = (usize::from(bank), usize::from(slot));
        if self.hit[b] == NONE && self.row[s] == open_row && self.entered[usize::from(self.head[b])] >= starved {
            self.hit[b] = slot;
        }
    }

    /// Arrival cycles of all entries.
    pub fn arrivals(&self) -> impl Iterator<Item = u64> + '_ {
        (0..ROOM).filter(|slot| self.used >> slot & 1 == 1).map(|slot| self.entered[slot])
    }
}

#[cfg(test)]
mod tests {
    use super::{NONE, PendingQueue};

    #[test]
    fn entries_of_a_bank_keep_their_order() {
        let mut queue = PendingQueue::new();
        let slots: Vec<u8> = (0..4).map(|n| queue.push(100 + n, 3, n % 2, 0, u64::from(n), u64::from(n))).collect();
        assert_eq!((queue.len(), queue.pending), (4, 1 << 3));
        queue.choose_hit(3, 1, 0);
        assert_eq!(queue.hit[3], slots[1]);
        queue.remove(3, slots[1]);
        queue.choose_hit(3, 1, 0);
        assert_eq!(queue.hit[3], slots[3]);
        // The oldest is for row 0 and has waited too long.
        queue.choose_hit(3, 1, 1);
        assert_eq!(queue.hit[3], NONE);
        queue.remove(3, slots[3]);
        assert_eq!(queue.find(102), Some(slots[2]));
        queue.remove(3, slots[0]);
        queue.remove(3, slots[2]);
        assert_eq!((queue.len(), queue.pending, queue.find(102)), (0, 0, None));
    }
}
