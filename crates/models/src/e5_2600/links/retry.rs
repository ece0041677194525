//! The retry buffer of a sender: flits stay in it until the far end says that they have come whole.

use std::collections::VecDeque;

/// Flits that it holds (assumption: one and a half times what is on its way there and back at full width).
const ROOM: u64 = 96;

/// Flits that have been sent, or are about to be, and are not acknowledged.
#[derive(Debug, Default)]
pub struct RetryBuffer {
    held: u64,
    /// The flits of packets in the order in which they were sent, with the clock in which each could be acknowledged.
    packets: VecDeque<(u64, u64)>,
}

impl RetryBuffer {
    /// Lets go of what is acknowledged in a clock.
    pub fn release(&mut self, clock: u64) {
        while let Some(&(_, flits)) = self.packets.front().filter(|(acknowledged, _)| *acknowledged <= clock) {
            self.packets.pop_front();
            self.held -= flits;
        }
    }

    /// Room for so many flits more.
    pub const fn room(&self) -> u64 {
        ROOM - self.held
    }

    /// A packet is sent, of which the far end has all in a clock. It leaves behind those that were sent before: one of
    /// them that was damaged holds it up.
    pub fn hold(&mut self, flits: u64, acknowledged: u64) {
        self.held += flits;
        self.packets.push_back((acknowledged, flits));
    }
}

#[cfg(test)]
mod tests {
    use super::RetryBuffer;

    /// Ten lines of nine flits leave room for six. The first is damaged: what came behind it waits for it.
    #[test]
    fn a_damaged_packet_keeps_those_behind_it() {
        let mut buffer = RetryBuffer::default();
        buffer.hold(9, 70);
        (1..10).for_each(|n| buffer.hold(9, 30 + 5 * n));
        buffer.release(69);
        assert_eq!(buffer.room(), 6);
        buffer.release(70);
        // The last is acknowledged in clock 75.
        assert_eq!(buffer.room(), 96 - 9);
    }
}
