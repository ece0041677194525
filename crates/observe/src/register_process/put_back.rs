//! What is done when the measuring process has ended: a journal that it left is put back, as `pericore restore` would.

use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::linux::Host;
use crate::session::{JournalError, Left, OtherSessions, Restored};

/// How long the kernel may take to give back the locks of a process that has ended.
const PATIENCE: Duration = Duration::from_secs(2);

/// Between two looks.
const LOOK: Duration = Duration::from_millis(10);

/// What putting back takes.
#[derive(Debug, Clone)]
pub struct Aftermath {
    /// Where sessions know of each other, if they do.
    pub other_sessions: Option<OtherSessions>,
    /// The folders of journals: nothing can be removed elsewhere.
    pub folders: Vec<PathBuf>,
    /// What journals call this machine.
    pub machine: String,
    /// What tells this boot from others.
    pub boot: String,
}

impl Aftermath {
    /// Of who only reads: there is nothing to put back.
    pub const fn none() -> Self {
        Self { other_sessions: None, folders: Vec::new(), machine: String::new(), boot: String::new() }
    }

    /// Puts back what the process of this number and start time has left in its journals.
    pub(super) fn put_back(&self, host: &Host, journals: &[PathBuf], (process, started): (u32, u64)) {
        for path in journals {
            match self.one(host, path, (process, started)) {
                Ok(None) => {}
                Ok(Some(registers)) => {
                    eprintln!(
                        "pericore: process {process} was ended; {registers} registers hold their old values again"
                    );
                }
                Err(error) => eprintln!(
                    "pericore: process {process} was ended, and its registers are not put back: {error}; `pericore \
                     restore --journal {}` tries again",
                    path.display()
                ),
            }
        }
    }

    fn one(&self, host: &Host, path: &Path, of: (u32, u64)) -> Result<Option<usize>, String> {
        // What cannot be used as a journal was not one, or was never written: who measured has said so.
        let Ok(Some(left)) = open(path, PATIENCE) else { return Ok(None) };
        let journal = &left.journal;
        // A session of somebody else is put back by others.
        if (journal.pid, journal.started) != of || journal.machine != self.machine || journal.boot != self.boot {
            return Ok(None);
        }
        // A lock that cannot be had is no reason to leave registers as they are.
        let entrance = self.other_sessions.as_ref().and_then(|known| known.enter_to_put_back().ok());
        let family = host.family().map_err(|error| error.to_string())?;
        let outcome = journal.restore(&mut host.space(), family, &host.cpus, &self.boot);
        let Restored::PutBack { registers, .. } = outcome.map_err(|error| error.to_string())? else { return Ok(None) };
        if let Some(known) = &self.other_sessions {
            known.remove_note(journal).map_err(|error| error.to_string())?;
        }
        left.remove().map_err(|error| error.to_string())?;
        drop(entrance);
        Ok(Some(registers))
    }
}

/// Takes a journal whose session has ended, or does so within a time; nothing if there is none.
fn open(path: &Path, patience: Duration) -> Result<Option<Left>, JournalError> {
    let end = Instant::now() + patience;
    loop {
        match Left::open(path) {
            Err(JournalError::Runs { .. }) if Instant::now() < end => sleep(LOOK),
            outcome => return outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::session::Journal;

    /// The kernel gives the lock of a process that has ended back a moment later: it is waited for, and the journal is
    /// taken then. However slow this machine is, the hour is not over.
    #[test]
    fn a_lock_that_is_given_back_late_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.journal");
        let journal = Journal::of_this_process("boot".to_owned(), "local".to_owned(), Vec::new());
        let lock = journal.write(&path).unwrap();
        assert!(matches!(open(&path, Duration::ZERO), Err(JournalError::Runs { .. })), "it is locked");
        let taken = thread::scope(|scope| {
            scope.spawn(move || {
                sleep(5 * LOOK);
                drop(lock);
            });
            open(&path, Duration::from_secs(3600))
        });
        assert_eq!(taken.unwrap().map(|left| left.journal), Some(journal));
    }
}
