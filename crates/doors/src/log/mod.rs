//! A bus analyser: every access in order, with what it means; and the comparison of a run with an earlier one.
//!
//! A line is `seconds  access  ; meaning`. The access part is stable and what is compared: addresses, directions, widths, written
//! values and faults. Times and values read are not: they depend on when the tool asked.

mod analyser;
mod entry;
mod expectation;
mod file;
mod logged;

pub use analyser::Analyser;
pub use entry::{Entry, Kind};
pub use expectation::{Expectation, Mismatch};
pub(crate) use file::LogFile;
pub use logged::{Logged, Summary};
