//! A backend that notes every access on its way to another.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pericore_registers::Operation;

use super::entry::Entry;
use super::expectation::{Expectation, Mismatch};
use super::file::LogFile;
use crate::backend::{Backend, Response};
use crate::error::DoorsError;
use crate::platform::Platform;

/// Passes accesses on, one at a time, so that the log has them in the order in which they happened.
#[derive(Debug)]
pub struct Logged<B> {
    inner: B,
    notes: Mutex<Notes>,
}

#[derive(Debug)]
struct Notes {
    log: Option<LogFile>,
    expectation: Option<Expectation>,
    accesses: u64,
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
        let shape = &inner.platform().shape;
        let create = |path: &Path| {
            let log = LogFile::create(path, shape, "accesses", "seconds");
            log.map_err(|source| DoorsError::LogFile { path: path.to_owned(), source })
        };
        let log = log.map(create).transpose()?;
        let notes = Mutex::new(Notes { log, expectation, accesses: 0 });
        Ok(Self { inner, notes })
    }

    fn noted(&self, operation: Operation, thread: Option<u32>) -> Response
    where
        B: Backend,
    {
        let mut notes = self.notes();
        let response = self.inner.access(operation);
        notes.accesses += 1;
        if notes.log.is_some() || notes.expectation.is_some() {
            let entry = Entry::of(operation, &response.outcome);
            if let Some(expectation) = &mut notes.expectation {
                expectation.meet(entry);
            }
            if let Some(log) = &mut notes.log {
                log.note(response.at, &entry, &response.outcome, thread);
            }
        }
        response
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
        if let Some(log) = notes.log.take() {
            let path = log.path().to_owned();
            log.finish().map_err(|source| DoorsError::LogFile { path, source })?;
        }
        Ok(Summary { accesses: notes.accesses, mismatch })
    }
}

impl<B: Backend> Backend for Logged<B> {
    fn platform(&self) -> &Platform {
        self.inner.platform()
    }

    fn access(&self, operation: Operation) -> Response {
        self.noted(operation, None)
    }

    fn access_by(&self, operation: Operation, thread: u32) -> Response {
        self.noted(operation, Some(thread))
    }

    fn cpuid(&self, cpu: u32, leaf: u32, subleaf: u32) -> [u32; 4] {
        self.inner.cpuid(cpu, leaf, subleaf)
    }
}
