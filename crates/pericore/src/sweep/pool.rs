//! Worker processes, one for each run, so many at a time.

use std::env;
use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pericore_sweep::{RunTable, SweepRun};

use crate::failure::Failure;
use crate::measure::Interrupt;

/// Attempts of a run whose worker was killed or whose result was lost.
const ATTEMPTS: u32 = 3;

/// Time between two looks at signals and progress.
const LOOK: Duration = Duration::from_millis(100);

/// What came of an attempt. The number is the run's.
#[derive(Debug)]
pub enum RunOutcome {
    /// Its table.
    Done(usize, RunTable),
    /// The worker ended without a table; the run is tried again.
    Again(usize, String),
    /// The run failed, or was tried too often.
    Failed(usize, String),
    /// Time passed.
    Nothing,
}

/// Runs to be carried out by workers.
#[derive(Debug)]
pub struct WorkerPool<'r> {
    runs: &'r [SweepRun],
    todo: &'r [usize],
    /// The process of each worker.
    workers: Vec<Mutex<Option<Child>>>,
    next: AtomicUsize,
    ends: AtomicBool,
}

impl<'r> WorkerPool<'r> {
    /// A pool of so many workers, for these of the runs.
    pub fn start(runs: &'r [SweepRun], todo: &'r [usize], workers: usize) -> Self {
        let workers = (0..workers).map(|_| Mutex::new(None)).collect();
        Self { runs, todo, workers, next: AtomicUsize::new(0), ends: AtomicBool::new(false) }
    }

    /// Carries all runs out, and passes on what comes of each, until a signal asks for an end. Then the workers are
    /// killed.
    ///
    /// # Errors
    /// What `take` reports: the workers are killed.
    pub fn for_each(
        &self,
        interrupt: &Interrupt,
        mut take: impl FnMut(RunOutcome) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        thread::scope(|scope| {
            let (send, outcomes) = mpsc::channel();
            for worker in &self.workers {
                let send = send.clone();
                scope.spawn(move || self.work(worker, &send));
            }
            drop(send);
            let outcome = loop {
                let taken = match outcomes.recv_timeout(LOOK) {
                    Ok(outcome) => take(outcome),
                    Err(RecvTimeoutError::Timeout) => take(RunOutcome::Nothing),
                    Err(RecvTimeoutError::Disconnected) => break Ok(()),
                };
                if taken.is_err() || interrupt.signal().is_some() {
                    break taken;
                }
            };
            self.end();
            outcome
        })
    }

    fn end(&self) {
        self.ends.store(true, Ordering::SeqCst);
        for worker in &self.workers {
            if let Some(child) = worker.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
                // One that has ended cannot be killed.
                let _ = child.kill();
            }
        }
    }

    fn work(&self, worker: &Mutex<Option<Child>>, send: &Sender<RunOutcome>) {
        while let Some(&index) = self.todo.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            for attempt in 1..=ATTEMPTS {
                let attempted = self.attempt(&self.runs[index], worker);
                if self.ends.load(Ordering::SeqCst) {
                    return;
                }
                let outcome = match attempted {
                    Ok(table) => RunOutcome::Done(index, table),
                    Err(Trouble::Lost(why)) if attempt < ATTEMPTS => RunOutcome::Again(index, why),
                    Err(Trouble::Lost(why)) => RunOutcome::Failed(index, format!("{why}, {ATTEMPTS} times")),
                    Err(Trouble::Refused(message)) => RunOutcome::Failed(index, message),
                };
                let is_over = !matches!(outcome, RunOutcome::Again(..));
                if send.send(outcome).is_err() {
                    return;
                }
                if is_over {
                    break;
                }
            }
        }
    }

    /// One attempt at a run, in a process of its own.
    fn attempt(&self, run: &SweepRun, worker: &Mutex<Option<Child>>) -> Result<RunTable, Trouble> {
        let lost = |what: &str| {
            let what = what.to_owned();
            move |error: io::Error| Trouble::Lost(format!("{what}: {error}"))
        };
        let program = env::current_exe().map_err(lost("no worker can be started"))?;
        let mut child = Command::new(program)
            .args(["sweep", "--worker"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(lost("no worker can be started"))?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        {
            let mut slot = worker.lock().unwrap_or_else(PoisonError::into_inner);
            *slot = Some(child);
            if self.ends.load(Ordering::SeqCst)
                && let Some(child) = slot.as_mut()
            {
                let _ = child.kill();
            }
        }
        if let Some(mut stdin) = stdin {
            // One that ended before it had read everything shows by its status.
            let _ = serde_json::to_vec(run).map(|text| stdin.write_all(&text));
        }
        let (mut message, mut words) = (Vec::new(), String::new());
        // Errors are short: they fit into the pipe while the table is read.
        let read = stdout.map_or(Ok(0), |mut stdout| stdout.read_to_end(&mut message));
        let _ = stderr.map_or(Ok(0), |mut stderr| stderr.read_to_string(&mut words));
        let child = worker.lock().unwrap_or_else(PoisonError::into_inner).take();
        let status = child.map_or_else(|| Err(io::Error::other("it is gone")), |mut child| child.wait());
        let status = status.map_err(lost("its worker was lost"))?;
        read.map_err(lost("its result was lost"))?;
        if !status.success() {
            return Err(of_status(status, &words));
        }
        RunTable::received(&message).ok_or_else(|| Trouble::Lost("its result was lost on the way".to_owned()))
    }
}

/// Why an attempt has no table.
enum Trouble {
    /// It may have one next time.
    Lost(String),
    /// It never will.
    Refused(String),
}

fn of_status(status: ExitStatus, words: &str) -> Trouble {
    let words = words.trim().trim_start_matches("pericore: ");
    if status.code().is_some() && !words.is_empty() {
        return Trouble::Refused(words.to_owned());
    }
    Trouble::Lost(format!("its worker was killed ({status})"))
}
