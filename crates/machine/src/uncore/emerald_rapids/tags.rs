//! Set-associative tags: of the cores' L2, of the LLC and of the snoop filter.
//!
//! A way is one 32-bit word, and an empty one is 0: so the tags of a whole machine cost no time to make. Sixteen ways are one line of
//! the host's cache, and lie in one.

pub mod sizes;

use pericore_engine::search::{matches, signs};

use pericore_parts::host::{large_pages, prefetch};
use sizes::TagSize;

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
/// Bytes of a line of the host's cache, and words that the first set may have to be moved by.
const HOST_LINE: usize = 64;
const SLACK: usize = HOST_LINE / size_of::<u32>() - 1;
const WITHIN: &str = "a set lies within its row";

/// The tags of all units of a kind, in one piece, so that the host can keep them in few pages. A unit has `2^SET_BITS` rows of `WORDS`
/// ways; a row is a set, or the sets of one number of several tags that are looked up together.
#[derive(Debug)]
pub struct AllTags<const WORDS: usize, const SET_BITS: u32> {
    /// Unit by unit, row by row.
    words: Box<[u32]>,
    /// Where the first unit starts.
    first: usize,
}

impl<const WORDS: usize, const SET_BITS: u32> AllTags<WORDS, SET_BITS> {
    /// Words of a unit.
    const UNIT: usize = WORDS << SET_BITS;

    /// Empty tags.
    pub fn new(units: usize) -> Self {
        // Set and tag together tell all lines apart.
        const { assert!(SET_BITS + TAG_BITS >= u32::BITS) };
        let words = vec![0; Self::UNIT * units + SLACK].into_boxed_slice();
        large_pages(&words);
        let first = words.as_ptr().align_offset(HOST_LINE).min(SLACK);
        Self { words, first }
    }

    /// Those of a unit: the `WAYS` words from `FIRST` on of its rows.
    #[inline]
    pub fn of<const WAYS: usize, const FIRST: usize>(&mut self, unit: u16) -> Tags<'_, WAYS, FIRST, WORDS, SET_BITS> {
        self.sized(unit, TagSize::new(SET_BITS, WAYS as u32))
    }

    /// The same, if not all of them are in use: of sets, the first.
    #[inline]
    pub fn sized<const WAYS: usize, const FIRST: usize>(
        &mut self,
        unit: u16,
        size: TagSize,
    ) -> Tags<'_, WAYS, FIRST, WORDS, SET_BITS> {
        debug_assert!(size.set_bits <= SET_BITS && size.set_bits + TAG_BITS >= u32::BITS);
        let start = self.first + usize::from(unit) * Self::UNIT;
        Tags { words: &mut self.words[start..start + Self::UNIT], size }
    }

    /// Tells the host that a line is about to be looked up in all tags of a unit.
    #[inline]
    pub fn prefetch(&self, unit: u16, line: u32) {
        let start =
            self.first + usize::from(unit) * Self::UNIT + TagSize::new(SET_BITS, 1).set_of(line) as usize * WORDS;
        let row = &self.words[start..start + WORDS];
        for word in (0..WORDS).step_by(HOST_LINE / size_of::<u32>()) {
            prefetch(&row[word]);
        }
    }
}

/// The tags of one unit: `WAYS` ways from `FIRST` on of rows of `WORDS`.
#[derive(Debug)]
pub struct Tags<'a, const WAYS: usize, const FIRST: usize, const WORDS: usize, const SET_BITS: u32> {
    /// Row by row.
    words: &'a mut [u32],
    size: TagSize,
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

const fn word(tag: u32, state: u8, owner: u8) -> u32 {
    tag | (state as u32) << STATE_SHIFT | (owner as u32) << OWNER_SHIFT
}

impl<const WAYS: usize, const FIRST: usize, const WORDS: usize, const SET_BITS: u32>
    Tags<'_, WAYS, FIRST, WORDS, SET_BITS>
{
    #[inline]
    fn set_at(&self, set: u32) -> &[u32; WAYS] {
        let row: &[u32; WORDS] = &self.words.as_chunks().0[set as usize];
        row[FIRST..].first_chunk().expect(WITHIN)
    }

    #[inline]
    fn set_at_mut(&mut self, set: u32) -> &mut [u32; WAYS] {
        let row: &mut [u32; WORDS] = &mut self.words.as_chunks_mut().0[set as usize];
        row[FIRST..].first_chunk_mut().expect(WITHIN)
    }

    /// Finds a line.
    #[inline]
    pub fn find(&self, line: u32) -> Option<Way> {
        let set = self.size.set_of(line);
        let words = self.set_at(set);
        let mut found = matches(words, TAG, line >> self.size.set_bits);
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

    #[inline]
    fn word(&mut self, at: Way) -> &mut u32 {
        &mut self.set_at_mut(at.set)[usize::from(at.way)]
    }

    #[inline]
    const fn line(&self, set: u32, word: u32) -> Line {
        Line {
            line: (word & TAG) << self.size.set_bits | set,
            state: ((word & STATE) >> STATE_SHIFT) as u8,
            owner: ((word & OWNER) >> OWNER_SHIFT) as u8,
        }
    }

    /// All lines.
    #[cfg(test)]
    pub fn lines(&self) -> impl Iterator<Item = Line> + '_ {
        let sets = (0..1 << self.size.set_bits).flat_map(|set| self.set_at(set).iter().map(move |&word| (set, word)));
        sets.filter(|(_, word)| word & STATE != 0).map(|(set, word)| self.line(set, word))
    }

    /// What a way holds.
    #[inline]
    pub fn get(&self, at: Way) -> Line {
        self.line(at.set, self.set_at(at.set)[usize::from(at.way)])
    }

    /// Changes state and owner.
    #[inline]
    pub fn set(&mut self, at: Way, state: u8, owner: u8) {
        let place = self.word(at);
        *place = *place & !(STATE | OWNER) | word(0, state, owner);
    }

    /// Empties a way.
    #[inline]
    pub fn clear(&mut self, at: Way) {
        *self.word(at) = 0;
    }

    /// Counts a way as used.
    #[inline]
    pub fn touch(&mut self, at: Way) {
        let ways = self.size.ways;
        use_way(self.set_at_mut(at.set), ways, usize::from(at.way));
    }

    /// Adds a line that is not there, and says what gave way.
    pub fn insert(&mut self, line: u32, state: u8, owner: u8) -> Option<Line> {
        let TagSize { set_bits, ways } = self.size;
        let (set, tag) = (self.size.set_of(line), line >> set_bits);
        let words = self.set_at_mut(set);
        let empty = matches(words, STATE, 0) & ways;
        let choice = if empty != 0 { empty } else { !signs(words) & ways };
        let way = choice.trailing_zeros() as usize;
        let old = std::mem::replace(&mut words[way], word(tag, state, owner));
        use_way(words, ways, way);
        (old & STATE != 0).then(|| self.line(set, old))
    }
}

/// Marks a way as used, and if all of `ways` are, the others as not.
#[inline]
fn use_way<const WAYS: usize>(set: &mut [u32; WAYS], ways: u32, way: usize) {
    set[way] |= USED;
    if signs(set) & ways == ways {
        set.iter_mut().for_each(|word| *word &= !USED);
        set[way] |= USED;
    }
}

#[cfg(test)]
mod tests {
    use super::AllTags;
    use super::sizes::TagSize;

    #[test]
    fn sets_and_ways_that_are_not_in_use_hold_nothing() {
        let mut all = AllTags::<36, 12>::new(1);
        let mut tags = all.sized::<20, 0>(0, TagSize::new(11, 15));
        // Lines of set 7 of 2048, the highest bit of their numbers among them.
        let line = |n: u32| n << 11 | n << 31 | 7;
        let gone: Vec<_> = (0..30).filter_map(|n| tags.insert(line(n), 3, 1)).map(|old| old.line).collect();
        assert_eq!(gone.len(), 15, "fifteen have room");
        assert_eq!(tags.lines().count(), 15);
        assert!((0..30).all(|n| tags.find(line(n)).is_some() != gone.contains(&line(n))));
        assert!(tags.find(line(29) ^ 1 << 11).is_none(), "half of the sets are not in use");
    }

    #[test]
    fn lines_are_told_apart_to_the_last_bit() {
        let mut all = AllTags::<36, 12>::new(2);
        let mut tags = all.of::<20, 0>(1);
        assert!(tags.find(0).is_none());
        for line in [0, 1, 1 << 12, 1 << 31, u32::MAX] {
            assert!(tags.insert(line, 3, 100).is_none());
        }
        for line in [0, 1, 1 << 12, 1 << 31, u32::MAX] {
            let found = tags.get(tags.find(line).unwrap());
            assert_eq!((found.line, found.state, found.owner), (line, 3, 100));
        }
        assert!(tags.find(2 << 12).is_none());
        assert!(all.of::<20, 0>(0).find(1).is_none() && all.of::<16, 20>(1).find(1).is_none());
    }

    #[test]
    fn free_ways_go_first_then_the_not_recently_used() {
        let mut all = AllTags::<16, 11>::new(1);
        let mut tags = all.of::<16, 0>(0);
        for n in 0..16 {
            assert!(tags.insert(n << 11 | 5, 1, 0).is_none());
        }
        tags.touch(tags.find(5).unwrap());
        // The last fill marked all ways as used, so that only it and the line touched since are safe.
        assert_eq!(tags.insert(99 << 11 | 5, 1, 0).unwrap().line, 1 << 11 | 5);
    }
}
