//! Long recordings in parts: a file follows the other when it has its size or its time.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use clap::Args;

use super::time::rfc3339;
use crate::failure::Failure;

/// Bytes of a MB.
const MB: f64 = 1e6;

/// What Hive writes for a value that is missing.
const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// When a file is to be followed by another.
#[derive(Debug, Clone, Copy, Args)]
pub struct PartArgs {
    /// Go on in another file when one has so many MB: FILE-0001, FILE-0002 and so on, before the ending of the name
    #[arg(long, value_name = "MB", allow_negative_numbers = true)]
    part_size: Option<f64>,
    /// Go on in another file after so many milliseconds (virtual ones on a software machine)
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    part_time: Option<f64>,
    /// Write into the folders host=NAME/date=YYYY-MM-DD beside FILE, which are made, and go on in the next day's at
    /// midnight (UTC). The time of day is added to the file's name
    #[arg(long)]
    partition: bool,
}

/// What the names of files are made of.
#[derive(Debug)]
pub struct FileNames<'a> {
    /// As the user gave it.
    pub file: &'a Path,
    pub parts: PartArgs,
    /// The machine's name; none for a software machine.
    pub host: Option<String>,
    /// When the measurement began; 1970 for virtual time.
    pub started: SystemTime,
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

    /// True if files are in folders by host and day.
    pub const fn is_partitioned(self) -> bool {
        self.partition
    }
}

impl FileNames<'_> {
    /// The name of a part, the first of which is 1, that begins so many seconds after the start.
    pub fn name(&self, number: u32, began: f64) -> PathBuf {
        let mut end = String::new();
        if self.parts.partition {
            let time = &self.at(began)[11..19];
            end = format!("-{}", time.replace(':', ""));
        }
        if self.parts.part_size.is_some() || self.parts.part_time.is_some() {
            end += &format!("-{number:04}");
        }
        if end.is_empty() {
            return self.file.to_owned();
        }
        let mut name = self.file.file_stem().unwrap_or_default().to_owned();
        name.push(end);
        if let Some(ending) = self.file.extension() {
            name.push(".");
            name.push(ending);
        }
        match self.parts.partition {
            true => self.file.with_file_name(self.folder(began)).join(name),
            false => self.file.with_file_name(name),
        }
    }

    /// True if the end of a sample is on another day than the start of the part that is written.
    pub fn is_another_day(&self, part_began: f64, end: f64) -> bool {
        self.parts.partition && self.day(part_began) != self.day(end)
    }

    /// `host=NAME/date=YYYY-MM-DD`, as Hive and whatever reads its tables have it.
    fn folder(&self, began: f64) -> PathBuf {
        let host = self.host.as_deref().map_or_else(|| NULL.to_owned(), encoded);
        Path::new(&format!("host={host}")).join(format!("date={}", self.day(began)))
    }

    fn day(&self, elapsed: f64) -> String {
        self.at(elapsed)[..10].to_owned()
    }

    /// The time so many seconds after the start, by a clock that never jumps.
    fn at(&self, elapsed: f64) -> String {
        let since = Duration::try_from_secs_f64(elapsed).unwrap_or_default();
        rfc3339(self.started.checked_add(since).unwrap_or(self.started))
    }
}

/// A value in a folder's name: what could be taken for a part of the path is written as % and two hexadecimal digits.
fn encoded(value: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    value.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    const NONE: PartArgs = PartArgs { part_size: None, part_time: None, partition: false };

    #[test]
    fn parts_are_full_by_size_or_by_time() {
        let parts = PartArgs { part_size: Some(2.0), part_time: Some(500.0), ..NONE };
        assert!(!parts.is_full(1_999_999, 0.499) && parts.is_full(2_000_000, 0.0) && parts.is_full(0, 0.5));
        assert!(!NONE.is_full(u64::MAX, f64::MAX) && NONE.check().is_ok());
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(PartArgs { part_size: Some(wrong), ..NONE }.check().is_err(), "{wrong}");
        }
        for (file, named) in [("a/run.parquet", "a/run-0012.parquet"), ("run", "run-0012"), ("x.y.rec", "x.y-0012.rec")]
        {
            let named_by = |parts| FileNames { file: Path::new(file), parts, host: None, started: UNIX_EPOCH };
            assert_eq!(named_by(parts).name(12, 0.0), Path::new(named));
            assert_eq!(named_by(NONE).name(12, 0.0), Path::new(file));
        }
    }

    /// 2,000,000,000 seconds after 1970 are 2033-05-18, 03:33:20 (`date -u -d @2000000000`): 73,600 s before midnight.
    #[test]
    fn folders_are_by_host_and_day() {
        let parts = PartArgs { partition: true, ..NONE };
        let started = UNIX_EPOCH + Duration::from_secs(2_000_000_000);
        let host = Some("node7.example".to_owned());
        let names = FileNames { file: Path::new("fleet/run.parquet"), parts, host, started };
        let folder = "fleet/host=node7.example/date=2033-05-1";
        assert_eq!(names.name(1, 0.0), Path::new(&format!("{folder}8/run-033320.parquet")));
        assert_eq!(names.name(1, 73_599.9), Path::new(&format!("{folder}8/run-235959.parquet")));
        assert_eq!(names.name(2, 73_600.0), Path::new(&format!("{folder}9/run-000000.parquet")));
        assert!(!names.is_another_day(0.0, 73_599.9) && names.is_another_day(0.0, 73_600.0));
        assert!(!names.is_another_day(73_600.0, 160_000.0 - 0.1) && names.is_another_day(73_600.0, 160_000.0));
        let numbered = PartArgs { part_size: Some(1.0), ..parts };
        let names = FileNames { file: Path::new("run"), parts: numbered, host: Some("a/../b c".to_owned()), started };
        assert_eq!(names.name(3, 60.0), Path::new("host=a%2F..%2Fb%20c/date=2033-05-18/run-033420-0003"));
        let none = FileNames { file: Path::new("run"), parts, host: None, started: UNIX_EPOCH };
        assert_eq!(none.name(1, 0.0), Path::new("host=__HIVE_DEFAULT_PARTITION__/date=1970-01-01/run-000000"));
        assert!(!FileNames { parts: NONE, ..none }.is_another_day(0.0, 1e9));
    }
}
