//! The sampling driver: one loop over a clock, counters that run, and a sink that takes the samples.
//!
//! [`drive`] knows intervals, changes of rounds, overflows and ends; [`skip`] comes before it where a program's start is not to be measured. It knows neither whether its clock is the wall's or a software
//! machine's, nor whether counts come from registers or from elsewhere, nor what becomes of the samples.

mod backend;
mod clock;
mod joined;
mod schedule;
#[cfg(test)]
mod tests;

use crate::plan::Plan;
use crate::session::{Sample, SessionError};
pub use backend::Backend;
pub use clock::{Clock, Passed, Stretch};
use clock::{seconds, tick_at, ticks};
pub use joined::{Joined, JoinedPart};
pub use schedule::{Schedule, without_wraps};

/// A sample on its way to the sink.
#[derive(Debug, Clone, Copy)]
pub struct Taken<'a> {
    /// What was counted where.
    pub plan: &'a Plan,
    /// The counts.
    pub sample: &'a Sample,
    /// Seconds from the start of the measurement to the end of the sample, if it is one of several.
    pub end: Option<f64>,
}

/// Measures: samples go to the sink as the schedule says, until the clock says that it is over, the time is up, or there were enough intervals.
/// The last sample is taken at the end. Then everything is put back.
///
/// Grids do not drift: an interval or round that comes late is taken at once, and those that were missed altogether are left out.
///
/// # Errors
/// What the clock, the sink or putting back reports. Everything is put back then, too, as far as it goes.
pub fn drive<B, C, K>(mut backend: B, clock: &mut C, schedule: &Schedule, sink: K) -> Result<(), C::Error>
where
    B: Backend,
    C: Clock,
    C::Error: From<SessionError>,
    K: FnMut(Taken<'_>) -> Result<(), C::Error>,
{
    sample_until_the_end(&mut backend, clock, schedule, sink)?;
    Ok(backend.stop()?)
}

fn sample_until_the_end<C: Clock>(
    backend: &mut impl Backend,
    clock: &mut C,
    schedule: &Schedule,
    mut sink: impl FnMut(Taken<'_>) -> Result<(), C::Error>,
) -> Result<(), C::Error> {
    // Where the first sample begins: no sample is longer than the time that its end tells.
    let start = tick_at(backend.counts_since(), clock);
    let takes_turns = backend.has_turns_due();
    let mut due = Grid::new(schedule.interval.map(|interval| ticks(interval, clock)));
    let mut turns = Grid::new(takes_turns.then(|| ticks(schedule.turn, clock)));
    let order = RoundOrder::of(backend.plan().rounds(), turns.step);
    let timeout = schedule.timeout.map(|timeout| ticks(timeout, clock));
    let poll = schedule.poll.map(|poll| ticks(poll, clock));
    let is_one_of_several = schedule.interval.is_some() || schedule.poll.is_some();
    let (mut sample_began, mut intervals) = (start, 0);
    loop {
        let look = poll.map(|poll| clock.now().saturating_sub(start) + poll);
        let until = [due.next, turns.next, timeout, look].into_iter().flatten().min();
        let passed = clock.pass(Stretch { sample_began, until: until.map(|until| start + until) })?;
        let now = clock.now().saturating_sub(start);
        let is_due = due.has_come(now);
        intervals += u64::from(is_due);
        let is_over = passed == Passed::Over
            || timeout.is_some_and(|timeout| now >= timeout)
            || schedule.intervals.is_some_and(|most| intervals >= most);
        let end = |clock: &C| is_one_of_several.then(|| seconds(clock.now().saturating_sub(start), clock));
        if let Some(sample) = backend.sample_on_overflow(&|| clock.moment()) {
            sink(Taken { plan: backend.plan(), sample: &sample, end: end(clock) })?;
        }
        if !is_over && turns.has_come(now) {
            if order.changes_at(now) {
                backend.rotate(&|| clock.moment());
            }
            turns.step(now);
        }
        if is_over {
            backend.check();
        }
        if is_over || is_due || matches!(passed, Passed::Marked | Passed::Turn) {
            let sample = backend.sample(&|| clock.moment());
            sink(Taken { plan: backend.plan(), sample: &sample, end: end(clock) })?;
            if is_due {
                due.step(now);
            }
            sample_began = start + now;
        }
        if !is_over && passed == Passed::Turn && takes_turns {
            backend.rotate(&|| clock.moment());
        }
        if is_over {
            return Ok(());
        }
    }
}

/// Lets so many seconds pass, and throws away what was counted in them. If the end of what is measured comes first, there is nothing to [`drive`] any
/// more, and the caller stops the backend.
///
/// # Errors
/// What the clock reports.
pub fn skip<C: Clock>(backend: &mut impl Backend, clock: &mut C, seconds: f64) -> Result<Passed, C::Error> {
    let began = clock.now();
    let until = began + ticks(seconds, clock);
    while clock.now() < until {
        if clock.pass(Stretch { sample_began: began, until: Some(until) })? == Passed::Over {
            return Ok(Passed::Over);
        }
    }
    backend.sample(&|| clock.moment());
    Ok(Passed::On)
}

/// The order of rounds: once each has had its turn, the last is the first of the next time around. Each is at each
/// place as often as the others (a Latin square), so that what comes again as often as the rounds do, such as
/// refreshes, or grows with time, is in all counts alike.
struct RoundOrder {
    rounds: u64,
    /// Ticks of a turn.
    turn: u64,
}

impl RoundOrder {
    const fn of(rounds: usize, turn: Option<u64>) -> Self {
        let turn = match turn {
            Some(turn) if turn > 0 => turn,
            _ => 1,
        };
        Self { rounds: rounds as u64, turn }
    }

    /// True if the turn that begins is another round's.
    const fn changes_at(&self, now: u64) -> bool {
        !(now / self.turn).is_multiple_of(self.rounds)
    }
}

/// Times that come again, in ticks from the start.
struct Grid {
    step: Option<u64>,
    /// The next one; none if there are none.
    next: Option<u64>,
}

impl Grid {
    const fn new(step: Option<u64>) -> Self {
        Self { step, next: step }
    }

    fn has_come(&self, now: u64) -> bool {
        self.next.is_some_and(|next| now >= next)
    }

    /// The next time after `now` that lies on the grid.
    fn step(&mut self, now: u64) {
        if let (Some(next), Some(step)) = (self.next, self.step) {
            self.next = Some(next + step * (now.saturating_sub(next) / step + 1));
        }
    }
}
