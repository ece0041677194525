//! Ending a measurement from elsewhere than a signal: a key, or a server that cannot go on.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Asks for the end of a measurement, from any thread.
#[derive(Debug, Clone, Default)]
pub struct Ender {
    is_requested: Arc<AtomicBool>,
    /// Where the measurement sleeps, if it sleeps.
    wakes: Option<Arc<UnixStream>>,
}

impl Ender {
    /// For a measurement that sleeps until something can be read at the other end.
    pub fn waking(sleeper: Arc<UnixStream>) -> Self {
        Self { is_requested: Arc::default(), wakes: Some(sleeper) }
    }

    /// The measurement takes its last sample and ends.
    pub fn end(&self) {
        self.is_requested.store(true, Ordering::Relaxed);
        if let Some(sleeper) = &self.wakes {
            // A socket that is full wakes the sleeper, too.
            let _ = sleeper.as_ref().write(&[0]);
        }
    }

    /// True once the end was asked for.
    pub fn is_requested(&self) -> bool {
        self.is_requested.load(Ordering::Relaxed)
    }
}
