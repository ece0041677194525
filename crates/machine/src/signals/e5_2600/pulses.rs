//! Wires that are asked first whether anybody hears them.

use pericore_hardware::signal::{SignalSink, Tick, Wire};

use super::level::Tagged;
use crate::signals::levels::is_observed;

/// A wire of pulses that says nothing while no counter listens. It is used where it lies, as
/// [`Levels`](crate::signals::levels::Levels) is.
#[derive(Debug, Clone, Copy)]
pub struct Pulses {
    wire: Wire,
    observed: bool,
}

impl From<Wire> for Pulses {
    fn from(wire: Wire) -> Self {
        Self::new(wire)
    }
}

impl Pulses {
    /// Heard, until somebody says that it is not.
    pub const fn new(wire: Wire) -> Self {
        Self { wire, observed: true }
    }

    /// With the tag of one subevent.
    pub fn tagged((wire, tag): Tagged) -> (Self, u64) {
        (wire.into(), tag)
    }

    /// One increment.
    #[inline]
    pub fn emit<S: SignalSink>(&self, tag: u64, now: Tick, sink: &mut S) {
        if self.observed {
            self.emit_observed(tag, now, sink);
        }
    }

    // Calls of the sink are kept out of what is done for every request.
    #[cold]
    fn emit_observed<S: SignalSink>(&self, tag: u64, now: Tick, sink: &mut S) {
        sink.pulse(self.wire, tag, now, 1);
    }

    /// True if some counter listens.
    pub const fn is_observed(&self) -> bool {
        self.observed
    }

    /// Asks who listens; to be done whenever counters may have been programmed.
    pub fn listen<S: SignalSink>(&mut self, sink: &S) {
        self.observed = is_observed(sink, self.wire);
    }
}
