//! A scenario that cannot be read: where, and why.

use crate::error::{WorkloadError, did_you_mean};

/// What is wrong, and the line that it stands in with a mark under the place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {fault}\n  {text}\n  {mark}")]
pub struct ScenarioError {
    /// Line, from 1.
    pub line: usize,
    /// Column of the place, from 1.
    pub column: usize,
    /// What is wrong there.
    pub fault: Box<Fault>,
    /// The line.
    pub text: String,
    /// Blanks, then carets under the place.
    pub mark: String,
}

/// What can be wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// No such setting.
    #[error("a phase has no setting {word:?}{}; it has {known}", did_you_mean(.nearest))]
    UnknownSetting {
        /// The word.
        word: String,
        /// Words that look alike.
        nearest: Vec<&'static str>,
        /// All settings.
        known: String,
    },
    /// A setting that only other machines have.
    #[error(
        "the traffic model of {family} has no setting {word:?}, though others have: remove the line, or give another --machine; it has {known}"
    )]
    NotOnThisMachine {
        /// The word.
        word: String,
        /// The machine's family.
        family: &'static str,
        /// All settings of the machine.
        known: String,
    },
    /// A setting before the first phase.
    #[error("{word:?} stands before the first phase: begin with a line such as \"phase warm-up\"")]
    OutsidePhase {
        /// The word.
        word: String,
    },
    /// Something is missing at the end of the line.
    #[error("{what} is missing: write {example}")]
    Missing {
        /// What.
        what: &'static str,
        /// A line that would do.
        example: &'static str,
    },
    /// Something too much at the end of the line.
    #[error("nothing may follow here: put each setting on a line of its own")]
    TooMuch,
    /// A value that is none of the possible ones.
    #[error("expected {what}, found {value:?}: write {example}")]
    BadValue {
        /// The value.
        value: String,
        /// What it should be.
        what: &'static str,
        /// A line that would do.
        example: &'static str,
    },
    /// A number beyond its limits.
    #[error("{value} is out of range: {what} goes from {least} to {most}")]
    OutOfRange {
        /// The value.
        value: String,
        /// What it is.
        what: &'static str,
        /// Least accepted value.
        least: String,
        /// Greatest accepted value.
        most: String,
    },
    /// The same setting twice in a phase.
    #[error("{word:?} is set twice in this phase: keep one of the two")]
    Repeated {
        /// The setting.
        word: String,
    },
    /// Settings that exclude each other.
    #[error("a phase has a workload or is idle, not both: put the pause in a phase of its own")]
    WorkloadAndIdle,
    /// A phase that does nothing.
    #[error("phase {name:?} has neither \"workload NAME\" nor \"idle DURATION\": add one of them")]
    EmptyPhase {
        /// The phase.
        name: String,
    },
    /// No phase at all.
    #[error("there is no phase: begin with a line such as \"phase warm-up\", and a workload in the next")]
    NoPhase,
    /// A setting that needs another socket.
    #[error("{word} needs a second socket: give a machine such as e5-2600:sockets=2, or remove the line")]
    NeedsPeer {
        /// The setting.
        word: String,
    },
    /// A phase is to be warmed.
    #[error(
        "a scenario begins with cold caches and is measured from its start: leave out warmup=, or put a phase before"
    )]
    WarmUp,
    /// Too many phases.
    #[error("there are more than {most} phases: split the scenario into several files")]
    TooManyPhases {
        /// Phases that are accepted.
        most: usize,
    },
    /// The workload is wrong.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
}
