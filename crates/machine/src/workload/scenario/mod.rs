//! Scenarios: phases, each with a workload or a pause, and with what the rest of the machine does meanwhile.
//!
//! The text is made of lines. `phase NAME` begins a phase; the lines after it say what holds in it, one setting each; `#` begins a comment.
//! Nothing carries over from one phase to the next.
//!
//! ```text
//! phase busy
//!   workload stream:requests=20k,read=70
//!   msi every 20us
//! phase night
//!   idle 300us
//!   sleep c6
//!   frequency 1200MHz
//! ```

mod conditions;
mod error;
mod parse;

use super::{Limits, Workload};
pub use conditions::{
    Conditions, CoreSleep, Errand, FrequencyBounds, MemoryConditions, MessageKind, NOMINAL_RATIOS, PROCHOT_RATIO,
};
pub use error::ScenarioError;

/// A part of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phase {
    /// Its name.
    pub name: String,
    /// What the cores do; `None` if they pause.
    pub workload: Option<Workload>,
    /// The cores pause.
    pub idle: bool,
    /// When the phase ends at the latest, in nanoseconds from its start. A pause always has this.
    pub nanoseconds: Option<u64>,
    /// What else happens.
    pub conditions: Conditions,
}

/// Phases, one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scenario {
    /// The phases, at least one.
    pub phases: Vec<Phase>,
}

impl Scenario {
    /// Reads a scenario's text and checks it against a machine.
    ///
    /// # Errors
    /// [`ScenarioError`] for the first thing that is wrong, with its line and place.
    pub fn parse(text: &str, limits: &Limits) -> Result<Self, ScenarioError> {
        parse::parse(text, limits)
    }

    /// Accesses of all phases.
    pub fn requests(&self) -> u64 {
        self.phases.iter().filter_map(|phase| phase.workload.as_ref()).map(|workload| workload.requests).sum()
    }
}

impl From<Workload> for Scenario {
    fn from(workload: Workload) -> Self {
        let phase = Phase {
            name: workload.kind.name().to_owned(),
            workload: Some(workload),
            idle: false,
            nanoseconds: None,
            conditions: Conditions::default(),
        };
        Self { phases: vec![phase] }
    }
}
