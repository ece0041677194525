//! Signals for a command that was started again on a live machine: whoever sends one to the process that he started
//! means the measurement. It must not be killed with its keeper, for it has a terminal and registers to put back.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use pericore_observe::linux::privileges::{self, Needs};

use crate::confined::{ThreadPart, confine};
use crate::failure::Failure;
use crate::measure::{Ender, HoldsRegisters, Interrupt};
use crate::signals;

/// Takes the signals that ask for an end, and tells the command in the namespace.
#[derive(Debug)]
pub struct Relay {
    interrupt: Interrupt,
    /// Those of the machine, and the terminal: the command in the namespace needs its time.
    _holds: HoldsRegisters,
    /// Open there under the same number.
    inherited: UnixStream,
}

impl Relay {
    /// From now on.
    ///
    /// # Errors
    /// The system refuses the handlers.
    pub fn begin() -> Result<Self, Failure> {
        let refuse = |error: io::Error| Failure::failed(format!("cannot watch for signals: {error}"));
        let interrupt = Interrupt::watch()?;
        let (inherited, told) = UnixStream::pair().map_err(refuse)?;
        told.set_nonblocking(true).map_err(refuse)?;
        // SAFETY: the descriptor is open; it is to stay open in the program that is started next, and in that one
        // alone.
        if unsafe { libc::fcntl(inherited.as_raw_fd(), libc::F_SETFD, 0) } < 0 {
            return Err(refuse(io::Error::last_os_error()));
        }
        signals::wake(signals::that_end(), &Arc::new(told)).map_err(refuse)?;
        Ok(Self { interrupt, _holds: HoldsRegisters::begin(), inherited })
    }

    /// What the command needs to know, as text.
    pub fn address(&self) -> String {
        self.inherited.as_raw_fd().to_string()
    }

    /// Ends as the signal would have, or with `otherwise` if none came.
    pub fn exit(&self, otherwise: ExitCode) -> ExitCode {
        self.interrupt.exit(otherwise)
    }
}

/// In the command: ends the measurement when its keeper was told to, or is gone.
///
/// # Errors
/// The system refuses a thread.
pub fn listen(address: &str, ender: &Ender) -> Result<(), Failure> {
    let Ok(descriptor) = address.parse::<RawFd>() else { return Ok(()) };
    // SAFETY: who set the address has opened the descriptor for us, and nobody else here knows of it.
    let mut keeper = unsafe { File::from_raw_fd(descriptor) };
    let ender = ender.clone();
    let wait = move || {
        // It reads a byte, and nothing else. Without success the machine, which is software, is all that it could
        // reach.
        let _ = privileges::keep_only(Needs::default());
        confine(ThreadPart::Serving, &[]);
        let _ = keeper.read(&mut [0]);
        ender.end();
    };
    let spawned = thread::Builder::new().name("keeper".to_owned()).spawn(wait);
    spawned.map(|_| ()).map_err(|error| Failure::failed(format!("cannot watch for signals: {error}")))
}
