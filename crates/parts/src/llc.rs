//! The tags of an LLC slice: 2.5 MB, 20 ways, MESIF state and core-valid bits for each line, inclusive of the cores' caches.
//!
//! A way is one 32-bit word. The eight slices then take 1.3 MB of the host, which stays in its caches; that decides the speed of
//! the model, for look-ups at random are what it does most.

use pericore_engine::search::{matches, signs};

use pericore_facts::LineState;

/// Ways of a slice of the E5-2600 (guide 2.3.1: a slice can be up to 20-way set associative).
pub const MOST_WAYS: usize = 20;
/// Its sets: 2.5 MB / 64 B / 20 ways.
pub const SETS: usize = 2048;
/// Bytes of a slice: 2.5 MB.
pub const SLICE_BYTES: u64 = 20 * SETS as u64 * 64;
/// Bits of the tag: lines of up to 128 GiB of memory.
const TAG_BITS: u32 = 20;
const TAG: u32 = (1 << TAG_BITS) - 1;
const STATE: u32 = 0x7 << STATE_SHIFT;
const STATE_SHIFT: u32 = 20;
const CORES: u32 = 0xFF << CORES_SHIFT;
const CORES_SHIFT: u32 = 23;
/// Not-recently-used replacement: set on use; when all ways have it, the others lose it. The victim is the first way without it
/// (assumption; the real policy is not published).
const USED: u32 = 1 << 31; // The sign: ways without it are found by their signs.
/// An empty way: a tag that no line has, state `Invalid`.
const EMPTY: u32 = TAG;

/// Bytes of memory whose lines the tags can tell apart; the last line's tag means "empty".
pub const MOST_MEMORY: u64 = (64 * SETS as u64) << TAG_BITS;
/// Bytes at the end of those whose lines cannot be named: their tag is that of an empty way.
pub const UNNAMED: u64 = 64 * SETS as u64;

/// A way of a slice, counted set by set.
#[derive(Debug, Clone, Copy)]
pub struct Way(u32);

/// What a way held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Victim {
    /// The line's number: its address over 64 bytes.
    pub line: u32,
    /// State that it was in.
    pub state: LineState,
    /// Cores that may hold the line.
    pub cores: u8,
}

/// The tag array of a slice, or of a whole LLC: by default that of the E5-2600.
#[derive(Debug)]
pub struct Llc<const WAYS: usize = 20, const SETS: usize = 2048> {
    sets: Box<[[u32; WAYS]; SETS]>,
    /// Empty ways of all sets.
    empty: usize,
}

impl<const WAYS: usize, const SETS: usize> Default for Llc<WAYS, SETS> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const WAYS: usize, const SETS: usize> Llc<WAYS, SETS> {
    const SET_BITS: u32 = SETS.trailing_zeros();
    /// A bit for each way.
    const ALL: u32 = (1 << WAYS) - 1;

    /// An empty slice.
    pub fn new() -> Self {
        const { assert!(SETS.is_power_of_two()) };
        let sets = vec![[EMPTY; WAYS]; SETS].into_boxed_slice();
        let sets = sets.try_into().unwrap_or_else(|_| unreachable!("the slice is as long"));
        Self { sets, empty: WAYS * SETS }
    }

    const fn set_of(line: u32) -> usize {
        line as usize % SETS
    }

    /// Tells the host that a line is about to be looked up.
    #[inline]
    pub fn prefetch(&self, line: u32) {
        let set = &self.sets[Self::set_of(line)];
        crate::host::prefetch(&set[0]);
        crate::host::prefetch(&set[WAYS - 1]);
    }

    /// Finds a line.
    #[inline]
    pub fn find(&self, line: u32) -> Option<Way> {
        let (set, tag) = (Self::set_of(line), line >> Self::SET_BITS);
        let found = matches(&self.sets[set], TAG, tag);
        (found != 0).then(|| Self::way(set, found))
    }

    /// The first of some ways of a set, one bit each.
    const fn way(set: usize, ways: u32) -> Way {
        Way(set as u32 * WAYS as u32 + ways.trailing_zeros())
    }

    #[inline]
    fn word(&self, way: Way) -> u32 {
        self.sets.as_flattened()[way.0 as usize]
    }

    #[inline]
    fn word_mut(&mut self, way: Way) -> &mut u32 {
        &mut self.sets.as_flattened_mut()[way.0 as usize]
    }

    /// State of a line.
    #[inline]
    pub fn state(&self, way: Way) -> LineState {
        LineState::ALL[((self.word(way) & STATE) >> STATE_SHIFT) as usize]
    }

    /// Changes the state of a line.
    #[inline]
    pub fn set_state(&mut self, way: Way, state: LineState) {
        let word = self.word_mut(way);
        *word = *word & !STATE | (state as u32) << STATE_SHIFT;
    }

    /// Gives a line up.
    #[inline]
    pub fn remove(&mut self, way: Way) {
        let word = std::mem::replace(self.word_mut(way), EMPTY);
        self.empty += usize::from(word != EMPTY);
    }

    /// Cores that may hold a line, one bit each.
    #[inline]
    pub fn cores(&self, way: Way) -> u8 {
        (self.word(way) >> CORES_SHIFT) as u8
    }

    /// Changes the core-valid bits of a line.
    #[inline]
    pub fn set_cores(&mut self, way: Way, cores: u8) {
        let word = self.word_mut(way);
        *word = *word & !CORES | u32::from(cores) << CORES_SHIFT;
    }

    /// Counts a line as used.
    #[inline]
    pub fn touch(&mut self, way: Way) {
        let word = self.word_mut(way);
        if *word & USED != 0 {
            // Nothing changes: there is always a way that is not used.
            return;
        }
        *word |= USED;
        let set = &mut self.sets[way.0 as usize / WAYS];
        if signs(set) == Self::ALL {
            set.iter_mut().for_each(|word| *word &= !USED);
            *self.word_mut(way) |= USED;
        }
    }

    /// The way that a line would take, and what it holds now: nothing is `Invalid`.
    #[inline]
    pub fn victim(&self, line: u32) -> (Way, Victim) {
        let index = Self::set_of(line);
        let set = &self.sets[index];
        let empty = if self.empty > 0 { matches(set, TAG, EMPTY) } else { 0 };
        let choice = if empty != 0 { empty } else { !signs(set) & Self::ALL };
        self.held(index, choice)
    }

    /// The same for a line that may only take one of the last so many ways. Asked again before anything has changed, it
    /// gives the same way.
    #[inline]
    pub fn victim_of_last(&mut self, line: u32, ways: u8) -> (Way, Victim) {
        let index = Self::set_of(line);
        let allowed = Self::ALL & !(Self::ALL >> ways);
        let set = &mut self.sets[index];
        let empty = matches(set, TAG, EMPTY) & allowed;
        let mut choice = if empty != 0 { empty } else { !signs(set) & allowed };
        if choice == 0 {
            // All of them were used: they begin anew, among themselves.
            set[WAYS - usize::from(ways)..].iter_mut().for_each(|word| *word &= !USED);
            choice = allowed;
        }
        self.held(index, choice)
    }

    /// The first of some ways of a set, and what it holds.
    #[inline]
    fn held(&self, index: usize, choice: u32) -> (Way, Victim) {
        let way = Self::way(index, choice);
        let line = (self.word(way) & TAG) << Self::SET_BITS | index as u32;
        (way, Victim { line, state: self.state(way), cores: self.cores(way) })
    }

    /// Puts a line into a way, over whatever it held.
    #[inline]
    pub fn fill(&mut self, way: Way, line: u32, state: LineState, cores: u8) {
        self.empty -= usize::from(self.word(way) == EMPTY);
        *self.word_mut(way) = line >> Self::SET_BITS | (state as u32) << STATE_SHIFT | u32::from(cores) << CORES_SHIFT;
        self.touch(way);
    }
}

/// The numbers of the bits that are set.
#[inline]
pub fn bits(mask: impl Into<u32>) -> impl Iterator<Item = usize> {
    let mut mask: u32 = mask.into();
    std::iter::from_fn(move || {
        let bit = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (bit < u32::BITS).then_some(bit as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::{Llc, MOST_WAYS as WAYS, SETS};
    use pericore_facts::LineState;

    #[test]
    fn a_slice_is_two_and_a_half_megabytes() {
        assert_eq!(SETS * WAYS * 64, 5 << 19);
    }

    #[test]
    fn free_ways_go_first_then_the_not_recently_used() {
        let mut llc = <Llc>::new();
        for n in 0..WAYS as u32 {
            let (way, victim) = llc.victim(n * SETS as u32);
            assert_eq!(victim.state, LineState::Invalid);
            llc.fill(way, n * SETS as u32, LineState::Exclusive, 1);
        }
        let (_, victim) = llc.victim(99 * SETS as u32);
        assert_eq!((victim.line, victim.state, victim.cores), (0, LineState::Exclusive, 1));
        llc.touch(llc.find(0).unwrap());
        assert_eq!(llc.victim(99 * SETS as u32).1.line, SETS as u32);
    }

    #[test]
    fn lines_of_devices_take_turns_in_their_ways() {
        let mut llc = <Llc>::new();
        let line = |n: u32| n * SETS as u32;
        // Sixteen lines of cores leave ways 16 to 19 empty; devices may have 18 and 19.
        for n in 0..16 {
            let (way, _) = llc.victim(line(n));
            llc.fill(way, line(n), LineState::Exclusive, 1);
        }
        let mut victims = Vec::new();
        for n in 100..106 {
            let (way, victim) = llc.victim_of_last(line(n), 2);
            assert_eq!(llc.victim_of_last(line(n), 2).1, victim, "asked again");
            victims.push((victim.state != LineState::Invalid).then_some(victim.line / SETS as u32));
            llc.fill(way, line(n), LineState::Modified, 0);
        }
        assert_eq!(victims, [None, None, Some(100), Some(101), Some(102), Some(103)]);
        assert!((0..16).all(|n| llc.find(line(n)).is_some()), "lines of cores stay");
        // With all ways allowed it is any line's victim, the first that is not used: two are empty still.
        assert_eq!(llc.victim_of_last(line(99), WAYS as u8).1.state, LineState::Invalid);
    }

    #[test]
    fn state_and_cores_do_not_disturb_each_other() {
        let mut llc = <Llc>::new();
        let line = (1 << 31) - 1 - SETS as u32;
        let (way, _) = llc.victim(line);
        llc.fill(way, line, LineState::Forward, 0xA5);
        llc.set_state(way, LineState::Modified);
        llc.set_cores(way, 0x5A);
        let found = llc.find(line).unwrap();
        assert_eq!((llc.state(found), llc.cores(found)), (LineState::Modified, 0x5A));
        assert!(llc.find(line - SETS as u32).is_none());
    }
}
