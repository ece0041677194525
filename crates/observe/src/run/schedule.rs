//! When samples are taken.

use crate::plan::Plan;

/// A timer may come late: samples that must have numbers are taken within this part of the time in which a counter cannot wrap twice.
const IN_TIME: f64 = 0.5;

/// When samples are taken. All times are in seconds of the clock and above 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedule {
    /// Between two samples; none for one sample at the end.
    pub interval: Option<f64>,
    /// The measurement ends after so many intervals.
    pub intervals: Option<u64>,
    /// The measurement ends after so long.
    pub timeout: Option<f64>,
    /// Of a round, where events take turns.
    pub turn: f64,
    /// Between two looks for an overflow, where the plan waits for one: the counters stand until the look.
    pub poll: Option<f64>,
}

/// Seconds between two samples, not more than `asked`, within which no counter of the plan can wrap twice, even if a timer comes late.
pub fn without_wraps(asked: f64, plan: &Plan) -> f64 {
    asked.min(plan.safe_interval() * IN_TIME)
}

impl Schedule {
    /// One sample at the end, events taking turns of so many seconds.
    pub const fn until_the_end(turn: f64) -> Self {
        Self { interval: None, intervals: None, timeout: None, turn, poll: None }
    }

    /// The same with an interval [`without_wraps`]: for samples that are added up, where one without a number would be missed later.
    #[must_use]
    pub fn without_wraps(self, plan: &Plan) -> Self {
        Self { interval: self.interval.map(|asked| without_wraps(asked, plan)), ..self }
    }

    /// The seconds within which a counter of the plan may wrap twice, if the interval is longer: such counts have no number.
    pub fn risks_wraps(&self, plan: &Plan) -> Option<f64> {
        let safe = plan.safe_interval();
        self.interval.filter(|&interval| interval > safe).map(|_| safe)
    }

    /// The seconds that all rounds of the plan take, if the interval ends before: an event whose turn does not come in it has no number.
    pub fn misses_turns(&self, plan: &Plan) -> Option<f64> {
        let needed = plan.rounds() as f64 * self.turn;
        self.interval.filter(|&interval| plan.rounds() > 1 && interval < needed).map(|_| needed)
    }
}
