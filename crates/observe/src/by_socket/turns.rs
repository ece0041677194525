//! How long a turn lasts: so long that changing rounds takes a small share of the time.

use std::time::Duration;

/// Of the time, changes of rounds pause counters for this share at most: 2 % less what reading takes.
const USUAL_SHARE: f64 = 0.015;

/// The same for who measures all day: two sockets then take 0.4 % of a core for their accesses, and about as much to
/// prepare and to check them.
const SPARING_SHARE: f64 = 0.002;

/// What a new cost weighs beside those before: one change that was interrupted does not make the next turn its
/// fifty-fold.
const NEWEST: f64 = 0.25;

/// Each round has had at least so many turns by the time a turn grows to a length: a short run has all its rounds, and
/// parts enough to tell an error from.
const TURNS_BEFORE: f64 = 2.0;

/// The length of turns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TurnLength {
    /// Seconds at least.
    least: f64,
    /// Seconds from the start of one turn to that of the next at most, so that every round has its turn in an interval.
    most: f64,
    /// Of the time, the share that changes of rounds may take; none if the length does not follow what they cost.
    share: Option<f64>,
}

impl TurnLength {
    /// So many seconds, whatever a change of rounds costs.
    pub const fn fixed(seconds: f64) -> Self {
        Self { least: seconds, most: seconds, share: None }
    }

    /// So many seconds at least, and longer where changes of rounds would pause counters for more than a small share of
    /// the time.
    pub const fn at_least(seconds: f64) -> Self {
        Self { least: seconds, most: f64::INFINITY, share: Some(USUAL_SHARE) }
    }

    /// The same for who measures all day beside the work of others: longer turns, so fewer of them and less of a core.
    #[must_use]
    pub fn sparing(self) -> Self {
        Self { share: self.share.map(|_| SPARING_SHARE), ..self }
    }

    /// The same, but never so long that some of these rounds would have no turn in an interval of so many seconds.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "rounds are few")]
    pub fn within(self, interval: Option<f64>, rounds: usize) -> Self {
        let most = interval.map_or(f64::INFINITY, |interval| interval / rounds.max(1) as f64);
        Self { most: self.most.min(most), ..self }
    }
}

/// Turns of a socket.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turns {
    length: TurnLength,
    /// Rounds that take turns.
    rounds: f64,
    /// Seconds that a change of rounds costs, the newest weighed most.
    cost: Option<f64>,
}

impl Turns {
    #[expect(clippy::cast_precision_loss, reason = "rounds are few")]
    pub(super) const fn new(length: TurnLength, rounds: usize) -> Self {
        Self { length, rounds: rounds as f64, cost: None }
    }

    /// Notes for how many seconds a change of rounds has paused the counters.
    pub(super) fn note_cost(&mut self, seconds: f64) {
        self.cost = Some(self.cost.map_or(seconds, |before| before + NEWEST * (seconds - before)));
    }

    /// How long the turn lasts that begins so many seconds after the first.
    pub(super) fn next(&self, elapsed: f64) -> Duration {
        let TurnLength { least, most, share } = self.length;
        let cost = self.cost.unwrap_or(0.0);
        let grown = elapsed / (TURNS_BEFORE * self.rounds);
        let by_cost = share.map_or(least, |share| (cost / share - cost).min(most - cost));
        let wanted = by_cost.min(grown).max(least);
        Duration::try_from_secs_f64(wanted).unwrap_or(Duration::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATE: f64 = 1e6;

    fn milliseconds(turns: &Turns) -> u128 {
        turns.next(LATE).as_micros().div_ceil(1000)
    }

    /// 2 ms of 133.3 ms are 1.5 %: 131.3 ms are left to count.
    #[test]
    fn a_turn_is_as_long_as_its_change_costs() {
        let mut turns = Turns::new(TurnLength::at_least(0.010), 2);
        assert_eq!(milliseconds(&turns), 10);
        turns.note_cost(0.000_1);
        assert_eq!(milliseconds(&turns), 10, "0.1 ms of 10 ms is less than 1.5 %");
        let mut turns = Turns::new(TurnLength::at_least(0.010), 2);
        turns.note_cost(0.002);
        assert_eq!(milliseconds(&turns), 132);
    }

    /// 1 ms of 500 ms are 0.2 %; three rounds in a second leave 333 ms to each, with its change.
    #[test]
    fn a_sparing_turn_is_longer_but_has_its_place_in_an_interval() {
        let length = TurnLength::at_least(0.010).sparing();
        for (length, expected) in [(length, 499), (length.within(Some(1.0), 3), 333)] {
            let mut turns = Turns::new(length, 3);
            turns.note_cost(0.001);
            assert_eq!(milliseconds(&turns), expected);
        }
        let mut chosen = Turns::new(TurnLength::fixed(0.003).sparing(), 3);
        chosen.note_cost(0.5);
        assert_eq!(milliseconds(&chosen), 3, "the user's length stays");
    }

    /// Three rounds with two turns each behind them: after 300 ms a turn has 50 ms.
    #[test]
    fn turns_grow_with_the_run() {
        let mut turns = Turns::new(TurnLength::at_least(0.010), 3);
        turns.note_cost(0.002);
        let after = |seconds| turns.next(seconds).as_millis();
        assert_eq!([0.0, 0.03, 0.3, 0.6, 10.0].map(after), [10, 10, 50, 100, 131]);
    }

    /// Four rounds in 100 ms: 25 ms from one to the next, of which a change takes 2.
    #[test]
    fn no_turn_is_too_long_for_its_interval() {
        let mut turns = Turns::new(TurnLength::at_least(0.010).within(Some(0.1), 4), 4);
        turns.note_cost(0.002);
        assert_eq!(milliseconds(&turns), 23);
        let mut hasty = Turns::new(TurnLength::at_least(0.010).within(Some(0.02), 4), 4);
        hasty.note_cost(0.002);
        assert_eq!(milliseconds(&hasty), 10, "what the interval has no room for is announced beforehand");
    }

    #[test]
    fn a_length_that_the_user_gave_stays() {
        let mut turns = Turns::new(TurnLength::fixed(0.003).within(Some(1.0), 2), 2);
        turns.note_cost(0.5);
        assert_eq!(milliseconds(&turns), 3);
    }

    /// A change that loses its CPU for 40 ms among others of 1 ms: 10.75 ms count, and then less and less.
    #[test]
    fn one_interruption_weighs_a_quarter() {
        let mut turns = Turns::new(TurnLength::at_least(0.0), 2);
        for cost in [0.001, 0.040] {
            turns.note_cost(cost);
        }
        assert_eq!(milliseconds(&turns), (10_750.0_f64 / 0.015 * 0.985 / 1e3).ceil() as u128);
        let before = turns.next(LATE);
        turns.note_cost(0.001);
        assert!(turns.next(LATE) < before);
    }
}
