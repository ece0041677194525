//! A control value on its own: what a counter with it would take.

use super::selection::{Selection, compile, of_event};
use pericore_catalog::{Event, Measure, Role, Unit};

/// What a control value selects.
pub struct Compiled(Selection);

/// Compiles the control value of an event; `None` for clocks, and for what counts nothing. Filter registers read as 0.
pub fn compile_event(unit: &'static Unit, control: u64) -> Option<Compiled> {
    Compiled::of(compile(unit, 0, control, true, |_| None))
}

impl Compiled {
    /// As [`compile_event`], of a control value that is known to select `event`, which need not be looked for: that
    /// takes most of the time where an event has hundreds of subevents.
    pub(crate) fn of_event(unit: &'static Unit, event: &Event, control: u64) -> Option<Self> {
        Self::of(of_event(unit, unit.register(Role::Control)?, event, control, None, |_| None))
    }

    fn of(selection: Selection) -> Option<Self> {
        matches!(selection, Selection::Signal { .. }).then_some(Self(selection))
    }

    /// Index into the unit's signals.
    pub fn signal(&self) -> u16 {
        match &self.0 {
            Selection::Signal { signal, .. } => *signal,
            _ => u16::MAX,
        }
    }

    /// What is taken from the signal.
    pub fn measure(&self) -> Measure {
        match &self.0 {
            Selection::Signal { measure, .. } => *measure,
            _ => Measure::Clock,
        }
    }

    /// True if an emission with this tag counts.
    pub fn matches(&self, tag: u64) -> bool {
        matches!(&self.0, Selection::Signal { predicate, .. } if predicate.matches(tag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of a known event is what its control value selects when nothing is known.
    #[test]
    fn an_event_that_is_known_is_the_one_that_would_be_found() {
        for family in pericore_catalog::families() {
            for unit in family.units {
                for event in unit.events {
                    let own = event.subevents.is_empty().then_some(event.config);
                    for control in own.into_iter().chain(event.subevents.iter().map(|subevent| subevent.config)) {
                        let known = Compiled::of_event(unit, event, control).map(|what| what.0);
                        let found = compile_event(unit, control).map(|what| what.0);
                        assert_eq!(known, found, "{} {}/{} {control:#x}", family.name, unit.name, event.name);
                    }
                }
            }
        }
    }
}
