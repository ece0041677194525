//! Events for which the model of a software machine emits nothing: what their counters read is nobody's measurement.

use std::borrow::Cow;

use pericore_catalog::Family;
use pericore_metrics::Validity;
use pericore_observe::selection::{EventSource, SelectedEvent, Selection};
use pericore_observe::session::{Count, Sample};

/// What is said of such a count.
const REASON: &str = "not modelled: this software machine does not count it";

/// Which of the selected events are such: none, unless the machine's model was asked.
#[derive(Debug, Default)]
pub struct Silent(Vec<bool>);

impl Silent {
    /// Asks the wiring of the family's model.
    pub fn of(family: &'static Family, selection: &Selection) -> Self {
        let wiring = pericore_machine::modelled(family);
        let is_silent = |event: &SelectedEvent| {
            let (Some(wiring), Some(unit)) = (&wiring, family.unit_index(event.unit.name)) else { return false };
            match &event.source {
                EventSource::Programmed(programming) => programming
                    .event
                    .is_some_and(|row| !wiring.emits(unit, row, programming.subevent, programming.control)),
                EventSource::FreeRunning { register, member } => !wiring.runs(unit, register, *member),
                EventSource::Fixed(_) => false,
            }
        };
        Self(selection.events.iter().map(is_silent).collect())
    }

    /// A sample in which their counts are suspect.
    pub fn doubt<'a>(&self, sample: &'a Sample) -> Cow<'a, Sample> {
        if !self.0.contains(&true) {
            return Cow::Borrowed(sample);
        }
        let doubted = |count: &Count| match self.0[count.event] {
            true => Count { validity: count.validity.clone().and(&Validity::suspect(REASON)), ..count.clone() },
            false => count.clone(),
        };
        Cow::Owned(Sample { counts: sample.counts.iter().map(doubted).collect(), ..sample.clone() })
    }
}
