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

    /// Holds a sample against it.
    pub fn check(&self, selection: &Selection, sample: &Sample, verdicts: &mut Verdicts) {
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
        } else if apart > most * self.within / 100.0 {
            let share = apart / most * 100.0;
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
