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

#[cfg(test)]
mod tests {
    use super::*;

    /// What wires show, by their tags; and what came as pulses.
    #[derive(Default)]
    struct Shown {
        entries: std::collections::BTreeMap<u64, i64>,
        pulses: Vec<(u64, Tick, u32)>,
    }

    impl SignalSink for Shown {
        fn pulse(&mut self, _: Wire, tag: u64, tick: Tick, count: u32) {
            self.pulses.push((tag, tick, count));
        }

        fn enter(&mut self, _: Wire, tag: u64, _: Tick) {
            *self.entries.entry(tag).or_default() += 1;
        }

        fn leave(&mut self, _: Wire, tag: u64, _: Tick) {
            *self.entries.entry(tag).or_default() -= 1;
        }
    }

    const ARRIVAL: u64 = 1;
    const EACH: u64 = 2;
    const ANY: u64 = 4;
    const NONE: u64 = 8;
    const ALL: u64 = 16;

    /// A queue is empty or not at any time, and full with its last entry: what the guide's cycles of "empty", "not
    /// empty" and "full" count.
    #[test]
    fn a_queue_shows_that_it_is_empty_in_use_or_full() {
        let wire = Wire::default();
        let mut queue = ShownLevel::NOTHING
            .arrivals((wire, ARRIVAL))
            .entries((wire, EACH))
            .nonempty((wire, ANY))
            .empty((wire, NONE))
            .full((wire, ALL), 2);
        let mut sink = Shown::default();
        queue.start(&mut sink);
        // Entries after each change, then what holds: each, any, none, all.
        for (at, (comes, entries)) in
            (10..).zip([(true, 1), (true, 2), (false, 1), (true, 2), (false, 1), (false, 0), (true, 1), (false, 0)])
        {
            queue.change(comes, at, &mut sink);
            let shown = [EACH, ANY, NONE, ALL].map(|tag| sink.entries.get(&tag).copied().unwrap_or_default());
            let holds = [entries, i64::from(entries > 0), i64::from(entries == 0), i64::from(entries == 2)];
            assert_eq!(shown, holds, "at {at}");
            assert_eq!(queue.fullness().map(|(_, (tag, full))| (tag, full)), Some((ALL, u32::from(entries == 2))));
        }
        assert_eq!(sink.pulses, [10, 11, 13, 16].map(|at| (ARRIVAL, at, 1)));
    }

    #[test]
    fn an_empty_queue_shows_that_from_the_start() {
        let mut sink = Shown::default();
        ShownLevel::NOTHING.empty((Wire::default(), NONE)).start(&mut sink);
        ShownLevel::NOTHING.nonempty((Wire::default(), ANY)).start(&mut sink);
        assert_eq!(sink.entries, [(NONE, 1)].into());
        assert!(ShownLevel::NOTHING.fullness().is_none());
    }
}
