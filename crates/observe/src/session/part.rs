//! A file that appears whole or not at all: it is written under another name beside its place, and linked there.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};

use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fchmod, linkat, openat, statat, unlinkat};
use rustix::process::geteuid;

use super::hold::{Hold, hold};
use crate::process;

/// Only the owner reads and writes it: whoever may read a file may lock it.
pub(super) const OWN: Mode = Mode::from_raw_mode(0o600);

const ENDING: &str = ".part";

/// Writes a new file into an open folder, syncs and locks it. What exists under that name is neither changed nor followed.
///
/// # Errors
/// The system's; [`io::ErrorKind::AlreadyExists`] if there is a file of that name.
pub(super) fn write_new(folder: &impl AsFd, name: &OsStr, text: &str, mode: Mode) -> io::Result<File> {
    sweep(folder.as_fd());
    let own = process::id();
    let mut part = OsString::from(".");
    part.push(name);
    part.push(format!(".{own}-{}{ENDING}", process::start_time(own).unwrap_or(0)));
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(openat(folder, &part, flags, OWN)?);
    let mut write = || -> io::Result<()> {
        // The umask may have taken even the owner's rights.
        fchmod(&file, mode)?;
        hold(&file, Hold::AloneOrNot)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        // Unlike a rename, a link never replaces another file.
        linkat(folder, &part, folder, name, AtFlags::empty())?;
        Ok(())
    };
    let written = write();
    let _ = unlinkat(folder, &part, AtFlags::empty());
    written?;
    File::from(folder.as_fd().try_clone_to_owned()?).sync_all()?;
    Ok(file)
}

/// Removes the parts of this user's processes that were killed while they wrote.
pub(super) fn sweep(folder: BorrowedFd<'_>) {
    let Ok(entries) = Dir::read_from(folder) else { return };
    for entry in entries.flatten() {
        let Some((process, started)) = entry.file_name().to_str().ok().and_then(owner) else { continue };
        let is_ours = statat(folder, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|found| {
            FileType::from_raw_mode(found.st_mode) == FileType::RegularFile && found.st_uid == geteuid().as_raw()
        });
        if is_ours && process::start_time(process) != Some(started) {
            let _ = unlinkat(folder, entry.file_name(), AtFlags::empty());
        }
    }
}

/// The process, and its start time, that a part's name tells.
fn owner(name: &str) -> Option<(u32, u64)> {
    let (_, owner) = name.strip_prefix('.')?.strip_suffix(ENDING)?.rsplit_once('.')?;
    let (process, started) = owner.split_once('-')?;
    Some((process.parse().ok()?, started.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_its_process_in_its_name() {
        for (name, expected) in [
            (".a.journal.17-4.part", Some((17, 4))),
            (".17-4.17-5.part", Some((17, 5))),
            ("a.journal.17-4.part", None),
            (".a.journal.17-4", None),
            (".a.journal.17.part", None),
            (".a.journal.x-4.part", None),
            (".17-4.part", None),
        ] {
            assert_eq!(owner(name), expected, "{name}");
        }
    }
}
