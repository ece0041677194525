//! What counts: registers that we program ourselves, or whatever else can be started, sampled and stopped.

use pericore_registers::RegisterSpace;

use crate::plan::Plan;
use crate::session::{Moment, Sample, Session, SessionError};

/// Counters that run. However a backend ends (stop, drop, panic), what it has changed is put back.
pub trait Backend {
    /// What is counted where.
    fn plan(&self) -> &Plan;

    /// When the next sample begins, in seconds of the clock.
    fn counts_since(&self) -> f64;

    /// Counts since the last sample.
    fn sample(&mut self, now: &dyn Fn() -> Moment) -> Sample;

    /// The sample of an overflow that is waited for, if there was one.
    fn sample_on_overflow(&mut self, now: &dyn Fn() -> Moment) -> Option<Sample>;

    /// True if the driver is to change rounds: some events take turns, and nobody else changes them.
    fn has_turns_due(&self) -> bool {
        self.plan().rounds() > 1
    }

    /// The next round of the events that take turns.
    fn rotate(&mut self, now: &dyn Fn() -> Moment);

    /// Looks at everything that the counts depend on; the next sample says what has changed.
    fn check(&mut self);

    /// Ends counting and puts everything back.
    ///
    /// # Errors
    /// What could not be put back.
    fn stop(self) -> Result<(), SessionError>;
}

impl<S: RegisterSpace> Backend for Session<S> {
    fn plan(&self) -> &Plan {
        self.plan()
    }

    fn counts_since(&self) -> f64 {
        self.counts_since()
    }

    fn sample(&mut self, now: &dyn Fn() -> Moment) -> Sample {
        self.sample(|_| now())
    }

    fn sample_on_overflow(&mut self, now: &dyn Fn() -> Moment) -> Option<Sample> {
        self.sample_on_overflow(|_| now())
    }

    fn rotate(&mut self, now: &dyn Fn() -> Moment) {
        self.rotate(|_| now());
    }

    fn check(&mut self) {
        self.check_controls();
    }

    fn stop(self) -> Result<(), SessionError> {
        self.stop()
    }
}
