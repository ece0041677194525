//! What windows say of a whole run.

use pericore_observe::session::Sample;

/// What windows say of a whole run.
#[derive(Debug)]
pub struct Estimate {
    /// Counts and times of the whole run.
    pub sample: Sample,
    /// The model's figures, if they were asked for.
    pub truth: Option<Sample>,
    /// The same as `sample`, each without another part of the windows.
    pub without: Vec<Sample>,
    /// How much of the run was counted: of a program by its accesses, of a workload by what its length is given in.
    pub share: f64,
    /// Windows.
    pub windows: u64,
    /// Numbers may be off by such a share of them besides, since caches were filled by function.
    pub by_function: f64,
}

/// Windows were too few, or too short, to say anything.
#[derive(Debug, thiserror::Error)]
pub enum TooFewWindows {
    /// Of a program.
    #[error(
        "the program has {accesses} accesses beyond its first-level caches, of which the first {first} and {windows} \
         windows were counted, and an error takes {least} windows: give a larger share, or measure the program whole"
    )]
    Program {
        /// Of the whole program.
        accesses: u64,
        /// Counted before the windows.
        first: u64,
        /// That were counted.
        windows: u64,
        /// That it takes.
        least: usize,
    },
    /// Of a workload.
    #[error(
        "--sample: {counted} are too short for {windows} windows of {least} each, which the counters need: give a \
         larger share, or a longer run with --timeout or requests="
    )]
    Workload {
        /// What would be counted, with its unit.
        counted: String,
        /// That it takes.
        windows: u64,
        /// Of a window, with its unit.
        least: String,
    },
    /// The workload has ended before there was anything to go by.
    #[error("--sample: {windows} windows were counted, which is too few for an error: let the run go on for longer")]
    Cut {
        /// That were counted.
        windows: u64,
    },
}
