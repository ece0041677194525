//! What whoever starts a session decides.

use super::{JournalFile, Neighbourhood};

/// How a session treats others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Use counters even if someone else has them running.
    pub take_over: bool,
    /// How closely controls are watched for changes by others.
    pub guard: Guard,
    /// Where to journal what will be overwritten; without it a killed session cannot be undone.
    pub journal: Option<JournalFile>,
    /// The sessions beside which this one is put back, one at a time.
    pub neighbourhood: Option<Neighbourhood>,
}

/// When all that counts depend on is looked at again: controls, filters, and what stops counters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Guard {
    /// With every 20th sample.
    #[default]
    InTurn,
    /// With each sample.
    All,
    /// Only on request.
    Off,
}
