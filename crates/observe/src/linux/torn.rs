//! Eight bytes of configuration space take two cycles, the lower half first: a counter that carries between them gives
//! halves that do not belong together.

use std::time::Duration;

/// Counts a nanosecond of the fastest counter: twice the fastest clock of any unit.
const FASTEST: u64 = 8;
/// Counts until a carry that are too few for any reading: 2 ms, in which the reader may lose its CPU unseen.
const CLOSE: u64 = 1 << 24;
const HALF: u64 = 1 << 32;

/// A value that was read in two halves, and how long that took.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    pub value: u64,
    pub took: Duration,
}

impl Reading {
    /// True if the lower half could have carried into the upper one before that was read. What reads as all ones is
    /// no counter.
    pub fn may_be_torn(self) -> bool {
        let counts = u64::try_from(self.took.as_nanos()).unwrap_or(u64::MAX).saturating_mul(FASTEST);
        self.value != u64::MAX && HALF - self.value % HALF <= counts.max(CLOSE)
    }

    /// True if this reading, which came next, shows that the one before is whole: nothing carried from its lower half
    /// to this one's, and its upper half was read between these. A longer time than a whole turn shows nothing.
    pub fn shows_whole(self, before: Self) -> bool {
        let turn = Duration::from_nanos(HALF / FASTEST);
        self.value % HALF >= before.value % HALF && self.took + before.took < turn
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Reading;

    const fn reading(value: u64, micros: u64) -> Reading {
        Reading { value, took: Duration::from_micros(micros) }
    }

    #[test]
    fn a_carry_between_two_cycles_is_noticed() {
        // The lower half was read before the carry, the upper one after it.
        assert!(reading(0x0000_0001_ffff_fff0, 1).may_be_torn());
        assert!(!reading(0x0000_0001_0000_0020, 1).may_be_torn() && !reading(u64::MAX, 1).may_be_torn());
        // 4 GHz for a millisecond, in which the reader has no CPU, from the lower half to the upper one.
        assert!(reading(0x0000_0001_ffff_ffff - 4_000_000, 1).may_be_torn());
    }

    #[test]
    fn a_slow_reading_is_torn_by_a_carry_far_away() {
        // A guest whose accesses take 200 ms: at 3 GHz the counter rises by 600 million in that time.
        let value = 0x0000_0001_ffff_ffff - 600_000_000;
        assert!(reading(value, 200_000).may_be_torn());
        assert!(!reading(value, 1_000).may_be_torn());
        assert!(reading(0, 600_000).may_be_torn(), "a whole turn in the time");
    }

    #[test]
    fn the_next_reading_shows_what_is_whole() {
        let first = reading(0x0000_0000_ffff_fff0, 1);
        // No carry until the second reading, whose own halves may not belong together.
        assert!(reading(0x0000_0001_ffff_fffe, 1).shows_whole(first));
        assert!(reading(0x0000_0000_ffff_fff0, 1).shows_whole(first), "a counter that stands");
        assert!(!reading(0x0000_0001_0000_0020, 1).shows_whole(first));
        assert!(!reading(0x0000_0001_ffff_fffe, 600_000).shows_whole(first), "a whole turn between them");
    }

    /// 2^24 counts before a carry are close to it, however quick the reading; a whole turn takes 2^32 counts at 8 a
    /// nanosecond.
    #[test]
    fn what_is_close_to_a_carry_has_bounds() {
        let at = |value, nanos| Reading { value, took: Duration::from_nanos(nanos) };
        let half = 1_u64 << 32;
        for (value, nanos, may) in [
            (half - (1 << 24), 0, true),
            (half - (1 << 24) - 1, 0, false),
            (7 * half - (1 << 24), 0, true),
            (half - (1 << 28), 1 << 25, true),
            (half - (1 << 28) - 1, 1 << 25, false),
            (0, (1 << 29) - 1, false),
            (0, 1 << 29, true),
            (half, 0, false),
        ] {
            assert_eq!(at(value, nanos).may_be_torn(), may, "{value:#x} in {nanos} ns");
        }
        for (value, before, nanos, shows) in [
            (0x50, 0x50, 0, true),
            (0x4f, 0x50, 0, false),
            (half + 0x50, 0x50, 0, true),
            (0x50, half + 0x50, 0, true),
            (0x50, half + 0x51, 0, false),
            (0x51, 0x50, (1 << 28) - 1, true),
            (0x51, 0x50, 1 << 28, false),
        ] {
            assert_eq!(at(value, nanos).shows_whole(at(before, nanos)), shows, "{value:#x} after {before:#x}");
        }
    }
}
