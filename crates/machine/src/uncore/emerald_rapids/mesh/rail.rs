//! One direction of a ring along a column or a row: a train of slots that never stops. A message waits for a slot that
//! is free as far as it wants to go.

use std::collections::VecDeque;

/// Slots from the present one on that have a place of their own. Later ones are boarded in a jam only.
const SLOTS: usize = 64;
/// Low bits of an entry, which hold links. The others hold the slot's number but for the bits that its place says, and
/// for the highest: numbers come again after 2^32, long after [`Rail::sweep`].
const LINKS: u32 = 6;
const _: () = assert!(1 << LINKS == SLOTS);

/// Cycles after which a rail is to be swept. Nobody waits for so long.
pub const SWEEP: u64 = 1 << 30;

/// The slots of one direction.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub struct Rail {
    /// By place: the latest slot there that is taken anywhere, its number and the links on which it is.
    slots: [u32; SLOTS],
    /// The slots that gave their places to later ones before they had gone by.
    jam: Jam,
}

/// The links on which slots are taken, one after the other.
#[derive(Debug, Clone)]
struct Jam {
    /// Number of the first.
    first: u64,
    links: VecDeque<u8>,
}

impl Jam {
    /// Forgets the slots that have gone by.
    fn move_on(&mut self, now: u64) {
        while self.first < now && self.links.pop_front().is_some() {
            self.first += 1;
        }
        if self.links.is_empty() {
            self.first = now;
        }
    }

    fn links(&self, slot: u64) -> u8 {
        self.links.get((slot - self.first) as usize).copied().unwrap_or(0)
    }

    fn put(&mut self, slot: u64, links: u8) {
        let place = (slot - self.first) as usize;
        if self.links.len() <= place {
            self.links.resize(place + 1, 0);
        }
        self.links[place] = links;
    }
}

impl Default for Rail {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Rail {
    /// A train of empty slots.
    pub fn new(now: u64) -> Self {
        Self { slots: [Self::gone(now); SLOTS], jam: Jam { first: now, links: VecDeque::new() } }
    }

    /// The slots before this one have places of their own; to be worked out once for all rails of a message.
    #[inline]
    pub const fn horizon(now: u64) -> u64 {
        now + SLOTS as u64
    }

    /// Takes `length` slots in a row, one or two, over the links of `path`, of which the first is number `slot` or
    /// later; gives its number. Slots are numbered by the cycle in which they pass the direction's first stop; those
    /// that have passed it by the present, whose [`horizon`](Self::horizon) this is, nobody will ask for any more.
    #[inline]
    pub fn board(&mut self, slot: u64, path: u8, length: u64, horizon: u64) -> u64 {
        let two = length > 1;
        let mut first = slot;
        loop {
            let (taken, next) = (self.latest(first), if two { self.latest(first + 1) } else { 0 });
            let (taken, next) = (taken.max(0), next.max(0));
            if taken.max(next) >= 1 << LINKS {
                break;
            }
            if next & i32::from(path) != 0 {
                first += 2;
            } else if taken & i32::from(path) != 0 {
                first += 1;
            } else if first + length > horizon {
                break;
            } else {
                // What gives way is of earlier turns, and has gone by.
                self.put(first, taken as u8 | path);
                if two {
                    self.put(first + 1, next as u8 | path);
                }
                return first;
            }
        }
        self.squeeze(first, path, length, horizon - SLOTS as u64)
    }

    /// The links on which a slot is taken, as far as its place knows: less than none if an earlier slot is there,
    /// which says nothing of this one, and more than there are if it is a later one.
    #[inline]
    const fn latest(&self, slot: u64) -> i32 {
        self.slots[slot as usize % SLOTS].wrapping_sub(Self::empty(slot)) as i32
    }

    #[inline]
    const fn put(&mut self, slot: u64, links: u8) {
        self.slots[slot as usize % SLOTS] = Self::empty(slot) | links as u32;
    }

    /// The entry of a slot that is taken nowhere.
    #[inline]
    const fn empty(slot: u64) -> u32 {
        slot as u32 & !((1 << LINKS) - 1)
    }

    /// An entry that stands for no slot from `now` on.
    const fn gone(now: u64) -> u32 {
        Self::empty(now.wrapping_sub(SLOTS as u64))
    }

    /// Boards where slots are taken so far ahead that one place stands for several that have yet to come.
    #[cold]
    #[inline(never)]
    fn squeeze(&mut self, slot: u64, path: u8, length: u64, now: u64) -> u64 {
        self.jam.move_on(now);
        let mut first = slot;
        while self.links(first) & path != 0 || length > 1 && self.links(first + 1) & path != 0 {
            first += 1;
        }
        for slot in first..first + length {
            let latest = self.latest(slot);
            if latest >= 1 << LINKS {
                self.jam.put(slot, self.jam.links(slot) | path);
                continue;
            }
            let behind = Self::empty(slot).wrapping_sub(Self::empty(self.slots[slot as usize % SLOTS].into()));
            if behind > 0 && now + u64::from(behind) <= slot {
                let links = self.slots[slot as usize % SLOTS] % (1 << LINKS);
                self.jam.put(slot - u64::from(behind), links as u8);
            }
            self.put(slot, latest.max(0) as u8 | path);
        }
        first
    }

    /// The links on which a slot is taken.
    fn links(&self, slot: u64) -> u8 {
        let latest = self.latest(slot);
        if latest < 1 << LINKS { latest.max(0) as u8 } else { self.jam.links(slot) }
    }

    /// Empties the slots that have gone by before `now`, so that none is taken for one whose number it shares. To be
    /// done when no more than twice [`SWEEP`] has passed since.
    pub fn sweep(&mut self, now: u64) {
        for (place, entry) in (0..).zip(&mut self.slots) {
            let slot = *entry & !((1 << LINKS) - 1) | place;
            if slot.wrapping_sub(now as u32) > u32::MAX / 2 {
                *entry = Self::gone(now);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Rail, SWEEP};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_slot_serves_messages_whose_ways_do_not_meet() {
        let mut rail = Rail::default();
        assert_eq!(rail.board(10, 0b0011, 1, Rail::horizon(9)), 10);
        assert_eq!(rail.board(10, 0b1100, 1, Rail::horizon(9)), 10, "beyond the first one's goal");
        assert_eq!(rail.board(10, 0b0110, 1, Rail::horizon(9)), 11, "across both ways");
        assert_eq!(
            rail.board(9, 0b0001, 2, Rail::horizon(9)),
            11,
            "two slots in a row: 9 and 10 are not free together, nor 10 and 11"
        );
    }

    #[test]
    fn slots_come_again_empty() {
        let mut rail = Rail::default();
        let late = 1 << 50;
        assert_eq!(rail.board(late, 0b11_1111, 2, Rail::horizon(late)), late);
        assert_eq!(rail.board(late + 64, 0b1, 1, Rail::horizon(late + 1)), late + 64);
        assert_eq!(rail.board(late + 1, 0b1, 1, Rail::horizon(late + 1)), late + 2);
    }

    #[test]
    fn slots_come_again_empty_however_late() {
        let mut rail = Rail::default();
        let last = 1 << 32;
        for now in (0..last).step_by(SWEEP as usize) {
            rail.sweep(now);
            // Each at a place of its own, so that nothing takes the first one's.
            let slot = now + 100 + 2 * (now / SWEEP);
            assert_eq!(rail.board(slot, 0b1, 1, Rail::horizon(now)), slot);
            rail.sweep(slot);
            assert_eq!(rail.board(slot, 0b1, 1, Rail::horizon(slot)), slot + 1, "it has yet to come");
        }
        rail.sweep(last);
        assert_eq!(rail.board(last + 100, 0b1, 1, Rail::horizon(last)), last + 100);
    }

    /// The same by what every slot from the first on is taken for.
    #[derive(Default)]
    struct Exact(BTreeMap<u64, u8>);

    impl Exact {
        fn board(&mut self, slot: u64, path: u8, length: u64) -> u64 {
            let is_free = |slot: u64| self.0.get(&slot).is_none_or(|links| links & path == 0);
            let first = (slot..).find(|&first| (first..first + length).all(is_free)).expect("numbers are many");
            (first..first + length).for_each(|slot| *self.0.entry(slot).or_default() |= path);
            first
        }
    }

    #[test]
    fn a_place_stands_for_many_slots_of_a_jam() {
        let mut rail = Rail::default();
        assert_eq!(rail.board(100, 0b11, 1, Rail::horizon(10)), 100, "more than a turn ahead of the next");
        assert_eq!(rail.board(36, 0b1, 1, Rail::horizon(10)), 36);
        assert_eq!(rail.board(36, 0b1, 1, Rail::horizon(10)), 37, "given once");
        assert_eq!(rail.board(36, 0b10, 2, Rail::horizon(10)), 36, "beside both");
        assert_eq!(rail.board(100, 0b10, 1, Rail::horizon(10)), 101);
        let arrivals: Vec<u64> = (0..300).map(|_| rail.board(200, 0b1, 1, Rail::horizon(150))).collect();
        assert_eq!(arrivals, (200..500).collect::<Vec<u64>>());
        assert_eq!(rail.board(200, 0b11, 2, Rail::horizon(200)), 500, "behind them all");
        assert_eq!(rail.board(200, 0b10, 1, Rail::horizon(200)), 200, "beside them");
    }

    proptest! {
        /// Messages in jams and between them, against a list of all slots.
        #[test]
        fn no_slot_is_given_twice(
            start in prop::sample::select(vec![0, (1 << 32) - 300, (1 << 40) - 7]),
            messages in prop::collection::vec((0u64..4, 0u64..200, 1u8..63, 1u64..3, 1u64..120), 1..800),
        ) {
            let (mut rail, mut exact, mut now) = (Rail::new(start), Exact::default(), start);
            for (later, ahead, path, length, rest) in messages {
                now += later;
                if rest == 1 {
                    now += 100;
                }
                prop_assert_eq!(rail.board(now + ahead, path, length, Rail::horizon(now)), exact.board(now + ahead, path, length));
            }
        }
    }
}
