//! Starts the namespace and waits for what comes of it.

use std::ffi::{CString, OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::child::{self, Program};
use super::plan::Plan;
use super::report::{Report, receive};
use crate::error::DoorsError;

/// What to run in the namespace.
#[derive(Debug, Default)]
pub struct Command {
    /// Name or path.
    pub program: OsString,
    /// Arguments.
    pub arguments: Vec<OsString>,
    /// Variables to set in addition to the present ones.
    pub environment: Vec<(OsString, OsString)>,
    /// Replacement of standard input.
    pub stdin: Option<File>,
    /// Replacement of standard output.
    pub stdout: Option<File>,
    /// Replacement of standard error.
    pub stderr: Option<File>,
}

/// A namespace's first process. Dropping it kills all that is in there.
#[derive(Debug)]
pub struct Child {
    pid: libc::pid_t,
    socket: OwnedFd,
    reaped: bool,
}

/// How the program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// With this status.
    Exited(i32),
    /// By this signal.
    Killed(i32),
}

impl Outcome {
    /// The exit status that a shell shows: 128 and the signal for a killed program.
    pub const fn shell_status(self) -> i32 {
        match self {
            Self::Exited(status) => status,
            Self::Killed(signal) => 128 + signal,
        }
    }
}

/// Starts the namespace: its first process carries out the plan, hands over the FUSE device, then runs the program. Returns once
/// the device is here; it must be served for the plan to go on.
///
/// # Errors
/// [`DoorsError`] if the kernel refuses, a step fails or the program is not to be found.
pub fn start(plan: &Plan, command: &Command) -> Result<(Child, OwnedFd), DoorsError> {
    let path = find_program(&command.program)?;
    let path = c_string(path.as_os_str());
    let mut arguments = vec![c_string(&command.program)];
    arguments.extend(command.arguments.iter().map(|argument| c_string(argument)));
    let environment = environment(&command.environment);
    let pointers = |strings: &[CString]| {
        strings.iter().map(|string| string.as_ptr()).chain([std::ptr::null()]).collect::<Vec<_>>()
    };
    let (arguments_p, environment_p) = (pointers(&arguments), pointers(&environment));
    let streams = [&command.stdin, &command.stdout, &command.stderr];
    let program = Program {
        path: &path,
        arguments: &arguments_p,
        environment: &environment_p,
        streams: streams.map(|stream| stream.as_ref().map(AsRawFd::as_raw_fd)),
    };
    let (ours, theirs) = socket_pair()?;
    let (pid, own_users) = clone_into(|| {
        // The copy of our end would keep the connection open after our death.
        // SAFETY: the descriptor is open in the new process too.
        unsafe { libc::close(ours.as_raw_fd()) };
        child::run(theirs.as_raw_fd(), plan, &program)
    })?;
    drop(theirs);
    let child = Child { pid, socket: ours, reaped: false };
    if own_users {
        map_to_root(pid)?;
    }
    // SAFETY: one byte from a live buffer. A dead child shows as a closed socket below.
    unsafe { libc::send(child.socket.as_raw_fd(), [1u8].as_ptr().cast(), 1, libc::MSG_NOSIGNAL) };
    match child.next(None)? {
        Some((Report::Mounted, Some(device))) => Ok((child, device)),
        Some((report, _)) => Err(failure(report, plan, command)),
        None => Err(child.lost()),
    }
}

impl Child {
    /// Waits until the program ends.
    ///
    /// # Errors
    /// [`DoorsError`] if the plan fails after all, the program cannot be executed, or time is up.
    pub fn wait(mut self, plan: &Plan, command: &Command, timeout: Option<Duration>) -> Result<Outcome, DoorsError> {
        let deadline = timeout.map(|timeout| Instant::now() + timeout);
        let mut not_executed = None;
        loop {
            match self.next(deadline) {
                Ok(Some((Report::Ended { status }, _))) => {
                    self.kill_and_reap();
                    return match not_executed {
                        Some(report) => Err(failure(report, plan, command)),
                        None if libc::WIFSIGNALED(status) => Ok(Outcome::Killed(libc::WTERMSIG(status))),
                        None => Ok(Outcome::Exited(libc::WEXITSTATUS(status))),
                    };
                }
                Ok(Some((report @ Report::NotExecuted { .. }, _))) => not_executed = Some(report),
                Ok(Some((report, _))) => return Err(failure(report, plan, command)),
                Ok(None) => return Err(self.lost()),
                Err(DoorsError::TimedOut(_)) => return Err(DoorsError::TimedOut(timeout.unwrap_or_default())),
                Err(error) => return Err(error),
            }
        }
    }

    /// The next report; `None` if the process is gone.
    fn next(&self, deadline: Option<Instant>) -> Result<Option<(Report, Option<OwnedFd>)>, DoorsError> {
        let failed = |source| DoorsError::System { call: "recvmsg", source };
        loop {
            let mut poll = libc::pollfd { fd: self.socket.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            let remaining = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            // Rounded up, so that the last wait is not a busy one.
            let milliseconds =
                remaining.map_or(-1, |left| left.as_micros().div_ceil(1000).try_into().unwrap_or(i32::MAX));
            // SAFETY: one valid entry.
            match unsafe { libc::poll(&raw mut poll, 1, milliseconds) } {
                0 if remaining == Some(Duration::ZERO) => return Err(DoorsError::TimedOut(Duration::ZERO)),
                0 => {}
                1.. => return receive(&self.socket).map_err(failed),
                _ => {
                    let error = io::Error::last_os_error();
                    if error.kind() != io::ErrorKind::Interrupted {
                        return Err(failed(error));
                    }
                }
            }
        }
    }

    fn lost(mut self) -> DoorsError {
        let status = self.kill_and_reap();
        DoorsError::Lost(if libc::WIFSIGNALED(status) {
            format!("signal {}", libc::WTERMSIG(status))
        } else {
            format!("status {}", libc::WEXITSTATUS(status))
        })
    }

    /// Ends everything in the namespace.
    fn kill_and_reap(&mut self) -> i32 {
        let mut status = 0;
        if !std::mem::replace(&mut self.reaped, true) {
            // SAFETY: the process is our unreaped child, so the number is still its own.
            unsafe {
                libc::kill(self.pid, libc::SIGKILL);
                while libc::waitpid(self.pid, &raw mut status, 0) < 0 && *libc::__errno_location() == libc::EINTR {}
            }
        }
        status
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill_and_reap();
    }
}

fn failure(report: Report, plan: &Plan, command: &Command) -> DoorsError {
    let error = io::Error::from_raw_os_error;
    match report {
        Report::NoFuse { errno } => DoorsError::NoFuse(error(errno)),
        Report::NotExecuted { errno } => {
            DoorsError::Program { program: command.program.to_string_lossy().into_owned(), source: error(errno) }
        }
        Report::StepFailed { step, errno } => {
            let step = plan.steps.get(step as usize).map_or_else(String::new, super::plan::Step::describe);
            DoorsError::Mount { step, source: error(errno) }
        }
        Report::Mounted | Report::Ended { .. } => DoorsError::Lost(format!("unexpected report {report:?}")),
    }
}

/// Forks into new mount, process and IPC namespaces, in a new user namespace if we may not do it otherwise. True if so.
fn clone_into(child: impl Fn()) -> Result<(libc::pid_t, bool), DoorsError> {
    let flags = libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWIPC;
    let mut refusal = io::Error::from_raw_os_error(libc::EPERM);
    for own_users in [false, true] {
        let users = if own_users { libc::CLONE_NEWUSER } else { 0 };
        // SAFETY: like fork: the child gets a copy of the address space and this thread only, and `child` never returns.
        let pid = unsafe { libc::syscall(libc::SYS_clone, flags | users | libc::SIGCHLD, 0, 0, 0, 0) };
        match pid {
            0 => {
                child();
                // SAFETY: not reached.
                unsafe { libc::_exit(1) };
            }
            1.. => return Ok((pid as libc::pid_t, own_users)),
            _ => refusal = io::Error::last_os_error(),
        }
        if refusal.raw_os_error() != Some(libc::EPERM) {
            break;
        }
    }
    Err(DoorsError::NoNamespace(refusal))
}

/// In a user namespace of its own, the child is root, as tools expect.
fn map_to_root(pid: libc::pid_t) -> Result<(), DoorsError> {
    // SAFETY: no arguments.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    let write =
        |name: &str, text: String| fs::write(format!("/proc/{pid}/{name}"), text).map_err(DoorsError::NoNamespace);
    write("uid_map", format!("0 {user} 1"))?;
    write("setgroups", "deny".into())?;
    write("gid_map", format!("0 {group} 1"))
}

fn socket_pair() -> Result<(OwnedFd, OwnedFd), DoorsError> {
    let mut pair = [0; 2];
    // SAFETY: room for two descriptors.
    let status =
        unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0, pair.as_mut_ptr()) };
    if status != 0 {
        return Err(DoorsError::System { call: "socketpair", source: io::Error::last_os_error() });
    }
    // SAFETY: both are open and owned by nobody else.
    Ok(unsafe { (OwnedFd::from_raw_fd(pair[0]), OwnedFd::from_raw_fd(pair[1])) })
}

/// The file that a shell would run.
fn find_program(program: &OsStr) -> Result<PathBuf, DoorsError> {
    let missing = |errno| DoorsError::Program {
        program: program.to_string_lossy().into_owned(),
        source: io::Error::from_raw_os_error(errno),
    };
    if program.as_bytes().contains(&b'/') {
        return Ok(PathBuf::from(program));
    }
    let folders = std::env::var_os("PATH").unwrap_or_else(|| "/usr/sbin:/usr/bin:/sbin:/bin".into());
    let is_executable = |path: &Path| {
        let name = c_string(path.as_os_str());
        // SAFETY: the name ends with a zero byte.
        path.is_file() && unsafe { libc::access(name.as_ptr(), libc::X_OK) } == 0
    };
    let mut found = std::env::split_paths(&folders).map(|folder| folder.join(program));
    found.find(|path| is_executable(path)).ok_or_else(|| missing(libc::ENOENT))
}

/// The present environment with additions, as `NAME=value`.
fn environment(additions: &[(OsString, OsString)]) -> Vec<CString> {
    let kept = std::env::vars_os().filter(|(name, _)| additions.iter().all(|(other, _)| other != name));
    kept.chain(additions.iter().cloned())
        .map(|(mut name, value)| {
            name.push("=");
            name.push(value);
            c_string(&name)
        })
        .collect()
}

fn c_string(text: &OsStr) -> CString {
    // The kernel cannot pass a zero byte in an argument: what follows it is dropped, as for a C program.
    let bytes = text.as_bytes();
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    CString::new(&bytes[..end]).unwrap_or_default()
}
