//! `-e`, `-M` and `--events`: what is to be counted.

use clap::Args;
use pericore_catalog::Family;
use pericore_observe::selection::{Selection, SelectionError};

use crate::event_files::EventFilesArg;
use crate::failure::Failure;

/// Events and metrics to count.
#[derive(Debug, Args)]
pub struct SelectionArgs {
    /// Events, separated by commas: `unit/EVENT.SUBEVENT,key=value/`, Intel's or perf's names; `{}` makes a group
    #[arg(short = 'e', long = "event", value_name = "EVENTS")]
    events: Vec<String>,
    #[command(flatten)]
    pub files: EventFilesArg,
    /// Metrics, separated by commas: `METRIC` or `unit/METRIC`; a view, if the family has it: `memory llc latency numa
    /// link pcie dma power`; or `limits`, which shows what limits the machine
    #[arg(short = 'M', long = "metrics", value_name = "METRICS")]
    metrics: Vec<String>,
}

impl SelectionArgs {
    /// True if the user named neither events nor metrics.
    pub const fn is_empty(&self) -> bool {
        self.events.is_empty() && self.metrics.is_empty()
    }

    /// True if the user named events only.
    pub const fn names_no_metrics(&self) -> bool {
        !self.events.is_empty() && self.metrics.is_empty()
    }

    /// What to count: what the user named, else the family's defaults.
    ///
    /// # Errors
    /// A name that is not known, or an event file that cannot be used.
    pub fn selection(&self, family: &'static Family) -> Result<Selection, Failure> {
        let mut selection = self.named(self.files.extend(family)?.family)?;
        if self.is_empty() {
            let family = selection.family;
            if family.default_metrics.is_empty() {
                return Err(Failure::usage(format!("{} has no default metrics; name some with -e or -M", family.name)));
            }
            for metric in family.default_metrics {
                selection.add_metrics(metric).map_err(Failure::failed)?;
            }
        }
        Ok(selection)
    }

    /// What the user named, and nothing else.
    fn named(&self, family: &'static Family) -> Result<Selection, Failure> {
        let mut selection = Selection::new(family);
        for events in &self.events {
            selection.add_events(events).map_err(|error| pointed(&error))?;
        }
        for metrics in &self.metrics {
            selection.add_metrics(metrics).map_err(|error| pointed(&error))?;
        }
        Ok(selection)
    }
}

/// The error, with the place in the user's text.
fn pointed(error: &SelectionError) -> Failure {
    Failure::usage(format!("{error}\n{}", error.caret()))
}
