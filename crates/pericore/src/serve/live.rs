//! The page that browsers show of a server: the report's, with the last hour's samples.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pericore_exporter::{LivePage, PageFeed};
use pericore_observe::results::{Layout, Scope};
use pericore_observe::session::Sample;
use pericore_report::page::{LiveCurves, Newest, PageData, live_page};
use pericore_report::{Report, rows};

/// The last hour, written by the thread that takes samples and read by those that serve.
#[derive(Debug, Clone)]
pub struct LastHour(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    machine: ServedMachine,
    curves: LiveCurves,
    /// The newest sample's rows; none before the first.
    newest: Option<Report>,
    /// All that there is as JSON, and how many samples that are: each page that is opened wants it.
    whole: Option<(u64, Vec<u8>)>,
    /// Seconds that were sampled.
    end: f64,
}

/// What does not change.
#[derive(Debug)]
pub struct ServedMachine {
    pub title: String,
    pub emulated: Option<String>,
    pub host: Option<String>,
    /// Seconds since the epoch.
    pub began: f64,
    /// Seconds between samples.
    pub due: f64,
}

impl LastHour {
    pub fn new(machine: ServedMachine) -> Self {
        let curves = LiveCurves::of_interval(machine.due);
        Self(Arc::new(Mutex::new(State { machine, curves, newest: None, whole: None, end: 0.0 })))
    }

    /// The page, which asks for what is in it.
    pub fn page(&self) -> LivePage {
        LivePage { page: live_page(), feed: Box::new(self.clone()) }
    }

    /// Adds a sample.
    pub fn add(&self, layout: &Layout<'_>, sample: &Sample, end: Option<f64>) {
        let of = |scope| rows::report(layout, sample, None, scope, None);
        let (all, units) = (of(Scope::System), of(Scope::Instance));
        let mut state = self.state();
        // Times of a page that is open go forward only, whatever the clock does.
        state.end = end.unwrap_or(state.end + sample.seconds).max(state.end);
        let end = state.end;
        state.curves.add(end, &all, &units);
        state.newest = Some(all);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A thread that panicked while it read leaves all as it was.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PageFeed for LastHour {
    fn since(&self, samples: u64) -> Option<Vec<u8>> {
        let state = self.state();
        let (report, now) = (state.newest.as_ref()?, state.curves.samples());
        if let Some((_, known)) = state.whole.as_ref().filter(|(of, _)| samples == 0 && *of == now) {
            return Some(known.clone());
        }
        let machine = &state.machine;
        let newest = Newest {
            title: &machine.title,
            emulated: machine.emulated.as_deref(),
            host: machine.host.as_deref(),
            began: machine.began,
            due: machine.due,
            report,
        };
        let data = PageData::live(&newest, &state.curves, samples);
        // Sampling must not wait until the text is written.
        drop(state);
        let text = serde_json::to_vec(&data).ok()?;
        if samples == 0 {
            self.state().whole = Some((now, text.clone()));
        }
        Some(text)
    }
}
