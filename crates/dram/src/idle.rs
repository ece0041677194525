//! Open rows that nobody needs, in the order in which they are to be closed.

use super::layout::Layout;

/// The place that is before the first and behind the last bank; that of a bank has its number and one.
const END: u8 = 0;

/// A place in the order, which is a ring.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// When the row is to be closed.
    due: u64,
    before: u8,
    after: u8,
}

/// Banks with an open row and without requests. A bank that becomes idle goes behind those that are to be closed before it.
#[derive(Debug, Clone)]
pub struct Idle {
    /// The banks.
    members: u64,
    places: [Place; Layout::BANKS + 1],
}

impl Idle {
    pub const fn new() -> Self {
        let place = Place { due: u64::MAX, before: END, after: END };
        Self { members: 0, places: [place; Layout::BANKS + 1] }
    }

    #[inline(always)]
    const fn place(&self, number: u8) -> &Place {
        &self.places[number as usize]
    }

    /// Puts two places side by side.
    #[inline(always)]
    const fn link(&mut self, before: u8, after: u8) {
        self.places[before as usize].after = after;
        self.places[after as usize].before = before;
    }

    /// Nobody needs a bank's open row any more: it is to be closed at `due`.
    #[inline]
    pub const fn insert(&mut self, bank: usize, due: u64) {
        let number = bank as u8 + 1;
        let mut before = self.place(END).before;
        while before != END && self.place(before).due > due {
            before = self.place(before).before;
        }
        let after = self.place(before).after;
        self.places[number as usize].due = due;
        self.link(before, number);
        self.link(number, after);
        self.members |= 1 << bank;
    }

    /// A bank's row is needed again, or closed.
    #[inline]
    pub const fn remove(&mut self, bank: usize) {
        if self.members >> bank & 1 == 1 {
            self.members &= !(1 << bank);
            let Place { before, after, .. } = *self.place(bank as u8 + 1);
            self.link(before, after);
        }
    }

    /// The row to close first from `floor` on, with its cycle, of banks that are not `blocked`; of those that can be closed in the same
    /// cycle, the one with the lowest number.
    #[inline]
    pub fn first(&self, blocked: u64, floor: u64) -> Option<(usize, u64)> {
        let mut found: Option<(usize, u64)> = None;
        let mut number = self.place(END).after;
        while number != END {
            let Place { due, after, .. } = *self.place(number);
            if found.is_some_and(|(_, cycle)| due > cycle) {
                break;
            }
            let bank = usize::from(number) - 1;
            if blocked >> bank & 1 == 0 {
                found = Some(found.map_or((bank, due.max(floor)), |(other, cycle)| (other.min(bank), cycle)));
            }
            number = after;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::Idle;

    #[test]
    fn what_is_due_first_and_of_equals_the_lowest_comes_first() {
        let mut idle = Idle::new();
        assert_eq!(idle.first(0, 0), None);
        for (bank, due) in [(7, 50), (3, 60), (5, 60), (9, 40)] {
            idle.insert(bank, due);
        }
        assert_eq!(idle.first(0, 10), Some((9, 40)));
        idle.remove(9);
        idle.remove(9);
        assert_eq!(idle.first(0, 10), Some((7, 50)));
        // Late as it is, all of them could go.
        assert_eq!(idle.first(0, 70), Some((3, 70)));
        assert_eq!(idle.first(1 << 3 | 1 << 7, 10), Some((5, 60)));
        assert_eq!(idle.first(u64::MAX, 10), None);
        idle.remove(3);
        idle.remove(7);
        idle.remove(5);
        assert_eq!(idle.first(0, 10), None);
    }
}
