//! A log on disk.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pericore_machine::chassis::Shape;
use pericore_registers::Outcome;

use super::analyser::Analyser;
use super::entry::Entry;

/// For the owner alone: it has all that a tool did.
const OWN: u32 = 0o600;

/// A file of accesses, each with its meaning.
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    file: BufWriter<File>,
    analyser: Analyser,
    /// Why a line is missing. Whoever makes an access can do nothing about it: it is told at the end.
    failed: Option<io::Error>,
}

impl LogFile {
    /// Starts a log; its first line says whose accesses there are, and what their `seconds` are.
    ///
    /// # Errors
    /// The system's, if the file cannot be written.
    pub fn create(path: &Path, shape: &Shape, accesses: &str, seconds: &str) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(OWN);
        let mut file = BufWriter::new(options.open(path)?);
        let (family, sockets) = (shape.family.name, shape.sockets);
        writeln!(file, "# {accesses} to {family}, {sockets} socket(s): {seconds}, access, meaning")?;
        Ok(Self { path: path.to_owned(), file, analyser: Analyser::new(shape), failed: None })
    }

    /// The file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes an access, and the number of the tool's thread that made it, where that is known.
    pub fn note(&mut self, at: Duration, entry: &Entry, outcome: &Outcome<u64>, thread: Option<u32>) {
        let (access, meaning) = (entry.with_value(outcome), self.analyser.explain(entry, outcome));
        let by = thread.map_or_else(String::new, |thread| format!("  ; thread {thread}"));
        let line = writeln!(self.file, "{:5}.{:09}  {access:<44}  ; {meaning}{by}", at.as_secs(), at.subsec_nanos());
        self.failed = self.failed.take().or(line.err());
    }

    /// Completes the file.
    ///
    /// # Errors
    /// The system's, if a line could not be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.failed.take().map_or_else(|| self.file.flush(), Err)
    }
}
