//! Lines on the terminal for work that takes a while.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use pericore_report::figures;

/// Work shorter than this shows nothing.
const PATIENCE: Duration = Duration::from_secs(2);
const STEP: Duration = Duration::from_millis(250);
/// The same for work of which nobody knows how far it has come: without a word it looks as if nothing went on.
const SILENCE: Duration = Duration::from_secs(1);

/// Back to the begin of the line, and nothing on it.
const WIPE: &str = "\r\x1b[K";

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

    /// Shows how far the work has come, if it is time to.
    pub fn show(&mut self, far: WorkDone) {
        let now = Instant::now();
        if self.visible && self.is_due(now) {
            self.shown = Some(now);
            let _ = write!(io::stderr(), "\r{} \x1b[K", far.line(now.duration_since(self.started)));
        }
    }

    fn is_due(&self, now: Instant) -> bool {
        now >= self.shown.map_or(self.started + PATIENCE, |shown| shown + STEP)
    }

    /// Takes the line away.
    pub fn clear(&mut self) {
        if self.shown.take().is_some() {
            let _ = write!(io::stderr(), "{WIPE}");
        }
    }
}

/// How far work has come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WorkDone {
    /// So much of what there is to do.
    Share {
        /// See `total`.
        done: u64,
        /// All of it.
        total: u64,
        /// What is counted, behind the total: "accesses".
        what: &'static str,
    },
    /// Nobody knows how much there is.
    Open {
        /// Accesses so far.
        accesses: u64,
        /// Virtual time so far, in seconds.
        seconds: f64,
    },
}

impl WorkDone {
    /// In a line, after so long.
    fn line(self, passed: Duration) -> String {
        match self {
            Self::Share { done, total, what } => {
                let percent = done as f64 * 100.0 / total.max(1) as f64;
                let left = passed.as_secs_f64() * (total as f64 / done.max(1) as f64 - 1.0).max(0.0);
                format!("{percent:5.1} % of {total} {what}, about {left:.0} s to go")
            }
            Self::Open { accesses, seconds } => {
                format!("{accesses} accesses, {} s of virtual time", figures::seconds(seconds))
            }
        }
    }
}

/// Says what goes on, as long as it lives, on a terminal only.
#[derive(Debug)]
pub struct WaitLine(Option<(Sender<()>, JoinHandle<()>)>);

impl WaitLine {
    /// Starts the clock.
    pub fn new(words: &'static str) -> Self {
        if io::stderr().is_terminal() { Self::on(io::stderr(), words, SILENCE) } else { Self(None) }
    }

    /// The same anywhere. Without a thread there is no line.
    fn on(mut out: impl Write + Send + 'static, words: &'static str, silence: Duration) -> Self {
        let (end, ended) = mpsc::channel();
        let show = move || {
            if ended.recv_timeout(silence) == Err(RecvTimeoutError::Timeout) {
                let _ = write!(out, "{words}").and_then(|()| out.flush());
                let _ = ended.recv();
                let _ = write!(out, "{WIPE}").and_then(|()| out.flush());
            }
        };
        Self(thread::Builder::new().name("line".to_owned()).spawn(show).ok().map(|thread| (end, thread)))
    }
}

impl Drop for WaitLine {
    /// The thread is gone afterwards, too: some of what follows is only allowed to a process with a single one.
    fn drop(&mut self) {
        if let Some((end, thread)) = self.0.take() {
            drop(end);
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Paper(Arc<Mutex<Vec<u8>>>);

    impl Paper {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for Paper {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_time_to_go_follows_from_what_is_done() {
        let share = WorkDone::Share { done: 50, total: 200, what: "bytes" };
        assert_eq!(share.line(Duration::from_secs(10)), " 25.0 % of 200 bytes, about 30 s to go");
        let nothing = WorkDone::Share { done: 0, total: 0, what: "bytes" };
        assert_eq!(nothing.line(Duration::ZERO), "  0.0 % of 0 bytes, about 0 s to go");
        let open = WorkDone::Open { accesses: 1234, seconds: 0.0025 };
        assert_eq!(open.line(Duration::from_secs(3)), "1234 accesses, 0.002500 s of virtual time");
    }

    #[test]
    fn a_line_comes_after_two_seconds_and_anew_each_quarter_of_one() {
        let started = Instant::now();
        let mut line = ProgressLine { started, shown: None, visible: true };
        let due = |line: &ProgressLine, milliseconds| line.is_due(started + Duration::from_millis(milliseconds));
        assert_eq!([1999, 2000, 2001].map(|at| due(&line, at)), [false, true, true]);
        line.shown = Some(started + Duration::from_millis(2000));
        assert_eq!([2249, 2250].map(|at| due(&line, at)), [false, true]);
    }

    #[test]
    fn long_work_has_a_line_that_goes_and_short_work_none() {
        let paper = Paper::default();
        drop(WaitLine::on(paper.clone(), "still at it", Duration::from_secs(3600)));
        assert_eq!(paper.text(), "");
        let line = WaitLine::on(paper.clone(), "still at it", Duration::ZERO);
        while paper.text() != "still at it" {
            thread::yield_now();
        }
        drop(line);
        assert_eq!(paper.text(), "still at it\r\x1b[K");
    }
}
