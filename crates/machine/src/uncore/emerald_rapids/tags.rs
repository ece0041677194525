//! Set-associative tags: of the cores' L2, of the LLC and of the snoop filter.
//!
//! A way is one 32-bit word, and an empty one is 0: so the tags of a whole machine cost no time to make.

use crate::uncore::search::matches;

/// A word: tag (21 bits), state (3), owner (7), used (1). State 0 means empty.
const TAG_BITS: u32 = 21;
const TAG: u32 = (1 << TAG_BITS) - 1;
const STATE_SHIFT: u32 = 21;
const STATE: u32 = 0x7 << STATE_SHIFT;
const OWNER_SHIFT: u32 = 24;
const OWNER: u32 = 0x7F << OWNER_SHIFT;
/// Not-recently-used replacement: set on use; when all ways have it, the others lose it. The victim is the first way without it
/// (assumption; the real policies are not published).
const USED: u32 = 1 << 31;

/// Tags of `WAYS` ways.
#[derive(Debug)]
pub struct Tags<const WAYS: usize> {
    sets: Vec<[u32; WAYS]>,
    set_bits: u32,
}

/// A way of the tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    set: u32,
    way: u8,
}

/// What a way holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    pub line: u32,
    pub state: u8,
    pub owner: u8,
}

impl<const WAYS: usize> Tags<WAYS> {
    /// Empty tags of `2^set_bits` sets; together with the tag bits they tell all lines apart.
    pub fn new(set_bits: u32) -> Self {
        assert!(set_bits + TAG_BITS >= 32);
        Self { sets: vec![[0; WAYS]; 1 << set_bits], set_bits }
    }

    const fn set_of(&self, line: u32) -> u32 {
        line & ((1 << self.set_bits) - 1)
    }

    /// Tells the host that a line is about to be looked up.
    pub fn prefetch(&self, line: u32) {
        let set = &self.sets[self.set_of(line) as usize];
        crate::uncore::host::prefetch(&set[0]);
        crate::uncore::host::prefetch(&set[WAYS - 1]);
    }

    /// Finds a line.
    #[inline]
    pub fn find(&self, line: u32) -> Option<Way> {
        let set = self.set_of(line);
        let words = &self.sets[set as usize];
        let mut found = matches(words, TAG, line >> self.set_bits);
        while found != 0 {
            let way = found.trailing_zeros() as u8;
            // An empty way looks like tag 0.
            if words[usize::from(way)] & STATE != 0 {
                return Some(Way { set, way });
            }
            found &= found - 1;
        }
        None
    }

    fn word(&mut self, at: Way) -> &mut u32 {
        &mut self.sets[at.set as usize][usize::from(at.way)]
    }

    /// What a way holds.
    pub fn get(&self, at: Way) -> Line {
        let word = self.sets[at.set as usize][usize::from(at.way)];
        Line {
            line: (word & TAG) << self.set_bits | at.set,
            state: ((word & STATE) >> STATE_SHIFT) as u8,
            owner: ((word & OWNER) >> OWNER_SHIFT) as u8,
        }
    }

    /// Changes state and owner.
    pub fn set(&mut self, at: Way, state: u8, owner: u8) {
        let word = self.word(at);
        *word = *word & !(STATE | OWNER) | u32::from(state) << STATE_SHIFT | u32::from(owner) << OWNER_SHIFT;
    }

    /// Empties a way.
    pub fn clear(&mut self, at: Way) {
        *self.word(at) = 0;
    }

    /// Counts a way as used.
    pub fn touch(&mut self, at: Way) {
        let set = &mut self.sets[at.set as usize];
        set[usize::from(at.way)] |= USED;
        if set.iter().fold(USED, |all, &word| all & word) != 0 {
            set.iter_mut().for_each(|word| *word &= !USED);
            set[usize::from(at.way)] |= USED;
        }
    }

    /// Adds a line that is not there, and says what gave way.
    pub fn insert(&mut self, line: u32, state: u8, owner: u8) -> Option<Line> {
        let set = self.set_of(line);
        let words = &self.sets[set as usize];
        let empty = matches(words, STATE, 0);
        let choice = if empty != 0 { empty } else { matches(words, USED, 0) };
        let at = Way { set, way: choice.trailing_zeros() as u8 };
        let old = self.get(at);
        *self.word(at) = line >> self.set_bits;
        self.set(at, state, owner);
        self.touch(at);
        (old.state != 0).then_some(old)
    }
}

#[cfg(test)]
mod tests {
    use super::Tags;

    #[test]
    fn lines_are_told_apart_to_the_last_bit() {
        let mut tags = Tags::<20>::new(12);
        assert!(tags.find(0).is_none());
        for line in [0, 1, 1 << 12, 1 << 31, u32::MAX] {
            assert!(tags.insert(line, 3, 100).is_none());
        }
        for line in [0, 1, 1 << 12, 1 << 31, u32::MAX] {
            let found = tags.get(tags.find(line).unwrap());
            assert_eq!((found.line, found.state, found.owner), (line, 3, 100));
        }
        assert!(tags.find(2 << 12).is_none());
    }

    #[test]
    fn free_ways_go_first_then_the_not_recently_used() {
        let mut tags = Tags::<16>::new(11);
        for n in 0..16 {
            assert!(tags.insert(n << 11 | 5, 1, 0).is_none());
        }
        tags.touch(tags.find(5).unwrap());
        // The last fill marked all ways as used, so that only it and the line touched since are safe.
        assert_eq!(tags.insert(99 << 11 | 5, 1, 0).unwrap().line, 1 << 11 | 5);
    }
}
