//! What a driver did, access by access, with its meaning.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use pericore_machine::chassis::Shape;
use pericore_registers::{Operation, Outcome};

use super::error::GuestError;
use crate::log::{Analyser, Entry, Kind};

/// An access that reached the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// Guest time.
    pub at: Duration,
    /// The machine's time.
    pub ticks: u64,
    /// What was asked.
    pub operation: Operation,
    /// The value read, or 0 for a write.
    pub outcome: Outcome<u64>,
}

impl Access {
    /// The access in the notation of all logs.
    pub fn entry(&self) -> Entry {
        let faulted = self.outcome.is_err();
        match self.operation {
            Operation::Read { address, width } => Entry { address, width, kind: Kind::Read, faulted },
            Operation::Write { address, width, value } => Entry { address, width, kind: Kind::Write(value), faulted },
        }
    }
}

/// A file of accesses.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    file: BufWriter<File>,
    analyser: Analyser,
    failed: Option<io::Error>,
}

impl Log {
    /// Starts a log.
    ///
    /// # Errors
    /// [`GuestError::File`] if the file cannot be written.
    pub fn create(path: &Path, shape: &Shape) -> Result<Self, GuestError> {
        let failed = |source| GuestError::File { path: path.to_owned(), source };
        let mut file = BufWriter::new(File::create(path).map_err(failed)?);
        let (family, sockets) = (shape.family.name, shape.sockets);
        writeln!(file, "# accesses of a guest to {family}, {sockets} socket(s): guest seconds, access, meaning")
            .map_err(failed)?;
        Ok(Self { path: path.to_owned(), file, analyser: Analyser::new(shape), failed: None })
    }

    /// Notes an access. A failure is told by [`finish`](Self::finish).
    pub fn note(&mut self, access: &Access) {
        let (entry, at) = (access.entry(), access.at);
        let meaning = self.analyser.explain(&entry, &access.outcome);
        let text = entry.with_value(&access.outcome);
        let line = writeln!(self.file, "{:5}.{:09}  {text:<44}  ; {meaning}", at.as_secs(), at.subsec_nanos());
        self.failed = self.failed.take().or(line.err());
    }

    /// Completes the file.
    ///
    /// # Errors
    /// [`GuestError::File`] if a line could not be written.
    pub fn finish(mut self) -> Result<(), GuestError> {
        let result = self.failed.take().map_or_else(|| self.file.flush(), Err);
        result.map_err(|source| GuestError::File { path: self.path, source })
    }
}
