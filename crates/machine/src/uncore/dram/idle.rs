//! Open rows that nobody needs, in the order in which they are to be closed.

use super::layout::Layout;

/// No bank.
const NONE: u8 = u8::MAX;

/// A bank's place in the order.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// When its row is to be closed.
    due: u64,
    before: u8,
    after: u8,
}

/// Banks with an open row and without requests. A bank that becomes idle goes behind those that are to be closed before it.
#[derive(Debug, Clone)]
pub struct Idle {
    /// When the first row is to be closed.
    next: u64,
    /// The banks.
    members: u64,
    first: u8,
    last: u8,
    places: [Place; Layout::BANKS],
}

impl Idle {
    pub const fn new() -> Self {
        let nowhere = Place { due: 0, before: NONE, after: NONE };
        Self { next: u64::MAX, members: 0, first: NONE, last: NONE, places: [nowhere; Layout::BANKS] }
    }

    /// When the first row is to be closed.
    pub const fn next(&self) -> u64 {
        self.next
    }

    const fn place(&self, bank: u8) -> &Place {
        &self.places[bank as usize % Layout::BANKS]
    }

    const fn place_mut(&mut self, bank: u8) -> &mut Place {
        &mut self.places[bank as usize % Layout::BANKS]
    }

    /// Puts two banks side by side; none stands for either end.
    const fn link(&mut self, before: u8, after: u8) {
        if before == NONE {
            self.first = after;
            self.next = if after == NONE { u64::MAX } else { self.place(after).due };
        } else {
            self.place_mut(before).after = after;
        }
        if after == NONE {
            self.last = before;
        } else {
            self.place_mut(after).before = before;
        }
    }

    /// Nobody needs a bank's open row any more: it is to be closed at `due`.
    #[inline]
    pub const fn insert(&mut self, bank: usize, due: u64) {
        let bank = bank as u8;
        let mut before = self.last;
        while before != NONE && self.place(before).due > due {
            before = self.place(before).before;
        }
        let after = if before == NONE { self.first } else { self.place(before).after };
        self.place_mut(bank).due = due;
        self.members |= 1 << bank;
        self.link(before, bank);
        self.link(bank, after);
    }

    /// A bank's row is needed again, or closed.
    #[inline]
    pub const fn remove(&mut self, bank: usize) {
        if self.members >> bank & 1 == 1 {
            self.members &= !(1 << bank);
            let Place { before, after, .. } = *self.place(bank as u8);
            self.link(before, after);
        }
    }

    /// The row to close first from `floor` on, with its cycle, of banks that are not `blocked`; of those that can be closed in the same
    /// cycle, the one with the lowest number.
    pub fn first(&self, blocked: u64, floor: u64) -> Option<(usize, u64)> {
        let mut found: Option<(u8, u64)> = None;
        let mut bank = self.first;
        while bank != NONE {
            let Place { due, after, .. } = *self.place(bank);
            if found.is_some_and(|(_, cycle)| due > cycle) {
                break;
            }
            if blocked >> bank & 1 == 0 {
                found = Some(found.map_or((bank, due.max(floor)), |(other, cycle)| (other.min(bank), cycle)));
            }
            bank = after;
        }
        found.map(|(bank, cycle)| (bank.into(), cycle))
    }
}

#[cfg(test)]
mod tests {
    use super::Idle;

    #[test]
    fn what_is_due_first_and_of_equals_the_lowest_comes_first() {
        let mut idle = Idle::new();
        assert_eq!((idle.first(0, 0), idle.next()), (None, u64::MAX));
        for (bank, due) in [(7, 50), (3, 60), (5, 60), (9, 40)] {
            idle.insert(bank, due);
        }
        assert_eq!((idle.first(0, 10), idle.next()), (Some((9, 40)), 40));
        idle.remove(9);
        idle.remove(9);
        assert_eq!((idle.first(0, 10), idle.next()), (Some((7, 50)), 50));
        // Late as it is, all of them could go.
        assert_eq!(idle.first(0, 70), Some((3, 70)));
        assert_eq!(idle.first(1 << 3 | 1 << 7, 10), Some((5, 60)));
        assert_eq!(idle.first(u64::MAX, 10), None);
        idle.remove(3);
        idle.remove(7);
        idle.remove(5);
        assert_eq!((idle.first(0, 10), idle.next()), (None, u64::MAX));
    }
}
