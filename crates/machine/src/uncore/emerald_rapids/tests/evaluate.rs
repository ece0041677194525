//! What exact counters would make of the signals: a sink that adds up, for chosen events of every instance, what a counter with the
//! event's control value takes.

use crate::pmon::{Compiled, compile_event};
use crate::signal::{SignalSink, Tick, Wire, Wiring};
use pericore_catalog::Measure;
use std::collections::HashMap;

/// An event or subevent of a unit.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    pub unit: usize,
    pub event: &'static str,
    pub subevent: Option<&'static str>,
}

/// One counter.
#[derive(Debug, Default, Clone)]
struct Counter {
    count: u64,
    level: i64,
    last: u64,
}

/// What changes a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Change {
    Pulse,
    Enter,
    Leave,
}

/// Counts cases on all instances.
pub struct Counters {
    pub cases: Vec<Case>,
    compiled: Vec<Compiled>,
    /// By wire's unit and signal: the cases that listen.
    listeners: HashMap<(usize, u16), Vec<usize>>,
    counters: HashMap<(usize, u16), Counter>,
    wiring: Wiring,
    periods: Vec<u64>,
    last: Tick,
    /// Loses or doubles one emission of each class on the way: a class is a unit's signal with a tag and a change.
    pub fault: Option<Fault>,
    seen: HashMap<(usize, u16, u64, Change), u64>,
}

/// A fault in the wiring.
#[derive(Debug, Clone, Copy)]
pub struct Fault {
    /// Which class, in order of first appearance.
    pub class: usize,
    /// How often the emission comes instead of once.
    pub times: u32,
}

impl Counters {
    /// Counters for all cases that have a signal.
    pub fn new(wiring: Wiring, cases: Vec<Case>, period: impl Fn(&str) -> u64) -> Self {
        let family = wiring.family();
        let mut listeners = HashMap::<(usize, u16), Vec<usize>>::new();
        let mut kept = Vec::new();
        let mut compiled = Vec::new();
        for case in cases {
            let unit = family.units[case.unit];
            let event = unit.event(case.event).unwrap();
            let config = case.subevent.map_or(event.config, |name| event.subevent(name).unwrap().config);
            let Some(what) = compile_event(unit, config) else { continue };
            listeners.entry((case.unit, what.signal())).or_default().push(kept.len());
            kept.push(case);
            compiled.push(what);
        }
        let periods = family.units.iter().map(|unit| period(unit.name)).collect();
        Self {
            cases: kept,
            compiled,
            listeners,
            counters: HashMap::new(),
            wiring,
            periods,
            last: 0,
            fault: None,
            seen: HashMap::new(),
        }
    }

    /// What a case's counter of an instance reads at a tick.
    pub fn count(&self, case: usize, instance: u16, tick: Tick) -> u64 {
        let unit = self.cases[case].unit;
        let Some(counter) = self.counters.get(&(case, instance)) else { return 0 };
        let cycles = tick / self.periods[unit] - counter.last;
        let rest = match self.compiled[case].measure() {
            Measure::Occupancy => counter.level as u64 * cycles,
            Measure::NonEmpty => u64::from(counter.level > 0) * cycles,
            _ => 0,
        };
        counter.count + rest
    }

    fn change(&mut self, wire: Wire, tag: u64, tick: Tick, change: Change, count: u32) {
        assert!(tick >= self.last, "emissions out of order of time");
        self.last = tick;
        let (socket, unit, index) = self.wiring.locate(wire.instance);
        let times = match self.fault {
            None => 1,
            Some(fault) => {
                let next = self.seen.len();
                let seen = self.seen.entry((unit, wire.signal, tag, change)).or_insert(next as u64);
                if *seen == fault.class as u64 {
                    // Once only.
                    *seen = u64::MAX;
                    fault.times
                } else {
                    1
                }
            }
        };
        let instance = socket * self.wiring.family().units[unit].instances + index;
        let Some(cases) = self.listeners.get(&(unit, wire.signal)) else { return };
        let cycle = tick / self.periods[unit];
        for &case in cases {
            if !self.compiled[case].matches(tag) {
                continue;
            }
            let counter = self.counters.entry((case, instance)).or_default();
            let measure = self.compiled[case].measure();
            for _ in 0..times {
                match (change, measure) {
                    (Change::Pulse, _) => counter.count += u64::from(count),
                    (Change::Enter, Measure::Arrivals) => counter.count += 1,
                    (Change::Enter | Change::Leave, Measure::Occupancy | Measure::NonEmpty) => {
                        let cycles = cycle - counter.last;
                        counter.count += match measure {
                            Measure::Occupancy => counter.level as u64 * cycles,
                            _ => u64::from(counter.level > 0) * cycles,
                        };
                        counter.last = cycle;
                        counter.level += if change == Change::Enter { 1 } else { -1 };
                        assert!(counter.level >= 0 || self.fault.is_some(), "{:?}: below zero", self.cases[case]);
                        counter.level = counter.level.max(0);
                    }
                    _ => {}
                }
            }
        }
    }

    /// Classes of emissions seen, while a fault was set.
    pub fn classes(&self) -> usize {
        self.seen.len()
    }
}

impl SignalSink for Counters {
    fn pulse(&mut self, wire: Wire, tag: u64, tick: Tick, count: u32) {
        self.change(wire, tag, tick, Change::Pulse, count);
    }

    fn enter(&mut self, wire: Wire, tag: u64, tick: Tick) {
        self.change(wire, tag, tick, Change::Enter, 1);
    }

    fn leave(&mut self, wire: Wire, tag: u64, tick: Tick) {
        self.change(wire, tag, tick, Change::Leave, 1);
    }
}
