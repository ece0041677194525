//! An experiment whose machine is built and warm.

use pericore_machine::{SharedMachine, Window};
use pericore_observe::plan::Plan;
use pericore_observe::record::{About, Header};
use pericore_observe::run::{self, Passed, Schedule};
use pericore_observe::session::{Options, Sample, Session};

use crate::silent::Silent;
use crate::{ExperimentError, VirtualClock, moment, truth};

/// A machine about to be measured.
#[derive(Debug)]
pub struct Started {
    pub(crate) title: String,
    pub(crate) emulated: &'static str,
    pub(crate) truth: bool,
    pub(crate) machine: SharedMachine,
    pub(crate) plan: Plan,
    pub(crate) schedule: Schedule,
}

impl Started {
    /// What is counted where.
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The first line of its recording: the one that `pericore record` would write.
    pub fn header(&self) -> Header {
        let about = About {
            pericore: env!("CARGO_PKG_VERSION").to_owned(),
            title: self.title.clone(),
            emulated: Some(self.emulated.to_owned()),
            started: None,
            host: None,
            event_files: Vec::new(),
            truth: self.truth,
        };
        Header::new(about, &self.plan)
    }

    /// Measures. `sink` takes each sample with its end in virtual seconds since the start, and the model's own counts
    /// if the experiment has them. The result is the length of the measurement in virtual seconds.
    ///
    /// # Errors
    /// The measurement failed, or the sink.
    pub fn run<E, S>(self, mut sink: S) -> Result<f64, E>
    where
        E: From<ExperimentError> + From<pericore_observe::session::SessionError>,
        S: FnMut(f64, &Sample, Option<&Sample>) -> Result<(), E>,
    {
        let Self { truth: has_truth, machine, plan, schedule, .. } = self;
        let begun = machine.borrow().now();
        let silent = Silent::of(plan.selection.family, &plan.selection);
        let start = |space: &mut SharedMachine| moment(space, begun);
        let session = Session::start(machine.clone(), plan, Options::default(), |space| start(space))
            .map_err(ExperimentError::from)?;
        let mut clock = VirtualClock::new(machine.clone(), begun, false, |_| Ok::<_, E>(Passed::On));
        let snapshot = || has_truth.then(|| machine.borrow().snapshot());
        let mut before = snapshot();
        run::drive(session, &mut clock, &schedule, |taken: run::Taken<'_>| {
            let after = snapshot();
            let sample = &*silent.doubt(taken.sample);
            let between = before.as_ref().zip(after.as_ref()).map(|(before, after)| Window::between(before, after));
            let true_sample = between.map(|window| truth::sample(&taken.plan.selection, sample, &window));
            before = after;
            sink(taken.end.unwrap_or(sample.seconds), sample, true_sample.as_ref())
        })?;
        let seconds = moment(&machine, begun).seconds;
        Ok(seconds)
    }
}
