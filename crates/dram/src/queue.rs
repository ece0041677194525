//! A pending queue: entries chained by bank, oldest first.

use pericore_engine::search::matches;

use super::arrival::Arrival;
use super::layout::Layout;
use super::timing::MOST_ENTRIES;

/// No entry.
pub const NONE: u8 = u8::MAX;
/// Bits of an age, and those of them that hold the bank.
pub const AGE_BITS: u32 = 41;
pub const BANK_BITS: u32 = Layout::BANKS.trailing_zeros();
/// Line number of a free entry; beyond any memory.
const FREE: u32 = u32::MAX;
const HALF: usize = MOST_ENTRIES / 2;

/// A request that waits.
#[derive(Debug, Clone, Copy)]
struct Entry {
    age: u64,
    /// Cycle of arrival.
    entered: u64,
    row: u32,
    /// The request, for reads.
    owner: u16,
    /// The entry of the same bank that came next.
    next: u8,
    isochronous: bool,
}

/// The entries of a bank.
#[derive(Debug, Clone, Copy)]
#[repr(align(4))]
struct Chain {
    oldest: u8,
    youngest: u8,
    /// The one that the open row serves next, where there is one.
    hit: u8,
}

/// What is looked at by entry and by bank; elsewhere, so that what all banks share is near to other such.
#[derive(Debug, Clone)]
struct Slots {
    chains: [Chain; Layout::BANKS],
    entries: [Entry; MOST_ENTRIES],
    lines: [[u32; HALF]; 2],
}

/// Requests that wait for their column command.
#[derive(Debug, Clone)]
pub struct PendingQueue {
    /// Banks with entries.
    pub pending: u64,
    /// Banks with an entry that the open row serves.
    pub hits: u64,
    used: u64,
    slots: Box<Slots>,
    len: u8,
}

/// An entry that has left its queue.
#[derive(Debug, Clone, Copy)]
pub struct Removed {
    /// The request, for reads.
    pub owner: u16,
    /// Its line.
    pub line: u32,
    /// Its row.
    pub row: u32,
    /// Cycle of arrival.
    pub entered: u64,
    /// It was the bank's oldest.
    pub oldest: bool,
    /// It has a deadline.
    pub isochronous: bool,
}

impl PendingQueue {
    pub fn new() -> Self {
        let entry = Entry { age: 0, entered: 0, row: 0, owner: 0, next: NONE, isochronous: false };
        let slots = Slots {
            chains: [Chain { oldest: NONE, youngest: NONE, hit: NONE }; Layout::BANKS],
            entries: [entry; MOST_ENTRIES],
            lines: [[FREE; HALF]; 2],
        };
        Self { pending: 0, hits: 0, used: 0, slots: Box::new(slots), len: 0 }
    }

    pub const fn len(&self) -> u8 {
        self.len
    }

    /// True if an entry is for a line.
    #[inline]
    pub fn contains(&self, line: u32) -> bool {
        self.used != 0 && self.finds(line)
    }

    #[inline(never)]
    fn finds(&self, line: u32) -> bool {
        let [low, high] = &self.slots.lines;
        matches(low, u32::MAX, line) != 0 || self.used >> HALF != 0 && matches(high, u32::MAX, line) != 0
    }

    #[inline(always)]
    fn chain(&self, bank: usize) -> Chain {
        self.slots.chains[bank % Layout::BANKS]
    }

    #[inline(always)]
    fn entry(&self, slot: u8) -> &Entry {
        &self.slots.entries[usize::from(slot) % MOST_ENTRIES]
    }

    /// Adds an entry. Credits keep the queue from overflowing.
    #[inline]
    pub fn push(&mut self, new: &Arrival, sequence: u64) -> u8 {
        let Arrival { cycle, owner, line, row, isochronous, .. } = *new;
        let slot = self.used.trailing_ones() as u8 % MOST_ENTRIES as u8;
        let (index, bank) = (usize::from(slot), usize::from(new.bank) % Layout::BANKS);
        let slots = &mut *self.slots;
        slots.lines.as_flattened_mut()[index] = line;
        // After 2^35 requests of the channel, minutes of virtual time at the least, ages begin again: what waits just then, 64 entries at
        // most, goes after younger requests for other banks. Those for one bank are chained in their order all the same.
        let age = sequence << BANK_BITS & ((1 << AGE_BITS) - 1) | bank as u64;
        slots.entries[index] = Entry { age, entered: cycle, row, owner, next: NONE, isochronous };
        let chain = &mut slots.chains[bank];
        if self.pending >> bank & 1 == 0 {
            chain.oldest = slot;
            self.pending |= 1 << bank;
        } else {
            slots.entries[usize::from(chain.youngest) % MOST_ENTRIES].next = slot;
        }
        chain.youngest = slot;
        self.used |= 1 << slot;
        self.len += 1;
        slot
    }

    /// Removes the entry of a bank that the open row serves.
    #[inline(always)]
    pub fn take_hit(&mut self, bank: usize) -> Removed {
        let bank = bank % Layout::BANKS;
        let slots = &mut *self.slots;
        let chain = &mut slots.chains[bank];
        let slot = chain.hit;
        let index = usize::from(slot) % MOST_ENTRIES;
        let Entry { entered, row, owner, next, isochronous, .. } = slots.entries[index];
        let oldest = chain.oldest == slot;
        if oldest {
            chain.oldest = next;
            self.pending &= !(u64::from(next == NONE) << bank);
        } else {
            let mut before = usize::from(chain.oldest) % MOST_ENTRIES;
            while slots.entries[before].next != slot {
                before = usize::from(slots.entries[before].next) % MOST_ENTRIES;
            }
            slots.entries[before].next = next;
            if next == NONE {
                chain.youngest = before as u8;
            }
        }
        let line = std::mem::replace(&mut slots.lines.as_flattened_mut()[index], FREE);
        self.used &= !(1 << index);
        self.len -= 1;
        Removed { owner, line, row, entered, oldest, isochronous }
    }

    #[inline(always)]
    fn set_hit(&mut self, bank: usize, slot: u8) {
        self.slots.chains[bank % Layout::BANKS].hit = slot;
        self.hits |= 1 << bank;
    }

    /// The oldest entry of a bank for a row.
    #[inline]
    fn oldest_of(&self, bank: usize, row: u32) -> u8 {
        let mut slot = self.chain(bank).oldest;
        while slot != NONE && self.entry(slot).row != row {
            slot = self.entry(slot).next;
        }
        slot
    }

    /// Chooses the entry of a bank with entries that an open row serves next: the oldest of that row, unless the bank's oldest entry is
    /// for another row and came before `starved`.
    #[inline]
    pub fn choose_hit(&mut self, bank: usize, row: u32, starved: u64) {
        self.no_hit(bank);
        let slot = self.oldest_of(bank, row);
        if slot != NONE && (slot == self.chain(bank).oldest || !self.is_starved(bank, starved)) {
            self.set_hit(bank, slot);
        }
    }

    /// The bank's row is closed.
    #[inline(always)]
    pub const fn no_hit(&mut self, bank: usize) {
        self.hits &= !(1 << bank);
    }

    /// Order of arrival in the channel of the bank's oldest entry, then the bank.
    #[inline(always)]
    pub fn age_of_oldest(&self, bank: usize) -> u64 {
        self.entry(self.chain(bank).oldest).age
    }

    /// The same for the entry that the open row serves next.
    #[inline(always)]
    pub fn age_of_hit(&self, bank: usize) -> u64 {
        self.entry(self.chain(bank).hit).age
    }

    /// The row of the bank's oldest entry.
    pub fn row_of_oldest(&self, bank: usize) -> u32 {
        self.entry(self.chain(bank).oldest).row
    }

    /// True if the oldest entry of a bank came before `starved`.
    #[inline]
    pub fn is_starved(&self, bank: usize, starved: u64) -> bool {
        self.entry(self.chain(bank).oldest).entered < starved
    }

    /// True if an entry of a bank is for the open row: the bank's hit, or one that waits for an oldest entry that came before `starved`.
    #[inline]
    pub fn wants(&self, bank: usize, row: u32, starved: u64) -> bool {
        let waits = || self.pending >> bank & 1 == 1 && self.is_starved(bank, starved);
        self.hits >> bank & 1 == 1 || waits() && self.oldest_of(bank, row) != NONE
    }

    /// A new entry is the bank's hit if it is for the open row, none came before, and no starved entry waits for another row.
    #[inline]
    pub fn note_hit(&mut self, bank: usize, slot: u8, open_row: u32, starved: u64) {
        if self.entry(slot).row == open_row && self.hits >> bank & 1 == 0 && !self.is_starved(bank, starved) {
            self.set_hit(bank, slot);
        }
    }

    /// Arrival cycles of all entries.
    pub fn arrivals(&self) -> impl Iterator<Item = u64> + '_ {
        (0..MOST_ENTRIES).filter(|slot| self.used >> slot & 1 == 1).map(|slot| self.slots.entries[slot].entered)
    }
}

#[cfg(test)]
mod tests {
    use super::{Arrival, PendingQueue};
    use crate::facts::Pending;

    fn read(line: u32, bank: u8, row: u32, cycle: u64) -> Arrival {
        Arrival { cycle, owner: 0, line, bank, row, queue: Pending::Reads, partial: false, isochronous: false }
    }

    #[test]
    fn entries_of_a_bank_keep_their_order() {
        let mut queue = PendingQueue::new();
        (0..4).for_each(|n| {
            queue.push(&read(100 + n, 3, n % 2, n.into()), n.into());
        });
        assert_eq!((queue.len(), queue.pending), (4, 1 << 3));
        let take = |queue: &mut PendingQueue, row| {
            queue.choose_hit(3, row, 0);
            assert_eq!(queue.hits, 1 << 3);
            let taken = queue.take_hit(3);
            (taken.line, taken.oldest)
        };
        assert_eq!(take(&mut queue, 1), (101, false));
        // The oldest is for row 0 and has waited too long.
        queue.choose_hit(3, 1, 1);
        assert_eq!(queue.hits, 0);
        assert_eq!(take(&mut queue, 1), (103, false));
        assert!(queue.contains(102) && !queue.contains(103));
        assert_eq!(take(&mut queue, 0), (100, true));
        assert_eq!(take(&mut queue, 0), (102, true));
        assert_eq!((queue.len(), queue.pending, queue.contains(102)), (0, 0, false));
    }

    #[test]
    fn sixty_four_entries_have_room() {
        let mut queue = PendingQueue::new();
        for n in 0..64 {
            queue.push(&read(n, n as u8, 0, 0), n.into());
        }
        assert!((0..64).all(|line| queue.contains(line)));
        assert_eq!((queue.len(), queue.pending), (64, u64::MAX));
    }
}
