//! From a selection and a topology to an explicit plan: which counter counts what, and every register access, in order.
//!
//! Planning is pure: the same selection on the same topology gives the same plan, and nothing is read or written.

mod assign;
mod error;
mod operations;
mod step;

use pericore_catalog::{Register, Role, Unit};

use crate::discover::{Socket, Topology};
use crate::selection::{EventSource, SelectedEvent, Selection};
pub use assign::{Demand, Misfit, Reason, assign};
pub use error::PlanError;
pub use step::{Purpose, Step};

/// No uncore clock is faster: the bound for how soon a counter can wrap.
const FASTEST_CLOCK_HZ: f64 = 5e9;

/// Assumed for events whose largest increment no document gives.
const UNKNOWN_INCREMENT: u16 = 64;

/// What a session will do.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What was asked for.
    pub selection: Selection,
    /// One part for each socket.
    pub sockets: Vec<SocketPlan>,
}

/// What a session will do in a socket: lists of steps, each to be carried out in order.
#[derive(Debug, Clone)]
pub struct SocketPlan {
    /// Socket.
    pub socket: u16,
    /// The instances in use; steps refer to them by index.
    pub instances: Vec<InstancePlan>,
    /// Reads before the first write: what will be overwritten, and whether a counter is in use already.
    pub inspect: Vec<Step>,
    /// Guide 2.1.1, a to f: from freezing to the start of counting.
    pub setup: Vec<Step>,
    /// Guide 2.1.2: stops the counters for reading.
    pub freeze: Vec<Step>,
    /// Reads each counter in use, once.
    pub read: Vec<Step>,
    /// Lets the counters go on.
    pub resume: Vec<Step>,
}

/// An instance in use.
#[derive(Debug, Clone)]
pub struct InstancePlan {
    /// Unit.
    pub unit: &'static Unit,
    /// Instance within the socket.
    pub number: u16,
    /// Its counters in use.
    pub counters: Vec<CounterUse>,
}

/// A counter in use.
#[derive(Debug, Clone)]
pub struct CounterUse {
    /// The counter's register array.
    pub register: &'static Register,
    /// Member of the array.
    pub member: u8,
    /// The control register array and the value to write, enable bit included; none for a free-running counter.
    pub control: Option<(&'static Register, u64)>,
    /// Indexes in [`Selection::events`] of the events that the counter serves.
    pub events: Vec<usize>,
    /// Seconds within which the counter cannot wrap twice.
    pub safe_seconds: f64,
}

impl InstancePlan {
    /// Unit and number: `cbo3`; a unit with one instance goes by its name.
    pub fn name(&self) -> String {
        if self.unit.instances > 1 { format!("{}{}", self.unit.name, self.number) } else { self.unit.name.to_owned() }
    }
}

impl CounterUse {
    /// The bits of the register that count.
    pub fn bits(&self) -> pericore_catalog::BitRange {
        let whole = pericore_catalog::BitRange::new(self.register.width.clamp(1, 64) - 1, 0);
        self.register.field("event_count").map_or(whole, |field| field.bits)
    }
}

impl Plan {
    /// Gives each event of the selection a counter in each instance that answers, and lists all accesses.
    ///
    /// # Errors
    /// [`PlanError`] if a unit does not answer anywhere, or if its counters and filters cannot serve everything at once.
    pub fn new(topology: &Topology, selection: Selection) -> Result<Self, PlanError> {
        if selection.events.is_empty() {
            return Err(PlanError::NothingToCount);
        }
        let mut sockets = Vec::with_capacity(topology.sockets.len());
        for socket in &topology.sockets {
            let mut instances = Vec::new();
            for unit in topology.family.units {
                for number in socket.present(unit) {
                    let events: Vec<usize> = wanted(&selection, unit, number);
                    if !events.is_empty() {
                        instances.push(instance_plan(&selection, unit, number, &events)?);
                    }
                }
            }
            if !instances.is_empty() {
                sockets.push(operations::socket_plan(socket, instances, &selection)?);
            }
        }
        check_presence(topology, &selection)?;
        Ok(Self { selection, sockets })
    }

    /// The longest time between two samples in which no counter in use can wrap twice.
    pub fn safe_interval(&self) -> f64 {
        let counters = self.sockets.iter().flat_map(|socket| &socket.instances).flat_map(|instance| &instance.counters);
        counters.map(|counter| counter.safe_seconds).fold(f64::INFINITY, f64::min)
    }

    /// Accesses that one sample costs.
    pub fn accesses_per_sample(&self) -> usize {
        self.sockets.iter().map(|socket| socket.freeze.len() + socket.read.len() + socket.resume.len()).sum()
    }
}

/// The events to count in an instance.
fn wanted(selection: &Selection, unit: &'static Unit, number: u16) -> Vec<usize> {
    let is_wanted = |event: &SelectedEvent| {
        std::ptr::eq(event.unit, unit) && event.instance.is_none_or(|instance| instance == number)
    };
    (0..selection.events.len()).filter(|&index| is_wanted(&selection.events[index])).collect()
}

fn check_presence(topology: &Topology, selection: &Selection) -> Result<(), PlanError> {
    for event in &selection.events {
        let answers =
            |socket: &Socket| socket.present(event.unit).iter().any(|&n| event.instance.is_none_or(|i| i == n));
        if !topology.sockets.iter().any(answers) {
            return Err(PlanError::absent(topology, event));
        }
    }
    Ok(())
}

fn instance_plan(
    selection: &Selection,
    unit: &'static Unit,
    number: u16,
    events: &[usize],
) -> Result<InstancePlan, PlanError> {
    let mut counters: Vec<CounterUse> = Vec::new();
    // Events of this instance that one programming serves stand together in a slot.
    let mut slots: Vec<Vec<usize>> = Vec::new();
    for &index in events {
        let event = &selection.events[index];
        match &event.source {
            EventSource::Programmed(programming) => {
                let serves = |slot: &Vec<usize>| {
                    selection.events[slot[0]].programming().is_some_and(|known| known.same_as(programming))
                };
                match slots.iter_mut().find(|slot| serves(slot)) {
                    Some(slot) => slot.push(index),
                    None => slots.push(vec![index]),
                }
            }
            EventSource::Fixed(register) => share(&mut counters, index, register, 0, fixed_control(unit)),
            EventSource::FreeRunning { register, member } => share(&mut counters, index, register, *member, None),
        }
    }
    let slot_of = |event: usize| slots.iter().position(|slot| slot.contains(&event));
    let demands: Vec<Demand<'_>> = slots
        .iter()
        .filter_map(|slot| {
            let event = &selection.events[slot[0]];
            let programming = event.programming()?;
            Some(Demand {
                label: &event.label,
                counters: programming.counters,
                filters: &programming.filters,
                // A companion that is not counted here leaves the mark that no demand has.
                companion: programming.companion.map(|companion| slot_of(companion).unwrap_or(usize::MAX)),
            })
        })
        .collect();
    let places = assign(&demands, unit.counters)
        .map_err(|misfit| PlanError::over_subscribed(unit, number, &demands, &misfit))?;
    let (Some(control), Some(counter)) = (unit.register(Role::Control), unit.register(Role::Counter)) else {
        if slots.is_empty() {
            return Ok(InstancePlan { unit, number, counters });
        }
        return Err(PlanError::NoCounters { unit: unit.name });
    };
    let enable = control.field("en").map_or(0, |field| field.bits.mask());
    for (slot, member) in slots.into_iter().zip(places) {
        let Some(programming) = selection.events[slot[0]].programming() else { continue };
        let increment = programming.subevent.and_then(|subevent| subevent.max_increment);
        let increment =
            increment.or(programming.event.and_then(|event| event.max_increment)).unwrap_or(UNKNOWN_INCREMENT);
        let mut counter = CounterUse {
            register: counter,
            member,
            control: Some((control, programming.control | enable)),
            events: slot,
            safe_seconds: 0.0,
        };
        counter.safe_seconds = safe_seconds(&counter, increment);
        counters.push(counter);
    }
    Ok(InstancePlan { unit, number, counters })
}

fn fixed_control(unit: &'static Unit) -> Option<(&'static Register, u64)> {
    let register = unit.register(Role::FixedControl)?;
    Some((register, register.field("en")?.bits.mask()))
}

/// Adds an event to a counter that needs no choice.
fn share(
    counters: &mut Vec<CounterUse>,
    event: usize,
    register: &'static Register,
    member: u8,
    control: Option<(&'static Register, u64)>,
) {
    let is_same = |counter: &&mut CounterUse| std::ptr::eq(counter.register, register) && counter.member == member;
    if let Some(counter) = counters.iter_mut().find(is_same) {
        counter.events.push(event);
        return;
    }
    let mut counter = CounterUse { register, member, control, events: vec![event], safe_seconds: 0.0 };
    counter.safe_seconds = safe_seconds(&counter, 1);
    counters.push(counter);
}

fn safe_seconds(counter: &CounterUse, increment: u16) -> f64 {
    2_f64.powi(i32::from(counter.bits().width)) / (f64::from(increment.max(1)) * FASTEST_CLOCK_HZ)
}

#[cfg(test)]
mod tests;
