//! Sleeping until it is time, a signal comes or a child ends, whichever is first.

use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use signal_hook::consts::SIGCHLD;

use super::ender::Ender;
use crate::failure::Failure;
use crate::signals;

/// The longest sleep, where there is nothing to wake up for.
const FOREVER: Duration = Duration::from_secs(3600);

/// A sleep that signals end: each writes a byte to a socket at which the sleeper waits.
#[derive(Debug)]
pub struct Wakeup {
    reader: UnixStream,
    ender: Ender,
}

impl Wakeup {
    /// From now on every signal that asks for an end, and every child that ends, wakes the sleeper.
    ///
    /// # Errors
    /// The system refuses the handlers.
    pub fn new() -> Result<Self, Failure> {
        let refuse = |error| Failure::failed(format!("cannot watch for signals: {error}"));
        let (reader, writer) = UnixStream::pair().map_err(refuse)?;
        reader.set_nonblocking(true).map_err(refuse)?;
        writer.set_nonblocking(true).map_err(refuse)?;
        let writer = Arc::new(writer);
        signals::wake(signals::that_end().chain([SIGCHLD]), &writer).map_err(refuse)?;
        Ok(Self { reader, ender: Ender::waking(writer) })
    }

    /// Ends a measurement that sleeps here.
    pub const fn ender(&self) -> &Ender {
        &self.ender
    }

    /// Sleeps for `at_most` seconds, or until something happens.
    ///
    /// # Errors
    /// The system does not let us wait.
    pub fn sleep(&mut self, at_most: Option<f64>) -> Result<(), Failure> {
        let wait =
            at_most.map_or(FOREVER, |seconds| Duration::from_secs_f64(seconds.clamp(0.0, FOREVER.as_secs_f64())));
        if wait.is_zero() {
            return Ok(());
        }
        let fail = |error: io::Error| Failure::failed(format!("cannot wait: {error}"));
        let limit = libc::timespec {
            tv_sec: wait.as_secs().try_into().unwrap_or(libc::time_t::MAX),
            tv_nsec: wait.subsec_nanos().into(),
        };
        let mut poll = libc::pollfd { fd: self.reader.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // A socket's own time limit counts in the kernel's ticks, too coarse for short intervals.
        // SAFETY: one valid entry, a valid time, and no signal mask.
        let ready = unsafe { libc::ppoll(&raw mut poll, 1, &raw const limit, std::ptr::null()) };
        if ready < 0 {
            let error = io::Error::last_os_error();
            return if error.kind() == io::ErrorKind::Interrupted { Ok(()) } else { Err(fail(error)) };
        }
        // How many signals came does not matter: whoever sleeps looks at everything.
        let mut bytes = [0; 64];
        match self.reader.read(&mut bytes) {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(fail(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_that_ends_wakes_the_sleeper() {
        let mut wakeup = Wakeup::new().unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        // Without the signal this would take an hour. Children of other tests may wake us too: then it is not our turn
        // yet.
        while child.try_wait().unwrap().is_none() {
            wakeup.sleep(None).unwrap();
        }
        wakeup.sleep(Some(0.0)).unwrap();
        wakeup.sleep(Some(0.001)).unwrap();
    }
}
