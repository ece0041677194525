//! Something with entries, as far as signals show it.

use pericore_engine::Tick;
use pericore_hardware::signal::{SignalSink, Wire};

use crate::signals::levels::Levels;

/// A wire with the tag of one subevent.
pub type Tagged = (Wire, u64);

/// How many entries something has, and where that shows.
#[derive(Debug, Clone, Copy)]
pub struct ShownLevel {
    live: u32,
    capacity: u32,
    arrivals: Option<Tagged>,
    entries: Option<(Levels, u64)>,
    nonempty: Option<(Levels, u64)>,
    empty: Option<(Levels, u64)>,
    full: Option<(Levels, u64)>,
}

impl ShownLevel {
    /// It has no entries, and nothing shows.
    pub const NOTHING: Self =
        Self { live: 0, capacity: 0, arrivals: None, entries: None, nonempty: None, empty: None, full: None };

    /// Each arrival shows as a pulse.
    pub const fn arrivals(self, tagged: Tagged) -> Self {
        Self { arrivals: Some(tagged), ..self }
    }

    /// Each entry shows.
    pub const fn entries(self, (wire, tag): Tagged) -> Self {
        Self { entries: Some((Levels::new(wire), tag)), ..self }
    }

    /// It shows that there are any.
    pub const fn nonempty(self, (wire, tag): Tagged) -> Self {
        Self { nonempty: Some((Levels::new(wire), tag)), ..self }
    }

    /// It shows that there are none.
    pub const fn empty(self, (wire, tag): Tagged) -> Self {
        Self { empty: Some((Levels::new(wire), tag)), ..self }
    }

    /// It shows that there are as many.
    pub const fn full(self, (wire, tag): Tagged, capacity: u32) -> Self {
        Self { full: Some((Levels::new(wire), tag)), capacity, ..self }
    }

    /// There are no entries when the machine starts.
    pub fn start<S: SignalSink>(&self, sink: &mut S) {
        if let Some((wire, tag)) = &self.empty {
            wire.enter(*tag, 0, sink);
        }
    }

    /// An entry arrives.
    #[inline]
    pub fn enter<S: SignalSink>(&mut self, at: Tick, sink: &mut S) {
        self.live += 1;
        if let Some((wire, tag)) = self.arrivals {
            sink.pulse(wire, tag, at, 1);
        }
        if let Some((wire, tag)) = &self.entries {
            wire.enter(*tag, at, sink);
        }
        if self.live == 1 {
            if let Some((wire, tag)) = &self.empty {
                wire.leave(*tag, at, sink);
            }
            if let Some((wire, tag)) = &self.nonempty {
                wire.enter(*tag, at, sink);
            }
        }
        if let Some((wire, tag)) = self.full.as_ref().filter(|_| self.live == self.capacity) {
            wire.enter(*tag, at, sink);
        }
    }

    /// An entry leaves.
    #[inline]
    pub fn leave<S: SignalSink>(&mut self, at: Tick, sink: &mut S) {
        if let Some((wire, tag)) = self.full.as_ref().filter(|_| self.live == self.capacity) {
            wire.leave(*tag, at, sink);
        }
        self.live = self.live.saturating_sub(1);
        if self.live == 0 {
            if let Some((wire, tag)) = &self.nonempty {
                wire.leave(*tag, at, sink);
            }
            if let Some((wire, tag)) = &self.empty {
                wire.enter(*tag, at, sink);
            }
        }
        if let Some((wire, tag)) = &self.entries {
            wire.leave(*tag, at, sink);
        }
    }

    /// An entry arrives, or leaves.
    #[inline]
    pub fn change<S: SignalSink>(&mut self, comes: bool, at: Tick, sink: &mut S) {
        if comes { self.enter(at, sink) } else { self.leave(at, sink) }
    }

    /// Asks who listens to its being full. True if somebody does who did not.
    pub fn listen_to_full<S: SignalSink>(&mut self, sink: &S) -> bool {
        self.full.as_mut().is_some_and(|(wire, _)| wire.listen(sink))
    }

    /// Whether it is full: the wire, its tag, and a count.
    pub fn fullness(&self) -> Option<(Levels, (u64, u32))> {
        self.full.map(|(wire, tag)| (wire, (tag, u32::from(self.live >= self.capacity))))
    }
}
