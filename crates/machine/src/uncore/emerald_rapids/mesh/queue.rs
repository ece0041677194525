//! Places where messages wait: how long, how many at once, and how many a cycle may go on.

use crate::ledger::emerald_rapids::{HALF_FULL, ROOM};
use std::collections::VecDeque;

/// What a message's wait adds to the figures of its queue, in cycles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stay {
    /// Cycles that it waited; none if it went past the queue.
    pub waited: u32,
    /// Cycles in which it alone was there.
    pub nonempty: u32,
    /// Cycles in which it made the queue half full.
    pub half: u32,
    /// Cycles in which it filled the queue.
    pub full: u32,
    /// It came when the queue was full.
    pub refused: bool,
}

/// How many messages wait, cycle by cycle.
#[derive(Debug, Clone, Default)]
pub struct Waiting {
    /// The first cycle that is kept.
    from: u64,
    counts: VecDeque<u32>,
}

impl Waiting {
    /// A message waits from `came` to `went`; nobody will ask about cycles before `now` any more.
    pub fn wait(&mut self, came: u64, went: u64, now: u64) -> Stay {
        if came == went {
            return Stay::default();
        }
        let past = (now - self.from).min(self.counts.len() as u64);
        self.counts.drain(..past as usize);
        self.from = now;
        let (first, last) = ((came - now) as usize, (went - now) as usize);
        if self.counts.len() < last {
            self.counts.resize(last, 0);
        }
        let mut stay = Stay { waited: (went - came) as u32, ..Stay::default() };
        stay.refused = self.counts[first] >= ROOM;
        for count in self.counts.range_mut(first..last) {
            *count += 1;
            stay.nonempty += u32::from(*count == 1);
            stay.half += u32::from(*count == HALF_FULL);
            stay.full += u32::from(*count == ROOM);
        }
        stay
    }
}

/// A place that messages go through one after the other.
#[derive(Debug, Clone, Default)]
pub struct Port {
    /// The cycle of the first bit.
    from: u64,
    /// Cycles that are taken.
    taken: u128,
    /// The first free cycle after those.
    beyond: u64,
}

impl Port {
    /// Takes the port for `length` cycles from `cycle` on or later, and gives the first. Nobody will ask for cycles before `now` any
    /// more.
    pub fn pass(&mut self, cycle: u64, length: u32, now: u64) -> u64 {
        let gone = now - self.from;
        self.taken = if gone < 128 { self.taken >> gone } else { 0 };
        self.from = now;
        let mut first = cycle;
        // In a jam that goes further than is remembered, first come is first served.
        while self.beyond <= now && first + u64::from(length) <= now + 128 {
            let busy = self.taken >> (first - now) & ((1 << length) - 1);
            if busy == 0 {
                self.taken |= ((1 << length) - 1) << (first - now);
                return first;
            }
            first += u64::from(128 - busy.leading_zeros());
        }
        let first = first.max(self.beyond);
        self.beyond = first + u64::from(length);
        first
    }
}

#[cfg(test)]
mod tests {
    use super::{Port, Stay, Waiting};

    #[test]
    fn waits_are_added_up_cycle_by_cycle() {
        let mut waiting = Waiting::default();
        let stay = |waited, nonempty, half, full, refused| Stay { waited, nonempty, half, full, refused };
        assert_eq!(waiting.wait(10, 14, 10), stay(4, 4, 0, 0, false));
        // Cycles 12 and 13 are shared, 14 and 15 are its own.
        assert_eq!(waiting.wait(12, 16, 11), stay(4, 2, 2, 0, false));
        assert_eq!(waiting.wait(13, 14, 11), stay(1, 0, 0, 0, false));
        // The fourth in cycle 13 fills the queue; the fifth finds it full.
        assert_eq!(waiting.wait(13, 15, 11), stay(2, 0, 1, 1, false));
        assert_eq!(waiting.wait(13, 14, 11), stay(1, 0, 0, 0, true));
        assert_eq!(waiting.wait(20, 20, 20), Stay::default());
        assert_eq!(waiting.wait(500, 501, 400), stay(1, 1, 0, 0, false));
    }

    #[test]
    fn a_port_lets_one_through_at_a_time() {
        let mut port = Port::default();
        assert_eq!(port.pass(10, 2, 5), 10);
        assert_eq!(port.pass(10, 2, 5), 12);
        assert_eq!(port.pass(9, 1, 6), 9, "before the others");
        assert_eq!(port.pass(8, 2, 6), 14, "8 and 9 are not free together");
        for n in 0..100 {
            assert_eq!(port.pass(1000, 2, 1000), 1000 + 2 * n);
        }
    }
}
