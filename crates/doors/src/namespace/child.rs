//! The namespace's first process. Between fork and exec it makes plain system calls only: other threads of the parent may have
//! held any lock at the fork.

use std::ffi::CStr;
use std::os::fd::RawFd;

use super::plan::{Plan, Step};
use super::report::{Report, send};

/// What to execute, ready for system calls: pointers end with null.
pub struct Program<'a> {
    /// Absolute path, or relative to the working directory.
    pub path: &'a CStr,
    /// Arguments, the program's name first.
    pub arguments: &'a [*const libc::c_char],
    /// Environment.
    pub environment: &'a [*const libc::c_char],
    /// Replace standard input, output and error.
    pub streams: [Option<RawFd>; 3],
}

/// Runs as process 1 of the namespace and never returns.
pub fn run(socket: RawFd, plan: &Plan, program: &Program<'_>) -> ! {
    // SAFETY: system calls without memory arguments, but for the one-byte buffer.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        // The parent's go: it has written the ID maps, and was alive after the line above.
        let mut go = 0u8;
        if libc::read(socket, (&raw mut go).cast(), 1) != 1 {
            libc::_exit(1);
        }
    }
    for (index, step) in plan.steps.iter().enumerate() {
        if let Err(failure) = carry_out(step, socket) {
            let report = match failure {
                Failure::Device(errno) => Report::NoFuse { errno },
                Failure::Call(errno) => Report::StepFailed { step: index as i32, errno },
            };
            send(socket, report, None);
            // SAFETY: ends the process without running the parent's exit handlers.
            unsafe { libc::_exit(1) };
        }
    }
    // SAFETY: fork without glibc's handlers, which could wait for locks of threads that are not here.
    let tool = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) } as libc::pid_t;
    if tool == 0 {
        execute(socket, program);
    }
    let status = if tool < 0 { -1 } else { reap_until(tool) };
    send(socket, Report::Ended { status }, None);
    // SAFETY: as above; the kernel now kills whatever the program left behind.
    unsafe { libc::_exit(0) }
}

enum Failure {
    /// The FUSE device cannot be opened.
    Device(i32),
    Call(i32),
}

fn errno() -> i32 {
    // SAFETY: the location is this thread's.
    unsafe { *libc::__errno_location() }
}

fn check(status: libc::c_int) -> Result<(), Failure> {
    if status < 0 { Err(Failure::Call(errno())) } else { Ok(()) }
}

fn carry_out(step: &Step, socket: RawFd) -> Result<(), Failure> {
    let none = std::ptr::null();
    // SAFETY: all strings end with a zero byte and live in the plan.
    unsafe {
        match step {
            Step::Seclude => {
                check(libc::mount(none, c"/".as_ptr(), none, libc::MS_REC | libc::MS_PRIVATE, none.cast()))
            }
            Step::New { kind, at, optional } => {
                let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
                let done = check(libc::mount(kind.as_ptr(), at.as_ptr(), kind.as_ptr(), flags, none.cast()));
                if *optional { Ok(()) } else { done }
            }
            Step::Folder(at) => check(libc::mkdir(at.as_ptr(), 0o755)),
            Step::File(at) => check(libc::mknod(at.as_ptr(), libc::S_IFREG | 0o644, 0)),
            Step::Link { target, at } => check(libc::symlink(target.as_ptr(), at.as_ptr())),
            Step::Fuse { at } => mount_fuse(at, socket),
            Step::Bind { from, at } => {
                check(libc::mount(from.as_ptr(), at.as_ptr(), none, libc::MS_BIND | libc::MS_REC, none.cast()))
            }
            Step::Detach(at) => check(libc::umount2(at.as_ptr(), libc::MNT_DETACH)),
        }
    }
}

/// Mounts a new FUSE connection and hands its device to the server.
fn mount_fuse(at: &CStr, socket: RawFd) -> Result<(), Failure> {
    // SAFETY: constant path.
    let device = unsafe { libc::open(c"/dev/fuse".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) };
    if device < 0 {
        return Err(Failure::Device(errno()));
    }
    let options = fuse_options(device);
    let flags = libc::MS_NOSUID | libc::MS_NODEV;
    // SAFETY: all strings end with a zero byte.
    check(unsafe { libc::mount(c"pericore".as_ptr(), at.as_ptr(), c"fuse".as_ptr(), flags, options.as_ptr().cast()) })?;
    send(socket, Report::Mounted, Some(device));
    // SAFETY: the descriptor is ours; the server has its own by now.
    unsafe { libc::close(device) };
    Ok(())
}

/// `fd=N,rootmode=40000,user_id=0,group_id=0,allow_other`, without allocation.
fn fuse_options(device: RawFd) -> [u8; 96] {
    let mut text = [0; 96];
    let mut length = 0;
    let mut push = |bytes: &[u8]| {
        text[length..length + bytes.len()].copy_from_slice(bytes);
        length += bytes.len();
    };
    push(b"fd=");
    let mut place = 1;
    while device / place >= 10 {
        place *= 10;
    }
    while place > 0 {
        push(&[b'0' + (device / place % 10) as u8]);
        place /= 10;
    }
    push(b",rootmode=40000,user_id=0,group_id=0,allow_other");
    text
}

/// Becomes the program; on failure reports and ends.
fn execute(socket: RawFd, program: &Program<'_>) -> ! {
    // SAFETY: pointers come from strings that outlive this call; the arrays end with null. Rust ignores SIGPIPE and the runner
    // SIGINT and SIGQUIT: the program gets the defaults, and no blocked signals.
    unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
        for signal in [libc::SIGPIPE, libc::SIGINT, libc::SIGQUIT] {
            libc::signal(signal, libc::SIG_DFL);
        }
        for (target, stream) in program.streams.iter().enumerate() {
            if let Some(stream) = stream {
                libc::dup2(*stream, target as RawFd);
            }
        }
        libc::execve(program.path.as_ptr(), program.arguments.as_ptr(), program.environment.as_ptr());
    }
    send(socket, Report::NotExecuted { errno: errno() }, None);
    // SAFETY: ends the process at once.
    unsafe { libc::_exit(127) }
}

/// Reaps children, orphans of the program among them, until the program itself has ended.
fn reap_until(tool: libc::pid_t) -> i32 {
    loop {
        let mut status = 0;
        // SAFETY: `status` is valid for writes.
        let ended = unsafe { libc::waitpid(-1, &raw mut status, 0) };
        if ended == tool {
            return status;
        }
        if ended < 0 && errno() != libc::EINTR {
            return -1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Failure, carry_out};
    use crate::namespace::plan::Step;

    /// mkdir(2) and mknod(2): what cannot be made is an error with its reason, or the program would run on the host's
    /// own files.
    #[test]
    fn a_step_that_fails_is_not_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let name = |name: &str| {
            let path = folder.path().join(name);
            std::ffi::CString::new(path.as_os_str().as_encoded_bytes()).unwrap()
        };
        let reason = |step: &Step| match carry_out(step, -1) {
            Ok(()) => None,
            Err(Failure::Call(errno) | Failure::Device(errno)) => Some(errno),
        };
        assert_eq!(reason(&Step::Folder(name("new"))), None);
        assert_eq!(reason(&Step::Folder(name("new"))), Some(libc::EEXIST));
        assert_eq!(reason(&Step::File(name("missing/file"))), Some(libc::ENOENT));
        assert_eq!(reason(&Step::Link { target: c"new".into(), at: name("link") }), None);
        assert_eq!(std::fs::read_link(folder.path().join("link")).unwrap(), std::path::Path::new("new"));
    }

    #[test]
    fn the_options_name_the_descriptor() {
        for (device, text) in [(3, "fd=3,"), (10, "fd=10,"), (1023, "fd=1023,")] {
            let options = super::fuse_options(device);
            assert!(options.starts_with(text.as_bytes()));
            assert!(options.ends_with(&[0]));
        }
    }
}
