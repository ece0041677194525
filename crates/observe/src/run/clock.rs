//! Time for the driver: a wall clock that is slept on, or a machine's virtual time that is run.

use crate::session::Moment;

/// In a second.
const NANOSECONDS: u64 = 1_000_000_000;

/// A clock, and what goes on while it advances.
///
/// Times are whole ticks since a fixed point, so that a grid of intervals does not drift and virtual time is exact.
pub trait Clock {
    /// What can go wrong while time passes.
    type Error;

    /// Ticks in a second: nanoseconds, unless the clock has a grid of its own.
    fn ticks_per_second(&self) -> u64 {
        NANOSECONDS
    }

    /// Now, in ticks.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "casts saturate; a clock whose ticks are finer than a float's has its own"
    )]
    fn now(&self) -> u64 {
        (self.moment().seconds * self.ticks_per_second() as f64) as u64
    }

    /// Now, as samples have it: the same time in seconds, and the time-stamp counter.
    fn moment(&self) -> Moment;

    /// Returns when the stretch has passed or the measurement is to end, whichever is first. A clock may return earlier: the driver looks at
    /// the time and asks again.
    ///
    /// # Errors
    /// What is measured has failed, or the system does not let us wait.
    fn pass(&mut self, stretch: Stretch) -> Result<Passed, Self::Error>;
}

/// The time up to which nothing is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// When the current sample began, in ticks: how often a clock looks for the end of what is measured may follow from a sample's length.
    pub sample_began: u64,
    /// When the driver has something to do, in ticks; none if only the end of the measurement is waited for.
    pub until: Option<u64>,
}

/// Why a stretch is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passed {
    /// Its time has come, or something has happened that is no end.
    On,
    /// A sample is wanted now, whatever the grid of intervals: what is measured has come to a marker.
    Marked,
    /// The same, and then it is the turn of other events, whatever the time.
    Turn,
    /// What is measured has ended, or an end was asked for: the driver takes the last sample.
    Over,
}

/// So many seconds in ticks of a clock, at least one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "casts saturate, and no interval is known to 53 bits"
)]
pub(super) fn ticks(seconds: f64, clock: &impl Clock) -> u64 {
    ((seconds * clock.ticks_per_second() as f64) as u64).max(1)
}

/// The tick nearest to a moment of the clock.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "casts saturate; the product of a quotient and its divisor is exact to half a tick below 2^51 ticks"
)]
pub(super) fn tick_at(seconds: f64, clock: &impl Clock) -> u64 {
    (seconds * clock.ticks_per_second() as f64).round() as u64
}

/// So many ticks of a clock in seconds.
#[expect(clippy::cast_precision_loss, reason = "a length for people and rates")]
pub(super) fn seconds(ticks: u64, clock: &impl Clock) -> f64 {
    ticks as f64 / clock.ticks_per_second() as f64
}
