//! What a counter listens to: a control value and the unit's filters, compiled to tests of a signal's tags.

use pericore_catalog::decode::selecting_bits;
use pericore_catalog::{Attribute, DecodeRole, Event, Measure, Operand, Register, Role, Selector, Term, Unit};

use super::predicate::{Predicate, Test};

/// A counter's input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// Nothing: no such event, or not on this counter.
    Nothing,
    /// One each cycle.
    Clock,
    /// One each second cycle.
    HalfClock,
    /// The increment that counter 0 of the instance sees.
    Counter0,
    /// A signal.
    Signal {
        /// Index into the unit's signals.
        signal: u16,
        /// What is taken from it.
        measure: Measure,
        /// Which of its pulses.
        predicate: Predicate,
        /// A level that must meet a comparison in the same cycle, where the counter joins two conditions.
        gate: Option<Gate>,
    },
}

impl Selection {
    /// The signals that it hears.
    pub fn signals(&self) -> impl Iterator<Item = u16> {
        let signals = match self {
            Self::Signal { signal, gate, .. } => {
                [Some(*signal), gate.as_ref().map(|gate| gate.signal).filter(|gate| gate != signal)]
            }
            _ => [None, None],
        };
        signals.into_iter().flatten()
    }

    /// True if it takes a tag of a signal, itself or by its gate.
    pub fn hears(&self, said: u16, tag: u64) -> bool {
        match self {
            Self::Signal { signal, predicate, gate, .. } => {
                *signal == said && predicate.matches(tag)
                    || gate.as_ref().is_some_and(|gate| gate.signal == said && gate.predicate.matches(tag))
            }
            _ => false,
        }
    }

    /// True if it takes that of a signal under no other condition.
    pub fn takes(&self, taken: Measure) -> bool {
        matches!(self, Self::Signal { measure, gate: None, .. } if *measure == taken)
    }
}

/// The second condition of a counter that joins two (E5-2600 Table 2-80, cases 5 and 6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    /// Index into the unit's signals.
    pub signal: u16,
    /// Which of its entries.
    pub predicate: Predicate,
}

/// Compiles counter `counter`'s control value; `filter` gives the value of a filter field of the same instance.
///
/// With `anywhere` the counter takes events that only others may take.
pub fn compile(
    unit: &'static Unit,
    counter: u8,
    control: u64,
    anywhere: bool,
    filter: impl Fn(&str) -> Option<u64>,
) -> Selection {
    let Some(register) = unit.register(Role::Control) else { return Selection::Nothing };
    let (control, gate) = match split_gate(unit, register, control) {
        Some((rest, gate)) => (rest, Some(gate)),
        None => (control, None),
    };
    let Some((event, counters)) = find(unit, register, control) else { return Selection::Nothing };
    if !anywhere && counters >> counter & 1 == 0 {
        return Selection::Nothing;
    }
    of_event(unit, register, event, control, gate, filter)
}

/// What a control value takes that selects an event.
pub fn of_event(
    unit: &'static Unit,
    register: &Register,
    event: &Event,
    control: u64,
    gate: Option<Gate>,
    filter: impl Fn(&str) -> Option<u64>,
) -> Selection {
    let signal = match (event.measure, event.signal) {
        (Measure::Clock, _) => return Selection::Clock,
        (Measure::HalfClock, _) => return Selection::HalfClock,
        (Measure::Counter0, _) => return Selection::Counter0,
        (_, Some(signal)) => signal,
        (_, None) => return Selection::Nothing,
    };
    let attributes = unit.signals[usize::from(signal)].attributes;
    // A filter stands over bits of the control register, in a filter register, or is a field of the control itself.
    let overlaid = event.field_set.map_or(&[][..], |index| unit.field_sets[usize::from(index)].fields);
    let filter = |name: &str| match overlaid.iter().find(|field| field.name == name) {
        Some(field) => field.bits.get(control),
        None => filter(name).or_else(|| Some(register.field(name)?.bits.get(control))).unwrap_or(0),
    };
    let mut predicate = if event.decode.is_empty() {
        by_fields(event, register, attributes, control)
    } else {
        by_rows(event, register, attributes, control, &filter)
    };
    if register.field("tid_en").is_some_and(|field| field.bits.get(control) != 0) {
        match attributes.iter().find(|attribute| attribute.name == "tid") {
            Some(tid) => predicate.require(Test::equals(tid.bits, filter("tid"))),
            // Nothing of this signal belongs to a thread.
            None => predicate.exclude_all(),
        }
    }
    Selection::Signal { signal, measure: event.measure, predicate, gate }
}

/// A free-running counter's input.
pub fn free_running(unit: &Unit, register: &Register, member: u8) -> Selection {
    let Some(signal) = register.signal else { return Selection::Clock };
    let attributes = unit.signals[usize::from(signal)].attributes;
    let mut predicate = Predicate::all(register.when.iter().map(|term| test(term, attributes, &|_| 0)));
    if let Some(attribute) = attributes.iter().find(|attribute| attribute.name == "member") {
        predicate.require(Test::equals(attribute.bits, u64::from(member)));
    }
    Selection::Signal { signal, measure: register.measure, predicate, gate: None }
}

/// The event whose subevents choose among occupancies: its code is the bit of the event select that joins an occupancy to
/// another event (E5-2600 2.6.3.2).
fn occupancy_event(unit: &'static Unit, register: &Register) -> Option<&'static Event> {
    let choice = register.field("occ_sel")?.bits;
    unit.events.iter().find(|event| event.subevents.iter().any(|subevent| choice.get(subevent.config) != 0))
}

/// Splits a control value that joins an occupancy to an event: the event's part, and the gate.
fn split_gate(unit: &'static Unit, register: &Register, control: u64) -> Option<(u64, Gate)> {
    let occupancy = occupancy_event(unit, register)?;
    let ev_sel = register.field("ev_sel")?.bits;
    let joined = control & occupancy.config == occupancy.config && ev_sel.get(control) != ev_sel.get(occupancy.config);
    let signal = occupancy.signal.filter(|_| joined)?;
    let attributes = unit.signals[usize::from(signal)].attributes;
    let choice = register.field("occ_sel")?.bits;
    let state = attributes.first().map(|state| Test::equals(state.bits, choice.get(control)));
    let predicate = Predicate::all(state);
    Some((choice.set(control & !occupancy.config, 0), Gate { signal, predicate }))
}

/// The event that a control value selects, and the counters that may take it.
fn find(unit: &'static Unit, register: &Register, control: u64) -> Option<(&'static Event, u16)> {
    let ev_sel = register.field("ev_sel")?.bits;
    let coded = unit.events.iter().filter(|event| ev_sel.get(event.config) == ev_sel.get(control));
    // Events that share a code differ in further bits of the control register; the one that needs most of them is meant.
    let needed = coded.map(|event| (event, needed(event))).filter(|(_, needed)| control & needed == *needed);
    let (event, _) = needed.rev().max_by_key(|(_, needed)| needed.count_ones())?;
    let selected = control & selecting_bits(register);
    let exact = event.subevents.iter().find(|subevent| selected == subevent.config);
    Some((event, exact.map_or(event.counters, |subevent| subevent.counters)))
}

/// The bits that an event needs whatever its subevent.
fn needed(event: &Event) -> u64 {
    event.subevents.iter().fold(event.config, |bits, subevent| bits & subevent.config)
}

/// Without decode rows each attribute is named after the control field that selects by it.
fn by_fields(event: &Event, register: &Register, attributes: &[Attribute], control: u64) -> Predicate {
    let mut predicate = Predicate::default();
    for attribute in attributes {
        let field = match attribute.name {
            "sub" => "umask",
            "state" => "occ_sel",
            other => other,
        };
        let Some(field) = register.field(field) else { continue };
        // An event without subevents takes everything, unless it fixes the field.
        if event.subevents.is_empty() && field.bits.get(event.config) == 0 {
            continue;
        }
        let value = field.bits.get(control);
        predicate.require(match attribute.name {
            // A two-bit choice, not a mask.
            "occ_sel" | "state" => Test::equals(attribute.bits, value),
            _ => Test::has(attribute.bits, value),
        });
    }
    predicate
}

/// With decode rows, what the rows in force say.
fn by_rows(
    event: &Event,
    register: &Register,
    attributes: &[Attribute],
    control: u64,
    filter: &impl Fn(&str) -> u64,
) -> Predicate {
    let umask = register.field("umask").map_or(0, |field| field.bits.get(control));
    let extension = register.field("umask_ext").map_or(0, |field| field.bits.get(control));
    let umask = umask | extension << 8;
    let mut predicate = Predicate::default();
    for row in event.decode {
        let selected = match row.selector {
            Selector::Always => true,
            Selector::Umask(bit) => umask >> bit & 1 == 1,
            Selector::Field(field, bit) => filter(field) >> bit & 1 == 1,
        };
        let tests = row.terms.iter().map(|term| test(term, attributes, filter));
        match (row.role, selected) {
            (DecodeRole::Any | DecodeRole::Some, true) => predicate.group(row.group).push(tests.collect()),
            (DecodeRole::Some, false) => _ = predicate.group(row.group),
            (DecodeRole::All | DecodeRole::Required, true) => tests.for_each(|test| predicate.require(test)),
            (DecodeRole::Required, false) => predicate.exclude_all(),
            (DecodeRole::Any | DecodeRole::All, false) => {}
        }
    }
    predicate
}

fn test(term: &Term, attributes: &[Attribute], filter: &impl Fn(&str) -> u64) -> Test {
    let value = |operand: Operand| match operand {
        Operand::Value(value) => value,
        Operand::Field(field) => filter(field),
    };
    let bits = attributes[usize::from(term.attribute)].bits;
    Test { bits, relation: term.relation, operand: value(term.operand), mask: value(term.mask) }
}
