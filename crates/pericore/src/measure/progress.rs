//! A line on the terminal for work that takes a while.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// Work shorter than this shows nothing.
const PATIENCE: Duration = Duration::from_secs(2);
const STEP: Duration = Duration::from_millis(250);

/// Shows how far the work has come, on a terminal only.
#[derive(Debug)]
pub struct ProgressLine {
    started: Instant,
    shown: Option<Instant>,
    visible: bool,
}

impl ProgressLine {
    /// Starts the clock.
    pub fn new() -> Self {
        Self { started: Instant::now(), shown: None, visible: io::stderr().is_terminal() }
    }

    /// Shows `done` of `total`, if it is time to.
    pub fn show(&mut self, done: u64, total: u64) {
        let now = Instant::now();
        let due = self.shown.map_or(self.started + PATIENCE, |shown| shown + STEP);
        if !self.visible || now < due {
            return;
        }
        self.shown = Some(now);
        let percent = done as f64 * 100.0 / total.max(1) as f64;
        let left = now.duration_since(self.started).as_secs_f64() * (total as f64 / done.max(1) as f64 - 1.0);
        let _ = write!(io::stderr(), "\r{percent:5.1} % of {total} accesses, about {left:.0} s to go \x1b[K");
    }

    /// Takes the line away.
    pub fn clear(&mut self) {
        if self.shown.take().is_some() {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
