//! Long recordings in parts: a file follows the other when it has its size or its time.

use clap::Args;
use pericore_recordings::Parts;

use crate::failure::Failure;

/// Bytes of a MB.
const MB: f64 = 1e6;

/// When a file is to be followed by another.
#[derive(Debug, Clone, Copy, Args)]
pub struct PartArgs {
    /// Start a new file when one reaches this many MB: FILE-0001, FILE-0002 and so on, before the extension
    #[arg(long, value_name = "MB", allow_negative_numbers = true)]
    part_size: Option<f64>,
    /// Start a new file after this many milliseconds (virtual time on a software machine)
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    part_time: Option<f64>,
    /// Write into folders host=NAME/date=YYYY-MM-DD beside FILE, creating them, with a new folder at midnight (UTC).
    /// The time of day becomes part of the file's name
    #[arg(long)]
    partition: bool,
}

impl PartArgs {
    /// What they come to.
    ///
    /// # Errors
    /// A size or time that is not above 0.
    pub fn parts(self) -> Result<Parts, Failure> {
        for (name, value) in [("--part-size", self.part_size), ("--part-time", self.part_time)] {
            if !(Parts { bytes: value, ..Parts::default() }).are_possible() {
                return Err(Failure::usage(format!("{name}: give a number above 0")));
            }
        }
        let bytes = self.part_size.map(|size| size * MB);
        let seconds = self.part_time.map(|time| time / 1e3);
        Ok(Parts { bytes, seconds, by_host_and_day: self.partition })
    }
}
