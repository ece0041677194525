//! Intervals added up.

use pericore_metrics::{Concern, Grade, Validity};

use super::sample::{Count, Sample};
use super::slices::{Slices, at_end_of_range};

impl Sample {
    /// Adds a later interval of the same plan. What is scaled is scaled anew, from the parts of both intervals: so an event whose turn came in
    /// one of them only has a number, and the sum is what one long interval would have shown.
    pub fn add(&mut self, other: &Self) {
        if self.counts.is_empty() {
            self.counts.clone_from(&other.counts);
        } else {
            let mut counts = std::mem::take(&mut self.counts);
            for (count, later) in counts.iter_mut().zip(&other.counts) {
                debug_assert_eq!(
                    (count.event, count.socket, count.instance),
                    (later.event, later.socket, later.instance)
                );
                let [seconds, later_seconds] = [&*self, other].map(|sample| sample.length_in(count.socket).seconds);
                count.add(seconds, later, later_seconds);
            }
            self.counts = counts;
        }
        self.lengthen(other);
        self.stood_before_reading |= other.stood_before_reading;
        self.paused += other.paused;
        self.is_checked = other.is_checked;
    }
}

impl Count {
    /// Adds the count of a later interval; the intervals are so many seconds long.
    fn add(&mut self, seconds: f64, later: &Self, later_seconds: f64) {
        let takes_turns = self.takes_turns() || later.takes_turns();
        let parts = if takes_turns { self.parts(seconds).zip(later.parts(later_seconds)) } else { None };
        let validity = std::mem::take(&mut self.validity).and(&later.validity);
        let Some((mut slices, others)) = parts else {
            self.count = self.count.zip(later.count).map(|(a, b)| a.saturating_add(b));
            self.validity = validity.and(&at_end_of_range(self.count));
            (self.slices, self.standard_error) = (Slices::default(), None);
            return;
        };
        slices.extend(&others);
        let whole = seconds + later_seconds;
        let duty = slices.seconds() / whole;
        if slices.is_empty() || duty <= 0.0 || !duty.is_finite() {
            let never = Validity::not_defined("it was counted for no time at all");
            (self.count, self.validity) = (None, if validity.grade().has_number() { never } else { validity });
            (self.slices, self.standard_error) = (Slices::default(), None);
            return;
        }
        let is_of_turns = |concern: &&Concern| matches!(concern.grade(), Grade::Scaled | Grade::NotDefined);
        let others = validity.reasons().iter().filter(|concern| !is_of_turns(concern));
        self.validity = others.fold(Validity::scaled(duty), |all, one| all.and(&one.clone().into()));
        self.count = Some(slices.scaled_up(whole));
        self.validity = std::mem::take(&mut self.validity).and(&at_end_of_range(self.count));
        self.standard_error = slices.standard_error(whole);
        self.slices = slices;
    }

    /// True if it is a count of a part of the interval, or of none of it because its turn did not come.
    fn takes_turns(&self) -> bool {
        !self.slices.is_empty() || self.count.is_none() && self.lacks_only_turns()
    }

    /// True if nothing but a turn that did not come may keep it from having a number.
    fn lacks_only_turns(&self) -> bool {
        let mut lacks = self.validity.reasons().iter().map(Concern::grade).filter(|grade| !grade.has_number());
        lacks.all(|grade| grade == Grade::NotDefined)
    }

    /// The parts of its interval in which it was counted, if that is all that there is to its number.
    fn parts(&self, seconds: f64) -> Option<Slices> {
        match self.count {
            Some(count) if self.slices.is_empty() => {
                let mut whole = Slices::default();
                whole.push(seconds, count);
                Some(whole)
            }
            Some(_) => Some(self.slices.clone()),
            None => self.lacks_only_turns().then(Slices::default),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scaled(duty: f64, parts: &[(f64, u64)]) -> Count {
        let mut slices = Slices::default();
        parts.iter().for_each(|&(seconds, count)| slices.push(seconds, count));
        let seconds = slices.seconds() / duty;
        let (count, standard_error) = (Some(slices.scaled_up(seconds)), slices.standard_error(seconds));
        Count { validity: Validity::scaled(duty), slices, standard_error, ..plain(count) }
    }

    fn plain(count: Option<u64>) -> Count {
        let (validity, slices) = (Validity::MEASURED, Slices::default());
        Count { event: 0, socket: 0, instance: 0, count, validity, slices, standard_error: None }
    }

    fn none(validity: Validity) -> Count {
        Count { validity, ..plain(None) }
    }

    /// The sum of intervals of a second each.
    fn sum(counts: &[Count]) -> Count {
        let mut sum = Sample::default();
        for count in counts {
            let counts = vec![count.clone()];
            sum.add(&Sample { seconds: 1.0, tsc_cycles: 1, counts, ..Sample::default() });
        }
        assert_eq!((sum.seconds, sum.tsc_cycles), (counts.len() as f64, counts.len() as u64));
        sum.counts.remove(0)
    }

    /// Half of each second, 0.25 s and 0.25 s: all four parts together, whose 10 + 30 + 20 + 20 stand for twice that.
    #[test]
    fn scaled_counts_are_scaled_anew() {
        let one = scaled(0.5, &[(0.25, 10), (0.25, 30)]);
        let total = sum(&[one, scaled(0.5, &[(0.25, 20), (0.25, 20)])]);
        assert_eq!((total.count, total.validity.duty()), (Some(160), 0.5));
        let all = [(0.25, 10), (0.25, 30), (0.25, 20), (0.25, 20)];
        assert_eq!(total.slices.parts(), all);
        assert_eq!(total.standard_error, scaled(0.5, &all).standard_error);
        // Not weighed alike: 0.5 s and 0.1 s of a second each, whose scaled counts would add up to 80 and 100.
        let total = sum(&[scaled(0.5, &[(0.5, 40)]), scaled(0.1, &[(0.1, 10)])]);
        assert_eq!((total.count, total.validity.duty()), (Some(167), 0.3));
    }

    #[test]
    fn an_interval_without_a_turn_leaves_a_number() {
        let missed = || none(Validity::not_defined("its turn did not come"));
        let total = sum(&[missed(), scaled(0.5, &[(0.5, 40)]), missed(), missed()]);
        assert_eq!((total.count, total.validity.clone()), (Some(320), Validity::scaled(0.125)));
        // A whole second of two: counted all of it, or not at all.
        let total = sum(&[plain(Some(70)), missed()]);
        assert_eq!((total.count, total.validity.duty(), total.slices.parts()), (Some(140), 0.5, &[(1.0, 70)][..]));
        let total = sum(&[missed(), missed()]);
        assert_eq!((total.count, total.validity.grade()), (None, Grade::NotDefined));
    }

    #[test]
    fn what_has_no_number_for_other_reasons_has_none_in_the_sum() {
        let missed = || none(Validity::not_defined("its turn did not come"));
        for lost in [Validity::unreadable("imc0", "all ones"), Validity::wrapped_unknown("ctr0")] {
            for others in [[plain(Some(1)), plain(Some(2))], [scaled(0.5, &[(0.5, 4)]), missed()]] {
                let [one, other] = others;
                for counts in
                    [[none(lost.clone()), one.clone(), other.clone()], [one.clone(), none(lost.clone()), other.clone()]]
                {
                    let total = sum(&counts);
                    assert_eq!((total.count, total.standard_error), (None, None), "{counts:?}");
                    assert!(!total.validity.grade().has_number() && total.slices.is_empty());
                }
            }
        }
    }

    /// Halves of two seconds stand for twice what was counted in them: each fits, and the sum does not.
    #[test]
    fn a_sum_that_does_not_fit_says_so() {
        let large = 1 << 63;
        let is_told = |total: &Count| total.validity.to_string().contains("the sum is 2^64 - 1 or more");
        for [one, other] in [
            [plain(Some(large)), plain(Some(large))],
            [large / 2, large / 2 + 1024].map(|half| scaled(0.5, &[(0.25, half / 2), (0.25, half / 2)])),
        ] {
            assert!(!is_told(&sum(std::slice::from_ref(&one))) && !is_told(&sum(std::slice::from_ref(&other))));
            let total = sum(&[one, other]);
            assert_eq!((total.count, total.validity.grade()), (Some(u64::MAX), Grade::Suspect), "{total:?}");
            assert!(is_told(&total), "{total:?}");
        }
    }

    #[test]
    fn plain_counts_are_added_and_doubts_kept() {
        let doubt = Count { validity: Validity::suspect("was reset"), ..plain(Some(u64::MAX)) };
        let total = sum(&[plain(Some(5)), doubt.clone()]);
        assert_eq!(total.count, Some(u64::MAX));
        assert_eq!(total.validity.to_string(), "suspect: was reset; suspect: the sum is 2^64 - 1 or more");
        let total = sum(&[Count { count: Some(6), ..doubt }, scaled(0.5, &[(0.5, 3)])]);
        assert_eq!((total.count, total.validity.grade(), total.validity.duty()), (Some(12), Grade::Suspect, 0.75));
    }
}
