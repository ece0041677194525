//! Places that messages go through: how many a cycle may go on.

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
    /// Takes the port for `length` cycles from `cycle` on or later, and gives the first. Nobody will ask for cycles
    /// before `now` any more.
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
    use super::Port;

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
}
