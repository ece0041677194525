//! Levels that are left unsaid while nobody hears them, and said as they stand when somebody may begin to.

use pericore_hardware::signal::{SignalSink, Tick, Wire};

/// A wire of a level that says nothing while no counter listens: who has one knows what stands on it, and says so
/// before one begins to.
///
/// It is used where it lies: what nobody hears costs one look at it, not a copy.
#[derive(Debug, Clone, Copy)]
pub struct Levels {
    wire: Wire,
    heard: bool,
}

impl From<Wire> for Levels {
    fn from(wire: Wire) -> Self {
        Self::new(wire)
    }
}

impl From<Levels> for Wire {
    fn from(levels: Levels) -> Self {
        levels.wire
    }
}

/// True if some counter listens to a wire.
pub fn is_observed<S: SignalSink>(sink: &S, wire: Wire) -> bool {
    sink.observes(wire)
}

impl Levels {
    /// Heard, until somebody says that it is not.
    pub const fn new(wire: Wire) -> Self {
        Self { wire, heard: true }
    }

    /// The instance that the wire belongs to.
    pub const fn instance(&self) -> u16 {
        self.wire.instance
    }

    /// True if some counter listens.
    pub const fn is_observed(&self) -> bool {
        self.heard
    }

    /// An entry arrives.
    #[inline]
    pub fn enter<S: SignalSink>(&self, tag: u64, now: Tick, sink: &mut S) {
        if self.heard {
            self.tell::<true, S>(tag, now, sink);
        }
    }

    /// An entry leaves.
    #[inline]
    pub fn leave<S: SignalSink>(&self, tag: u64, now: Tick, sink: &mut S) {
        if self.heard {
            self.tell::<false, S>(tag, now, sink);
        }
    }

    /// Something begins to hold, or ends.
    #[inline]
    pub fn switch<S: SignalSink>(&self, tag: u64, on: bool, now: Tick, sink: &mut S) {
        if on { self.enter(tag, now, sink) } else { self.leave(tag, now, sink) }
    }

    #[cold]
    fn tell<const COMES: bool, S: SignalSink>(&self, tag: u64, now: Tick, sink: &mut S) {
        if COMES { sink.enter(self.wire, tag, now) } else { sink.leave(self.wire, tag, now) }
    }

    /// Says what stands on the wire.
    pub fn stand<S: SignalSink>(&self, entries: &[(u64, u32)], now: Tick, sink: &mut S) {
        sink.occupancy(self.wire, entries, now);
    }

    /// Asks who listens; to be done whenever counters may have been programmed. True if somebody does who did not: what
    /// stands must be said.
    pub fn listen<S: SignalSink>(&mut self, sink: &S) -> bool {
        let heard = is_observed(sink, self.wire);
        heard & !std::mem::replace(&mut self.heard, heard)
    }
}

/// What stands on some wires, gathered from wherever it is.
#[derive(Debug, Default)]
pub struct Occupancies(Vec<(Wire, Vec<(u64, u32)>)>);

impl Occupancies {
    /// So many entries have a tag.
    pub fn add(&mut self, wire: impl Into<Wire>, tag: u64, count: u32) {
        let wire = wire.into();
        match self.0.iter_mut().find(|(known, _)| *known == wire) {
            Some((_, entries)) => entries.push((tag, count)),
            None => self.0.push((wire, vec![(tag, count)])),
        }
    }

    /// Emits it, of each wire to which something was added, be it nothing.
    pub fn emit<S: SignalSink>(&self, now: Tick, sink: &mut S) {
        self.0.iter().for_each(|(wire, entries)| sink.occupancy(*wire, entries, now));
    }
}
