//! Long recordings in parts: a file follows the other when it has its size or its time.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::time::rfc3339;

/// What Hive writes for a value that is missing.
const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// When a file is to be followed by another, and whether files are in folders by host and day.
#[derive(Debug, Clone, Copy, Default)]
pub struct Parts {
    /// So many bytes.
    pub bytes: Option<f64>,
    /// So many seconds.
    pub seconds: Option<f64>,
    /// Folders `host=NAME/date=YYYY-MM-DD`, the next day's from midnight (UTC) on.
    pub by_host_and_day: bool,
}

/// What the names of files are made of.
#[derive(Debug)]
pub struct FileNames<'a> {
    /// As the user gave it.
    pub file: &'a Path,
    /// What parts there are.
    pub parts: Parts,
    /// The machine's name; none for a software machine.
    pub host: Option<String>,
    /// When the measurement began; 1970 for virtual time.
    pub started: SystemTime,
}

impl Parts {
    /// False for parts that would have nothing in them: a size or time that is not above 0.
    pub fn are_possible(self) -> bool {
        [self.bytes, self.seconds].iter().flatten().all(|most| most.is_finite() && *most > 0.0)
    }

    /// The same, with parts of so many seconds where neither size nor time was chosen.
    #[must_use]
    pub fn or_by_time(self, seconds: Option<f64>) -> Self {
        if self.bytes.is_some() || self.seconds.is_some() { self } else { Self { seconds, ..self } }
    }

    /// True if a file of so many bytes and seconds is to be followed by another.
    pub fn are_full(self, bytes: u64, seconds: f64) -> bool {
        self.bytes.is_some_and(|most| bytes as f64 >= most) || self.seconds.is_some_and(|most| seconds >= most)
    }
}

impl FileNames<'_> {
    /// The name of a part, the first of which is 1, that begins so many seconds after the start.
    pub fn name(&self, number: u32, began: f64) -> PathBuf {
        let mut end = String::new();
        if self.parts.by_host_and_day {
            let time = &self.at(began)[11..19];
            end = format!("-{}", time.replace(':', ""));
        }
        if self.parts.bytes.is_some() || self.parts.seconds.is_some() {
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
        match self.parts.by_host_and_day {
            true => self.file.with_file_name(self.folder(began)).join(name),
            false => self.file.with_file_name(name),
        }
    }

    /// True if the end of a sample is on another day than the start of the part that is written.
    pub fn is_another_day(&self, part_began: f64, end: f64) -> bool {
        self.parts.by_host_and_day && self.day(part_began) != self.day(end)
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

    const NONE: Parts = Parts { bytes: None, seconds: None, by_host_and_day: false };

    #[test]
    fn parts_are_full_by_size_or_by_time() {
        let parts = Parts { bytes: Some(2e6), seconds: Some(0.5), ..NONE };
        assert!(!parts.are_full(1_999_999, 0.499) && parts.are_full(2_000_000, 0.0) && parts.are_full(0, 0.5));
        assert_eq!(NONE.or_by_time(Some(60.0)).seconds, Some(60.0));
        assert_eq!(parts.or_by_time(Some(60.0)).seconds, Some(0.5), "what the user chose stays");
        assert!(!NONE.are_full(u64::MAX, f64::MAX) && NONE.are_possible());
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(!Parts { bytes: Some(wrong), ..NONE }.are_possible(), "{wrong}");
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
        let parts = Parts { by_host_and_day: true, ..NONE };
        let started = UNIX_EPOCH + Duration::from_secs(2_000_000_000);
        let host = Some("node7.example".to_owned());
        let names = FileNames { file: Path::new("fleet/run.parquet"), parts, host, started };
        let folder = "fleet/host=node7.example/date=2033-05-1";
        assert_eq!(names.name(1, 0.0), Path::new(&format!("{folder}8/run-033320.parquet")));
        assert_eq!(names.name(1, 73_599.9), Path::new(&format!("{folder}8/run-235959.parquet")));
        assert_eq!(names.name(2, 73_600.0), Path::new(&format!("{folder}9/run-000000.parquet")));
        assert!(!names.is_another_day(0.0, 73_599.9) && names.is_another_day(0.0, 73_600.0));
        assert!(!names.is_another_day(73_600.0, 160_000.0 - 0.1) && names.is_another_day(73_600.0, 160_000.0));
        let numbered = Parts { bytes: Some(1e6), ..parts };
        let names = FileNames { file: Path::new("run"), parts: numbered, host: Some("a/../b c".to_owned()), started };
        assert_eq!(names.name(3, 60.0), Path::new("host=a%2F..%2Fb%20c/date=2033-05-18/run-033420-0003"));
        let none = FileNames { file: Path::new("run"), parts, host: None, started: UNIX_EPOCH };
        assert_eq!(none.name(1, 0.0), Path::new("host=__HIVE_DEFAULT_PARTITION__/date=1970-01-01/run-000000"));
        assert!(!FileNames { parts: NONE, ..none }.is_another_day(0.0, 1e9));
    }
}
