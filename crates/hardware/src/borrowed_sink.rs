//! A borrowed sink is a sink. What is generic over sinks is compiled once for all of them if it is called with a
//! `&mut dyn SignalSink`.

use crate::signal::{SignalSink, Tick, Wire};

impl<S: SignalSink + ?Sized> SignalSink for &mut S {
    fn pulse(&mut self, wire: Wire, tag: u64, tick: Tick, count: u32) {
        (**self).pulse(wire, tag, tick, count);
    }

    fn enter(&mut self, wire: Wire, tag: u64, tick: Tick) {
        (**self).enter(wire, tag, tick);
    }

    fn leave(&mut self, wire: Wire, tag: u64, tick: Tick) {
        (**self).leave(wire, tag, tick);
    }

    fn occupancy(&mut self, wire: Wire, entries: &[(u64, u32)], tick: Tick) {
        (**self).occupancy(wire, entries, tick);
    }

    fn observes(&self, wire: Wire) -> bool {
        (**self).observes(wire)
    }

    fn observes_any(&self, instance: u16) -> bool {
        (**self).observes_any(instance)
    }
}
