//! A program that is being traced.

use crate::access::{self, Access, Source, Summary, Thread};
use crate::child::Child;
use crate::drain::{self, Drain};
use crate::layout::{LIVE, NOTES};
use crate::memory::{self, PluginFile, SharedMemory};
use crate::signals::Forwarding;
use crate::{Error, Note, Reason, leftovers};
use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use std::time::{Duration, Instant};

/// How long the reader sleeps at most. Writers wake it; this bounds what a lost wake-up costs.
const NAP: i64 = 5;
/// How often processes are looked for that died without saying so.
const BURIALS: Duration = Duration::from_millis(200);

/// A program that is being traced, as a stream of its accesses. Dropping it kills the program.
pub struct Running {
    drain: Drain,
    memory: Arc<SharedMemory>,
    child: Child,
    /// Programs that are exec()ed open it.
    _plugin: PluginFile,
    _forwarding: Option<Forwarding>,
    still_running: Vec<Note>,
    last_burial: Instant,
    ended: bool,
}

/// How a traced program ended.
#[derive(Debug, Clone)]
pub struct Finished {
    /// Exit status or signal, as of the program itself.
    pub status: ExitStatus,
    /// Totals and notes.
    pub summary: Summary,
}

impl Finished {
    /// What is behind a death that emulation causes and the bare processor would not.
    pub fn cause(&self) -> Option<String> {
        if self.status.signal() != Some(libc::SIGILL) {
            return None;
        }
        let evex = self.summary.notes.iter().find(|note| matches!(note.reason, Reason::Evex(_)));
        Some(match evex {
            Some(note) => note.to_string(),
            None => "the program came to an instruction that QEMU's CPU model does not know; run it without the tracer to see whether the \
                     processor knows it"
                .to_owned(),
        })
    }
}

impl Running {
    pub(crate) fn new(
        memory: Arc<SharedMemory>,
        plugin: PluginFile,
        child: Child,
        forwarding: Option<Forwarding>,
    ) -> Self {
        Self {
            drain: Drain::new(memory.shared()),
            memory,
            child,
            _plugin: plugin,
            _forwarding: forwarding,
            still_running: Vec::new(),
            last_burial: Instant::now(),
            ended: false,
        }
    }

    /// The program's process.
    pub fn pid(&self) -> u32 {
        self.child.pid() as u32
    }

    /// Reads what is left, without looking at it, and tells how the program ended.
    ///
    /// # Errors
    /// As [`Source::next_batch`]; [`Error::StatusLost`] if another part of this process has waited for the program.
    pub fn finish(mut self) -> Result<Finished, Error> {
        let mut batch = Vec::new();
        while self.next_batch(&mut batch)? {}
        Ok(Finished { status: self.status()?, summary: self.summary() })
    }

    fn status(&self) -> Result<ExitStatus, Error> {
        match self.child.ended() {
            Some(Ok(status)) => Ok(*status),
            Some(Err(error)) => Err(Error::StatusLost { source: std::io::Error::new(error.kind(), error.to_string()) }),
            None => Err(Error::StatusLost { source: std::io::Error::other("the thread that waits for it is gone") }),
        }
    }

    fn sleep(&mut self) {
        let header = self.memory.shared().header();
        let rings = header.doorbell.load(SeqCst);
        header.reader_sleeps.store(1, SeqCst);
        memory::wait(&header.doorbell, rings, NAP);
        header.reader_sleeps.store(0, SeqCst);
        if self.last_burial.elapsed() >= BURIALS {
            self.last_burial = Instant::now();
            self.drain.bury_the_dead();
        }
    }

    /// The program has ended, and all that it left is read.
    fn end(&mut self) -> Result<(), Error> {
        self.ended = true;
        let status = self.status()?;
        self.still_running = leftovers::notes(&self.memory);
        if self.memory.shared().header().processes.load(Relaxed) == 0 {
            Err(Error::NeverBegan { status })
        } else {
            Ok(())
        }
    }

    fn notes(&self) -> Vec<Note> {
        let header = self.memory.shared().header();
        let kept = header.notes.iter().filter(|note| note.ready.load(Acquire) != 0);
        let mut notes: Vec<Note> = kept
            .filter_map(|note| {
                let reason = Reason::of(note)?;
                Some(Note { pid: note.pid.load(Relaxed), program: drain::text(&note.path.get()), reason })
            })
            .collect();
        // A process may have been found, and then have said so itself.
        let said: Vec<u32> =
            notes.iter().filter(|note| note.reason == Reason::StillRunning).map(|note| note.pid).collect();
        notes.extend(self.still_running.iter().filter(|note| !said.contains(&note.pid)).cloned());
        let count = |number, reason: fn(u32) -> Reason| {
            (number > 0).then(|| Note { pid: 0, program: String::new(), reason: reason(number) })
        };
        notes.extend(count(header.unobserved.load(Relaxed), Reason::TooManyThreads));
        notes.extend(count(header.notes_begun.load(Relaxed).saturating_sub(NOTES as u32), Reason::More));
        notes
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("pid", &self.pid()).field("ended", &self.ended).finish_non_exhaustive()
    }
}

impl Source for Running {
    fn next_batch(&mut self, batch: &mut Vec<Access>) -> Result<bool, Error> {
        batch.clear();
        while !self.ended {
            // Looked at before the rings: whatever the program did before it ended is in them.
            let ended = self.child.ended().is_some();
            if ended {
                self.drain.freeze();
            }
            self.drain.sweep(batch)?;
            if !batch.is_empty() {
                return Ok(true);
            }
            if ended {
                self.end()?;
            } else {
                self.sleep();
            }
        }
        Ok(false)
    }

    fn threads(&self) -> &[Thread] {
        self.drain.threads()
    }

    fn summary(&self) -> Summary {
        access::summarise(self.drain.threads(), self.notes())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let shared = self.memory.shared();
        shared.header().closed.store(1, SeqCst);
        self.child.kill();
        // Children of the program that wait for room go on without being observed.
        for slot in shared.slots().filter(|slot| slot.state.load(Acquire) == LIVE) {
            memory::wake(slot.tail.0.as_ptr().cast());
        }
    }
}
