//! A file that whoever started us has opened for the results: `--log-fd`.

use std::fs::File;
use std::io;
use std::os::fd::{FromRawFd as _, RawFd};
use std::sync::Arc;

/// The lowest number that is none of the standard streams'.
const LOWEST: libc::c_int = 3;

/// A file that was open when we began. To be asked for before anything else is opened: later the number may be that of a file of ours.
#[derive(Debug, Clone)]
pub struct Descriptor(Arc<File>);

impl Descriptor {
    /// The file of this number, by a number of our own, which the measured program does not get.
    ///
    /// # Errors
    /// No number, none that is open, or one that cannot be written to; in words that say what to do.
    pub fn of(text: &str) -> Result<Self, String> {
        let number: Option<RawFd> = text.parse().ok().filter(|number| *number >= 0);
        let number = number.ok_or_else(|| format!("{text:?} is not a file descriptor; give its number, such as 3"))?;
        // SAFETY: any number will do, and no memory is involved.
        let flags = unsafe { libc::fcntl(number, libc::F_GETFL) };
        if flags < 0 {
            let error = io::Error::last_os_error();
            return Err(format!(
                "no file is open there ({error}); open one where the command is started: {number}>FILE"
            ));
        }
        if flags & libc::O_ACCMODE == libc::O_RDONLY {
            return Err(format!("that file is open for reading only; open it with {number}>FILE"));
        }
        // SAFETY: as above.
        let own = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, LOWEST) };
        if own < 0 {
            return Err(io::Error::last_os_error().to_string());
        }
        // SAFETY: it is new, and nobody else's.
        Ok(Self(Arc::new(unsafe { File::from_raw_fd(own) })))
    }

    /// The file.
    pub fn file(&self) -> Arc<File> {
        Arc::clone(&self.0)
    }
}
