//! Journals are opened so that nobody else can have put them there: what they say is written to registers.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::{FileType, Mode, OFlags, Stat, fstat, open, openat};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::on_disk::{JournalError, io_error};

/// The longest journal, in bytes: some hundred thousand registers.
const MOST_BYTES: u64 = 16 << 20;

/// The permission bits by which the group and all others write.
const OTHERS_WRITE: u32 = 0o022;

/// The folder that a file is in.
pub(super) fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// The bit of a folder in which others may make files, but neither remove nor replace ours.
const STICKY: u32 = 0o1000;

/// The folder of a journal, open.
pub(super) struct Folder {
    pub(super) descriptor: OwnedFd,
    /// Others make files here, too: a journal must be this user's own.
    is_shared: bool,
}

/// Opens the folder of a journal, in which nobody but this user and root can remove files of ours or put others in
/// their place: nobody else may write there, or it is sticky, as /tmp is.
///
/// # Errors
/// [`JournalError::Unsafe`] if others can; [`JournalError::Io`].
pub(super) fn open_folder(path: &Path) -> Result<Folder, JournalError> {
    let (descriptor, found) = folder_as_found(path)?;
    let is_shared = found.st_mode & STICKY != 0 && found.st_mode & OTHERS_WRITE != 0;
    check_owner(&folder_of(path), &found, &[geteuid().as_raw(), 0])?;
    if !is_shared {
        check_mode(&folder_of(path), &found)?;
    }
    Ok(Folder { descriptor, is_shared })
}

/// Opens the folder of a file, in which nobody but this user and root can make any.
///
/// # Errors
/// As [`open_folder`].
pub(super) fn open_own_folder(path: &Path) -> Result<OwnedFd, JournalError> {
    let (descriptor, found) = folder_as_found(path)?;
    check_owner(&folder_of(path), &found, &[geteuid().as_raw(), 0])?;
    check_mode(&folder_of(path), &found)?;
    Ok(descriptor)
}

fn folder_as_found(path: &Path) -> Result<(OwnedFd, Stat), JournalError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let fail = |error: Errno| io_error("reach", path, &error.into());
    let opened = open(folder_of(path), flags, Mode::empty()).map_err(fail)?;
    let found = fstat(&opened).map_err(fail)?;
    Ok((opened, found))
}

/// Opens a journal for reading; nothing if there is none. What is checked is what is read: the same open file.
///
/// # Errors
/// [`JournalError::Unsafe`] if others can write it, or if it is no regular file; [`JournalError::Io`].
pub(super) fn open_journal(path: &Path) -> Result<Option<File>, JournalError> {
    let fail = |error: Errno| io_error("read", path, &error.into());
    let folder = match open_folder(path) {
        Err(JournalError::Io { .. }) if !folder_of(path).exists() => return Ok(None),
        opened => opened?,
    };
    let Some(name) = path.file_name() else { return Err(fail(Errno::ISDIR)) };
    // A FIFO must not make us wait for its writer, nor a link lead to another file.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match openat(&folder.descriptor, name, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::LOOP) => return Err(not_trusted(path, "it is a symbolic link")),
        Err(error) => return Err(fail(error)),
    };
    let found = fstat(&file).map_err(fail)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Err(not_trusted(path, "it is no regular file"));
    }
    let users = [geteuid().as_raw(), 0];
    check_owner(path, &found, if folder.is_shared { &users[..1] } else { &users })?;
    check_mode(path, &found)?;
    if u64::try_from(found.st_size).is_ok_and(|size| size > MOST_BYTES) {
        return Err(not_trusted(path, &format!("it has {} bytes, more than any journal", found.st_size)));
    }
    Ok(Some(file))
}

/// The text of an open journal.
///
/// # Errors
/// [`JournalError::Unsafe`] if it is too long, or no text; [`JournalError::Io`].
pub(super) fn text_of(file: &File, path: &Path) -> Result<String, JournalError> {
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| io_error("read", path, &error))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(not_trusted(path, "it has grown beyond the size of any journal"));
    }
    String::from_utf8(bytes).map_err(|_| not_trusted(path, "it is no text"))
}

/// Refuses what belongs to none of these users.
fn check_owner(path: &Path, found: &Stat, users: &[u32]) -> Result<(), JournalError> {
    if users.contains(&found.st_uid) {
        return Ok(());
    }
    let users: Vec<String> = users.iter().map(|user| format!("user {user}")).collect();
    Err(not_trusted(path, &format!("it belongs to user {}, not to {}", found.st_uid, users.join(" or "))))
}

/// Refuses what others can write.
fn check_mode(path: &Path, found: &Stat) -> Result<(), JournalError> {
    let mode = found.st_mode & 0o7777;
    if mode & OTHERS_WRITE != 0 {
        return Err(not_trusted(path, &format!("others can write it (mode {mode:o})")));
    }
    Ok(())
}

fn not_trusted(path: &Path, why: &str) -> JournalError {
    JournalError::Unsafe { path: path.display().to_string(), why: why.to_owned() }
}
