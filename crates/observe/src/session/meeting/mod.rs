//! Where the sessions of all users on a machine know of each other: `/run/pericore`, unless another folder is named.
//!
//! Journals lie in folders of their users, which nobody else looks into. So a session also leaves a note here, for all
//! to read: what its journal says. Notes are believed as far as to leave units alone; nothing is ever put back by one.
//! Locks and notes belong to processes: nobody who can only read them can hold anybody up.

mod turn;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fd::{AsFd as _, OwnedFd};
use rustix::fs::{
    Access, AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, accessat, fstat, mkdir, open, openat, readlinkat, statat,
    symlinkat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::files::text_of;
use super::on_disk::{Journal, JournalError};
use super::part;
use crate::process;
pub(super) use turn::Turn;

/// What the names of notes end with; a process and its start time come before.
const ENDING: &str = ".note";

/// What the names of links end with that lead to the journal of a note's session.
const LINK: &str = ".at";

/// For all to read.
const MODE: Mode = Mode::from_raw_mode(0o644);

/// Permission bits by which the group and all others write.
const OTHERS_WRITE: u32 = 0o022;

/// A folder in which sessions of all users know of each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeetingPlace(PathBuf);

/// What one user's session says to all others.
pub(super) struct UserNote {
    /// Its user.
    pub(super) user: u32,
    /// File.
    pub(super) path: PathBuf,
    /// What it says.
    pub(super) journal: Journal,
}

/// The folder as it was found.
struct Folder {
    descriptor: OwnedFd,
    owner: u32,
}

impl MeetingPlace {
    /// A folder. Nobody else than its owner, and root, may write there, and its owner must have been chosen by this
    /// user or root.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// The folder's name.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Makes the folder where this user may. What is wrong with it is reported when a session enters there.
    pub(super) fn make(&self) {
        let _ = self.made();
    }

    /// Waits for the turn to set up or put back; nothing where this user cannot write, or there is no such place.
    pub(super) fn enter(&self, limit: Duration, notify: &mut dyn FnMut(&str)) -> Result<Option<Turn>, JournalError> {
        let Some(Folder { descriptor, .. }) = self.made().map_err(|error| self.unusable(error))? else {
            return Ok(None);
        };
        // What is there already is told before that nothing may be made.
        if accessat(CWD, &self.0, Access::WRITE_OK, AtFlags::EACCESS).is_err() {
            return Ok(None);
        }
        Turn::wait(descriptor, &self.0, limit, notify).map_err(|error| self.unusable(error))?
    }

    /// Leaves a note of a session, and a link to its journal; none of these files where this user cannot write.
    pub(super) fn leave_note(&self, journal: &Journal, path: Option<&Path>) -> Result<Vec<PathBuf>, JournalError> {
        let Some(Folder { descriptor, .. }) = self.made().map_err(|error| self.unusable(error))? else {
            return Ok(Vec::new());
        };
        let [link, note] = [LINK, ENDING].map(|ending| name_of(journal, ending));
        let write = || -> io::Result<()> {
            if let Some(path) = path.filter(|path| path.is_absolute()) {
                symlinkat(path, &descriptor, &link)?;
            }
            part::write_new(&descriptor, &note, &journal.to_text(), MODE).map(|_| ())
        };
        match write() {
            Ok(()) => {
                let is_there = |name: &OsString| statat(&descriptor, name, AtFlags::SYMLINK_NOFOLLOW).is_ok();
                Ok([link, note].into_iter().filter(is_there).map(|name| self.0.join(name)).collect())
            }
            Err(error)
                if matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem) =>
            {
                Ok(Vec::new())
            }
            Err(error) => Err(self.unusable(error)),
        }
    }

    /// Removes the note of a session whose registers are put back, if there is one, or the part of it that it had
    /// written when it was killed.
    pub(super) fn remove_note(&self, journal: &Journal) -> Result<(), JournalError> {
        let Ok(Some(Folder { descriptor, .. })) = self.found() else { return Ok(()) };
        part::sweep(descriptor.as_fd());
        remove(&descriptor, journal).map_err(|error| self.unusable(error))
    }

    /// All notes. What is none, or may be anybody's, is left aside.
    pub(super) fn notes(&self) -> Result<Vec<UserNote>, JournalError> {
        let Some(Folder { descriptor, owner }) = self.found().map_err(|error| self.unusable(error))? else {
            return Ok(Vec::new());
        };
        let entries = Dir::read_from(&descriptor).map_err(|error| self.unusable(error.into()))?;
        let mut notes = Vec::new();
        for entry in entries.flatten() {
            let Some(name) = entry.file_name().to_str().ok().filter(|name| name.ends_with(ENDING)) else { continue };
            let path = self.0.join(name);
            let Some((file, user)) = opened(&descriptor, OsStr::new(name), owner) else { continue };
            let Ok(journal) = text_of(&file, &path).and_then(|text| Journal::parse(&text)) else { continue };
            if is_settled(&descriptor, &journal) {
                // Where this user may not remove it, it is left aside all the same.
                let _ = remove(&descriptor, &journal);
                continue;
            }
            notes.push(UserNote { user, path, journal });
        }
        Ok(notes)
    }

    /// The folder, which is made where this user may.
    fn made(&self) -> io::Result<Option<Folder>> {
        match mkdir(&self.0, Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(Errno::EXIST | Errno::NOENT | Errno::ACCESS | Errno::PERM | Errno::ROFS) => self.found(),
            Err(error) => Err(error.into()),
        }
    }

    /// The folder, if it is there and nobody can write there who should not.
    fn found(&self) -> io::Result<Option<Folder>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let parent = self.0.parent().unwrap_or(Path::new("/"));
        let descriptor = match open(&self.0, flags | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(descriptor) => descriptor,
            Err(Errno::NOENT | Errno::ACCESS) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let (found, above) = (fstat(&descriptor)?, fstat(open(parent, flags, Mode::empty())?)?);
        let is_trusted = |found: &Stat| [0, geteuid().as_raw()].contains(&found.st_uid);
        let is_chosen = is_trusted(&found) || is_trusted(&above) && above.st_mode & OTHERS_WRITE == 0;
        if !is_chosen || found.st_mode & OTHERS_WRITE != 0 {
            return Err(io::Error::other("others can write there"));
        }
        Ok(Some(Folder { descriptor, owner: found.st_uid }))
    }

    fn unusable(&self, error: io::Error) -> JournalError {
        JournalError::Meeting { path: self.0.display().to_string(), message: error.to_string() }
    }
}

/// The name of a session's note, or link.
fn name_of(journal: &Journal, ending: &str) -> OsString {
    OsString::from(format!("{}-{}{ending}", journal.pid, journal.started))
}

/// Removes a session's note and link.
fn remove(folder: &OwnedFd, journal: &Journal) -> io::Result<()> {
    for ending in [ENDING, LINK] {
        match unlinkat(folder, name_of(journal, ending), AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// True if a session has ended and its journal is gone, as where a user has removed it by hand: nothing is left to put
/// back. Of journals that may not be looked at nobody knows.
fn is_settled(folder: &OwnedFd, journal: &Journal) -> bool {
    let is_gone = || {
        let target = readlinkat(folder, name_of(journal, LINK), Vec::new()).ok()?;
        let found = std::fs::symlink_metadata(OsStr::from_bytes(target.as_bytes()));
        Some(found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound))
    };
    !process::may_run(journal.pid, journal.started) && is_gone() == Some(true)
}

/// A file of the folder that only its owner can have written: this user, root, or the user whose folder it is.
fn opened(folder: &OwnedFd, name: &OsStr, owner: u32) -> Option<(File, u32)> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(folder, name, flags, Mode::empty()).ok()?);
    let found = fstat(&file).ok()?;
    let is_file = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
    let is_known = [0, geteuid().as_raw(), owner].contains(&found.st_uid);
    (is_file && is_known && found.st_mode & OTHERS_WRITE == 0).then_some((file, found.st_uid))
}
