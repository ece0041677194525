//! One PMON instance: the values of its registers, and what writing them does.

use std::sync::Arc;

use pericore_catalog::{Measure, Role};

use super::clock::Clock;
use super::counter::{Conditioning, Counter, GateCondition};
use super::layout::{Kind, Layout, SlotRef};
use super::selection::{self, Selection};
use super::tags::Tags;

/// What a write asks of the bank, beyond the instance itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Effects {
    /// Counters whose input changed, as a bit mask.
    pub reprogrammed: u32,
    /// Counters that forget the entries that are in their queue, as a bit mask (Nehalem's OCC_CTR_RST).
    pub emptied: u32,
    /// The socket-wide freeze was written.
    pub global_freeze: Option<bool>,
    /// Which counters freeze or interrupt on overflow may have changed.
    pub rearmed: bool,
}

/// What holds an instance's counters, beyond its own registers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hold {
    /// The socket-wide freeze.
    pub frozen: bool,
    /// The unit is powered down: its clock stands, free-running counters too (Emerald Rapids 2.3.2, 2.4.2).
    pub powered_down: bool,
    /// Counters that a fault keeps from moving, as a bit mask.
    pub stuck: u32,
}

/// A PMON instance. What a signal needs comes first, and fits one line of the host's cache.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Instance {
    /// The unit's clock.
    pub(super) clock: Clock,
    pub(super) counters: Vec<Counter>,
    /// Counters that add up what they take, and nobody else need hear of it: as a bit mask.
    plain: u32,
    /// Those of them that take a level under no other condition.
    plain_levels: u32,
    /// And those that take its arrivals.
    plain_arrivals: u32,
    /// Counters that show what counter 0 sees, as a bit mask.
    followers: u32,
    pub(super) layout: Arc<Layout>,
    /// It neither hears the socket-wide freeze nor tells of overflows (Emerald Rapids 2.12.1).
    pub(super) isolated: bool,
    /// A counter is armed: its overflow freezes or interrupts.
    pub(super) watched: bool,
    pub(super) hold: Hold,
    /// Values of all registers but counters.
    pub(super) values: Box<[u64]>,
    pub(super) selections: Vec<Selection>,
    /// Goes up when a counter may have got another input, shape or permission to run.
    pub(super) revision: u64,
    /// A fault halves the rate of its clock.
    pub(super) is_halved: bool,
}

impl Instance {
    /// An instance after reset.
    pub fn new(layout: Arc<Layout>, period: u64, isolated: bool) -> Self {
        let values = layout.slots.iter().map(|slot| slot.register.reset).collect();
        let mut counters = Vec::with_capacity(layout.counters.len());
        let mut selections = Vec::with_capacity(layout.counters.len());
        for (number, place) in layout.counters.iter().enumerate() {
            let slot = &layout.slots[usize::from(place.slot)];
            let selection = match (place.control, number < usize::from(layout.unit.counters)) {
                (Some(_), true) => Selection::Nothing,
                (Some(_), false) => Selection::Clock,
                (None, _) => selection::free_running(layout.unit, slot.register, slot.member),
            };
            let mut counter = Counter::new(place.width);
            counter.program(Conditioning::default(), u64::from(selection == Selection::Clock), 0, 0);
            counter.set_running(place.control.is_none(), 0);
            counters.push(counter);
            selections.push(selection);
        }
        let mut instance = Self {
            layout,
            clock: Clock::new(period),
            isolated,
            values,
            counters,
            selections,
            followers: 0,
            plain: 0,
            plain_levels: 0,
            plain_arrivals: 0,
            hold: Hold::default(),
            watched: false,
            revision: 0,
            is_halved: false,
        };
        instance.sort_counters();
        instance
    }

    /// Works out which counters can be told of a signal in the shortest way; to be done when one is programmed, or armed.
    pub(super) fn sort_counters(&mut self) {
        let those = |is: &dyn Fn(usize) -> bool| {
            (0..self.counters.len()).filter(|&counter| is(counter)).fold(0, |mask, counter| mask | 1 << counter)
        };
        self.followers = those(&|counter| self.selections[counter] == Selection::Counter0);
        let leads = |counter: usize| counter == 0 && self.followers != 0;
        let plain = |counter: usize| !self.watched && !leads(counter) && self.counters[counter].is_raw();
        self.plain = those(&plain);
        self.plain_levels = self.plain & those(&|counter| self.selections[counter].takes(Measure::Occupancy));
        self.plain_arrivals = self.plain & those(&|counter| self.selections[counter].takes(Measure::Arrivals));
    }

    /// The cycle of the unit's clock at a tick.
    #[inline]
    pub const fn cycle(&self, tick: u64) -> u64 {
        self.clock.cycle(tick)
    }

    /// The value of a register that is no counter.
    pub(super) fn stored(&self, slot: u16) -> u64 {
        self.values[usize::from(slot)]
    }

    /// Writes a whole register; `written` says which bits the bus cycle carried.
    pub fn write(&mut self, at: SlotRef, value: u64, written: u64, tick: u64) -> Effects {
        let slot = &self.layout.slots[usize::from(at.0)];
        let (kept, cleared) = (slot.kept & written, slot.cleared & written);
        let cycle = self.cycle(tick);
        if let Kind::Counter(counter) = slot.kind {
            if kept != 0 {
                let counter = &mut self.counters[usize::from(counter)];
                let old = counter.value(cycle);
                counter.set_value((old & !kept) | (value & kept), cycle);
            }
            return Effects::default();
        }
        let stored = &mut self.values[usize::from(at.0)];
        *stored = ((*stored & !kept) | (value & kept)) & !(cleared & value);
        self.act(at.0, value & written, cycle)
    }

    /// What the written bits do besides being kept.
    fn act(&mut self, slot: u16, value: u64, cycle: u64) -> Effects {
        match self.layout.slots[usize::from(slot)].register.role {
            Role::UnitControl => self.control_unit(value, cycle),
            Role::Control | Role::FixedControl => self.control_counter(slot, value, cycle),
            Role::GlobalControl => self.control_globally(slot, cycle),
            Role::OverflowControl => self.clear_overflows(value),
            Role::Filter => Effects { reprogrammed: self.programmable(), ..Effects::default() },
            _ => Effects::default(),
        }
    }

    /// Freezes and resets.
    fn control_unit(&mut self, value: u64, cycle: u64) -> Effects {
        let Some(control) = self.layout.unit_control else { return Effects::default() };
        if value & control.reset_counters != 0 {
            self.counters[..self.layout.controlled].iter_mut().for_each(|counter| counter.set_value(0, cycle));
        }
        let resets = value & control.reset_controls != 0;
        if resets {
            for control in self.layout.counters.iter().filter_map(|place| place.control) {
                self.values[usize::from(control)] = self.layout.slots[usize::from(control)].register.reset;
            }
        }
        self.update_running(cycle);
        let reprogrammed = if resets { self.programmable() } else { 0 };
        Effects { reprogrammed, rearmed: true, ..Effects::default() }
    }

    /// A counter's own control.
    fn control_counter(&mut self, slot: u16, value: u64, cycle: u64) -> Effects {
        let Some(number) = self.layout.counters.iter().position(|place| place.control == Some(slot)) else {
            return Effects::default();
        };
        let bits = self.layout.counters[number].bits;
        if value & bits.reset != 0 {
            self.counters[number].set_value(0, cycle);
        }
        self.update_running(cycle);
        let programmable = number < usize::from(self.layout.unit.counters);
        Effects {
            reprogrammed: u32::from(programmable) << number,
            emptied: u32::from(value & bits.occupancy_reset != 0) << number,
            rearmed: true,
            global_freeze: None,
        }
    }

    /// The socket-wide freeze, or the enables of Nehalem's counters.
    fn control_globally(&mut self, slot: u16, cycle: u64) -> Effects {
        self.update_running(cycle);
        let freeze = self.layout.global_control.as_ref().map_or(0, |control| control.freeze);
        let frozen = self.stored(slot) & freeze != 0;
        Effects { global_freeze: (freeze != 0).then_some(frozen), ..Effects::default() }
    }

    /// Each bit written as 1 clears its bit of the status (Nehalem).
    fn clear_overflows(&mut self, value: u64) -> Effects {
        if let (Some(control), Some((status, _))) = (&self.layout.overflow_control, self.layout.global_status) {
            let written = control.clears.iter().filter(|(bit, _)| value & bit != 0);
            self.values[usize::from(status)] &= !written.fold(0, |mask, (_, cleared)| mask | cleared);
        }
        Effects::default()
    }

    /// All programmable counters, as a bit mask.
    fn programmable(&self) -> u32 {
        (1 << self.layout.unit.counters) - 1
    }

    /// True if the unit control freezes the counters.
    pub fn is_frozen(&self) -> bool {
        self.layout.unit_control.is_some_and(|control| {
            let value = self.stored(control.slot);
            value & control.freeze != 0 && value & control.freeze_enable == control.freeze_enable
        })
    }

    /// Sets what holds the counters from outside.
    pub(super) fn set_hold(&mut self, hold: Hold, cycle: u64) {
        self.hold = hold;
        self.update_running(cycle);
    }

    /// Starts and stops counters as controls, freezes and faults have it.
    pub(super) fn update_running(&mut self, cycle: u64) {
        self.revision += 1;
        let frozen = self.is_frozen() || (self.hold.frozen && !self.isolated);
        let global = self.layout.global_control.as_ref().map(|control| self.stored(control.slot));
        for (number, place) in self.layout.counters.iter().enumerate() {
            let enabled = match place.control {
                Some(control) => {
                    let globally = global.is_none_or(|global| global & place.global_enable == place.global_enable);
                    !frozen && globally && self.values[usize::from(control)] & place.bits.enable != 0
                }
                None => true,
            };
            let held = self.hold.powered_down || self.hold.stuck >> number & 1 == 1;
            self.counters[number].set_running(enabled && !held, cycle);
        }
    }

    /// Stops all counters by their global enables, as an overflow interrupt with pmi_frz does (Nehalem).
    pub(super) fn disable_globally(&mut self, cycle: u64) {
        let Some(control) = &self.layout.global_control else { return };
        let enables = self.layout.counters.iter().fold(0, |mask, place| mask | place.global_enable);
        self.values[usize::from(control.slot)] &= !enables;
        self.update_running(cycle);
    }

    /// True if software must hear of the counter's overflow at once: it freezes or interrupts.
    pub(super) fn is_armed(&self, counter: usize) -> bool {
        let place = &self.layout.counters[counter];
        let armed = place.bits.freeze_on_overflow | place.bits.interrupt;
        place.control.is_some_and(|control| self.stored(control) & armed != 0)
    }

    /// Notes what a programmable counter listens to.
    pub(super) fn select(&mut self, counter: u8, selection: Selection) {
        self.revision += 1;
        self.selections[usize::from(counter)] = selection;
        self.sort_counters();
    }

    /// Counters that show what counter 0 sees, as a bit mask.
    pub(super) const fn followers(&self) -> u32 {
        self.followers
    }

    /// Increments for the counters of a mask, if that is one that just adds them up; else false, and nothing is done.
    #[inline]
    pub(super) fn tally(&mut self, takers: u32, count: u64) -> bool {
        if !takers.is_power_of_two() || takers & self.plain == 0 {
            return false;
        }
        let Some(counter) = self.counters.get_mut(takers.trailing_zeros() as usize) else { return false };
        counter.tally(count)
    }

    /// Increments for the counters of a mask, and for the followers if counter 0 is among them.
    pub(super) fn pulse(&mut self, takers: u32, count: u64, tick: u64) {
        let cycle = self.cycle(tick);
        let followers = if takers & 1 == 0 { 0 } else { self.followers };
        // A follower takes what counter 0 sees besides what it takes itself.
        each(takers).chain(each(followers)).for_each(|counter| self.counters[counter].pulse(count, cycle));
    }

    /// A change of a counter's level, and of its followers' if it is counter 0.
    pub(super) fn change_level(&mut self, counter: usize, delta: i64, tick: u64) {
        let cycle = self.cycle(tick);
        self.counters[counter].change_level(delta, cycle);
        if counter == 0 && self.followers != 0 {
            each(self.followers).for_each(|follower| self.counters[follower].change_level(delta, cycle));
        }
    }

    /// An entry of a level has come or gone whose tag the counters of a mask take: if that is one that just adds up the level or its
    /// arrivals, it does; else false, and nothing is done.
    #[inline]
    pub(super) fn step<const COMES: bool>(&mut self, takers: u32, tick: u64) -> bool {
        if !takers.is_power_of_two() {
            return false;
        }
        let Some(counter) = self.counters.get_mut(takers.trailing_zeros() as usize) else { return false };
        if takers & self.plain_levels != 0 {
            let Some(cycle) = self.clock.early_cycle(tick) else { return false };
            counter.step::<COMES>(cycle)
        } else {
            takers & self.plain_arrivals != 0 && (!COMES || counter.tally(1))
        }
    }

    /// An entry of a level has come (`step` 1) or gone (-1) whose tag a counter takes. `entries` is the signal's level now.
    pub(super) fn change(&mut self, counter: usize, said: u16, entries: &Tags, tag: u64, step: i64, tick: u64) {
        let Selection::Signal { signal, measure, predicate, gate } = &self.selections[counter] else { return };
        if gate.as_ref().is_some_and(|gate| gate.signal == said && gate.predicate.matches(tag)) {
            let cycle = self.clock.cycle(tick);
            self.counters[counter].change_gate(step, cycle);
        }
        if *signal != said || !predicate.matches(tag) {
            return;
        }
        match measure {
            Measure::Arrivals if step > 0 => self.pulse(1 << counter, 1, tick),
            Measure::Occupancy => self.change_level(counter, step, tick),
            Measure::NonEmpty => {
                let empty = !entries.entries().any(|(tag, _)| predicate.matches(tag));
                let delta = i64::from(!empty) - self.counters[counter].level() as i64;
                self.change_level(counter, delta, tick);
            }
            Measure::Arrivals | Measure::Clock | Measure::HalfClock | Measure::Counter0 => {}
        }
    }

    /// Compiles the input of a programmable counter from its control and the filters; the bank connects it.
    pub(super) fn compile(&self, counter: u8, anywhere: bool) -> (Selection, Conditioning) {
        let place = &self.layout.counters[usize::from(counter)];
        let Some(slot) = place.control else { return (Selection::Nothing, Conditioning::default()) };
        let (control, bits) = (self.stored(slot), &place.bits);
        let selection = selection::compile(self.layout.unit, counter, control, anywhere, |name| self.filter(name));
        let mut conditioning = Conditioning {
            thresh: bits.thresh.map_or(0, |thresh| thresh.get(control)) as u32,
            invert: control & bits.invert != 0,
            edge: control & bits.edge != 0,
            gate: None,
            halves: selection == Selection::HalfClock,
        };
        // Occupancies of the E5-2600 PCU have an invert and an edge bit of their own; a gate takes the threshold with it.
        match &selection {
            Selection::Signal { gate: Some(_), .. } => {
                let invert = control & bits.occupancy_invert != 0;
                let edge = control & bits.occupancy_edge != 0;
                conditioning.gate = Some(GateCondition { thresh: conditioning.thresh, invert, edge });
                conditioning.thresh = 1;
            }
            _ if control & bits.occupancy_select != 0 => {
                conditioning.invert = control & bits.occupancy_invert != 0;
                conditioning.edge = control & bits.occupancy_edge != 0;
            }
            _ => {}
        }
        (selection, conditioning)
    }

    fn filter(&self, name: &str) -> Option<u64> {
        let slots = self.layout.slots.iter().enumerate().filter(|(_, s)| s.register.role == Role::Filter);
        slots.into_iter().find_map(|(slot, row)| Some(row.register.field(name)?.bits.get(self.values[slot])))
    }

    /// Sets a register from inside the machine, whatever software may do with it: identities, for example.
    pub fn preset(&mut self, at: SlotRef, value: u64) {
        self.values[usize::from(at.0)] = value;
    }
}

/// The numbers of the bits that are set.
pub(super) fn each(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (mask != 0).then(|| mask.trailing_zeros() as usize)?;
        mask &= mask - 1;
        Some(bit)
    })
}
