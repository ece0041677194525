//! Why events cannot be counted at the same time.

use std::fmt;

use super::PlanError;
use super::assign::assign;
use super::instance::{demands, slots};
use crate::selection::Selection;

/// Events of one unit that cannot be counted at the same time, and the constraint in the way of each that is left over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Unit.
    pub unit: &'static str,
    /// Events that fit together.
    pub fits: Vec<String>,
    /// Events that do not fit beside them, each with the constraint.
    pub left_out: Vec<(String, String)>,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why: Vec<String> = self.left_out.iter().map(|(name, why)| format!("{name}: {why}")).collect();
        write!(f, "{} cannot count all of this at once: {}", self.unit, why.join("; "))
    }
}

/// What keeps a selection's events from being counted at the same time, unit by unit; nothing if they fit one round.
pub fn why_not(selection: &Selection) -> Vec<Conflict> {
    let conflict = |unit: &&'static pericore_catalog::Unit| {
        let events = 0..selection.events.len();
        let of_unit: Vec<usize> = events.filter(|&event| selection.events[event].unit.id == unit.id).collect();
        let slots = slots(selection, &of_unit);
        let demands = demands(selection, &slots);
        let available = ((1_u32 << unit.counters.min(16)) - 1) as u16;
        let misfit = assign(&demands, available).err()?;
        match PlanError::does_not_fit(unit, 0, &demands, available, &misfit) {
            PlanError::OverSubscribed { unit, fits, left_out, .. } => Some(Conflict { unit, fits, left_out }),
            _ => None,
        }
    };
    selection.family.units.iter().filter_map(conflict).collect()
}
