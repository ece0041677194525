//! The counters of one instance: slots, rounds, and what each counter is set to.

use std::collections::HashMap;

use pericore_catalog::{Family, Register, Role, Unit};

use super::assign::Demand;
use super::bound::Bound;
use super::occupied::{Occupied, Taken};
use super::rounds::{BUDGET, Rounds, spread};
use super::{CounterUse, InstancePlan, PlanError, Through, safe_seconds};
use crate::discover::{Socket, owns};
use crate::selection::{EventSource, SelectedEvent, Selection};

/// Assumed for events whose largest increment no document gives.
const UNKNOWN_INCREMENT: u16 = 64;

/// Plans instances; like instances are searched once.
pub(super) struct Planner<'a> {
    selection: &'a Selection,
    known: Vec<(&'static Unit, Vec<usize>, u16, Rounds)>,
}

/// Events of an instance that one programming serves.
type Slot = Vec<usize>;

impl<'a> Planner<'a> {
    pub(super) const fn new(selection: &'a Selection) -> Self {
        Self { selection, known: Vec::new() }
    }

    /// The events to count in an instance. A free-running counter that several instances share is counted once, unless the user names one
    /// of the others.
    fn wanted(&self, unit: &'static Unit, number: u16) -> Vec<usize> {
        let is_wanted = |event: &SelectedEvent| match (event.instance, &event.source) {
            _ if event.unit.id != unit.id => false,
            (Some(instance), _) => instance == number,
            (None, EventSource::FreeRunning { register, .. }) => owns(unit, number, register),
            (None, _) => true,
        };
        (0..self.selection.events.len()).filter(|&index| is_wanted(&self.selection.events[index])).collect()
    }

    /// The instances of a socket that are to count something.
    pub(super) fn instances(
        &mut self,
        family: &'static Family,
        socket: &Socket,
        occupied: &Occupied,
    ) -> Result<Vec<InstancePlan>, PlanError> {
        let mut instances = Vec::new();
        for unit in family.units {
            for number in socket.present(unit) {
                let events = self.wanted(unit, number);
                if !events.is_empty() {
                    let taken = occupied.of(socket.number, unit, number);
                    instances.push(self.instance(unit, number, &events, taken)?);
                }
            }
        }
        Ok(instances)
    }

    fn instance(
        &mut self,
        unit: &'static Unit,
        number: u16,
        events: &[usize],
        taken: Taken,
    ) -> Result<InstancePlan, PlanError> {
        let selection = self.selection;
        let mut counters: Vec<CounterUse> = Vec::new();
        for &index in events {
            match &selection.events[index].source {
                EventSource::Programmed(programming) if programming.counters == 0 => {
                    counters.extend(own_counter(unit, index, programming.control));
                }
                EventSource::Programmed(_) => {}
                EventSource::Fixed(_) if selection.on_every_counter && taken.fixed => {}
                EventSource::Fixed(register) => share(&mut counters, index, register, 0, fixed_control(unit)),
                EventSource::FreeRunning { register, member } => share(&mut counters, index, register, *member, None),
            }
        }
        let slots = slots(selection, events);
        let (bound, through) = (Bound::ONE, Through::Registers);
        let mut plan = InstancePlan { unit, number, counters, rounds: 1, bound, switch: Vec::new(), taken, through };
        if slots.is_empty() {
            return Ok(plan);
        }
        let (Some(control), Some(counter)) = (unit.register(Role::Control), unit.register(Role::Counter)) else {
            return Err(PlanError::NoCounters { unit: unit.name });
        };
        let enable = control.field("en").map_or(0, |field| field.bits.mask());
        if selection.on_every_counter {
            let of_slots = every_counter(selection, unit, &slots, taken);
            plan.counters.extend(of_slots.map(|(slot, member)| {
                let programmed = slot.iter().find_map(|&event| selection.events[event].programming());
                let control = programmed.map(|programming| (control, programming.control | enable));
                let (events, round, safe_seconds) = (slot, None, 0.0);
                let used = CounterUse { register: counter, member, control, events, round, safe_seconds };
                CounterUse { safe_seconds: super::safe_seconds(&used, 1), ..used }
            }));
            return Ok(plan);
        }
        let spread = self.spread(unit, number, events, &slots, taken)?;
        plan.rounds = spread.rounds.len();
        for (round, seats) in spread.rounds.iter().enumerate() {
            for &(slot, member) in seats {
                let Some(programming) = selection.events[slots[slot][0]].programming() else { continue };
                let increment = programming.subevent.and_then(|subevent| subevent.max_increment);
                let increment =
                    increment.or(programming.event.and_then(|event| event.max_increment)).unwrap_or(UNKNOWN_INCREMENT);
                let mut counter = CounterUse {
                    register: counter,
                    member,
                    control: Some((control, programming.control | enable)),
                    events: slots[slot].clone(),
                    round: (plan.rounds > 1).then_some(round),
                    safe_seconds: 0.0,
                };
                counter.safe_seconds = safe_seconds(&counter, increment);
                plan.counters.push(counter);
            }
        }
        plan.bound = spread.bound;
        Ok(plan)
    }

    fn spread(
        &mut self,
        unit: &'static Unit,
        number: u16,
        events: &[usize],
        slots: &[Slot],
        taken: Taken,
    ) -> Result<Rounds, PlanError> {
        let available = !taken.counters & (((1_u32 << unit.counters.min(16)) - 1) as u16);
        let is_known = |(known, of, mask, _): &&(&'static Unit, Vec<usize>, u16, Rounds)| {
            known.id == unit.id && of == events && *mask == available
        };
        if let Some((.., rounds)) = self.known.iter().find(is_known) {
            return Ok(rounds.clone());
        }
        let demands = demands(self.selection, slots);
        let slot_of = |event: usize| slots.iter().position(|slot| slot.contains(&event));
        let of_group = |group: usize| {
            let members = self.selection.listed.iter().filter(|listed| listed.group == Some(group));
            members.filter_map(|listed| slot_of(listed.event)).collect::<Vec<usize>>()
        };
        let groups = self.selection.listed.iter().filter_map(|listed| listed.group).max().map_or(0, |last| last + 1);
        let together: Vec<Vec<usize>> = (0..groups).map(of_group).collect();
        let of_metric = |metric: &crate::selection::SelectedMetric| {
            metric.inputs.iter().filter_map(|(_, event)| slot_of(*event)).collect::<Vec<usize>>()
        };
        let friends: Vec<Vec<usize>> = self.selection.metrics.iter().map(of_metric).collect();
        let rounds = spread(&demands, &together, &friends, available, BUDGET)
            .map_err(|misfit| PlanError::does_not_fit(unit, number, &demands, available, &misfit))?;
        self.known.push((unit, events.to_vec(), available, rounds.clone()));
        Ok(rounds)
    }
}

/// The rounds that a selection's events of one unit need in an instance that counts them all, whatever the machine; `None` if they need
/// no programmable counter.
///
/// # Errors
/// [`PlanError`] if an event or group does not fit the unit.
pub fn rounds_of(selection: &Selection, unit: &'static Unit) -> Result<Option<Rounds>, PlanError> {
    let events = 0..selection.events.len();
    let events: Vec<usize> = events.filter(|&event| selection.events[event].unit.id == unit.id).collect();
    let slots = slots(selection, &events);
    if slots.is_empty() {
        return Ok(None);
    }
    Planner::new(selection).spread(unit, 0, &events, &slots, Taken::default()).map(Some)
}

/// The programmed ones of `events`, those together that one programming serves.
pub(super) fn slots(selection: &Selection, events: &[usize]) -> Vec<Slot> {
    let mut slots: Vec<Slot> = Vec::new();
    let mut by_control: HashMap<u64, Vec<usize>> = HashMap::new();
    for &index in events {
        let programming = selection.events[index].programming().filter(|programming| programming.counters != 0);
        let Some(programming) = programming else { continue };
        let alike = by_control.entry(programming.control).or_default();
        let serves = |slot: &&usize| {
            selection.events[slots[**slot][0]].programming().is_some_and(|known| known.same_as(programming))
        };
        match alike.iter().find(serves) {
            Some(&slot) => slots[slot].push(index),
            None => {
                alike.push(slots.len());
                slots.push(vec![index]);
            }
        }
    }
    slots
}

/// What each slot asks for.
pub(super) fn demands<'s>(selection: &'s Selection, slots: &[Slot]) -> Vec<Demand<'s>> {
    let slot_of = |event: usize| slots.iter().position(|slot| slot.contains(&event));
    let demand = |slot: &Slot| {
        let event = &selection.events[slot[0]];
        let programming = event.programming()?;
        Some(Demand {
            label: &event.label,
            counters: programming.counters,
            filters: &programming.filters,
            // A companion that is not counted here leaves the mark that no demand has.
            companion: programming.companion.map(|companion| slot_of(companion).unwrap_or(usize::MAX)),
        })
    };
    slots.iter().filter_map(demand).collect()
}

/// Every counter that nobody else uses, with the first slot that it may take.
fn every_counter(selection: &Selection, unit: &Unit, slots: &[Slot], taken: Taken) -> impl Iterator<Item = (Slot, u8)> {
    let takes = |slot: &&Slot, member: u8| {
        let programming = selection.events[slot[0]].programming();
        programming.is_some_and(|programming| programming.counters >> member & 1 == 1)
    };
    let free = (0..unit.counters.min(16)).filter(move |&member| taken.counters >> member & 1 == 0);
    free.filter_map(move |member| Some((slots.iter().find(|slot| takes(slot, member))?.clone(), member)))
}

fn fixed_control(unit: &'static Unit) -> Option<(&'static Register, u64)> {
    let register = unit.register(Role::FixedControl)?;
    Some((register, register.field("en")?.bits.mask()))
}

/// The counter of an event that the kernel's driver has one for, fixed or free-running.
fn own_counter(unit: &'static Unit, event: usize, control: u64) -> Option<CounterUse> {
    let (register, by) = (unit.register(Role::Counter)?, unit.register(Role::Control)?);
    let events = vec![event];
    Some(CounterUse {
        register,
        member: 0,
        control: Some((by, control)),
        events,
        round: None,
        safe_seconds: f64::INFINITY,
    })
}

/// Adds an event to a counter that needs no choice.
fn share(
    counters: &mut Vec<CounterUse>,
    event: usize,
    register: &'static Register,
    member: u8,
    control: Option<(&'static Register, u64)>,
) {
    let is_same = |counter: &&mut CounterUse| counter.register.id == register.id && counter.member == member;
    if let Some(counter) = counters.iter_mut().find(is_same) {
        counter.events.push(event);
        return;
    }
    let mut counter = CounterUse { register, member, control, events: vec![event], round: None, safe_seconds: 0.0 };
    counter.safe_seconds = safe_seconds(&counter, 1);
    counters.push(counter);
}
