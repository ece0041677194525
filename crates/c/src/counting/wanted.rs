//! What a caller wants counted, and where.

use pericore_catalog::Family;
use pericore_observe::selection::Selection;

use crate::code::CallFailure;

/// Where to count.
#[derive(Debug)]
pub enum CountedMachine {
    /// This machine.
    Local,
    /// A software machine with its workload, as the command line names them.
    Software { machine: String, workload: String },
}

/// What to count, as the command line names it.
#[derive(Debug)]
pub struct CountedEvents {
    pub events: Option<String>,
    pub metrics: Option<String>,
}

impl CountedEvents {
    pub(super) fn selection(&self, family: &'static Family) -> Result<Selection, CallFailure> {
        let mut selection = Selection::new(family);
        if let Some(events) = &self.events {
            selection.add_events(events).map_err(CallFailure::unknown)?;
        }
        if let Some(metrics) = &self.metrics {
            selection.add_metrics(metrics).map_err(CallFailure::unknown)?;
        }
        Ok(selection)
    }
}

/// How much there is of what was asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    pub(super) events: usize,
    pub(super) metrics: usize,
}

impl Sizes {
    pub(super) const fn of(selection: &Selection) -> Self {
        Self { events: selection.listed.len(), metrics: selection.metrics.len() }
    }
}
