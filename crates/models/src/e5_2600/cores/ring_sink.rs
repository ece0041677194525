//! The places of a core's ring stop for messages of its rings.

use pericore_engine::Tick;
use pericore_facts::e5_2600::RingKind;

/// Cycles in which a core takes a message of each ring (assumptions: a line has two transfers, and the tags of both
/// caches are looked up for a snoop).
const TAKES: [u64; RingKind::COUNT] = [1, 1, 2, 4];
/// Messages that may wait behind the one that is being taken (assumption).
const PLACES: u64 = 2;

/// When a core's ring stop has taken all that has come to it so far, by ring.
#[derive(Debug, Clone, Copy, Default)]
pub struct RingSink([Tick; RingKind::COUNT]);

impl RingSink {
    /// True if a message that comes at `at` finds a place.
    #[inline]
    pub const fn has_place(&self, ring: RingKind, at: Tick, cycle: Tick) -> bool {
        self.0[ring as usize] <= at + PLACES * TAKES[ring as usize] * cycle
    }

    /// Takes a message that comes at `at`.
    #[inline]
    pub fn take(&mut self, ring: RingKind, at: Tick, cycle: Tick) {
        let until = &mut self.0[ring as usize];
        *until = (*until).max(at) + TAKES[ring as usize] * cycle;
    }
}

#[cfg(test)]
mod tests {
    use super::{RingKind, RingSink};

    /// Lines that come in cycle 100: one is taken in 100 and 101, two wait until 105, and the fourth finds no place. In
    /// cycle 102 there is one again.
    #[test]
    fn two_lines_wait_and_the_fourth_goes_round() {
        let mut sink = RingSink::default();
        let mut line = |at: u64| {
            let has_place = sink.has_place(RingKind::Block, at * 8, 8);
            if has_place {
                sink.take(RingKind::Block, at * 8, 8);
            }
            has_place
        };
        assert_eq!([line(100), line(100), line(100), line(101), line(102)], [true, true, true, false, true]);
        assert!(RingSink::default().has_place(RingKind::Snoop, 0, 8));
    }
}
