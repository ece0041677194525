//! What stands at a home agent for the ring of acknowledgements, and the slots that come past it.

use std::collections::VecDeque;

use pericore_parts::RequestId;

use crate::e5_2600::ring::Direction;

/// Full slots that come past a stop, in each direction, and what waits there for an empty one.
#[derive(Debug)]
pub struct Acknowledgements {
    /// The cycle of the lowest bits.
    from: u64,
    /// By direction, a bit for each cycle in which a full slot passes.
    full: [u64; 2],
    pub waiting: VecDeque<RequestId>,
    /// The cycle in which the oldest of them is tried next.
    pub retry: u64,
    /// First cycle in which the stop can send another message.
    pub free: u64,
}

impl Acknowledgements {
    /// Nothing passes, and nothing waits.
    pub fn new() -> Self {
        Self { from: 0, full: [0; 2], waiting: VecDeque::with_capacity(16), retry: 0, free: 0 }
    }

    /// A full slot passes in a cycle. What comes 64 cycles after `now` or later is forgotten.
    #[inline]
    pub fn passes(&mut self, direction: Direction, cycle: u64, now: u64) {
        self.forget_before(now);
        self.full[direction as usize] |= 1_u64.checked_shl((cycle - now) as u32).unwrap_or(0);
    }

    /// True if the stop can send a message in a direction in this cycle.
    #[inline]
    pub fn can_send(&mut self, direction: Direction, now: u64) -> bool {
        self.forget_before(now);
        self.free <= now && self.full[direction as usize] & 1 == 0
    }

    #[inline]
    fn forget_before(&mut self, cycle: u64) {
        let gone = cycle - self.from;
        self.full = if gone < u64::from(u64::BITS) { self.full.map(|slots| slots >> gone) } else { [0; 2] };
        self.from = cycle;
    }
}

#[cfg(test)]
mod tests {
    use super::{Acknowledgements, Direction};

    /// Full slots pass in cycles 12 and 14 clockwise: 13 and 15 are free, and everything the other way.
    #[test]
    fn a_message_goes_between_those_that_pass() {
        let mut stop = Acknowledgements::new();
        stop.passes(Direction::Clockwise, 12, 10);
        stop.passes(Direction::Clockwise, 14, 11);
        let clockwise: Vec<bool> = (11..16).map(|cycle| stop.can_send(Direction::Clockwise, cycle)).collect();
        assert_eq!(clockwise, [true, false, true, false, true]);
        stop.passes(Direction::Clockwise, 2000, 1990);
        assert!(stop.can_send(Direction::CounterClockwise, 2000));
        assert!(!stop.can_send(Direction::Clockwise, 2000));
        // Long after, nothing of it is left.
        assert!(stop.can_send(Direction::Clockwise, 1 << 40));
    }
}
