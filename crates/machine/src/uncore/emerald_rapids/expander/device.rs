//! A CXL link, and the device with memory at its end.

use std::collections::VecDeque;
use std::sync::Arc;

use pericore_dram::{Channel, Timing};
use pericore_engine::Tick;
use pericore_engine::{NEVER, Period};

/// CXL links of a socket.
pub const LINKS: u16 = 6;
/// Subchannels of a device's memory, as a power of two: two DDR5 channels (assumption).
pub const SUBCHANNEL_BITS: u32 = 2;
pub const SUBCHANNELS: usize = 1 << SUBCHANNEL_BITS;
/// A CXL link and the device with memory at its end.
#[derive(Debug)]
pub struct Expander {
    pub clock: Period,
    pub channels: Vec<Channel>,
    /// By subchannel, reads and writes: entries of its queues that are free, and what waits for one.
    pub free: [[u8; 2]; SUBCHANNELS],
    pub waiting: [[VecDeque<u16>; 2]; SUBCHANNELS],
    /// When the link to the device is free, and that back.
    pub link: [Tick; 2],
    /// When the channels act next, if an event is set.
    pub step: Tick,
}

impl Expander {
    /// An idle device. Its channels rest until the first request.
    pub fn new(clock: Period, timing: Option<&Arc<Timing>>) -> Self {
        Self {
            clock,
            channels: timing.map_or_else(Vec::new, |timing| all(|| Channel::new(clock, timing))),
            free: [timing.map_or([0; 2], |timing| [timing.reads, timing.writes]); SUBCHANNELS],
            waiting: Default::default(),
            link: [0; 2],
            step: NEVER,
        }
    }

    /// A message that is ready at `at` takes the link in a direction; gives when it has left.
    pub fn send(&mut self, back: bool, at: Tick, length: Tick) -> Tick {
        let free = &mut self.link[usize::from(back)];
        *free = at.max(*free) + length;
        *free
    }

    /// When its channels act next.
    pub fn next(&self) -> Tick {
        self.channels.iter().map(Channel::next_tick).fold(NEVER, Tick::min)
    }
}

/// A channel for each subchannel.
fn all(channel: impl Fn() -> Channel) -> Vec<Channel> {
    (0..SUBCHANNELS).map(|_| channel()).collect()
}
