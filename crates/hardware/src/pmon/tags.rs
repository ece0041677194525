//! What is known of each tag of a signal: how many entries of the level carry it now, and which counters take it. A signal has few
//! tags and says them over and over, so an emission finds both with one look.

/// A tag of a signal.
#[derive(Debug, Clone, Copy, Default)]
pub struct Slot {
    pub tag: u64,
    /// Entries of the level that carry the tag.
    pub count: u32,
    /// Counters that take it, as a bit mask.
    pub takers: u32,
}

/// The tags that a signal has said: the first, which is the only one of many signals, and a hash table with open addressing for the
/// others.
///
/// In the table tag 0 hashes to slot 0 and has it for itself, so that any other slot with tag 0 is one that no tag has.
#[derive(Debug, Clone, Default)]
pub struct Tags {
    /// It is for tag 0 as long as nothing else was said.
    first: Slot,
    /// None, or a power of two.
    slots: Vec<Slot>,
    /// Bits of a hash that are not its slot's number.
    shift: u32,
    used: u32,
}

/// Knuth's multiplier for a hash of 64 bits: 2^64 divided by the golden ratio.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
/// Three quarters of them stay free, so that the first look almost always finds a tag.
const FEWEST: usize = 16;
/// A table of this size forgets the tags that no entry carries before it grows.
const MANY: usize = 256;

impl Tags {
    /// Where a tag is, if the first look finds it.
    #[inline]
    pub fn quick(&mut self, tag: u64) -> Option<&mut Slot> {
        if self.first.tag == tag {
            return Some(&mut self.first);
        }
        let home = self.home(tag);
        self.slots.get_mut(home).filter(|slot| slot.tag == tag)
    }

    /// Where a tag is; `takers` gives who takes a tag that is new.
    pub fn know(&mut self, tag: u64, takers: impl Fn(u64) -> u32) -> &mut Slot {
        if self.slots.is_empty() && self.first.tag == 0 && self.first.count == 0 {
            self.first = Slot { tag, count: 0, takers: takers(tag) };
        }
        if self.first.tag == tag {
            return &mut self.first;
        }
        if let Some(place) = self.place(tag)
            && self.slots[place].tag == tag
        {
            return &mut self.slots[place];
        }
        if (self.used as usize + 1) * 4 > self.slots.len() {
            self.make_room(&takers);
        }
        if tag != 0 {
            self.add(Slot { tag, count: 0, takers: takers(tag) });
        }
        let place = self.place(tag).unwrap_or_default();
        &mut self.slots[place]
    }

    /// The tags that entries carry, and how many do.
    pub fn entries(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        let slots = std::iter::once(&self.first).chain(&self.slots);
        slots.filter(|slot| slot.count > 0).map(|slot| (slot.tag, slot.count))
    }

    /// No entry is left.
    pub fn clear(&mut self) {
        self.all().for_each(|slot| slot.count = 0);
    }

    /// Counter `counter` takes the tags that `takes` says, and no others.
    pub fn retake(&mut self, counter: u8, takes: impl Fn(u64) -> bool) {
        for slot in self.all() {
            slot.takers = slot.takers & !(1 << counter) | u32::from(takes(slot.tag)) << counter;
        }
    }

    fn all(&mut self) -> impl Iterator<Item = &mut Slot> {
        std::iter::once(&mut self.first).chain(&mut self.slots)
    }

    /// The slot of the table that is looked at first.
    #[inline]
    const fn home(&self, tag: u64) -> usize {
        (tag.wrapping_mul(SPREAD) >> (self.shift & 63)) as usize
    }

    /// The slot that has a tag, or the free one that would; `None` if the table has no slots.
    #[inline(never)]
    fn place(&self, tag: u64) -> Option<usize> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut place = self.home(tag);
        // Most of the slots are free: the search is short.
        while self.slots[place].tag != tag && (place == 0 || self.slots[place].tag != 0) {
            place = (place + 1) & mask;
        }
        Some(place)
    }

    fn add(&mut self, slot: Slot) {
        if let Some(place) = self.place(slot.tag) {
            self.slots[place] = slot;
            self.used += 1;
        }
    }

    #[cold]
    fn make_room(&mut self, takers: &impl Fn(u64) -> u32) {
        let forget = self.slots.len() >= MANY;
        let kept = self.slots.iter().filter(|slot| slot.tag != 0 && (!forget || slot.count > 0));
        let kept: Vec<Slot> = kept.copied().collect();
        let zero = self.slots.first().copied().unwrap_or_else(|| Slot { takers: takers(0), ..Slot::default() });
        let fits = forget && kept.len() * 4 < self.slots.len();
        let size = if fits { self.slots.len() } else { (self.slots.len() * 2).max(FEWEST) };
        self.slots.clear();
        self.slots.resize(size, Slot::default());
        self.slots[0] = zero;
        self.shift = 64 - size.trailing_zeros();
        self.used = 1;
        kept.into_iter().for_each(|slot| self.add(slot));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::Tags;
    use proptest::prelude::*;

    const fn takers(tag: u64) -> u32 {
        (tag >> 3) as u32 & 0xf
    }

    proptest! {
        /// Against an ordered map, with few tags that come again and many that do not.
        #[test]
        fn it_counts_as_a_map_does(steps in prop::collection::vec((any::<bool>(), 0u64..900, 0u32..50), 0..3000)) {
            let (mut tags, mut map) = (Tags::default(), BTreeMap::<u64, u32>::new());
            for (enters, tag, shift) in steps {
                let tag = if shift < 40 { (tag % 12) << shift } else { tag };
                if enters {
                    tags.know(tag, takers).count += 1;
                    *map.entry(tag).or_default() += 1;
                } else if let Some(count) = map.get_mut(&tag).filter(|count| **count > 0) {
                    *count -= 1;
                    tags.know(tag, takers).count -= 1;
                }
                if let Some(slot) = tags.quick(tag) {
                    prop_assert_eq!(slot.tag, tag);
                }
                let slot = tags.know(tag, takers);
                prop_assert_eq!((slot.tag, slot.count, slot.takers), (tag, map.get(&tag).copied().unwrap_or(0), takers(tag)));
            }
            map.retain(|_, count| *count > 0);
            prop_assert_eq!(tags.entries().collect::<BTreeMap<_, _>>(), map);
        }
    }

    #[test]
    fn a_counter_may_take_other_tags() {
        let mut tags = Tags::default();
        (0..20).for_each(|tag| _ = tags.know(tag, |_| 0b10));
        tags.retake(0, |tag| tag % 2 == 0);
        tags.retake(1, |tag| tag == 0);
        assert_eq!([0, 1, 2, 19, 20].map(|tag| tags.know(tag, |_| 0b100).takers), [0b11, 0, 1, 0, 0b100]);
    }
}
