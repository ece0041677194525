//! All PMON instances of a machine, and the way from a signal to the counters that listen.

use std::sync::Arc;

use pericore_catalog::{Family, Measure};

use super::instance::{Hold, Instance, each};
use super::layout::{Kind, Layout, SlotRef};
use super::overflow::Overflows;
use super::predicate::Predicate;
use super::selection::Selection;
use super::tags::{Slot, Tags};
use crate::signal::{SignalSink, Tick, Wire, Wiring};

/// Every PMON instance of a machine.
#[derive(Debug)]
pub struct Bank {
    pub(super) instances: Vec<Instance>,
    /// The place of each instance's first signal.
    signal_starts: Vec<u32>,
    /// Counters that listen to each signal of each instance, by the wire's place, as bit masks.
    pub(super) listeners: Vec<u32>,
    /// By instance: a counter listens to one of its signals.
    heard: Vec<bool>,
    /// The tags of each signal that a level has, or a counter listens to; by the wire's place.
    pub(super) tags: Vec<Tags>,
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
            heard: Vec::with_capacity(wiring.instances().into()),
            tags: Vec::new(),
            overflows: Overflows::new(&layouts, wiring),
            anywhere: false,
        };
        for number in 0..wiring.instances() {
            let (_, unit_index, instance) = wiring.locate(number);
            let unit = family.units[unit_index];
            bank.signal_starts.push(bank.listeners.len() as u32);
            bank.listeners.resize(bank.listeners.len() + unit.signals.len(), 0);
            bank.tags.resize(bank.listeners.len(), Tags::default());
            let isolated = unit.isolated.contains(&instance);
            let instance = Instance::new(Arc::clone(&layouts[unit_index]), period(unit.clock).max(1), isolated);
            // Free-running counters listen from the start.
            let start = bank.signal_starts[usize::from(number)] as usize;
            for (counter, selection) in instance.selections.iter().enumerate() {
                listen(&mut bank.listeners[start..], &mut bank.tags[start..], counter as u8, selection);
            }
            bank.instances.push(instance);
            bank.heard.push(bank.listeners[start..].iter().any(|&counters| counters != 0));
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

    /// The same without the fault that halves its rate.
    pub fn sound_period(&self, number: u16) -> Tick {
        let instance = &self.instances[usize::from(number)];
        instance.clock.period() >> u32::from(instance.is_halved)
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
            let level = instance.counters[counter].level() as i64;
            instance.change_level(counter, -level, tick);
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
        let (listeners, tags) = (&mut self.listeners[signals.clone()], &mut self.tags[signals]);
        let instance = &mut self.instances[usize::from(number)];
        let (selection, conditioning) = instance.compile(counter, self.anywhere);
        let cycle = instance.cycle(tick);
        for (listeners, tags) in listeners.iter_mut().zip(&mut *tags) {
            if *listeners >> counter & 1 == 1 {
                *listeners &= !(1 << counter);
                tags.retake(counter, |_| false);
            }
        }
        listen(listeners, tags, counter, &selection);
        self.heard[usize::from(number)] = listeners.iter().any(|&counters| counters != 0);
        let entries = |signal: u16, predicate: &Predicate| {
            let entries = tags[usize::from(signal)].entries().filter(|(tag, _)| predicate.matches(*tag));
            entries.map(|(_, count)| u64::from(count)).sum::<u64>()
        };
        let mut gated = 0;
        let level = match &selection {
            Selection::Nothing => 0,
            Selection::Clock | Selection::HalfClock => 1,
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

    /// Where an instance's signals lie in `listeners` and `tags`.
    pub(super) fn signals_of(&self, number: u16) -> std::ops::Range<usize> {
        let start = self.signal_starts[usize::from(number)] as usize;
        start..start + self.instances[usize::from(number)].layout.unit.signals.len()
    }

    /// What is known of a tag, that may be new, of an instance's signal.
    #[inline(never)]
    pub(super) fn known(&mut self, number: u16, signal: u16, tag: u64) -> &mut Slot {
        let place = self.signals_of(number).start + usize::from(signal);
        let (instance, listeners) = (&self.instances[usize::from(number)], self.listeners[place]);
        self.tags[place].know(tag, |tag| {
            let takes = |counter: &usize| instance.selections[*counter].hears(signal, tag);
            each(listeners).filter(takes).fold(0, |takers, counter| takers | 1 << counter)
        })
    }

    /// What is known of a tag, if the first look finds it.
    #[inline]
    fn slot(&mut self, wire: Wire, tag: u64) -> Option<&mut Slot> {
        self.tags.get_mut(wire.place())?.quick(tag)
    }

    /// Increments reach the counters that listen.
    ///
    /// Here and in [`Self::change`], what is out of the ordinary is called last, and by one call: so the short way saves no registers.
    #[inline(never)]
    fn deliver(&mut self, wire: Wire, tag: u64, tick: Tick, count: u32) {
        if !self.overflows.is_due(tick)
            && let Some(&mut Slot { takers, .. }) = self.slot(wire, tag)
            && let Some(instance) = self.instances.get_mut(usize::from(wire.instance))
            && (takers == 0 || instance.tally(takers, count.into()))
        {
            return;
        }
        self.deliver_otherwise(wire, tag, tick, count);
    }

    #[inline(never)]
    fn deliver_otherwise(&mut self, wire: Wire, tag: u64, tick: Tick, count: u32) {
        self.reach(tick);
        let takers = self.known(wire.instance, wire.signal, tag).takers;
        self.instances[usize::from(wire.instance)].pulse(takers, count.into(), tick);
        self.settle(wire.instance, tick);
    }

    /// An entry with a tag that the first look does not find comes, or goes.
    #[inline(never)]
    fn change_rare<const COMES: bool>(&mut self, wire: Wire, tag: u64, tick: Tick) {
        let slot = self.known(wire.instance, wire.signal, tag);
        let Some(count) = (if COMES { slot.count.checked_add(1) } else { slot.count.checked_sub(1) }) else { return };
        slot.count = count;
        if slot.takers != 0 {
            let takers = slot.takers;
            self.change::<COMES>(wire, takers, tag, tick);
        }
    }

    /// An entry has come to a level that counters take it from, or gone from it.
    #[inline(never)]
    fn change<const COMES: bool>(&mut self, wire: Wire, takers: u32, tag: u64, tick: Tick) {
        if !self.overflows.is_due(tick)
            && let Some(instance) = self.instances.get_mut(usize::from(wire.instance))
            && instance.step::<COMES>(takers, tick)
        {
            return;
        }
        self.change_otherwise::<COMES>(wire, takers, tag, tick);
    }

    #[inline(never)]
    fn change_otherwise<const COMES: bool>(&mut self, wire: Wire, takers: u32, tag: u64, tick: Tick) {
        self.reach(tick);
        let instance = &mut self.instances[usize::from(wire.instance)];
        let (entries, step) = (&self.tags[wire.place()], if COMES { 1 } else { -1 });
        for counter in each(takers) {
            if !instance.step::<COMES>(1 << counter, tick) {
                instance.change(counter, wire.signal, entries, tag, step, tick);
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

/// Notes which of an instance's signals a counter hears, and which of their tags it takes.
fn listen(listeners: &mut [u32], tags: &mut [Tags], counter: u8, selection: &Selection) {
    for signal in selection.signals() {
        listeners[usize::from(signal)] |= 1 << counter;
        tags[usize::from(signal)].retake(counter, |tag| selection.hears(signal, tag));
    }
}

impl SignalSink for Bank {
    #[cold]
    fn occupancy(&mut self, wire: Wire, entries: &[(u64, u32)], tick: Tick) {
        self.set_level(wire.instance, wire.signal, entries, tick);
    }

    fn observes(&self, wire: Wire) -> bool {
        self.listeners[wire.place()] != 0
    }

    #[inline]
    fn observes_any(&self, instance: u16) -> bool {
        self.heard[usize::from(instance)]
    }

    #[inline]
    fn pulse(&mut self, wire: Wire, tag: u64, tick: Tick, count: u32) {
        if self.listeners[wire.place()] != 0 {
            self.deliver(wire, tag, tick, count);
        }
    }

    #[inline]
    fn enter(&mut self, wire: Wire, tag: u64, tick: Tick) {
        let Some(slot) = self.slot(wire, tag) else { return self.change_rare::<true>(wire, tag, tick) };
        slot.count += 1;
        if slot.takers != 0 {
            let takers = slot.takers;
            self.change::<true>(wire, takers, tag, tick);
        }
    }

    #[inline]
    fn leave(&mut self, wire: Wire, tag: u64, tick: Tick) {
        let Some(slot) = self.slot(wire, tag) else { return self.change_rare::<false>(wire, tag, tick) };
        // An entry that never entered: a defect of the model, which its own tests find; nothing here goes below zero.
        let Some(rest) = slot.count.checked_sub(1) else { return };
        slot.count = rest;
        if slot.takers != 0 {
            let takers = slot.takers;
            self.change::<false>(wire, takers, tag, tick);
        }
    }
}
