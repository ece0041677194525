//! Sums of counts that must agree, whatever ran.

use pericore_observe::selection::{Selection, SelectionError};
use pericore_observe::session::Sample;

use super::known::{Known, KnownLaw};
use super::verdict::Verdicts;

/// Sums below this are too small to be held against each other.
const LEAST: f64 = 200.0;

const REMEDY: &str = "one of these counts is wrong, or a unit is missing; send this report with --bundle FILE";

/// A law of a family.
#[derive(Debug)]
pub struct Law {
    text: String,
    left: Vec<Term>,
    right: Vec<Term>,
    within: f64,
    source: String,
}

/// An event, by its index in the selection, and how often it goes into a sum.
#[derive(Debug)]
struct Term {
    event: usize,
    times: f64,
    name: String,
}

impl Law {
    /// The laws of a family whose events are all in a selection that counts them.
    pub fn of(selection: &Selection) -> Vec<Self> {
        Known::of(selection.family).laws.into_iter().filter_map(|law| Self::read(law, selection)).collect()
    }

    fn read(law: KnownLaw, selection: &Selection) -> Option<Self> {
        let KnownLaw { text, left, right, within, source } = law;
        let side = |terms: Vec<String>| -> Option<Vec<Term>> {
            terms.iter().map(|term| Term::read(term, selection)).collect()
        };
        Some(Self { text, left: side(left)?, right: side(right)?, within, source })
    }

    /// Holds a sample against it, whose counters were read one after the other within so many seconds; 0 if they stood
    /// together.
    pub fn check(&self, selection: &Selection, sample: &Sample, reading: f64, verdicts: &mut Verdicts) {
        let unit = selection.events[self.left[0].event].unit.name;
        let (Some(left), Some(right)) = (sum(&self.left, sample), sum(&self.right, sample)) else {
            verdicts.unknown(unit, format!("whether {}: not all of it could be counted", self.text));
            return;
        };
        let of = |terms: &[Term]| terms.iter().map(|term| term.name.as_str()).collect::<Vec<_>>().join(" + ");
        let counts = format!("{left} of {} and {right} of {}", of(&self.left), of(&self.right));
        let (most, apart) = (left.max(right), (left - right).abs());
        if most < LEAST {
            verdicts.unknown(unit, format!("whether {}: too little happened ({counts})", self.text));
            return;
        }
        let share = apart / most * 100.0;
        // What happens while they are read, at the beginning and at the end, is in some counts and not in others.
        let between = 2.0 * reading / sample.seconds.max(f64::MIN_POSITIVE) * 100.0;
        if share > self.within && share <= self.within + between {
            verdicts.unknown(
                unit,
                format!(
                    "whether {}: {counts}, {share:.1} % apart, {} are allowed, and counters were read one after the \
                     other, which took {reading:.3} of {:.3} s",
                    self.text, self.within, sample.seconds
                ),
            );
        } else if share > self.within {
            let text =
                format!("{} ({}): {counts}, {share:.1} % apart, {} are allowed", self.text, self.source, self.within);
            verdicts.differs(unit, text, REMEDY);
        } else {
            verdicts.agrees(unit, format!("{}: {counts}", self.text));
        }
    }
}

impl Term {
    fn read(text: &str, selection: &Selection) -> Option<Self> {
        let (times, name) = match text.split_once(" * ") {
            Some((times, name)) => (times.parse().ok()?, name),
            None => (1.0, text),
        };
        let event = index_of(selection, name)?;
        Some(Self { event, times, name: text.to_owned() })
    }
}

/// The index of the event that a text stands for, if it was added.
pub fn index_of(selection: &Selection, text: &str) -> Option<usize> {
    selection.listed.iter().find(|listed| listed.label == text).map(|listed| listed.event)
}

/// All that is counted while known traffic runs, of units that a machine has.
///
/// # Errors
/// The catalogue's own names are not understood.
pub fn all_events(selection: &mut Selection, is_there: impl Fn(&str) -> bool) -> Result<(), SelectionError> {
    for text in Known::of(selection.family).events() {
        if text.split_once('/').is_some_and(|(unit, _)| is_there(unit)) {
            selection.add_events(text)?;
        }
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "a comparison within per cents")]
fn sum(terms: &[Term], sample: &Sample) -> Option<f64> {
    let of = |term: &Term| -> Option<f64> {
        let counts = sample.counts.iter().filter(|count| count.event == term.event);
        let all: Option<Vec<u64>> = counts.map(|count| count.count).collect();
        let all = all.filter(|all| !all.is_empty())?;
        Some(term.times * all.iter().sum::<u64>() as f64)
    };
    terms.iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use pericore_observe::session::Count;

    use super::*;
    use crate::finding::FindingState;

    /// What is made of two sums, of which one is so many per cent smaller and 5 are allowed, over a second.
    fn outcome(apart: f64, reading: f64) -> FindingState {
        let family = pericore_catalog::family("e5-2600").expect("shipped");
        let mut selection = Selection::new(family);
        selection.add_events("imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/").expect("events");
        let term = |event| Term { event, times: 1.0, name: format!("event {event}") };
        let law = Law {
            text: "both are the same".to_owned(),
            left: vec![term(0)],
            right: vec![term(1)],
            within: 5.0,
            source: "by hand".to_owned(),
        };
        let count = |event, count: f64| Count {
            event,
            socket: 0,
            instance: 0,
            count: Some(count as u64),
            validity: Default::default(),
            slices: Default::default(),
            standard_error: None,
        };
        let counts = vec![count(0, 1e6), count(1, 1e6 - apart * 1e4)];
        let sample = Sample { seconds: 1.0, counts, ..Sample::default() };
        let mut verdicts = Verdicts::default();
        law.check(&selection, &sample, reading, &mut verdicts);
        let [finding] = &verdicts.findings()[..] else { panic!("one finding") };
        finding.state()
    }

    /// 20 ms at either end of a second are 4 %.
    #[test]
    fn what_was_read_over_some_time_may_differ_by_as_much_as_happened_in_it() {
        use FindingState::{Bad, Good, Note};
        assert_eq!([outcome(4.9, 0.0), outcome(5.1, 0.0)], [Good, Bad]);
        assert_eq!([4.9, 5.1, 8.9, 9.1].map(|apart| outcome(apart, 0.02)), [Good, Note, Note, Bad]);
    }
}
