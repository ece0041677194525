//! Locks on files: the kernel gives them back however a process ends.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// How a file is locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    /// By nobody else, or not at all.
    AloneOrNot,
    /// Beside other readers, waiting for it.
    Beside,
    /// Beside other readers, or not at all.
    BesideOrNot,
}

/// Locks an open file until it is closed; false if somebody else holds it and `hold` does not wait.
pub(super) fn hold(file: &File, hold: Hold) -> io::Result<bool> {
    let operation = match hold {
        Hold::AloneOrNot => libc::LOCK_EX | libc::LOCK_NB,
        Hold::Beside => libc::LOCK_SH,
        Hold::BesideOrNot => libc::LOCK_SH | libc::LOCK_NB,
    };
    // SAFETY: the descriptor is open as long as `file` lives, and flock touches no memory of ours.
    if unsafe { libc::flock(file.as_raw_fd(), operation) } == 0 {
        return Ok(true);
    }
    let error = io::Error::last_os_error();
    if error.kind() == io::ErrorKind::WouldBlock { Ok(false) } else { Err(error) }
}
