//! How far a sweep has come: a line on a terminal, elsewhere a line each minute.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::notice;

const STEP: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(60));

/// Back to the begin of the line, and nothing on it.
const WIPE: &str = "\r\x1b[K";

/// Shows how many runs are over.
#[derive(Debug)]
pub struct SweepProgress {
    total: usize,
    started: Instant,
    shown: Instant,
    is_terminal: bool,
    is_visible: bool,
}

impl SweepProgress {
    /// Starts the clock.
    pub fn new(total: usize) -> Self {
        let now = Instant::now();
        Self { total, started: now, shown: now, is_terminal: io::stderr().is_terminal(), is_visible: false }
    }

    /// Shows so many runs that are over, if it is time to.
    pub fn show(&mut self, over: usize, jobs: usize) {
        let now = Instant::now();
        let step = if self.is_terminal { STEP.0 } else { STEP.1 };
        if now.duration_since(self.shown) < step {
            return;
        }
        self.shown = now;
        let line = line(over, self.total, jobs, now.duration_since(self.started).as_secs_f64());
        if self.is_terminal {
            self.is_visible = true;
            let _ = write!(io::stderr(), "\r{line}\x1b[K");
        } else {
            notice::warn(line);
        }
    }

    /// Takes the line away.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.is_visible) {
            let _ = write!(io::stderr(), "{WIPE}");
        }
    }
}

fn line(over: usize, total: usize, jobs: usize, seconds: f64) -> String {
    let head = format!("{over} of {total} runs, {} at a time", jobs.min(total));
    if over == 0 {
        return head;
    }
    let left = seconds * (total - over) as f64 / over as f64;
    format!("{head}, {:.1} a second, about {left:.0} s to go", over as f64 / seconds.max(1e-9))
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn the_time_to_go_follows_from_the_runs_that_are_over() {
        assert_eq!(line(0, 200, 2, 3.0), "0 of 200 runs, 2 at a time");
        // 50 in 25 s are 2 a second; 150 are left.
        assert_eq!(line(50, 200, 2, 25.0), "50 of 200 runs, 2 at a time, 2.0 a second, about 75 s to go");
    }
}
