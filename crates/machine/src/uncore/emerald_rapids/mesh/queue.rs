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

/// Cycles of a block.
const CYCLES: u64 = u64::BITS as u64;

/// In which cycles of a block at least one message waits, at least two, and so on up to as many as fill the queue.
#[derive(Debug, Clone, Copy, Default)]
struct Block([u64; ROOM as usize]);

impl Block {
    /// A message waits in some cycles.
    #[inline]
    fn add(&mut self, cycles: u64, stay: &mut Stay) {
        // Where others wait, it is one more.
        let mut also = cycles;
        for (depth, there) in (1..).zip(&mut self.0) {
            let reached = (also & !*there).count_ones();
            match depth {
                1 => stay.nonempty += reached,
                HALF_FULL => stay.half += reached,
                ROOM => stay.full += reached,
                _ => {}
            }
            (*there, also) = (*there | also, *there & also);
            if also == 0 {
                break;
            }
        }
    }

    const fn is_full(&self, cycle: u64) -> bool {
        self.0[ROOM as usize - 1] >> (cycle % CYCLES) & 1 != 0
    }
}

/// How many messages wait, cycle by cycle.
#[derive(Debug, Clone, Default)]
pub struct Waiting {
    /// Number of the first block that is kept.
    first: u64,
    near: [Block; 2],
    /// Those behind, in a jam.
    far: VecDeque<Block>,
}

impl Waiting {
    /// A message waits from `came` to `went`; nobody will ask about cycles before `now` any more.
    #[inline]
    pub fn wait(&mut self, came: u64, went: u64, now: u64) -> Stay {
        if came == went { Stay::default() } else { self.add(came, went, now) }
    }

    #[inline(never)]
    fn add(&mut self, came: u64, went: u64, now: u64) -> Stay {
        if self.first < now / CYCLES {
            self.move_on(now / CYCLES);
        }
        let mut stay = Stay { waited: (went - came) as u32, ..Stay::default() };
        let (first, last) = (came / CYCLES, (went - 1) / CYCLES);
        let (from, to) = (u64::MAX << (came % CYCLES), u64::MAX >> (CYCLES - 1 - (went - 1) % CYCLES));
        let block = self.block(first);
        stay.refused = block.is_full(came);
        if first == last {
            block.add(from & to, &mut stay);
        } else {
            block.add(from, &mut stay);
            (first + 1..last).for_each(|between| self.block(between).add(u64::MAX, &mut stay));
            self.block(last).add(to, &mut stay);
        }
        stay
    }

    /// Forgets the blocks before one.
    fn move_on(&mut self, block: u64) {
        while self.first < block {
            if self.first + 2 + self.far.len() as u64 <= block {
                (self.first, self.near) = (block, [Block::default(); 2]);
                self.far.clear();
                return;
            }
            self.near = [self.near[1], self.far.pop_front().unwrap_or_default()];
            self.first += 1;
        }
    }

    #[inline]
    fn block(&mut self, number: u64) -> &mut Block {
        let ahead = (number - self.first) as usize;
        if ahead < self.near.len() {
            return &mut self.near[ahead];
        }
        let behind = ahead - self.near.len();
        if self.far.len() <= behind {
            self.far.resize(behind + 1, Block::default());
        }
        &mut self.far[behind]
    }
}

/// Where messages wait to be sent: each leaves after those that came before it.
#[derive(Debug, Clone, Default)]
pub struct Egress {
    /// When the last messages that waited left, the latest first.
    left: [u64; ROOM as usize],
}

impl Egress {
    /// How a message stays that comes at `put` and leaves at `left`.
    pub fn stay(&self, put: u64, left: u64) -> Stay {
        if put == left {
            return Stay::default();
        }
        // As they leave in the order in which they came, `depth` of them and this one are there until the one that left `depth` before
        // this one leaves.
        let leaves = |depth: u32| if depth == 0 { left } else { self.left[depth as usize - 1].max(put) };
        Stay {
            waited: (left - put) as u32,
            nonempty: (leaves(0) - leaves(1)) as u32,
            half: (leaves(HALF_FULL - 1) - leaves(HALF_FULL)) as u32,
            full: (leaves(ROOM - 1) - leaves(ROOM)) as u32,
            refused: leaves(ROOM) > put,
        }
    }

    /// A message that waited leaves at `left`.
    #[inline]
    pub fn wait(&mut self, left: u64) {
        let [first, second, third, _] = self.left;
        self.left = [left, first, second, third];
    }
}

/// Cycles of a port that are remembered.
const AHEAD: u64 = u128::BITS as u64;
/// Of those, cycles that are as far ahead as messages come where there is no jam.
const NEAR: u64 = u64::BITS as u64;

/// A place that messages go through one after the other.
#[derive(Debug, Clone, Default)]
pub struct Port {
    /// Cycles that are taken: the near ones, and those behind them.
    taken: [u64; 2],
    /// The cycle of the first bit.
    from: u64,
    /// The first free cycle after a jam that went further than is remembered.
    beyond: u64,
}

impl Port {
    /// Takes the port for `length` cycles from `cycle` on or later, and gives the first. Nobody will ask for cycles before `now` any
    /// more.
    #[inline]
    pub fn pass(&mut self, cycle: u64, length: u32, now: u64) -> u64 {
        let (gone, ahead) = (now - self.from, cycle - now);
        // Where there is no jam, all that is planned is near.
        if self.taken[1] == 0 && self.beyond <= now && ahead + u64::from(length) <= NEAR {
            let near = if gone < NEAR { self.taken[0] >> gone } else { 0 };
            let wanted = ((1 << length) - 1) << ahead;
            if near & wanted == 0 {
                (self.taken[0], self.from) = (near | wanted, now);
                return cycle;
            }
        }
        self.squeeze(cycle, length, now)
    }

    #[inline(never)]
    fn squeeze(&mut self, cycle: u64, length: u32, now: u64) -> u64 {
        let end = |first: u64| first + u64::from(length);
        let gone = now - self.from;
        let known = u128::from(self.taken[1]) << NEAR | u128::from(self.taken[0]);
        let mut taken = if gone < AHEAD { known >> gone } else { 0 };
        let mut first = cycle;
        // In a jam that goes further than is remembered, first come is first served.
        while self.beyond <= now && end(first) <= now + AHEAD {
            let wanted = (1 << length) - 1;
            let busy = taken >> (first - now) & wanted;
            if busy == 0 {
                taken |= wanted << (first - now);
                break;
            }
            first += AHEAD - u64::from(busy.leading_zeros());
        }
        (self.taken, self.from) = ([taken as u64, (taken >> NEAR) as u64], now);
        if self.beyond > now || end(first) > now + AHEAD {
            first = first.max(self.beyond);
            self.beyond = end(first);
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::{Egress, Port, Stay, Waiting};
    use proptest::prelude::*;

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

    #[test]
    fn a_port_keeps_what_is_planned_before_and_behind() {
        let mut port = Port::default();
        assert_eq!(port.pass(20, 2, 5), 20);
        assert_eq!(port.pass(19, 2, 6), 22, "into the first one's cycles");
        assert_eq!(port.pass(18, 2, 6), 18, "before both");
        assert_eq!(port.pass(60, 1, 40), 60, "all are gone");
        assert_eq!(port.pass(60, 1, 50), 61);
        assert_eq!(port.pass(59, 2, 50), 62);
    }

    proptest! {
        /// Messages that leave in the order in which they came, against the count of every cycle.
        #[test]
        fn an_egress_is_a_queue_in_order(steps in prop::collection::vec((0u64..6, 0u64..5), 1..200)) {
            let (mut egress, mut waiting, mut now, mut next) = (Egress::default(), Waiting::default(), 0, 0);
            for (later, longer) in steps {
                now += later;
                let left = now.max(next) + longer;
                next = left + 1;
                prop_assert_eq!(egress.stay(now, left), waiting.wait(now, left, now));
                if left > now {
                    egress.wait(left);
                }
            }
        }
    }
}
