//! One session at a time sets up or puts back: who does holds a lock that nobody but this user and root can take.

use std::fs::{DirBuilder, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags, fchmod, fstat, openat, unlinkat};
use rustix::process::geteuid;

use super::files::open_own_folder;
use super::hold::{Hold, hold};
use super::meeting::Turn;
use super::on_disk::JournalError;
use crate::process;

/// The lock's name in the folder of all journals.
const LOCK: &str = "lock";

/// How long others may take to set up or put back.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// How long putting back waits: registers that stay as they are would be worse than two sessions at once.
pub(super) const PATIENCE_OF_PUTTING_BACK: Duration = Duration::from_secs(2);

/// Between two tries.
const LOOK: Duration = Duration::from_millis(10);

/// Tries after which the caller is told for whom it waits.
const QUIET_TRIES: u32 = 30;

/// The right to set up or put back, until it is dropped.
#[derive(Debug)]
pub struct Entrance {
    folder: OwnedFd,
    _file: File,
    /// The same among all users, where they meet.
    turn: Option<Turn>,
}

impl Entrance {
    /// Waits so long for the lock in a folder, which is made if it is not there. `tell` hears once who has it.
    pub(super) fn of(folder: &Path, limit: Duration, mut tell: impl FnMut(&str)) -> Result<Self, JournalError> {
        let lock = folder.join(LOCK);
        let fail = |error: io::Error| JournalError::Directory {
            path: folder.display().to_string(),
            message: error.to_string(),
        };
        make(folder).map_err(fail)?;
        let opened = open_own_folder(&lock)?;
        let end = Instant::now() + limit;
        for tries in 0_u32.. {
            let mut file = open(&opened).map_err(fail)?;
            // Who had the lock before has removed the file.
            if hold(&file, Hold::AloneOrNot).map_err(fail)? {
                if fstat(&file).map_err(|error| fail(error.into()))?.st_nlink == 0 {
                    continue;
                }
                let own = process::id();
                let note = format!("{own} {}\n", process::start_time(own).unwrap_or(0));
                // Only for the words of those who wait.
                let _ = file.set_len(0).and_then(|()| file.write_all(note.as_bytes()));
                return Ok(Self { folder: opened, _file: file, turn: None });
            }
            if tries == QUIET_TRIES {
                tell(&holder(&file));
            }
            if Instant::now() >= end {
                return Err(JournalError::Occupied { path: lock.display().to_string(), holder: holder(&file) });
            }
            sleep(LOOK);
        }
        unreachable!("the last of four thousand million tries comes after the end")
    }
}

impl Entrance {
    /// The same among all users.
    pub(super) fn among_all(mut self, turn: Option<Turn>) -> Self {
        // Not by an update of the fields: what is dropped gives the right up.
        self.turn = turn;
        self
    }

    /// True if sessions of all users know of the one that holds it.
    pub const fn is_among_all(&self) -> bool {
        self.turn.is_some()
    }
}

impl Drop for Entrance {
    fn drop(&mut self) {
        // While the lock is held: whoever opened the file before sees that it is gone.
        let _ = unlinkat(&self.folder, LOCK, AtFlags::empty());
    }
}

/// Makes the folder, for this user alone; takes the rights of others to one that this user has.
pub(super) fn make(folder: &Path) -> io::Result<()> {
    const OF_OTHERS: u32 = 0o077;
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = File::from(rustix::fs::open(folder, flags, Mode::empty())?);
    let found = opened.metadata()?;
    if found.uid() == geteuid().as_raw() && found.mode() & OF_OTHERS != 0 {
        fchmod(&opened, Mode::from_raw_mode(found.mode() & 0o7777 & !OF_OTHERS))?;
    }
    Ok(())
}

fn open(folder: &OwnedFd) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(File::from(openat(folder, LOCK, flags, Mode::from_raw_mode(0o600))?))
}

/// Who has the lock, by what it wrote there.
fn holder(file: &File) -> String {
    let mut note = String::new();
    let known = file.take(64).read_to_string(&mut note).ok().and_then(|_| {
        let (process, started) = note.trim().split_once(' ')?;
        let (process, started): (u32, u64) = (process.parse().ok()?, started.parse().ok()?);
        (process::start_time(process) == Some(started)).then_some(process)
    });
    known.map_or_else(|| "a process that does not say which".to_owned(), |process| format!("process {process}"))
}
