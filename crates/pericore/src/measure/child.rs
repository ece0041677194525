//! The program that is measured on this machine: started when counting begins, ended when counting ends first.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use pericore_doors::program_remedy;

use super::invoker::Invoker;
use crate::failure::Failure;
use crate::notice;

/// How long a program may take to end after SIGTERM.
const PATIENCE: Duration = Duration::from_secs(10);

/// Between two looks whether it has ended.
const LOOK: Duration = Duration::from_millis(5);

/// What shells add to a signal's number.
const KILLED: i32 = 128;

/// A running program. Whoever drops it ends it: no error on our side may leave it behind.
#[derive(Debug)]
pub struct Measured {
    child: Child,
    status: Option<ExitStatus>,
    /// How long it may take to end after SIGTERM.
    patience: Duration,
}

impl Measured {
    /// Starts it, with our streams, environment and folder, and as another user if one is given.
    ///
    /// # Errors
    /// It cannot be found or run; the exit status says which.
    pub fn start(words: &[OsString], user: Option<&Invoker>) -> Result<Option<Self>, Failure> {
        let Some((program, arguments)) = words.split_first() else { return Ok(None) };
        let mut command = Command::new(program);
        command.args(arguments);
        if let Some(user) = user {
            user.become_in(&mut command);
        }
        let child = command.spawn().map_err(|error| {
            let is_found = error.kind() != io::ErrorKind::NotFound;
            let remedy = program_remedy(&program.to_string_lossy(), &error);
            let who = user.map_or_else(String::new, |user| format!(" as {user} (--as-root runs it as root)"));
            Failure::not_started(format!("cannot run {}{who}: {error}; {remedy}", program.display()), is_found)
        })?;
        Ok(Some(Self { child, status: None, patience: PATIENCE }))
    }

    /// True once it has ended.
    ///
    /// # Errors
    /// The system does not say.
    pub fn has_ended(&mut self) -> Result<bool, Failure> {
        if self.status.is_none() {
            self.status = self.child.try_wait().map_err(lost)?;
        }
        Ok(self.status.is_some())
    }

    /// Asks it to end, if it still runs, waits for it, and gives its exit status as a shell would. A program that takes
    /// longer than ten seconds is killed.
    ///
    /// # Errors
    /// The system does not say.
    pub fn end(mut self) -> Result<ExitCode, Failure> {
        let status = self.status()?;
        let number = status.code().unwrap_or(KILLED + status.signal().unwrap_or(0));
        Ok(ExitCode::from(u8::try_from(number).unwrap_or(u8::MAX)))
    }

    /// Sends SIGTERM and waits, but not for ever; true if it has ended.
    fn ends_in_time(&mut self) -> Result<bool, Failure> {
        ask_to_end(&self.child);
        let limit = Instant::now() + self.patience;
        while !self.has_ended()? {
            if Instant::now() >= limit {
                return Ok(false);
            }
            thread::sleep(LOOK);
        }
        Ok(true)
    }

    /// How it ended, if need be after it was asked to.
    fn status(&mut self) -> Result<ExitStatus, Failure> {
        if self.has_ended()? || self.ends_in_time()? {
            return self.status.ok_or_else(|| Failure::failed("the program ended without a status"));
        }
        let (process, seconds) = (self.child.id(), self.patience.as_secs());
        notice::warn(format!("the program, process {process}, has not ended {seconds} s after SIGTERM and is killed"));
        self.child.kill().map_err(|error| {
            Failure::failed(format!("process {process} cannot be killed: {error}; it is still running, end it by hand"))
        })?;
        let status = self.child.wait().map_err(lost)?;
        self.status = Some(status);
        Ok(status)
    }
}

impl Drop for Measured {
    fn drop(&mut self) {
        let _ = self.status();
    }
}

fn lost(error: io::Error) -> Failure {
    Failure::failed(format!("cannot wait for the program: {error}"))
}

/// Sends SIGTERM.
fn ask_to_end(child: &Child) {
    let Ok(pid) = libc::pid_t::try_from(child.id()) else { return };
    // SAFETY: no memory is involved, and the number is still the child's: it has not been waited for.
    unsafe { libc::kill(pid, libc::SIGTERM) };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &[&str]) -> Vec<OsString> {
        line.iter().map(OsString::from).collect()
    }

    fn status(mut program: Measured) -> ExitCode {
        while !program.has_ended().unwrap() {
            std::thread::yield_now();
        }
        program.end().unwrap()
    }

    #[test]
    fn the_exit_status_is_the_programs() {
        let start = |line: &[&str]| Measured::start(&words(line), None).unwrap().unwrap();
        assert_eq!(format!("{:?}", status(start(&["sh", "-c", "exit 7"]))), format!("{:?}", ExitCode::from(7)));
        let killed = status(start(&["sh", "-c", "kill -9 $$"]));
        assert_eq!(format!("{killed:?}"), format!("{:?}", ExitCode::from(137)));
        assert!(Measured::start(&[], None).unwrap().is_none());
        let refused = Measured::start(&words(&["pericore-no-such-program"]), None).unwrap_err();
        assert_eq!(refused.status(), 127);
    }

    #[test]
    fn a_program_that_outlives_the_measurement_is_asked_to_end() {
        let program = Measured::start(&words(&["sleep", "1000"]), None).unwrap().unwrap();
        assert_eq!(format!("{:?}", program.end().unwrap()), format!("{:?}", ExitCode::from(128 + 15)));
    }

    /// Signal 9 is KILL.
    #[test]
    fn a_program_that_ignores_its_end_is_killed() {
        let line = words(&["sh", "-c", "trap '' TERM; while :; do sleep 0.05; done"]);
        let mut program = Measured::start(&line, None).unwrap().unwrap();
        program.patience = Duration::from_millis(300);
        // Not before the signal is ignored.
        let ignored = |status: &str| {
            let bits = status.lines().find_map(|line| line.strip_prefix("SigIgn:\t")).unwrap();
            u64::from_str_radix(bits, 16).unwrap() & 1 << (15 - 1) != 0
        };
        let status = format!("/proc/{}/status", program.child.id());
        while !ignored(&std::fs::read_to_string(&status).unwrap()) {
            thread::yield_now();
        }
        assert_eq!(format!("{:?}", program.end().unwrap()), format!("{:?}", ExitCode::from(128 + 9)));
    }

    #[test]
    fn a_program_that_is_forgotten_is_ended_and_waited_for() {
        let program = Measured::start(&words(&["sleep", "1000"]), None).unwrap().unwrap();
        let place = format!("/proc/{}", program.child.id());
        assert!(std::path::Path::new(&place).exists());
        drop(program);
        assert!(!std::path::Path::new(&place).exists(), "not even a zombie");
    }
}
