//! Child processes that are never left behind: QEMU, started with its ends of our sockets, and the preparation.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A child that dies with this object, and with this process' thread however that ends.
#[derive(Debug)]
pub struct Guarded {
    child: Child,
}

impl Guarded {
    /// Starts a command whose process keeps `inherited` under their own numbers. The caller's copies are closed.
    ///
    /// # Errors
    /// What starting the program fails with.
    pub fn spawn(mut command: Command, inherited: Vec<OwnedFd>) -> io::Result<Self> {
        let numbers: Vec<RawFd> = inherited.iter().map(AsRawFd::as_raw_fd).collect();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        end_with_us(&mut command, libc::SIGKILL);
        let keep = move || {
            for &number in &numbers {
                // SAFETY: only clears the close-on-exec flag of a descriptor that this process owns.
                if unsafe { libc::fcntl(number, libc::F_SETFD, 0) } < 0 {
                    return Err(io::Error::last_os_error());
                }
            }
            Ok(())
        };
        // SAFETY: the closure only makes async-signal-safe system calls and allocates nothing on success.
        let child = unsafe { command.pre_exec(keep) }.spawn()?;
        Ok(Self { child })
    }

    /// The child's standard error.
    pub const fn stderr(&mut self) -> Option<std::process::ChildStderr> {
        self.child.stderr.take()
    }

    /// The exit status, if the child ends within `limit`.
    ///
    /// # Errors
    /// What waiting fails with.
    pub fn wait(&mut self, limit: Duration) -> io::Result<Option<ExitStatus>> {
        let deadline = Instant::now() + limit;
        loop {
            let status = self.child.try_wait()?;
            if status.is_some() || Instant::now() >= deadline {
                return Ok(status);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Ends the child now.
    pub fn kill(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The command's process will get `signal` when this process' thread ends, however that ends.
pub fn end_with_us(command: &mut Command, signal: libc::c_int) {
    let parent = std::process::id() as libc::pid_t;
    let prepare = move || {
        // SAFETY: plain system calls without memory arguments. The parent may have died before the request took effect.
        unsafe {
            if libc::prctl(libc::PR_SET_PDEATHSIG, signal) < 0 {
                return Err(io::Error::last_os_error());
            }
            if libc::getppid() != parent {
                return Err(io::Error::other("the parent is gone"));
            }
        }
        Ok(())
    };
    // SAFETY: the closure only makes async-signal-safe system calls and allocates nothing on success.
    unsafe { command.pre_exec(prepare) };
}

/// Waits until no other process has locked a file, and locks it until it is closed.
///
/// # Errors
/// What the kernel says; not every file system can.
pub fn lock(file: &File) -> io::Result<()> {
    loop {
        // SAFETY: the descriptor is open; the call takes no memory.
        if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// A file without a name, gone with its last user.
///
/// # Errors
/// What the kernel says; there may be too little memory.
pub fn nameless_file(parts: &[&[u8]]) -> io::Result<File> {
    // SAFETY: the name is a valid C string; the flags are valid.
    let number = unsafe { libc::memfd_create(c"pericore-guest".as_ptr(), libc::MFD_CLOEXEC) };
    if number < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and belongs to nothing else.
    let mut file = unsafe { File::from_raw_fd(number) };
    for part in parts {
        file.write_all(part)?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_child_is_gone() {
        let mut command = Command::new("sleep");
        command.arg("1000");
        let child = Guarded::spawn(command, Vec::new()).unwrap();
        let process = child.child.id() as libc::pid_t;
        drop(child);
        // SAFETY: signal 0 only asks whether the process exists.
        assert_eq!(unsafe { libc::kill(process, 0) }, -1);
    }

    #[test]
    fn a_child_that_ends_gives_its_status() {
        let mut command = Command::new("sh");
        command.args(["-c", "exit 7"]);
        let mut child = Guarded::spawn(command, Vec::new()).unwrap();
        assert_eq!(child.wait(Duration::from_secs(10)).unwrap().unwrap().code(), Some(7));
    }

    #[test]
    fn a_child_that_goes_on_is_not_waited_for_any_longer() {
        let mut command = Command::new("sleep");
        command.arg("5");
        let mut child = Guarded::spawn(command, Vec::new()).unwrap();
        assert_eq!(child.wait(Duration::from_millis(20)).unwrap(), None);
    }

    /// flock(2): while one open file has the lock, no other gets it.
    #[test]
    fn a_locked_file_is_locked_for_others() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let [first, second] = [(); 2].map(|()| File::open(file.path()).unwrap());
        lock(&first).unwrap();
        // SAFETY: the descriptor is open; the call takes no memory.
        let status = unsafe { libc::flock(second.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) };
        assert_eq!(status, -1);
    }
}
