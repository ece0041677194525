//! Recordings as files.
//!
//! A [`RecordFile`] takes the place of an older one when it is worth more than that, [`FileNames`] are those of long
//! recordings in [`Parts`]. A [`Sink`] writes the form of a file: JSON lines or a Parquet table. [`Input`] reads
//! either,
//! [`Converter`] writes what was read in another form, such as CSV or Chrome's traces.

mod convert;
mod file;
mod input;
#[cfg(feature = "s3")]
mod object;
mod output;
mod parts;
mod sink;
mod span;
mod time;
mod trace;
mod unfinished;

pub use convert::{Conversion, Converter};
pub use file::RecordFile;
pub use input::Input;
pub use output::{RecordOutput, is_object, read_object};
pub use parts::{FileNames, Parts};
pub use sink::{RecordingForm, Sink};
pub use span::TimeSpan;
pub use time::rfc3339;
pub use trace::TrackWriter;
