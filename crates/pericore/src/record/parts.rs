//! Long recordings in parts: a file follows the other when it has its size or its time.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::failure::Failure;

/// Bytes of a MB.
const MB: f64 = 1e6;

/// When a file is to be followed by another.
#[derive(Debug, Clone, Copy, Args)]
pub struct PartArgs {
    /// Go on in another file when one has so many MB: FILE-0001, FILE-0002 and so on, before the ending of the name
    #[arg(long, value_name = "MB", allow_negative_numbers = true)]
    part_size: Option<f64>,
    /// Go on in another file after so many milliseconds (virtual ones on a software machine)
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    part_time: Option<f64>,
}

impl PartArgs {
    /// Refuses parts that would have nothing in them.
    ///
    /// # Errors
    /// A size or time that is not above 0.
    pub fn check(self) -> Result<(), Failure> {
        for (name, value) in [("--part-size", self.part_size), ("--part-time", self.part_time)] {
            if value.is_some_and(|value| !value.is_finite() || value <= 0.0) {
                return Err(Failure::usage(format!("{name}: give a number above 0")));
            }
        }
        Ok(())
    }

    /// True if a file of so many bytes and seconds is to be followed by another.
    pub fn is_full(self, bytes: u64, seconds: f64) -> bool {
        self.part_size.is_some_and(|most| bytes as f64 >= most * MB)
            || self.part_time.is_some_and(|most| seconds >= most / 1e3)
    }

    /// The name of a part, the first of which is 1; the file itself where there are no parts.
    pub fn name(self, file: &Path, number: u32) -> PathBuf {
        if self.part_size.is_none() && self.part_time.is_none() {
            return file.to_owned();
        }
        let mut name = file.file_stem().unwrap_or_default().to_owned();
        name.push(format!("-{number:04}"));
        if let Some(ending) = file.extension() {
            name.push(".");
            name.push(ending);
        }
        file.with_file_name(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_full_by_size_or_by_time() {
        let parts = PartArgs { part_size: Some(2.0), part_time: Some(500.0) };
        assert!(!parts.is_full(1_999_999, 0.499) && parts.is_full(2_000_000, 0.0) && parts.is_full(0, 0.5));
        let none = PartArgs { part_size: None, part_time: None };
        assert!(!none.is_full(u64::MAX, f64::MAX) && none.check().is_ok());
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(PartArgs { part_size: Some(wrong), ..none }.check().is_err(), "{wrong}");
        }
        for (file, named) in [("a/run.parquet", "a/run-0012.parquet"), ("run", "run-0012"), ("x.y.rec", "x.y-0012.rec")]
        {
            assert_eq!(parts.name(Path::new(file), 12), Path::new(named));
            assert_eq!(none.name(Path::new(file), 12), Path::new(file));
        }
    }
}
