//! How far a model's workload has come.

/// How far the workload has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Accesses that have their data.
    pub done: u64,
    /// Accesses of the whole workload.
    pub total: u64,
}
