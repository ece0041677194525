//! What counters have counted, as a monitoring system reads it.
//!
//! A [`Tally`] adds samples up since the start: a count never goes back and never jumps, and the time that it lacks is
//! said in seconds. [`exposition`] makes families of samples of it and of the last sample's metrics, in the base units
//! of Prometheus, with what is in doubt or missing in families of their own. `pericore-exporter` writes and serves
//! them.

mod families;
mod lateness;
mod process;
mod surroundings;
mod tally;

pub use families::{Environment, Exposition, ExpositionNote, exposition};
pub use lateness::Lateness;
pub use process::Process;
pub use surroundings::Surroundings;
pub use tally::{Named, Running, Tally, names};
