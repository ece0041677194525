//! The journal of a session that was killed, in the hands of one process that puts its registers back.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use pericore_registers::Address;
use rustix::fs::fstat;

use super::files::open_journal;
use super::hold::{Hold, hold};
use super::on_disk::{Journal, JournalError, io_error};
use super::{Neighbour, journal::Saved};
use crate::process;

/// Looks at a lock whose session has ended: others may read the journal at the same moment.
const LOOKS: u32 = 20;

/// Between two of them.
const LOOK: Duration = Duration::from_millis(50);

/// A journal that nobody else puts back, until it is dropped.
#[derive(Debug)]
pub struct Left {
    /// What it says.
    pub journal: Journal,
    path: PathBuf,
    _file: File,
}

impl Left {
    /// Takes the journal of a session that was killed; nothing if there is none, or no longer. What is read, checked and locked is one open file.
    ///
    /// # Errors
    /// [`JournalError::Runs`] if its session runs, [`JournalError::Restored`] if another process puts it back; else as [`Journal::read`].
    pub fn open(path: &Path) -> Result<Option<Self>, JournalError> {
        let Some(file) = open_journal(path)? else { return Ok(None) };
        let journal = Journal::of_file(&file, path)?;
        let mut looks = 0;
        while !hold(&file, Hold::AloneOrNot).map_err(|error| io_error("lock", path, &error))? {
            let pid = journal.pid;
            let path = path.display().to_string();
            if journal.started == 0 || process::start_time(pid) == Some(journal.started) {
                return Err(JournalError::Runs { path, pid });
            }
            looks += 1;
            if looks == LOOKS {
                return Err(JournalError::Restored { path });
            }
            sleep(LOOK);
        }
        // Whoever had the lock before may have put everything back.
        let is_gone = fstat(&file).map_err(|error| io_error("read", path, &error.into()))?.st_nlink == 0;
        Ok((!is_gone).then(|| Self { journal, path: path.to_owned(), _file: file }))
    }

    /// A session that runs and counts with registers of this journal: what they held before is of no use any more.
    pub fn disturbs<'a>(&self, sessions: &'a [Neighbour]) -> Option<&'a Neighbour> {
        let register = |saved: &Saved| match saved.address {
            // Through whichever CPU of the socket.
            Address::Msr { msr, .. } => (saved.socket, Address::Msr { cpu: 0, msr }),
            address => (0, address),
        };
        let is_ours = |saved: &Saved| self.journal.saved.iter().any(|own| register(own) == register(saved));
        sessions.iter().find(|other| other.runs && other.path != self.path && other.journal.saved.iter().any(is_ours))
    }

    /// Removes the journal, whose registers are put back.
    ///
    /// # Errors
    /// [`JournalError::Io`].
    pub fn remove(self) -> Result<(), JournalError> {
        fs::remove_file(&self.path).map_err(|error| io_error("remove", &self.path, &error))
    }
}
