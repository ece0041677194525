//! The places of a core's ring stop for what slices send to it.

use pericore_engine::Tick;

/// Messages that may wait behind the one that is being taken (assumption).
const PLACES: u64 = 2;

/// When all of a kind that has come so far is taken; each of it takes some cycles.
#[derive(Debug, Clone, Copy, Default)]
pub struct Intake<const CYCLES: u64>(Tick);

impl<const CYCLES: u64> Intake<CYCLES> {
    /// True if a message that comes at `at` finds a place; a cycle is so many ticks.
    #[inline]
    pub const fn has_place(&self, at: Tick, cycle: Tick) -> bool {
        self.0 <= at + PLACES * CYCLES * cycle
    }

    /// Takes a message that comes at `at`.
    #[inline]
    pub fn take(&mut self, at: Tick, cycle: Tick) {
        self.0 = self.0.max(at) + CYCLES * cycle;
    }
}

/// What a core's ring stop takes in (assumptions: a line has two transfers, and the tags of both caches are looked up
/// for a snoop).
#[derive(Debug, Clone, Copy, Default)]
pub struct RingSink {
    pub lines: Intake<2>,
    pub snoops: Intake<4>,
}

#[cfg(test)]
mod tests {
    use super::RingSink;

    /// Lines that come in cycle 100: one is taken in 100 and 101, two wait until 105, and the fourth finds no place. In
    /// cycle 102 there is one again. Snoops have places of their own.
    #[test]
    fn two_lines_wait_and_the_fourth_goes_round() {
        let mut sink = RingSink::default();
        let mut line = |at: u64| {
            let has_place = sink.lines.has_place(at * 8, 8);
            if has_place {
                sink.lines.take(at * 8, 8);
            }
            has_place
        };
        assert_eq!([line(100), line(100), line(100), line(101), line(102)], [true, true, true, false, true]);
        assert!(sink.snoops.has_place(800, 8));
    }
}
