//! The text of a sweep's file, and errors that point into it.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Bytes of a sweep's file at most.
const MOST: u64 = 16 << 20;

/// What is wrong with a sweep, with file, line and column.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct SweepError {
    text: String,
}

/// A mistake at a byte of the text.
#[derive(Debug)]
pub(crate) struct Mistake {
    pub at: usize,
    pub what: String,
}

impl Mistake {
    pub fn new(at: usize, what: impl Into<String>) -> Self {
        Self { at, what: what.into() }
    }
}

/// A file's text with its name.
#[derive(Debug, Clone)]
pub(crate) struct SweepText {
    pub path: PathBuf,
    pub text: String,
}

impl SweepText {
    /// Reads the file.
    pub fn read(path: &Path) -> Result<Self, SweepError> {
        let text = text_of(path, MOST)
            .map_err(|error| SweepError { text: format!("cannot read {}: {error}", path.display()) })?;
        Ok(Self { path: path.to_owned(), text })
    }

    /// The error of a mistake: `FILE:LINE:COLUMN: what`.
    pub fn error(&self, Mistake { at, what }: &Mistake) -> SweepError {
        let before = &self.text.as_bytes()[..(*at).min(self.text.len())];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let begin = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
        let column = String::from_utf8_lossy(&before[begin..]).chars().count() + 1;
        SweepError { text: format!("{}:{line}:{column}: {what}", self.path.display()) }
    }

    /// A file that the text names: beside it, unless its path is absolute.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(name)
    }
}

/// The text of a regular file of so many bytes at most.
pub(crate) fn text_of(path: &Path, most: u64) -> io::Result<String> {
    if !path.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file; name one"));
    }
    let mut bytes = Vec::new();
    // One byte more tells a file that is too long, even one that grows.
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("it has more than {} MB; check the name", most >> 20)));
    }
    String::from_utf8(bytes).map_err(|error| {
        let line = error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|&&byte| byte == b'\n').count();
        io::Error::other(format!("line {} is not UTF-8 text; save the file as UTF-8", line + 1))
    })
}
