//! A control value on its own: what a counter with it would take.

use super::selection::{Selection, compile};
use pericore_catalog::{Measure, Unit};

/// What a control value selects.
pub struct Compiled(Selection);

/// Compiles the control value of an event; `None` for clocks, and for what counts nothing. Filter registers read as 0.
pub fn compile_event(unit: &'static Unit, control: u64) -> Option<Compiled> {
    let selection = compile(unit, 0, control, true, |_| None);
    matches!(selection, Selection::Signal { .. }).then_some(Compiled(selection))
}

impl Compiled {
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
