//! One session at a time sets up or puts back, among all users.

use std::fmt;
use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, RenameFlags, readlinkat, renameat, renameat_with, symlinkat, unlinkat};
use rustix::io::Errno;

use super::super::on_disk::JournalError;
use crate::process;

/// The lock of the session that sets up or puts back: a link whose target says which. Nobody can open it, and so nobody
/// can lock it who only reads it.
const LOCK: &str = "lock";

/// Between two tries to get the lock.
const LOOK: Duration = Duration::from_millis(10);

/// Tries after which the caller is told for whom it waits.
const QUIET_TRIES: u32 = 30;

/// The right to set up or put back, among all users.
#[derive(Debug)]
pub(in super::super) struct Turn {
    folder: OwnedFd,
}

impl Turn {
    /// Waits for it; nothing where this user cannot write. `notify` gets the words for who has it, once.
    ///
    /// # Errors
    /// [`JournalError::Occupied`] if another session takes too long.
    pub(super) fn wait(
        folder: OwnedFd,
        path: &Path,
        limit: Duration,
        notify: &mut dyn FnMut(&str),
    ) -> io::Result<Result<Option<Self>, JournalError>> {
        let own = process::id();
        let (name, end) = (format!("{own} {}", process::start_time(own).unwrap_or(0)), Instant::now() + limit);
        for tries in 0_u32.. {
            match symlinkat(&name, &folder, LOCK) {
                Ok(()) => return Ok(Ok(Some(Self { folder }))),
                Err(Errno::EXIST) => {}
                Err(Errno::ACCESS | Errno::PERM | Errno::ROFS) => return Ok(Ok(None)),
                Err(error) => return Err(error.into()),
            }
            let Some(holder) = Holder::of(&folder, LOCK) else { continue };
            if holder.is_gone() {
                holder.remove(&folder);
            }
            if tries == QUIET_TRIES {
                notify(&holder.to_string());
            }
            if Instant::now() >= end {
                let path = path.join(LOCK).display().to_string();
                return Ok(Err(JournalError::Occupied { path, holder: holder.to_string() }));
            }
            sleep(LOOK);
        }
        unreachable!("the last of four thousand million tries comes after the end")
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let _ = unlinkat(&self.folder, LOCK, AtFlags::empty());
    }
}

/// Who has the lock: a process and its start time, as the link's target says.
#[derive(Debug, PartialEq, Eq)]
struct Holder {
    text: String,
}

impl Holder {
    /// Nothing if there is no lock any more.
    fn of(folder: &OwnedFd, name: &str) -> Option<Self> {
        let target = readlinkat(folder, name, Vec::new()).ok()?;
        Some(Self { text: target.into_string().unwrap_or_default() })
    }

    fn process(&self) -> Option<(u32, u64)> {
        let (process, started) = self.text.split_once(' ')?;
        Some((process.parse().ok()?, started.parse().ok()?))
    }

    /// True if the process was killed. A lock that names none is nobody's.
    fn is_gone(&self) -> bool {
        self.process().is_none_or(|(process, started)| !process::may_run(process, started))
    }

    /// Removes its lock. Somebody else may do so, too, and have taken the lock by now: that one comes back.
    fn remove(&self, folder: &OwnedFd) {
        let aside = format!("{LOCK}.{}", process::id());
        if renameat(folder, LOCK, folder, &aside).is_err() {
            return;
        }
        if Self::of(folder, &aside).is_none_or(|other| other == *self) {
            let _ = unlinkat(folder, &aside, AtFlags::empty());
        } else {
            let _ = renameat_with(folder, &aside, folder, LOCK, RenameFlags::NOREPLACE);
        }
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.process() {
            Some((process, _)) => write!(f, "process {process}"),
            None => f.write_str("a process that does not say which"),
        }
    }
}
