//! Why an experiment cannot be carried out.

use std::fmt;

use pericore_observe::session::SessionError;

/// The part of an experiment that an error is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultyPart {
    /// The machine's name or snapshot.
    Machine,
    /// The workload or scenario.
    Workload,
    /// The item of `events` with this index.
    Event(usize),
    /// The item of `metrics` with this index.
    Metric(usize),
    /// Events and metrics together: they cannot be counted on this machine.
    Selection,
    /// `interval`.
    Interval,
    /// `timeout`.
    Timeout,
    /// `rotate`.
    Rotate,
    /// None of them: the measurement failed.
    Run,
}

/// An experiment that cannot be carried out. Its text says what to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExperimentError {
    /// What it is about.
    pub fault: FaultyPart,
    /// What is wrong, and what to do.
    pub message: String,
}

impl ExperimentError {
    /// An error about a part.
    pub fn new(fault: FaultyPart, message: impl fmt::Display) -> Self {
        Self { fault, message: message.to_string() }
    }

    /// The same as a conversion of any error.
    pub(crate) fn of<E: fmt::Display>(fault: FaultyPart) -> impl Fn(E) -> Self {
        move |error| Self::new(fault, error)
    }
}

impl fmt::Display for ExperimentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ExperimentError {}

impl From<SessionError> for ExperimentError {
    fn from(error: SessionError) -> Self {
        Self::new(FaultyPart::Run, error)
    }
}
