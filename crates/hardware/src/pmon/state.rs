//! The state of PMON hardware as data: what a snapshot keeps.

use super::bank::Bank;
use super::instance::{Hold, Instance};
use super::layout::{Kind, SlotRef};
use super::overflow::Interrupt;
use super::repeat::Entries;
use super::selection::Selection;
use super::tags::Tags;
use crate::signal::Tick;

/// What a counter holds besides what its control says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CounterState {
    /// The register.
    pub value: u64,
    /// Entries that match, for inputs that hold a level.
    pub level: u64,
    /// The level of the gate, where there is one.
    pub gate: u64,
    /// Increments of the current cycle that are not accounted for yet.
    pub pending: u64,
    /// Cycles of the future that are accounted for already.
    pub ahead: u64,
    /// Output of the comparators, and of the gate's, in the last cycle accounted for.
    pub asserted: (bool, bool),
    /// It wrapped and nobody has acted on it yet.
    pub overflowed: bool,
}

/// What an instance holds, where it differs from an instance after reset.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InstanceState {
    /// Registers that are no counters.
    pub values: Vec<(SlotRef, u64)>,
    /// Counters, by their number in the instance.
    pub counters: Vec<(u8, CounterState)>,
    /// What holds the counters from outside: frozen, powered down, stuck.
    pub hold: (bool, bool, u32),
    /// Entries of levels: signal, tag, how many.
    pub live: Vec<(u16, u64, u32)>,
}

impl InstanceState {
    /// True if the instance is as after reset.
    pub fn is_reset(&self) -> bool {
        *self == Self::default()
    }
}

impl Instance {
    /// The level that a counter sees after reset: fixed counters and free-running clocks see their clock.
    fn fresh_level(&self, counter: usize) -> u64 {
        let programmable = counter < usize::from(self.layout.unit.counters);
        u64::from(!programmable && self.selections[counter] == Selection::Clock)
    }
}

impl Bank {
    /// The state of an instance at a tick.
    pub fn save(&mut self, number: u16, tick: Tick) -> InstanceState {
        self.reach(tick);
        let instance = &mut self.instances[usize::from(number)];
        let cycle = instance.cycle(tick);
        let stored =
            instance.layout.slots.iter().enumerate().filter(|(_, slot)| !matches!(slot.kind, Kind::Counter(_)));
        let values = stored
            .filter(|&(slot, row)| instance.values[slot] != row.register.reset)
            .map(|(slot, _)| (SlotRef(slot as u16), instance.values[slot]))
            .collect();
        let fresh: Vec<u64> = (0..instance.counters.len()).map(|counter| instance.fresh_level(counter)).collect();
        let counters = instance.counters.iter_mut().enumerate().filter_map(|(number, counter)| {
            let state = counter.save(cycle);
            (state != CounterState { level: fresh[number], ..CounterState::default() }).then_some((number as u8, state))
        });
        let counters = counters.collect();
        let Hold { frozen, powered_down, stuck } = instance.hold;
        let live = self.levels(number).into_iter().map(|Entries { signal, tag, count }| (signal, tag, count)).collect();
        InstanceState { values, counters, hold: (frozen, powered_down, stuck), live }
    }

    /// Puts an instance, fresh from reset, into a saved state.
    pub fn restore(&mut self, number: u16, state: &InstanceState, tick: Tick) {
        for &(signal, tag, count) in &state.live {
            self.enter_quietly(number, &Entries { signal, tag, count });
        }
        let (instance, cycle) = self.restore_settings(number, state, tick);
        for number in 0..instance.counters.len() {
            let fresh = CounterState { level: instance.fresh_level(number), ..CounterState::default() };
            let saved = state.counters.iter().find(|(saved, _)| usize::from(*saved) == number);
            instance.counters[number].restore(saved.map_or(&fresh, |(_, state)| state), cycle);
        }
        self.rearm(number);
    }

    /// Gives an instance, fresh from reset, the registers of a saved state and what holds its counters. What was in the hardware besides
    /// is not: no entries stand in its queues, and comparators start from what they see now.
    pub fn restore_registers(&mut self, number: u16, state: &InstanceState, tick: Tick) {
        let (instance, cycle) = self.restore_settings(number, state, tick);
        for &(counter, CounterState { value, overflowed, .. }) in &state.counters {
            let counter = &mut instance.counters[usize::from(counter)];
            let state = CounterState { value, overflowed, ..counter.save(cycle) };
            counter.restore(&state, cycle);
        }
        self.rearm(number);
    }

    /// Puts back all of an instance but its counters; gives it, and the cycle.
    fn restore_settings(&mut self, number: u16, state: &InstanceState, tick: Tick) -> (&mut Instance, u64) {
        let instance = &mut self.instances[usize::from(number)];
        let cycle = instance.cycle(tick);
        for &(slot, value) in &state.values {
            instance.preset(slot, value);
        }
        let (frozen, powered_down, stuck) = state.hold;
        instance.hold = Hold { frozen, powered_down, stuck };
        for counter in 0..instance.layout.unit.counters {
            self.connect(number, counter, tick);
        }
        let instance = &mut self.instances[usize::from(number)];
        instance.update_running(cycle);
        (instance, cycle)
    }

    /// What is in the levels of an instance, in order of signals and tags.
    pub fn levels(&self, number: u16) -> Vec<Entries> {
        let signals = (0u16..).zip(&self.tags[self.signals_of(number)]);
        let entries = |(signal, tags): (u16, &Tags)| -> Vec<Entries> {
            tags.entries().map(|(tag, count)| Entries { signal, tag, count }).collect()
        };
        let mut levels: Vec<Entries> = signals.flat_map(entries).collect();
        levels.sort_unstable();
        levels
    }

    /// The interrupts that nobody has taken, and the core that Emerald Rapids interrupts.
    pub fn save_interrupts(&self) -> (&[Interrupt], u8) {
        (&self.overflows.interrupts, self.overflows.interrupted_core)
    }

    /// Puts back what [`Self::save_interrupts`] gave.
    pub fn restore_interrupts(&mut self, interrupts: Vec<Interrupt>, core: u8) {
        self.overflows.interrupts = interrupts;
        self.set_interrupted_core(core);
    }
}
