//! The tags of a core's private caches.

use pericore_engine::search::matches;

/// Ways of the L1D and of the L2 (Intel optimization manual, Sandy Bridge: both 8-way).
const WAYS: usize = 8;
/// An empty way: a tag that no line number has, and a right that does not exist.
const FREE: u32 = u32::MAX;

/// What a core may do with a line that it holds. The order is the order of rights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Right {
    /// Read; others may hold it too.
    Shared,
    /// Write without asking.
    Exclusive,
    /// Written: newer than the levels below.
    Modified,
}

/// A line that gave way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evicted {
    /// The line's number: its address over 64 bytes.
    pub line: u32,
    /// What its core was allowed to do with it.
    pub right: Right,
}

/// Right in the two top bits, tag below: a set is half a cache line of the host.
type Set = [u32; WAYS];
const RIGHT_SHIFT: u32 = 30;
const TAG: u32 = (1 << RIGHT_SHIFT) - 1;
/// Line number bits that every cache's set number covers: all have at least 64 sets.
const SET_BITS: u32 = 6;

const fn pack(line: u32, right: Right) -> u32 {
    (line >> SET_BITS) | ((right as u32) << RIGHT_SHIFT)
}

const fn line_of(word: u32, set: u32) -> u32 {
    ((word & TAG) << SET_BITS) | (set % (1 << SET_BITS))
}

const fn right_of(word: u32) -> Right {
    match word >> RIGHT_SHIFT {
        0 => Right::Shared,
        1 => Right::Exclusive,
        _ => Right::Modified,
    }
}

/// A set-associative tag array with tree pseudo-LRU replacement (assumption; the real policy is not published).
#[derive(Debug)]
pub struct Cache<const SETS: usize> {
    sets: Box<[Set; SETS]>,
    /// For each set, bit `n` is the node `n` of a heap-ordered tree and points to the older half.
    trees: [u8; SETS],
}

/// Where a line was found.
#[derive(Debug, Clone, Copy)]
pub struct Found {
    set: u32,
    way: u8,
}

impl<const SETS: usize> Default for Cache<SETS> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const SETS: usize> Cache<SETS> {
    /// An empty cache of `SETS * WAYS` lines.
    pub fn new() -> Self {
        const { assert!(SETS.is_power_of_two() && SETS >= 1 << SET_BITS) };
        let sets = vec![[FREE; WAYS]; SETS].into_boxed_slice();
        let sets = sets.try_into().unwrap_or_else(|_| unreachable!("the slice is as long"));
        Self { sets, trees: [0; SETS] }
    }

    /// Finds a line without counting it as used.
    #[inline]
    pub fn find(&self, line: u32) -> Option<Found> {
        let found = matches(&self.sets[line as usize % SETS], TAG, line >> SET_BITS);
        (found != 0).then(|| Found { set: line % SETS as u32, way: found.trailing_zeros() as u8 })
    }

    #[inline]
    fn word(&mut self, found: Found) -> &mut u32 {
        &mut self.sets[found.set as usize % SETS][usize::from(found.way) % WAYS]
    }

    /// The right to a line.
    #[inline]
    pub fn right(&self, found: Found) -> Right {
        right_of(self.sets[found.set as usize % SETS][usize::from(found.way) % WAYS])
    }

    /// Changes the right to a line.
    #[inline]
    pub fn set_right(&mut self, found: Found, right: Right) {
        let word = self.word(found);
        *word = (*word & TAG) | ((right as u32) << RIGHT_SHIFT);
    }

    /// Counts a line as used.
    #[inline]
    pub fn touch(&mut self, found: Found) {
        touch(&mut self.trees[found.set as usize % SETS], found.way);
    }

    /// Raises the right to a line, or adds the line if it is not there, and says what gave way.
    #[inline]
    pub fn put(&mut self, line: u32, right: Right) -> Option<Evicted> {
        let Some(found) = self.find(line) else { return self.insert(line, right) };
        self.set_right(found, self.right(found).max(right));
        None
    }

    /// Adds a line that is not there, and says what gave way.
    #[inline]
    pub fn insert(&mut self, line: u32, right: Right) -> Option<Evicted> {
        let index = line as usize % SETS;
        let (set, tree) = (&mut self.sets[index], &mut self.trees[index]);
        let free = matches(set, u32::MAX, FREE);
        let way = if free != 0 { free.trailing_zeros() as u8 } else { OLDEST[usize::from(*tree)] };
        let word = std::mem::replace(&mut set[usize::from(way) % WAYS], pack(line, right));
        touch(tree, way);
        (word != FREE).then(|| Evicted { line: line_of(word, line), right: right_of(word) })
    }

    /// All lines, with the rights to them.
    pub fn lines(&self) -> impl Iterator<Item = (u32, Right)> + '_ {
        let sets = (0..).zip(self.sets.iter());
        let words = sets.flat_map(|(number, set)| set.iter().map(move |&word| (number, word)));
        words.filter(|&(_, word)| word != FREE).map(|(number, word)| (line_of(word, number), right_of(word)))
    }

    /// Leaves a line for reading only, and says what the core had of it.
    pub fn share(&mut self, line: u32) -> Option<Right> {
        let found = self.find(line)?;
        let right = self.right(found);
        self.set_right(found, Right::Shared);
        Some(right)
    }

    /// Drops a line, and says what the core had of it.
    pub fn remove(&mut self, line: u32) -> Option<Right> {
        let found = self.find(line)?;
        let right = self.right(found);
        *self.word(found) = FREE;
        Some(right)
    }
}

/// For each way, the nodes on its path from the root, and those of them that then point to their right half: each points away
/// from the way that was used.
static PATHS: [(u8, u8); WAYS] = paths();
/// For each state of the tree, the way that its nodes point to.
static OLDEST: [u8; 256] = oldest();

fn touch(tree: &mut u8, way: u8) {
    let (path, right) = PATHS[usize::from(way) % WAYS];
    *tree = *tree & !path | right;
}

const fn paths() -> [(u8, u8); WAYS] {
    let mut paths = [(0, 0); WAYS];
    let mut way = 0;
    while way < WAYS {
        let (mut node, mut level) = (1, 3);
        while level > 0 {
            level -= 1;
            let right = way >> level & 1;
            paths[way].0 |= 1 << node;
            paths[way].1 |= ((1 - right) as u8) << node;
            node = 2 * node + right;
        }
        way += 1;
    }
    paths
}

const fn oldest() -> [u8; 256] {
    let mut oldest = [0; 256];
    let mut tree = 0;
    while tree < 256 {
        let (mut node, mut level) = (1, 0);
        while level < 3 {
            node = 2 * node + (tree >> node & 1);
            level += 1;
        }
        oldest[tree] = (node - WAYS) as u8;
        tree += 1;
    }
    oldest
}

#[cfg(test)]
mod tests {
    use super::{Cache, Right};

    #[test]
    fn a_set_holds_eight_lines_and_the_last_used_stays() {
        let mut cache = Cache::<64>::new();
        // 64 sets: lines a multiple of 64 apart share one.
        for n in 0..8 {
            assert_eq!(cache.insert(n * 64, Right::Exclusive), None);
        }
        let kept = cache.find(0).unwrap();
        cache.touch(kept);
        for n in 8..11 {
            let evicted = cache.insert(n * 64, Right::Shared).unwrap();
            assert_ne!(evicted.line, 0);
        }
        assert!(cache.find(0).is_some());
        assert_eq!(cache.remove(0), Some(Right::Exclusive));
        assert!(cache.find(0).is_none());
    }

    #[test]
    fn lines_of_a_fresh_set_leave_in_the_order_of_their_last_use() {
        let mut cache = Cache::<64>::new();
        for n in 0..8 {
            cache.insert(n * 64, Right::Shared);
        }
        // The tree is exact for a plain walk.
        assert_eq!(cache.insert(8 * 64, Right::Shared).unwrap().line, 0);
    }
}
