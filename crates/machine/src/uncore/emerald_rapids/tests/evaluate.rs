//! What exact counters would make of the signals: a sink that adds up, for chosen events of every instance, what a counter with the
//! event's control value takes.

use std::collections::HashMap;

use pericore_catalog::Measure;
use pericore_hardware::pmon::{Compiled, compile_event};
use pericore_hardware::signal::{SignalSink, Tick, Wire, Wiring};

/// An event or subevent of a unit.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    pub unit: usize,
    pub event: &'static str,
    pub subevent: Option<&'static str>,
    /// The control value, where it is not the catalogue's for the event.
    pub config: Option<u64>,
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
    /// What has been emitted, and the cases that count it.
    seen: HashMap<Class, Vec<usize>>,
    /// By case and instance.
    counters: Vec<Vec<Counter>>,
    wiring: Wiring,
    periods: Vec<u64>,
    last: Tick,
}

/// Emissions that are alike: a unit's signal, the tag, how it changes.
type Class = (usize, u16, u64, Change);

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
            let usual = case.subevent.map_or(event.config, |name| event.subevent(name).unwrap().config);
            let config = case.config.unwrap_or(usual);
            let Some(what) = compile_event(unit, config) else { continue };
            listeners.entry((case.unit, what.signal())).or_default().push(kept.len());
            kept.push(case);
            compiled.push(what);
        }
        let periods = family.units.iter().map(|unit| period(unit.name)).collect();
        let instances = |case: &Case| family.units[case.unit].instances * wiring.sockets();
        let counters = kept.iter().map(|case| vec![Counter::default(); instances(case).into()]).collect();
        Self { cases: kept, compiled, listeners, seen: HashMap::new(), counters, wiring, periods, last: 0 }
    }

    /// What a case's counter of an instance reads at a tick.
    pub fn count(&self, case: usize, instance: u16, tick: Tick) -> u64 {
        let unit = self.cases[case].unit;
        let counter = &self.counters[case][usize::from(instance)];
        let cycles = tick / self.periods[unit] - counter.last;
        let rest = match self.compiled[case].measure() {
            Measure::Occupancy => (counter.level as u64).wrapping_mul(cycles),
            Measure::NonEmpty => u64::from(counter.level != 0) * cycles,
            _ => 0,
        };
        counter.count.wrapping_add(rest)
    }

    fn change(&mut self, wire: Wire, tag: u64, tick: Tick, change: Change, count: u32) {
        assert!(tick >= self.last, "emissions out of order of time");
        self.last = tick;
        let (socket, unit, index) = self.wiring.locate(wire.instance);
        let instance = socket * self.wiring.family().units[unit].instances + index;
        let Self { listeners, seen, compiled, counters, .. } = self;
        let cases = seen.entry((unit, wire.signal, tag, change)).or_insert_with(|| {
            let listen = listeners.get(&(unit, wire.signal)).map_or(&[][..], Vec::as_slice);
            listen.iter().copied().filter(|&case| compiled[case].matches(tag)).collect()
        });
        let cycle = tick / self.periods[unit];
        for &case in &*cases {
            let counter = &mut counters[case][usize::from(instance)];
            let measure = compiled[case].measure();
            match (change, measure) {
                (Change::Pulse, _) => counter.count += u64::from(count),
                (Change::Enter, Measure::Arrivals) => counter.count += 1,
                (Change::Enter | Change::Leave, Measure::Occupancy | Measure::NonEmpty) => {
                    let cycles = cycle - counter.last;
                    let more = match measure {
                        Measure::Occupancy => (counter.level as u64).wrapping_mul(cycles),
                        _ => u64::from(counter.level != 0) * cycles,
                    };
                    // A level is below zero only with a fault, which shows in the sum from then on.
                    counter.count = counter.count.wrapping_add(more);
                    counter.last = cycle;
                    counter.level += if change == Change::Enter { 1 } else { -1 };
                }
                _ => {}
            }
        }
    }

    /// Classes of emissions that no case would miss.
    pub fn unwatched(&self) -> Vec<String> {
        let unwatched = |(class, cases): &(&Class, &Vec<usize>)| {
            !cases.iter().any(|&case| match class.3 {
                Change::Pulse | Change::Enter => true,
                Change::Leave => matches!(self.compiled[case].measure(), Measure::Occupancy | Measure::NonEmpty),
            })
        };
        let units = self.wiring.family().units;
        let name = |(&(unit, signal, tag, change), _): (&Class, &Vec<usize>)| {
            format!("{}/{} {tag:#x} {change:?}", units[unit].name, units[unit].signals[usize::from(signal)].name)
        };
        self.seen.iter().filter(unwatched).map(name).collect()
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

/// Loses or doubles one emission.
pub struct Faulty<'a> {
    pub to: &'a mut Counters,
    /// Emissions that still go through as they are.
    pub before: u64,
    /// Lost, or else doubled.
    pub lost: bool,
}

impl Faulty<'_> {
    fn times(&mut self) -> u32 {
        let hit = self.before == 0;
        self.before = self.before.wrapping_sub(1);
        match (hit, self.lost) {
            (false, _) => 1,
            (true, true) => 0,
            (true, false) => 2,
        }
    }
}

impl SignalSink for Faulty<'_> {
    fn pulse(&mut self, wire: Wire, tag: u64, tick: Tick, count: u32) {
        (0..self.times()).for_each(|_| self.to.pulse(wire, tag, tick, count));
    }

    fn enter(&mut self, wire: Wire, tag: u64, tick: Tick) {
        (0..self.times()).for_each(|_| self.to.enter(wire, tag, tick));
    }

    fn leave(&mut self, wire: Wire, tag: u64, tick: Tick) {
        (0..self.times()).for_each(|_| self.to.leave(wire, tag, tick));
    }
}
