//! What a bank offers to those who repeat a stretch of signals: entries of levels set without an arrival, and leaps over time
//! whose outcome is known.

use pericore_catalog::Measure;

use super::bank::Bank;
use super::instance::each;
use super::layout::{Kind, SlotRef};
use super::predicate::Predicate;
use super::selection::Selection;
use super::state::CounterState;
use super::tags::Tags;
use crate::signal::Tick;

/// Entries of an instance's levels that carry the same tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entries {
    /// Index into the unit's signals.
    pub signal: u16,
    /// Their tag.
    pub tag: u64,
    /// How many there are.
    pub count: u32,
}

impl Bank {
    /// Changes whenever an instance's counters may have got another input, shape or permission to run.
    pub fn revision(&self, number: u16) -> u64 {
        self.instances[usize::from(number)].revision
    }

    /// True if a counter of the instance listens to a signal.
    pub fn hears_signals(&self, number: u16) -> bool {
        let selections = &self.instances[usize::from(number)].selections;
        selections.iter().any(|selection| matches!(selection, Selection::Signal { .. }))
    }

    /// The instances with counters whose overflow freezes or interrupts.
    pub fn armed_instances(&self) -> Vec<u16> {
        if !self.has_armed() {
            return Vec::new();
        }
        (0u16..).zip(&self.instances).filter(|(_, instance)| instance.watched).map(|(number, _)| number).collect()
    }

    /// True if the register is a counter: writing it changes nothing but its value.
    pub fn is_counter(&self, number: u16, at: SlotRef) -> bool {
        matches!(self.instances[usize::from(number)].layout.slots[usize::from(at.0)].kind, Kind::Counter(_))
    }

    /// Brings armed counters to a tick, so that what freezes does so in its cycle.
    pub fn reach_armed(&mut self, tick: Tick) {
        self.reach(tick);
    }

    /// The counters of an instance at a tick.
    pub fn save_counters(&mut self, number: u16, tick: Tick) -> Vec<CounterState> {
        let instance = &mut self.instances[usize::from(number)];
        let cycle = instance.cycle(tick);
        instance.counters.iter_mut().map(|counter| counter.save(cycle)).collect()
    }

    /// Puts a value into `values` for each counter of an instance, as it is at a tick.
    pub fn counter_values(&mut self, number: u16, tick: Tick, values: &mut Vec<u64>) {
        let instance = &mut self.instances[usize::from(number)];
        let cycle = instance.cycle(tick);
        values.clear();
        values.extend(instance.counters.iter_mut().map(|counter| counter.value(cycle)));
    }

    /// The largest value of each counter of an instance.
    pub fn counter_masks(&self, number: u16) -> Vec<u64> {
        let places = &self.instances[usize::from(number)].layout.counters;
        places.iter().map(|place| u64::MAX >> (64 - u32::from(place.width))).collect()
    }

    /// For each armed counter of an instance that runs: its number, and the increments after which it wraps.
    pub fn room(&mut self, number: u16, tick: Tick) -> Vec<(usize, u64)> {
        let masks = self.counter_masks(number);
        let instance = &mut self.instances[usize::from(number)];
        let cycle = instance.cycle(tick);
        let counters = 0..instance.layout.controlled;
        let armed: Vec<usize> = counters.filter(|&counter| instance.is_armed(counter)).collect();
        let room = armed.into_iter().filter_map(|index| {
            let counter = &mut instance.counters[index];
            counter.is_running().then(|| (index, (masks[index] - counter.value(cycle)).saturating_add(1)))
        });
        room.collect()
    }

    /// The earliest tick at which an armed counter of an instance may wrap if no signal comes.
    pub fn wraps_at(&self, number: u16) -> Tick {
        let instance = &self.instances[usize::from(number)];
        let armed = (0..instance.layout.controlled).filter(|&counter| instance.is_armed(counter));
        let cycles = armed.filter_map(|counter| instance.counters[counter].wraps_at()).min();
        cycles.map_or(Tick::MAX, |cycle| cycle.saturating_mul(instance.clock.period()))
    }

    /// Puts counters and levels where a stretch of time takes them whose outcome is known: `states` at `tick`, but for the
    /// registers, which go on by `gains`.
    pub fn leap(&mut self, number: u16, states: &[CounterState], gains: &[u128], levels: &[Entries], tick: Tick) {
        let signals = self.signals_of(number);
        self.tags[signals].iter_mut().for_each(Tags::clear);
        for entries in levels {
            self.enter_quietly(number, entries);
        }
        let masks = self.counter_masks(number);
        let instance = &mut self.instances[usize::from(number)];
        let cycle = instance.cycle(tick);
        for (((counter, state), gain), mask) in instance.counters.iter_mut().zip(states).zip(gains).zip(masks) {
            let sum = u128::from(counter.held()) + gain;
            let overflowed = counter.has_overflowed() || sum > u128::from(mask);
            counter.restore(&CounterState { value: sum as u64 & mask, overflowed, ..*state }, cycle);
        }
        self.overflows.stale = true;
    }

    /// Sets what is in the levels of an instance, as if it had always been there: no arrival is counted, and counters see the
    /// new levels from `tick` on.
    pub fn set_levels(&mut self, number: u16, levels: &[Entries], tick: Tick) {
        for signal in 0..self.signals_of(number).len() as u16 {
            let here = levels.iter().filter(|entries| entries.signal == signal);
            let new: Vec<(u64, u32)> = here.map(|entries| (entries.tag, entries.count)).collect();
            self.set_level(number, signal, &new, tick);
        }
    }

    /// The same for one level; entries with equal tags add up.
    pub(super) fn set_level(&mut self, number: u16, signal: u16, new: &[(u64, u32)], tick: Tick) {
        let place = self.signals_of(number).start + usize::from(signal);
        let old: Vec<(u64, u32)> = self.tags[place].entries().collect();
        self.tags[place].clear();
        for &(tag, count) in new.iter().filter(|(_, count)| *count > 0) {
            self.known(number, signal, tag).count += count;
        }
        if self.listeners[place] != 0 {
            self.relevel(number, signal, &old, new, tick);
        }
    }

    /// Entries are in a level, and no counter hears of it.
    pub(super) fn enter_quietly(&mut self, number: u16, entries: &Entries) {
        self.known(number, entries.signal, entries.tag).count = entries.count;
    }

    /// Tells the counters that listen to a level that its entries, `old` before, are `new` now.
    fn relevel(&mut self, number: u16, signal: u16, old: &[(u64, u32)], new: &[(u64, u32)], tick: Tick) {
        let listeners = self.listeners[self.signals_of(number).start + usize::from(signal)];
        let instance = &mut self.instances[usize::from(number)];
        let cycle = instance.cycle(tick);
        for counter in each(listeners) {
            let Selection::Signal { signal: heard, measure, predicate, gate } = &instance.selections[counter] else {
                continue;
            };
            if let Some(gate) = gate.as_ref().filter(|gate| gate.signal == signal) {
                let delta = matching(new, &gate.predicate) - matching(old, &gate.predicate);
                instance.counters[counter].change_gate(delta, cycle);
            }
            if *heard != signal {
                continue;
            }
            let delta = match measure {
                Measure::Occupancy => matching(new, predicate) - matching(old, predicate),
                Measure::NonEmpty => {
                    i64::from(matching(new, predicate) > 0) - instance.counters[counter].level() as i64
                }
                Measure::Arrivals | Measure::Clock | Measure::HalfClock | Measure::Counter0 => 0,
            };
            if delta != 0 {
                instance.change_level(counter, delta, tick);
            }
        }
        self.overflows.stale = true;
    }
}

fn matching(entries: &[(u64, u32)], predicate: &Predicate) -> i64 {
    entries.iter().filter(|(tag, _)| predicate.matches(*tag)).map(|&(_, count)| i64::from(count)).sum()
}
