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
mod course;
mod error;
mod parse;
mod phase_settings;
mod words;

use super::{Limits, Workload, WorkloadError, number};
pub use conditions::{
    Conditions, CoreSleep, Errand, FrequencyBounds, HotPart, LinkConditions, MemoryConditions, MessageKind,
};
pub use course::Course;
pub use error::ScenarioError;
pub use phase_settings::{PhaseSetting, PhaseSettings};

/// A part of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phase {
    /// Its name.
    pub name: String,
    /// What the cores do; `None` if they pause.
    pub workload: Option<Workload>,
    /// It goes on with the threads of the phase before, from where they are.
    pub goes_on: bool,
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

    /// A workload, as [`Workload::parse`] reads it, or `idle[:microseconds=N]`.
    ///
    /// # Errors
    /// [`WorkloadError`] for the first thing that is wrong.
    pub fn of(text: &str, limits: &Limits) -> Result<Self, WorkloadError> {
        match text.strip_prefix("idle") {
            Some(options) if options.is_empty() || options.starts_with(':') => idle(options),
            _ => Workload::parse(text, limits).map(Self::from),
        }
    }

    /// Accesses of all phases.
    pub fn requests(&self) -> u64 {
        self.phases.iter().filter_map(|phase| phase.workload.as_ref()).map(|workload| workload.requests).sum()
    }
}

impl Scenario {
    /// A workload on a machine that has run it for a while: caches are filled, a warm-up goes on for as long as
    /// The warm-up lets it, and then the workload's requests are made. Nothing changes for a pause, for
    /// several phases, or for one with conditions of its own.
    #[must_use]
    pub fn warmed(self) -> Self {
        let [Phase { workload: Some(workload), nanoseconds: None, conditions, .. }] = &self.phases[..] else {
            return self;
        };
        if *conditions != Conditions::default() {
            return self;
        }
        let endless = Workload { requests: ENDLESS, warm: true, ..workload.clone() };
        let [warm_up, mut measured] = [endless, workload.clone()].map(|workload| Self::from(workload).phases);
        measured.iter_mut().for_each(|phase| phase.goes_on = true);
        Self { phases: [warm_up, measured].concat() }
    }

    /// The workload that a warm-up makes steady before it is measured, if it is to.
    pub fn begins_warm(&self) -> Option<&Workload> {
        self.phases.get(1).filter(|phase| phase.goes_on).and_then(|phase| phase.workload.as_ref())
    }
}

impl From<Workload> for Scenario {
    fn from(workload: Workload) -> Self {
        let phase = Phase {
            name: workload.kind.name().to_owned(),
            workload: Some(workload),
            goes_on: false,
            idle: false,
            nanoseconds: None,
            conditions: Conditions::default(),
        };
        Self { phases: vec![phase] }
    }
}

/// Accesses that outlast every warm-up.
const ENDLESS: u64 = 1 << 60;

/// Virtual microseconds of a pause, unless it is said.
const PAUSE: u64 = 1000;

/// A pause of the cores, by its options.
fn idle(options: &str) -> Result<Scenario, WorkloadError> {
    const KEY: &str = "microseconds";
    let mut microseconds = PAUSE;
    if let Some(option) = options.strip_prefix(':') {
        let (key, value) = option.split_once('=').unwrap_or((option, ""));
        if key.trim() != KEY {
            let (key, nearest, known) = (key.to_owned(), vec![KEY], KEY.to_owned());
            return Err(WorkloadError::UnknownKey { workload: "idle", key, nearest, known });
        }
        let value = value.trim();
        microseconds =
            number::parse(value).ok_or_else(|| WorkloadError::NotANumber { key: KEY, value: value.to_owned() })?;
        let (least, most) = (1, 10_000_000);
        if !(least..=most).contains(&microseconds) {
            return Err(WorkloadError::OutOfRange { key: KEY, value: value.to_owned(), least, most, why: "" });
        }
    }
    let nanoseconds = Some(microseconds * 1000);
    let conditions = Conditions::default();
    Ok(Scenario {
        phases: vec![Phase {
            name: "idle".to_owned(),
            workload: None,
            goes_on: false,
            idle: true,
            nanoseconds,
            conditions,
        }],
    })
}

#[cfg(test)]
mod tests {
    use super::{Limits, Scenario};

    #[test]
    fn a_pause_is_a_workload_too() {
        let limits = Limits::of_tests();
        let nanoseconds = |text: &str| Scenario::of(text, &limits).map(|scenario| scenario.phases[0].nanoseconds);
        assert_eq!(nanoseconds("idle"), Ok(Some(1_000_000)));
        assert_eq!(nanoseconds("idle:microseconds=20"), Ok(Some(20_000)));
        assert_eq!(nanoseconds("stream"), Ok(None));
        for wrong in ["idle:", "idle:requests=3", "idle:microseconds=0", "idle:microseconds=x", "idler"] {
            assert!(nanoseconds(wrong).is_err(), "{wrong}");
        }
    }
}
