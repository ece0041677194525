//! What went wrong, as the user sees it, and the exit status that says so.

use std::fmt;
use std::io;

use pericore_observe::session::SessionError;

/// Exit status of a wrong command line: what perf uses.
pub const USAGE: u8 = 129;

/// Exit status of a run that failed: what perf uses.
pub const FAILED: u8 = 255;

/// Exit status if the command ran, and its answer is no: nothing was found, or something is missing. What grep uses.
pub const NOTHING: u8 = 1;

/// Exit status if nobody reads our output any more: what a shell reports of a program that SIGPIPE ended.
const UNREAD: u8 = 128 + 13;

/// Exit status if a program that was to be run cannot be found, as shells have it.
const NOT_FOUND: u8 = 127;
/// Exit status if it is there, but cannot be run.
const NOT_RUN: u8 = 126;

/// An error that ends the program.
#[derive(Debug)]
pub struct Failure {
    message: String,
    status: u8,
    /// True if nobody reads our output any more: end without a word.
    quiet: bool,
}

impl Failure {
    /// The command line asks for what cannot be.
    pub fn usage(message: impl fmt::Display) -> Self {
        Self { message: message.to_string(), status: USAGE, quiet: false }
    }

    /// The command line is right, but the run failed.
    pub fn failed(message: impl fmt::Display) -> Self {
        Self { message: message.to_string(), status: FAILED, quiet: false }
    }

    /// A run that failed with a status of its own.
    pub fn with_status(message: impl fmt::Display, status: u8) -> Self {
        Self { message: message.to_string(), status, quiet: false }
    }

    /// A program that was to be run was not started: it cannot be found, or cannot be run.
    pub fn not_started(message: impl fmt::Display, is_found: bool) -> Self {
        Self::with_status(message, if is_found { NOT_RUN } else { NOT_FOUND })
    }

    /// The same with one more word on what to do.
    #[must_use]
    pub fn with_advice(mut self, advice: &str) -> Self {
        self.message = format!("{}\n{advice}", self.message);
        self
    }

    /// Exit status.
    pub const fn status(&self) -> u8 {
        self.status
    }

    /// True if it is to end without a word.
    pub const fn is_quiet(&self) -> bool {
        self.quiet
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        Self::failed(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        let quiet = error.kind() == io::ErrorKind::BrokenPipe;
        let status = if quiet { UNREAD } else { FAILED };
        Self { message: format!("cannot write the output: {error}"), status, quiet }
    }
}
