//! Queues, told by when their entries come and go: how many wait at once, and for how long a queue is half full or
//! full.

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
    /// Cycles for which the queue was full when it had come; none if it had room at once.
    pub outside: u32,
}

impl Stay {
    /// It came when the queue was full.
    pub const fn is_refused(&self) -> bool {
        self.outside > 0
    }
}

/// Cycles of a block.
const CYCLES: u64 = u64::BITS as u64;

/// In which cycles of a block at least one message waits, at least two, and so on up to as many as fill the queue.
#[derive(Debug, Clone, Copy)]
struct Block<const ROOM: usize>([u64; ROOM]);

impl<const ROOM: usize> Default for Block<ROOM> {
    fn default() -> Self {
        Self([0; ROOM])
    }
}

impl<const ROOM: usize> Block<ROOM> {
    /// A message waits in some cycles.
    #[inline]
    fn add(&mut self, cycles: u64, stay: &mut Stay) {
        // Where others wait, it is one more.
        let mut also = cycles;
        for (depth, there) in (1..).zip(&mut self.0) {
            let reached = (also & !*there).count_ones();
            match depth {
                1 => stay.nonempty += reached,
                _ if depth == ROOM / 2 => stay.half += reached,
                _ if depth == ROOM => stay.full += reached,
                _ => {}
            }
            (*there, also) = (*there | also, *there & also);
            if also == 0 {
                break;
            }
        }
    }

    const fn is_full(&self, cycle: u64) -> bool {
        self.0[ROOM - 1] >> (cycle % CYCLES) & 1 != 0
    }
}

/// How many entries wait, cycle by cycle, where `ROOM` fill the queue.
#[derive(Debug, Clone, Default)]
pub struct Waiting<const ROOM: usize> {
    /// Number of the first block that is kept.
    first: u64,
    near: [Block<ROOM>; 2],
    /// Those behind, in a jam.
    far: VecDeque<Block<ROOM>>,
}

impl<const ROOM: usize> Waiting<ROOM> {
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
        let room = (came..went).find(|&cycle| !self.block(cycle / CYCLES).is_full(cycle));
        stay.outside = (room.unwrap_or(went) - came) as u32;
        let block = self.block(first);
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
    fn block(&mut self, number: u64) -> &mut Block<ROOM> {
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
#[derive(Debug, Clone)]
pub struct Egress<const ROOM: usize> {
    /// When the last messages that waited left, the latest first.
    left: [u64; ROOM],
}

impl<const ROOM: usize> Default for Egress<ROOM> {
    fn default() -> Self {
        Self { left: [0; ROOM] }
    }
}

impl<const ROOM: usize> Egress<ROOM> {
    /// How a message stays that comes at `put` and leaves at `left`.
    pub fn stay(&self, put: u64, left: u64) -> Stay {
        if put == left {
            return Stay::default();
        }
        // As they leave in the order in which they came, `depth` of them and this one are there until the one that
        // left `depth` before this one leaves.
        let leaves = |depth: usize| if depth == 0 { left } else { self.left[depth - 1].max(put) };
        Stay {
            waited: (left - put) as u32,
            nonempty: (leaves(0) - leaves(1)) as u32,
            half: (leaves(ROOM / 2 - 1) - leaves(ROOM / 2)) as u32,
            full: (leaves(ROOM - 1) - leaves(ROOM)) as u32,
            outside: (leaves(ROOM) - put) as u32,
        }
    }

    /// A message that waited leaves at `left`.
    #[inline]
    pub fn wait(&mut self, left: u64) {
        self.left.copy_within(..ROOM - 1, 1);
        self.left[0] = left;
    }
}

#[cfg(test)]
mod tests {
    use super::{Egress, Stay, Waiting};
    use proptest::prelude::*;

    #[test]
    fn waits_are_added_up_cycle_by_cycle() {
        let mut waiting = Waiting::<4>::default();
        let stay = |waited, nonempty, half, full, outside| Stay { waited, nonempty, half, full, outside };
        assert_eq!(waiting.wait(10, 14, 10), stay(4, 4, 0, 0, 0));
        // Cycles 12 and 13 are shared, 14 and 15 are its own.
        assert_eq!(waiting.wait(12, 16, 11), stay(4, 2, 2, 0, 0));
        assert_eq!(waiting.wait(13, 14, 11), stay(1, 0, 0, 0, 0));
        // The fourth in cycle 13 fills the queue; the fifth finds it full.
        assert_eq!(waiting.wait(13, 15, 11), stay(2, 0, 1, 1, 0));
        assert_eq!(waiting.wait(13, 14, 11), stay(1, 0, 0, 0, 1));
        assert_eq!(waiting.wait(20, 20, 20), Stay::default());
        assert_eq!(waiting.wait(500, 501, 400), stay(1, 1, 0, 0, 0));
    }

    proptest! {
        /// Messages that leave in the order in which they came, against the count of every cycle.
        #[test]
        fn an_egress_is_a_queue_in_order(steps in prop::collection::vec((0u64..6, 0u64..5), 1..200)) {
            let (mut egress, mut waiting, mut now, mut next) = (Egress::<4>::default(), Waiting::<4>::default(), 0, 0);
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
