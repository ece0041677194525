//! The way out of a core for its requests: one goes out in an interval.

use pericore_engine::Tick;

/// A core's way out.
#[derive(Debug, Clone, Copy, Default)]
pub struct RequestPort {
    free: Tick,
}

impl RequestPort {
    /// When a request leaves that is ready at a tick; the next one leaves an interval later at the soonest.
    #[inline]
    pub fn leave(&mut self, ready: Tick, interval: Tick) -> Tick {
        let leaves = ready.max(self.free);
        self.free = leaves + interval;
        leaves
    }

    /// Something else takes it: the next request leaves so much later.
    #[inline]
    pub fn put_off(&mut self, now: Tick, by: Tick) {
        self.free = self.free.max(now) + by;
    }
}

#[cfg(test)]
mod tests {
    use super::RequestPort;

    /// Ready at 10 and at 12, with an interval of 7: the second leaves at 17. What comes at 20 puts the third, which
    /// could have left at 24, off to 29.
    #[test]
    fn one_leaves_in_an_interval_and_what_comes_between_puts_the_next_off() {
        let mut port = RequestPort::default();
        assert_eq!([10, 12].map(|ready| port.leave(ready, 7)), [10, 17]);
        port.put_off(20, 5);
        assert_eq!(port.leave(21, 7), 29);
        assert_eq!(port.leave(100, 7), 100);
    }
}
