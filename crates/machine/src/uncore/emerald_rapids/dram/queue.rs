//! A pending queue: entries by slot, and the slots of each bank.

use super::timing::{BANKS, MOST_ENTRIES};
use crate::uncore::search::matches;

/// Line number of a free entry; beyond any memory.
const FREE: u32 = u32::MAX;
const HALF: usize = MOST_ENTRIES / 2;

/// Requests that wait for their column command.
#[derive(Debug)]
pub struct PendingQueue {
    lines: [[u32; HALF]; 2],
    pub row: [u32; MOST_ENTRIES],
    /// Order of arrival.
    pub sequence: [u64; MOST_ENTRIES],
    /// Cycle of arrival.
    pub entered: [u64; MOST_ENTRIES],
    /// The request.
    pub owner: [u16; MOST_ENTRIES],
    /// Writes of part of a line: they need a read first.
    pub partial: u64,
    /// Slots of each bank.
    slots: [u64; BANKS],
    /// Banks with entries.
    pub pending: u64,
    used: u64,
    len: u8,
}

/// The entry of a bank that goes next.
#[derive(Debug, Clone, Copy)]
pub struct Choice {
    pub slot: u8,
    pub hit: bool,
    pub starved: bool,
}

impl PendingQueue {
    pub const fn new() -> Self {
        Self {
            lines: [[FREE; HALF]; 2],
            row: [0; MOST_ENTRIES],
            sequence: [0; MOST_ENTRIES],
            entered: [0; MOST_ENTRIES],
            owner: [0; MOST_ENTRIES],
            partial: 0,
            slots: [0; BANKS],
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
        let found = u64::from(matches(&self.lines[0], u32::MAX, line))
            | u64::from(matches(&self.lines[1], u32::MAX, line)) << HALF;
        (found != 0).then(|| found.trailing_zeros() as u8)
    }

    /// Adds an entry. Credits keep the queue from overflowing.
    pub fn push(&mut self, line: u32, bank: u8, row: u32, owner: u16, sequence: u64, cycle: u64) -> u8 {
        let slot = self.used.trailing_ones() as u8;
        let s = usize::from(slot);
        self.lines[s / HALF][s % HALF] = line;
        self.row[s] = row;
        self.sequence[s] = sequence;
        self.entered[s] = cycle;
        self.owner[s] = owner;
        self.slots[usize::from(bank)] |= 1 << slot;
        self.pending |= 1 << bank;
        self.used |= 1 << slot;
        self.len += 1;
        slot
    }

    /// Removes an entry of a bank.
    pub fn remove(&mut self, bank: u8, slot: u8) {
        let (s, b) = (usize::from(slot), usize::from(bank));
        self.lines[s / HALF][s % HALF] = FREE;
        self.slots[b] &= !(1 << slot);
        if self.slots[b] == 0 {
            self.pending &= !(1 << bank);
        }
        self.used &= !(1 << slot);
        self.partial &= !(1 << slot);
        self.len -= 1;
    }

    /// Chooses the entry of a bank that goes next: the oldest for the open row, unless the bank's oldest entry is for another row
    /// and came before `starved`; the oldest if the row serves none.
    pub fn choose(&self, bank: u8, row: u32, starved: u64) -> Choice {
        let mut slots = self.slots[usize::from(bank)];
        let (mut oldest, mut hit) = ((u64::MAX, 0), (u64::MAX, 0));
        while slots != 0 {
            let slot = slots.trailing_zeros() as u8;
            slots &= slots - 1;
            let candidate = (self.sequence[usize::from(slot)], slot);
            oldest = oldest.min(candidate);
            if self.row[usize::from(slot)] == row {
                hit = hit.min(candidate);
            }
        }
        let is_starved = self.entered[usize::from(oldest.1)] < starved;
        if hit.0 != u64::MAX && (hit.0 == oldest.0 || !is_starved) {
            return Choice { slot: hit.1, hit: true, starved: is_starved && hit.0 == oldest.0 };
        }
        Choice { slot: oldest.1, hit: false, starved: is_starved }
    }
}

#[cfg(test)]
mod tests {
    use super::PendingQueue;

    #[test]
    fn the_open_row_goes_first_until_another_has_starved() {
        let mut queue = PendingQueue::new();
        let slots: Vec<u8> = (0..4).map(|n| queue.push(100 + n, 3, n % 2, 0, u64::from(n), u64::from(n))).collect();
        assert_eq!((queue.len(), queue.pending), (4, 1 << 3));
        let choice = queue.choose(3, 1, 0);
        assert_eq!((choice.slot, choice.hit), (slots[1], true));
        // The oldest is for row 0 and has waited too long.
        let choice = queue.choose(3, 1, 1);
        assert_eq!((choice.slot, choice.hit, choice.starved), (slots[0], false, true));
        queue.remove(3, slots[1]);
        queue.remove(3, slots[3]);
        assert_eq!(queue.find(102), Some(slots[2]));
        queue.remove(3, slots[0]);
        queue.remove(3, slots[2]);
        assert_eq!((queue.len(), queue.pending, queue.find(102)), (0, 0, None));
    }
}
