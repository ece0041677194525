//! A sink that keeps everything.

use pericore_hardware::signal::{SignalSink, Tick, Wire};

/// How a signal changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Change {
    Pulse(u32),
    Enter,
    Leave,
}

/// One call of the sink.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Emission {
    pub wire: Wire,
    pub tag: u64,
    pub tick: Tick,
    pub change: Change,
}

/// All calls, in order.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Recorder {
    pub emissions: Vec<Emission>,
}

impl Recorder {
    fn keep(&mut self, wire: Wire, tag: u64, tick: Tick, change: Change) {
        assert!(self.emissions.last().is_none_or(|last| last.tick <= tick), "emissions out of order of time");
        self.emissions.push(Emission { wire, tag, tick, change });
    }
}

impl SignalSink for Recorder {
    fn pulse(&mut self, wire: Wire, tag: u64, tick: Tick, count: u32) {
        self.keep(wire, tag, tick, Change::Pulse(count));
    }

    fn enter(&mut self, wire: Wire, tag: u64, tick: Tick) {
        self.keep(wire, tag, tick, Change::Enter);
    }

    fn leave(&mut self, wire: Wire, tag: u64, tick: Tick) {
        self.keep(wire, tag, tick, Change::Leave);
    }
}
