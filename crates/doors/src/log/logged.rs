//! A backend that notes every access on its way to another.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pericore_registers::Operation;

use super::analyser::Analyser;
use super::entry::{Entry, Kind};
use super::expectation::{Expectation, Mismatch};
use crate::backend::{Answer, Backend};
use crate::error::DoorsError;
use crate::platform::Platform;

/// Passes accesses on, one at a time, so that the log has them in the order in which they happened.
pub struct Logged<B> {
    inner: B,
    analyser: Analyser,
    notes: Mutex<Notes>,
}

struct Notes {
    log: Option<(PathBuf, BufWriter<File>)>,
    expectation: Option<Expectation>,
    accesses: u64,
    failed: Option<std::io::Error>,
}

/// What a run came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Accesses made.
    pub accesses: u64,
    /// The first difference from the expectation.
    pub mismatch: Option<Mismatch>,
}

impl<B: Backend> Logged<B> {
    /// Logs to a file, compares with an expectation, or only counts.
    ///
    /// # Errors
    /// [`DoorsError`] if a file cannot be used.
    pub fn new(inner: B, log: Option<&Path>, expect: Option<&Path>) -> Result<Self, DoorsError> {
        let expectation = expect.map(Expectation::read).transpose()?;
        let analyser = Analyser::new(&inner.platform().shape);
        let log = match log {
            Some(path) => {
                let failed = |source| DoorsError::LogFile { path: path.to_owned(), source };
                let mut file = BufWriter::new(File::create(path).map_err(failed)?);
                let shape = &inner.platform().shape;
                writeln!(
                    file,
                    "# accesses to {}, {} socket(s): seconds, access, meaning",
                    shape.family.name, shape.sockets
                )
                .map_err(failed)?;
                Some((path.to_owned(), file))
            }
            None => None,
        };
        let notes = Mutex::new(Notes { log, expectation, accesses: 0, failed: None });
        Ok(Self { inner, analyser, notes })
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes the log and the comparison.
    ///
    /// # Errors
    /// [`DoorsError::LogFile`] if the log could not be written.
    pub fn finish(&self) -> Result<Summary, DoorsError> {
        let mut notes = self.notes();
        let mismatch = notes.expectation.as_mut().and_then(Expectation::finish);
        if let Some((path, mut file)) = notes.log.take() {
            let earlier = notes.failed.take();
            earlier.map_or_else(|| file.flush(), Err).map_err(|source| DoorsError::LogFile { path, source })?;
        }
        Ok(Summary { accesses: notes.accesses, mismatch })
    }
}

impl<B: Backend> Backend for Logged<B> {
    fn platform(&self) -> &Platform {
        self.inner.platform()
    }

    fn access(&self, operation: Operation) -> Answer {
        let mut notes = self.notes();
        let answer = self.inner.access(operation);
        notes.accesses += 1;
        if notes.log.is_some() || notes.expectation.is_some() {
            let faulted = answer.outcome.is_err();
            let entry = match operation {
                Operation::Read { address, width } => Entry { address, width, kind: Kind::Read, faulted },
                Operation::Write { address, width, value } => {
                    Entry { address, width, kind: Kind::Write(value), faulted }
                }
            };
            if let Some(expectation) = &mut notes.expectation {
                expectation.meet(entry);
            }
            if let Some((_, file)) = &mut notes.log {
                let meaning = self.analyser.explain(&entry, &answer.outcome);
                let (at, access) = (answer.at, entry.with_value(&answer.outcome));
                let line = writeln!(file, "{:5}.{:09}  {access:<44}  ; {meaning}", at.as_secs(), at.subsec_nanos());
                notes.failed = notes.failed.take().or(line.err());
            }
        }
        answer
    }

    fn cpuid(&self, cpu: u32, leaf: u32, subleaf: u32) -> [u32; 4] {
        self.inner.cpuid(cpu, leaf, subleaf)
    }
}
