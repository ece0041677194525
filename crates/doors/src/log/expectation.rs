//! The accesses that a run should make.

use std::collections::VecDeque;
use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use super::entry::Entry;
use crate::error::DoorsError;

/// How many accesses before a difference the message shows.
const CONTEXT: usize = 3;

/// Accesses to come, in order.
#[derive(Debug, Default)]
pub struct Expectation {
    /// Line number, access.
    remaining: VecDeque<(usize, Entry)>,
    /// What was met last.
    before: VecDeque<Entry>,
    mismatch: Option<Mismatch>,
}

/// The first difference between a run and what was expected of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the accesses differ from the expectation{}: expected {}, but {}{context}",
    line.map_or(String::new(), |line| format!(" in line {line}")),
    expected.map_or("the end".to_owned(), |entry| entry.to_string()),
    found.map_or("the program made no further access".to_owned(), |entry| format!("found {entry}"))
)]
pub struct Mismatch {
    /// Line of the expectation; none past its end.
    pub line: Option<usize>,
    /// What should have come.
    pub expected: Option<Entry>,
    /// What came.
    pub found: Option<Entry>,
    /// The accesses before, as text.
    pub context: String,
}

/// Bytes of such a file at most.
const MOST_BYTES: u64 = 256 << 20;

/// The text of a regular file: none that never ends, and none that waits for a writer.
fn text_of(path: &Path) -> io::Result<String> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut text = String::new();
    file.take(MOST_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MOST_BYTES {
        return Err(io::Error::other(format!("it has more than {} MB", MOST_BYTES >> 20)));
    }
    Ok(text)
}

impl Expectation {
    /// Reads a log, or a file of access lines. Empty lines and those that start with `#` are skipped.
    ///
    /// # Errors
    /// [`DoorsError`] if the file cannot be read or a line not be understood.
    pub fn read(path: &Path) -> Result<Self, DoorsError> {
        let text = text_of(path).map_err(|source| DoorsError::LogFile { path: path.to_owned(), source })?;
        let mut remaining = VecDeque::new();
        for (index, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.trim_start().starts_with('#') {
                continue;
            }
            let entry = Entry::parse(line).ok_or_else(|| DoorsError::BadExpectation {
                path: path.to_owned(),
                line: index + 1,
                text: line.to_owned(),
            })?;
            remaining.push_back((index + 1, entry));
        }
        Ok(Self { remaining, ..Self::default() })
    }

    /// Compares the next access. Only the first difference counts: what follows it is noise.
    pub fn meet(&mut self, found: Entry) {
        if self.mismatch.is_some() {
            return;
        }
        match self.remaining.pop_front() {
            Some((_, expected)) if expected == found => {
                self.before.push_back(found);
                if self.before.len() > CONTEXT {
                    self.before.pop_front();
                }
            }
            next => self.differ(next, Some(found)),
        }
    }

    /// The first difference, if there is one; accesses that never came are one too.
    pub fn finish(&mut self) -> Option<Mismatch> {
        if self.mismatch.is_none()
            && let Some(next) = self.remaining.pop_front()
        {
            self.differ(Some(next), None);
        }
        self.mismatch.take()
    }

    fn differ(&mut self, expected: Option<(usize, Entry)>, found: Option<Entry>) {
        let before = self.before.iter().map(|entry| format!("\n  after {entry}"));
        self.mismatch = Some(Mismatch {
            line: expected.map(|(line, _)| line),
            expected: expected.map(|(_, entry)| entry),
            found,
            context: before.collect(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expectation(lines: &[&str]) -> Expectation {
        let entries = lines.iter().enumerate().map(|(index, line)| (index + 1, Entry::parse(line).unwrap()));
        Expectation { remaining: entries.collect(), ..Expectation::default() }
    }

    fn entry(line: &str) -> Entry {
        Entry::parse(line).unwrap()
    }

    /// A file that is read has 256 MB at most (a hole: it takes no space), and is a regular one. Half of one that is
    /// too long would be the expectation of another run.
    #[test]
    fn files_without_an_end_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let long = folder.path().join("long");
        let file = std::fs::File::create(&long).unwrap();
        file.set_len(MOST_BYTES + 1).unwrap();
        assert_eq!(text_of(&long).unwrap_err().to_string(), "it has more than 256 MB");
        file.set_len(MOST_BYTES).unwrap();
        assert_eq!(text_of(&long).unwrap().len(), 256 << 20);
        for path in [Path::new("/dev/zero"), folder.path()] {
            assert_eq!(text_of(path).unwrap_err().to_string(), "it is no regular file");
        }
    }

    /// Comments and empty lines are no accesses, but they are lines.
    #[test]
    fn a_line_that_is_not_understood_is_named_by_its_number() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "# accesses\n\n  # more\nrdmsr cpu0 0xd16\nrdmsr 0xd16\n").unwrap();
        let error = Expectation::read(file.path()).unwrap_err();
        let DoorsError::BadExpectation { line: 5, text, .. } = &error else { panic!("{error}") };
        assert_eq!(text, "rdmsr 0xd16");
        std::fs::write(file.path(), "# accesses\n\n  # more\nrdmsr cpu0 0xd16\n").unwrap();
        let mut expected = Expectation::read(file.path()).unwrap();
        let mismatch = expected.finish().unwrap();
        assert_eq!((mismatch.line, mismatch.found), (Some(4), None));
        assert_eq!(expected.finish(), None, "it is told once");
    }

    /// Three accesses before a difference are shown: enough to find the place.
    #[test]
    fn a_difference_comes_with_the_last_three_accesses() {
        let lines = ["rdmsr cpu0 0x1", "rdmsr cpu0 0x2", "rdmsr cpu0 0x3", "rdmsr cpu0 0x4", "rdmsr cpu0 0x5"];
        let mut expected = expectation(&lines);
        lines[..4].iter().for_each(|line| expected.meet(entry(line)));
        expected.meet(entry("rdmsr cpu0 0x6"));
        let context = expected.finish().unwrap().context;
        assert_eq!(context, "\n  after rdmsr cpu0 0x2\n  after rdmsr cpu0 0x3\n  after rdmsr cpu0 0x4");
    }

    #[test]
    fn times_and_values_read_do_not_matter() {
        let mut expected = expectation(&["0.1 rdmsr cpu0 0xd16 -> 0x5 ; counter", "wrmsr cpu0 0xd10 <- 0x1"]);
        expected.meet(entry("3.0 rdmsr cpu0 0xd16 -> 0x7"));
        expected.meet(entry("wrmsr cpu0 0xd10 <- 0x1"));
        assert_eq!(expected.finish(), None);
    }

    #[test]
    fn a_different_value_written_is_the_first_difference() {
        let mut expected = expectation(&["rdmsr cpu0 0xd16", "wrmsr cpu0 0xd10 <- 0x1"]);
        expected.meet(entry("rdmsr cpu0 0xd16"));
        expected.meet(entry("wrmsr cpu0 0xd10 <- 0x2"));
        expected.meet(entry("wrmsr cpu0 0xd10 <- 0x3"));
        let message = expected.finish().unwrap().to_string();
        assert!(
            message.contains("in line 2: expected wrmsr cpu0 0xd10 <- 0x1, but found wrmsr cpu0 0xd10 <- 0x2"),
            "{message}"
        );
        assert!(message.contains("after rdmsr cpu0 0xd16"), "{message}");
    }

    #[test]
    fn too_few_and_too_many_accesses_are_differences() {
        let mut short = expectation(&["rdmsr cpu0 0xd16"]);
        assert!(short.finish().unwrap().to_string().contains("no further access"));
        let mut long = expectation(&[]);
        long.meet(entry("rdmsr cpu0 0xd16"));
        assert!(long.finish().unwrap().to_string().contains("expected the end, but found rdmsr"));
    }
}
