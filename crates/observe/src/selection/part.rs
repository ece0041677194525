//! A part of a selection: the events of some units, for what counts only these.

use pericore_catalog::Unit;

use super::{EventSource, Listed, SelectedEvent, SelectedMetric, Selection};

/// Some of a selection's events.
#[derive(Debug, Clone)]
pub struct SelectionPart {
    /// They alone, with the groups and metrics in which they are, as far as these are of such units.
    pub selection: Selection,
    /// The index that each of them has in the whole selection.
    pub events: Vec<usize>,
}

impl Selection {
    /// The events of the units for which `keep` holds. What an event repeats is of the same unit, so it comes along.
    pub fn part(&self, keep: impl Fn(&Unit) -> bool) -> SelectionPart {
        let events: Vec<usize> = (0..self.events.len()).filter(|&event| keep(self.events[event].unit)).collect();
        let here = |event: usize| events.iter().position(|known| *known == event);
        let renumbered = |event: &SelectedEvent| {
            let mut event = event.clone();
            if let EventSource::Programmed(programming) = &mut event.source {
                programming.companion = programming.companion.and_then(here);
            }
            event
        };
        let listed =
            self.listed.iter().filter_map(|listed| Some(Listed { event: here(listed.event)?, ..listed.clone() }));
        let metrics = self.metrics.iter().map(|metric| {
            let inputs = metric.inputs.iter().filter_map(|(name, event)| Some((name.clone(), here(*event)?)));
            SelectedMetric { inputs: inputs.collect(), ..metric.clone() }
        });
        let selection = Self {
            events: events.iter().map(|&event| renumbered(&self.events[event])).collect(),
            listed: listed.collect(),
            metrics: metrics.filter(|metric| !metric.inputs.is_empty()).collect(),
            ..self.clone()
        };
        SelectionPart { selection, events }
    }
}
