//! A pending queue: entries chained by bank, oldest first.

use super::layout::Layout;
use super::timing::MOST_ENTRIES;
use crate::uncore::search::matches;

/// No entry.
pub const NONE: u8 = u8::MAX;
/// Bits of an age, and those of them that hold the bank.
pub const AGE_BITS: u32 = 41;
pub const BANK_BITS: u32 = Layout::BANKS.trailing_zeros();
/// Line number of a free entry; beyond any memory.
const FREE: u32 = u32::MAX;
const HALF: usize = MOST_ENTRIES / 2;

/// Requests that wait for their column command.
#[derive(Debug, Clone)]
pub struct PendingQueue {
    lines: [[u32; HALF]; 2],
    pub row: [u32; MOST_ENTRIES],
    age: [u64; MOST_ENTRIES],
    /// Cycle of arrival.
    pub entered: [u64; MOST_ENTRIES],
    /// The request, for reads.
    pub owner: [u16; MOST_ENTRIES],
    next: [u8; MOST_ENTRIES],
    /// Oldest entry of each bank.
    pub head: [u8; Layout::BANKS],
    tail: [u8; Layout::BANKS],
    /// The entry of each bank that the open row serves next, where there is one.
    pub hit: [u8; Layout::BANKS],
    /// Banks with entries.
    pub pending: u64,
    /// Banks with an entry that the open row serves.
    pub hits: u64,
    used: u64,
    len: u8,
}

impl PendingQueue {
    pub const fn new() -> Self {
        Self {
            lines: [[FREE; HALF]; 2],
            row: [0; MOST_ENTRIES],
            age: [0; MOST_ENTRIES],
            entered: [0; MOST_ENTRIES],
            owner: [0; MOST_ENTRIES],
            next: [NONE; MOST_ENTRIES],
            head: [NONE; Layout::BANKS],
            tail: [NONE; Layout::BANKS],
            hit: [NONE; Layout::BANKS],
            pending: 0,
            hits: 0,
            used: 0,
            len: 0,
        }
    }

    pub const fn len(&self) -> u8 {
        self.len
    }

    /// True if an entry is for a line.
    pub fn contains(&self, line: u32) -> bool {
        self.used != 0 && matches(&self.lines[0], u32::MAX, line) != 0
            || self.used >> HALF != 0 && matches(&self.lines[1], u32::MAX, line) != 0
    }

    /// The line of an entry.
    pub const fn line(&self, slot: usize) -> u32 {
        self.lines.as_flattened()[slot]
    }

    /// Adds an entry. Credits keep the queue from overflowing.
    pub fn push(&mut self, line: u32, bank: usize, row: u32, owner: u16, sequence: u64, cycle: u64) -> usize {
        let slot = self.used.trailing_ones() as usize % MOST_ENTRIES;
        let bank = bank % Layout::BANKS;
        self.lines.as_flattened_mut()[slot] = line;
        self.row[slot] = row;
        self.age[slot] = sequence << BANK_BITS & ((1 << AGE_BITS) - 1) | bank as u64;
        self.entered[slot] = cycle;
        self.owner[slot] = owner;
        self.next[slot] = NONE;
        if self.pending >> bank & 1 == 0 {
            self.head[bank] = slot as u8;
            self.pending |= 1 << bank;
        } else {
            self.next[usize::from(self.tail[bank]) % MOST_ENTRIES] = slot as u8;
        }
        self.tail[bank] = slot as u8;
        self.used |= 1 << slot;
        self.len += 1;
        slot
    }

    /// Removes an entry of a bank.
    pub fn remove(&mut self, bank: usize, slot: usize) {
        let after = self.next[slot];
        let head = usize::from(self.head[bank]);
        if head == slot {
            self.head[bank] = after;
            self.pending &= !(u64::from(after == NONE) << bank);
        } else {
            let mut before = head % MOST_ENTRIES;
            while usize::from(self.next[before]) != slot {
                before = usize::from(self.next[before]) % MOST_ENTRIES;
            }
            self.next[before] = after;
            if after == NONE {
                self.tail[bank] = before as u8;
            }
        }
        self.lines.as_flattened_mut()[slot] = FREE;
        self.used &= !(1 << slot);
        self.len -= 1;
    }

    fn set_hit(&mut self, bank: usize, slot: usize) {
        self.hit[bank] = slot as u8;
        self.hits |= 1 << bank;
    }

    /// The oldest entry of a bank for a row.
    fn oldest_of(&self, bank: usize, row: u32) -> u8 {
        let mut slot = self.head[bank];
        while slot != NONE && self.row[usize::from(slot) % MOST_ENTRIES] != row {
            slot = self.next[usize::from(slot) % MOST_ENTRIES];
        }
        slot
    }

    /// Chooses the entry of a bank that an open row serves next: the oldest of that row, unless the bank's oldest entry is for
    /// another row and came before `starved`.
    pub fn choose_hit(&mut self, bank: usize, row: u32, starved: u64) {
        self.hits &= !(1 << bank);
        let slot = self.oldest_of(bank, row);
        if slot == NONE || slot != self.head[bank] && self.is_starved(bank, starved) {
            return;
        }
        self.set_hit(bank, usize::from(slot) % MOST_ENTRIES);
    }

    /// The bank's row is closed.
    pub const fn no_hit(&mut self, bank: usize) {
        self.hits &= !(1 << bank);
    }

    /// Order of arrival in the channel of the bank's oldest entry, then the bank.
    #[inline(always)]
    pub const fn age_of_head(&self, bank: usize) -> u64 {
        self.age[self.head[bank] as usize % MOST_ENTRIES]
    }

    /// The same for the entry that the open row serves next.
    #[inline(always)]
    pub const fn age_of_hit(&self, bank: usize) -> u64 {
        self.age[self.hit[bank] as usize % MOST_ENTRIES]
    }

    /// True if the oldest entry of a bank came before `starved`.
    pub fn is_starved(&self, bank: usize, starved: u64) -> bool {
        self.entered[usize::from(self.head[bank]) % MOST_ENTRIES] < starved
    }

    /// True if an entry of a bank is for the open row: the bank's hit, or one that waits for an oldest entry that came before `starved`.
    pub fn wants(&self, bank: usize, row: u32, starved: u64) -> bool {
        let waits = || self.pending >> bank & 1 == 1 && self.is_starved(bank, starved);
        self.hits >> bank & 1 == 1 || waits() && self.oldest_of(bank, row) != NONE
    }

    /// A new entry is the bank's hit if it is for the open row, none came before, and no starved entry waits for another row.
    pub fn note_hit(&mut self, bank: usize, slot: usize, open_row: u32, starved: u64) {
        if self.row[slot] == open_row && self.hits >> bank & 1 == 0 && !self.is_starved(bank, starved) {
            self.set_hit(bank, slot);
        }
    }

    /// Arrival cycles of all entries.
    pub fn arrivals(&self) -> impl Iterator<Item = u64> + '_ {
        (0..MOST_ENTRIES).filter(|slot| self.used >> slot & 1 == 1).map(|slot| self.entered[slot])
    }
}

#[cfg(test)]
mod tests {
    use super::PendingQueue;

    #[test]
    fn entries_of_a_bank_keep_their_order() {
        let mut queue = PendingQueue::new();
        let slots: Vec<usize> = (0..4).map(|n| queue.push(100 + n, 3, n % 2, 0, u64::from(n), u64::from(n))).collect();
        assert_eq!((queue.len(), queue.pending), (4, 1 << 3));
        queue.choose_hit(3, 1, 0);
        assert_eq!((usize::from(queue.hit[3]), queue.hits), (slots[1], 1 << 3));
        queue.remove(3, slots[1]);
        queue.choose_hit(3, 1, 0);
        assert_eq!(usize::from(queue.hit[3]), slots[3]);
        // The oldest is for row 0 and has waited too long.
        queue.choose_hit(3, 1, 1);
        assert_eq!(queue.hits, 0);
        queue.remove(3, slots[3]);
        assert!(queue.contains(102) && !queue.contains(103));
        queue.remove(3, slots[0]);
        queue.remove(3, slots[2]);
        assert_eq!((queue.len(), queue.pending, queue.contains(102)), (0, 0, false));
    }

    #[test]
    fn sixty_four_entries_have_room() {
        let mut queue = PendingQueue::new();
        for n in 0..64 {
            queue.push(n, n as usize, 0, 0, n.into(), 0);
        }
        assert!((0..64).all(|line| queue.contains(line) && queue.line(line as usize) == line));
        assert_eq!((queue.len(), queue.pending), (64, u64::MAX));
    }
}
