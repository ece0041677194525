//! The time in which checks are made.

use pericore_observe::session::Moment;

/// Time on the machine that is checked: the wall's, or a software machine's own.
pub trait TestTime<S> {
    /// Now.
    fn now(&mut self, space: &mut S) -> Moment;

    /// Lets so many seconds pass.
    fn pass(&mut self, space: &mut S, seconds: f64);

    /// Seconds in which the slowest clock ticks often enough to be compared with others.
    fn window(&self) -> f64;
}
