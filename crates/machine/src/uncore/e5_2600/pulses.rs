//! Wires that are asked first whether anybody hears them.

use pericore_hardware::signal::{SignalSink, Tick, Wire};

use super::wires::Tagged;

/// A wire of pulses that says nothing while no counter listens. It is used where it lies, as [`Levels`](crate::uncore::levels::Levels) is.
#[derive(Debug, Clone, Copy)]
pub struct Pulses {
    wire: Wire,
    heard: bool,
}

impl From<Wire> for Pulses {
    fn from(wire: Wire) -> Self {
        Self::new(wire)
    }
}

impl Pulses {
    /// Heard, until somebody says that it is not.
    pub const fn new(wire: Wire) -> Self {
        Self { wire, heard: true }
    }

    /// With the tag of one subevent.
    pub fn tagged((wire, tag): Tagged) -> (Self, u64) {
        (wire.into(), tag)
    }

    /// One increment.
    #[inline]
    pub fn say<S: SignalSink>(&self, tag: u64, now: Tick, sink: &mut S) {
        if self.heard {
            self.tell(tag, now, sink);
        }
    }

    // Calls of the sink are kept out of what is done for every request.
    #[cold]
    fn tell<S: SignalSink>(&self, tag: u64, now: Tick, sink: &mut S) {
        sink.pulse(self.wire, tag, now, 1);
    }

    /// True if some counter listens.
    pub const fn is_heard(&self) -> bool {
        self.heard
    }

    /// Asks who listens; to be done whenever counters may have been programmed.
    pub fn listen<S: SignalSink>(&mut self, sink: &S) {
        self.heard = sink.hears(self.wire);
    }
}
