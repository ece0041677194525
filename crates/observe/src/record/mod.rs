//! Recordings: the samples of a measurement in a file, to be evaluated later, elsewhere, and by other programs.
//!
//! A file is JSON lines (`docs/recording.md`): a [`Header`] with all that the counts refer to, a line for each sample, and a last line that
//! says how it [ended](Ending). [`Writer`] puts each line out in one write, so that what kills a measurement leaves whole lines behind.
//! [`Reader`] trusts nothing in the file, and holds one line of it at a time. [`View`] finds a selection's events among those recorded.

mod error;
mod fields;
mod first_line;
mod header;
mod lines;
mod read;
mod spot;
mod view;
mod write;

#[cfg(test)]
mod tests;

pub use error::RecordError;
pub use header::{About, Counted, Header, Place, Source};
pub use read::{AHEAD, Reader, Recorded};
pub use view::{View, ViewError, selection_of};
pub use write::{Writer, count_text, ending_text, header_text, sample_text};

/// The version of the format: it changes when a reader of the version before would misunderstand.
pub const FORMAT: u64 = 1;

/// Bytes of a line at most: what is longer is no line of a recording.
pub const LONGEST_LINE: usize = 64 << 20;

/// Seconds at most: longer times are a slip.
const LONGEST_SECONDS: f64 = 1e10;

/// The largest standard error: counts end at 2^64.
const LARGEST_ERROR: f64 = 1e30;

/// The key of the first line that tells a recording from other files.
const KEY: &str = "pericore-recording";

/// How a recording ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// As it was to: the program or workload, or the time given, was over.
    Whole,
    /// By a signal, in order.
    Interrupted {
        /// The signal's number.
        signal: u64,
    },
    /// Something went wrong in the measurement.
    Failed {
        /// What.
        why: String,
    },
    /// Nobody knows: the last line is missing.
    Cut {
        /// The line that was written in part only, if there is one.
        half: Option<usize>,
    },
}
