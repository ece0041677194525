//! All PMON instances of a machine, and the way from a signal to the counters that listen.

use std::sync::Arc;

use pericore_catalog::{Family, Measure};

use super::instance::{Hold, Instance, each};
use super::layout::{Kind, Layout, SlotRef};
use super::overflow::Overflows;
use super::predicate::Predicate;
use super::selection::Selection;
use crate::signal::{SignalSink, Tick, Wire, Wiring};

/// Every PMON instance of a machine.
#[derive(Debug)]
pub struct Bank {
    pub(super) instances: Vec<Instance>,
    /// Where each instance's signals start in `listeners` and `live`.
    signal_starts: Vec<u32>,
    /// Counters that listen to each signal of each instance, as bit masks.
    pub(super) listeners: Vec<u32>,
    /// What is in each level now: tags and how many entries carry them.
    pub(super) live: Vec<Vec<(u64, u32)>>,
    pub(super) overflows: Overflows,
    /// Any counter may take any event.
    anywhere: bool,
}

impl Bank {
    /// All instances after reset. `period` gives the ticks per cycle of a clock domain.
    pub fn new(family: &'static Family, wiring: &Wiring, period: impl Fn(&str) -> u64) -> Self {
        let layouts: Vec<Arc<Layout>> = family.units.iter().map(|unit| Arc::new(Layout::new(unit))).collect();
        let mut bank = Self {
            instances: Vec::with_capacity(wiring.instances().into()),
            signal_starts: Vec::with_capacity(wiring.instances().into()),
            listeners: Vec::new(),
            live: Vec::new(),
            overflows: Overflows::new(&layouts, wiring),
            anywhere: false,
        };
        for number in 0..wiring.instances() {
            let (_, unit_index, instance) = wiring.locate(number);
            let unit = family.units[unit_index];
            bank.signal_starts.push(bank.listeners.len() as u32);
            bank.listeners.resize(bank.listeners.len() + unit.signals.len(), 0);
            bank.live.resize(bank.listeners.len(), Vec::new());
            let isolated = unit.isolated.contains(&instance);
            let instance = Instance::new(Arc::clone(&layouts[unit_index]), period(unit.clock).max(1), isolated);
            // Free-running counters listen from the start.
            for (counter, selection) in instance.selections.iter().enumerate() {
                listen(&mut bank.listeners, bank.signal_starts[usize::from(number)], counter as u8, selection);
            }
            bank.instances.push(instance);
        }
        bank
    }

    /// Lets any counter take any event, whatever the guides say.
    pub fn allow_any_counter(&mut self) {
        self.anywhere = true;
    }

    /// The layout of an instance's registers.
    pub fn layout(&self, number: u16) -> &Layout {
        &self.instances[usize::from(number)].layout
    }

    /// Ticks of a cycle of an instance's clock.
    pub fn period(&self, number: u16) -> Tick {
        self.instances[usize::from(number)].clock.period()
    }

    /// Sets a register from inside the machine.
    pub fn preset(&mut self, number: u16, at: SlotRef, value: u64) {
        self.instances[usize::from(number)].preset(at, value);
    }

    /// Sets what holds an instance's counters from outside.
    pub fn update_hold(&mut self, number: u16, tick: Tick, change: impl FnOnce(&mut Hold)) {
        self.reach(tick);
        let instance = &mut self.instances[usize::from(number)];
        let (mut hold, cycle) = (instance.hold, instance.cycle(tick));
        change(&mut hold);
        instance.set_hold(hold, cycle);
        self.overflows.stale = true;
    }

    /// Reads a register of an instance.
    #[inline]
    pub fn read(&mut self, number: u16, at: SlotRef, tick: Tick) -> u64 {
        self.reach(tick);
        let instance = &mut self.instances[usize::from(number)];
        match instance.layout.slots[usize::from(at.0)].kind {
            Kind::Counter(counter) => {
                let cycle = instance.cycle(tick);
                instance.counters[usize::from(counter)].value(cycle)
            }
            Kind::Stored => instance.values[usize::from(at.0)],
            Kind::Status => {
                self.collect_overflows(number, tick);
                self.instances[usize::from(number)].values[usize::from(at.0)]
            }
        }
    }

    /// Writes a register of an instance; `written` masks the bits that the bus cycle carried.
    pub fn write(&mut self, number: u16, at: SlotRef, value: u64, written: u64, tick: Tick) {
        self.reach(tick);
        self.collect_overflows(number, tick);
        let effects = self.instances[usize::from(number)].write(at, value, written, tick);
        for counter in each(effects.reprogrammed) {
            self.connect(number, counter as u8, tick);
        }
        for counter in each(effects.emptied) {
            let instance = &mut self.instances[usize::from(number)];
            let (level, cycle) = (instance.counters[counter].level() as i64, instance.cycle(tick));
            instance.change_level(counter, -level, cycle);
        }
        if let Some(frozen) = effects.global_freeze {
            self.freeze_socket(number, frozen, tick);
        }
        if effects.rearmed {
            self.rearm(number);
        }
        self.overflows.stale = true;
    }

    /// Points a counter at the input that its control and filters select.
    pub(super) fn connect(&mut self, number: u16, counter: u8, tick: Tick) {
        let signals = self.signals_of(number);
        let start = self.signal_starts[usize::from(number)];
        let instance = &mut self.instances[usize::from(number)];
        let (selection, conditioning) = instance.compile(counter, self.anywhere);
        let cycle = instance.cycle(tick);
        for listeners in &mut self.listeners[signals.clone()] {
            *listeners &= !(1 << counter);
        }
        let live = &self.live[signals];
        let entries = |signal: u16, predicate: &Predicate| {
            let entries = live[usize::from(signal)].iter().filter(|(tag, _)| predicate.matches(*tag));
            entries.map(|&(_, count)| u64::from(count)).sum::<u64>()
        };
        let mut gated = 0;
        let level = match &selection {
            Selection::Nothing => 0,
            Selection::Clock => 1,
            Selection::Counter0 => instance.counters[0].level(),
            Selection::Signal { signal, measure, predicate, gate } => {
                gated = gate.as_ref().map_or(0, |gate| entries(gate.signal, &gate.predicate));
                match measure {
                    Measure::Occupancy => entries(*signal, predicate),
                    Measure::NonEmpty => u64::from(entries(*signal, predicate) > 0),
                    _ => 0,
                }
            }
        };
        listen(&mut self.listeners, start, counter, &selection);
        instance.counters[usize::from(counter)].program(conditioning, level, gated, cycle);
        instance.select(counter, selection);
        if counter == 0 {
            // Its followers go on from what it sees now.
            for follower in each(instance.followers()) {
                let delta = level as i64 - instance.counters[follower].level() as i64;
                instance.counters[follower].change_level(delta, cycle);
            }
        }
    }

    /// Where an instance's signals lie in `listeners` and `live`.
    pub(super) fn signals_of(&self, number: u16) -> std::ops::Range<usize> {
        let start = self.signal_starts[usize::from(number)] as usize;
        start..start + self.instances[usize::from(number)].layout.unit.signals.len()
    }

    /// True if a counter listens to a signal.
    #[inline]
    pub(crate) fn listens(&self, wire: Wire) -> bool {
        self.listeners[self.index(wire)] != 0
    }

    #[inline]
    fn index(&self, wire: Wire) -> usize {
        self.signal_starts[usize::from(wire.instance)] as usize + usize::from(wire.signal)
    }

    /// Increments reach the counters that listen.
    fn deliver(&mut self, wire: Wire, listeners: u32, tag: u64, tick: Tick, count: u32) {
        self.reach(tick);
        let instance = &mut self.instances[usize::from(wire.instance)];
        let cycle = instance.cycle(tick);
        for counter in each(listeners) {
            let Selection::Signal { predicate, .. } = &instance.selections[counter] else { continue };
            if predicate.matches(tag) {
                instance.pulse(counter, u64::from(count), cycle);
            }
        }
        self.settle(wire.instance, tick);
    }

    /// An entry arrives at a level, or leaves it.
    fn change(&mut self, wire: Wire, listeners: u32, tag: u64, tick: Tick, arrival: bool) {
        self.reach(tick);
        let index = self.index(wire);
        let instance = &mut self.instances[usize::from(wire.instance)];
        let cycle = instance.cycle(tick);
        let step = if arrival { 1 } else { -1 };
        for counter in each(listeners) {
            let Selection::Signal { signal, measure, predicate, gate } = &instance.selections[counter] else {
                continue;
            };
            if gate.as_ref().is_some_and(|gate| gate.signal == wire.signal && gate.predicate.matches(tag)) {
                instance.counters[counter].change_gate(step, cycle);
            }
            if *signal != wire.signal || !predicate.matches(tag) {
                continue;
            }
            match measure {
                Measure::Arrivals if arrival => instance.pulse(counter, 1, cycle),
                Measure::Occupancy => instance.change_level(counter, step, cycle),
                Measure::NonEmpty => {
                    let empty = !self.live[index].iter().any(|(tag, _)| predicate.matches(*tag));
                    let delta = i64::from(!empty) - instance.counters[counter].level() as i64;
                    instance.change_level(counter, delta, cycle);
                }
                Measure::Arrivals | Measure::Clock | Measure::Counter0 => {}
            }
        }
        self.settle(wire.instance, tick);
    }

    /// Acts on what a signal has made of an armed counter.
    fn settle(&mut self, number: u16, tick: Tick) {
        if self.instances[usize::from(number)].watched {
            self.overflows.stale = true;
            self.collect_overflows(number, tick);
        }
    }
}

/// Notes which signals a counter hears; `start` is where the instance's signals start.
fn listen(listeners: &mut [u32], start: u32, counter: u8, selection: &Selection) {
    if let Selection::Signal { signal, gate, .. } = selection {
        for signal in [Some(*signal), gate.as_ref().map(|gate| gate.signal)].into_iter().flatten() {
            listeners[start as usize + usize::from(signal)] |= 1 << counter;
        }
    }
}

impl SignalSink for Bank {
    fn hears(&self, wire: Wire) -> bool {
        self.listeners[self.index(wire)] != 0
    }

    #[inline]
    fn pulse(&mut self, wire: Wire, tag: u64, tick: Tick, count: u32) {
        let listeners = self.listeners[self.index(wire)];
        if listeners != 0 {
            self.deliver(wire, listeners, tag, tick, count);
        }
    }

    #[inline]
    fn enter(&mut self, wire: Wire, tag: u64, tick: Tick) {
        let index = self.index(wire);
        match self.live[index].iter_mut().find(|(live, _)| *live == tag) {
            Some((_, count)) => *count += 1,
            None => self.live[index].push((tag, 1)),
        }
        let listeners = self.listeners[index];
        if listeners != 0 {
            self.change(wire, listeners, tag, tick, true);
        }
    }

    #[inline]
    fn leave(&mut self, wire: Wire, tag: u64, tick: Tick) {
        let index = self.index(wire);
        let live = &mut self.live[index];
        // An entry that never entered: a defect of the model, which its own tests find; nothing here goes below zero.
        let Some(position) = live.iter().position(|&(live, _)| live == tag) else { return };
        live[position].1 -= 1;
        if live[position].1 == 0 {
            live.swap_remove(position);
        }
        let listeners = self.listeners[index];
        if listeners != 0 {
            self.change(wire, listeners, tag, tick, false);
        }
    }
}
