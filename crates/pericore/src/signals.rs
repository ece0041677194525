//! Signals that end a program unless it handles them: here they end a measurement in order, and registers are put back.

use std::io;
use std::mem;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use libc::{
    SIGABRT, SIGALRM, SIGHUP, SIGINT, SIGIO, SIGPROF, SIGPWR, SIGQUIT, SIGSTKFLT, SIGSYS, SIGTERM, SIGTRAP, SIGUSR1,
    SIGUSR2, SIGVTALRM, SIGXCPU, SIGXFSZ, c_int, sigaction, sigset_t,
};
use signal_hook::low_level;

/// All but SIGKILL, those that report a fault of the program itself (SEGV, BUS, ILL, FPE), PIPE and XFSZ, which are
/// errors of a write here, and those of real time.
const NAMED: [c_int; 16] = [
    SIGHUP, SIGINT, SIGQUIT, SIGTRAP, SIGABRT, SIGUSR1, SIGUSR2, SIGALRM, SIGTERM, SIGSTKFLT, SIGXCPU, SIGVTALRM,
    SIGPROF, SIGIO, SIGPWR, SIGSYS,
];

/// The signals that ask for an end. One that was ignored when the program began, as `nohup` does it, stays ignored; but
/// a shell's jobs in the background, which have INT and QUIT ignored, are ended by these all the same.
pub fn that_end() -> impl Iterator<Item = c_int> {
    let of_real_time = libc::SIGRTMIN()..=libc::SIGRTMAX();
    NAMED.into_iter().chain(of_real_time).filter(|&signal| signal != SIGHUP || !is_ignored(signal))
}

fn is_ignored(signal: c_int) -> bool {
    // SAFETY: a structure of numbers; nothing is changed.
    unsafe {
        let mut action: sigaction = mem::zeroed();
        sigaction(signal, std::ptr::null(), &raw mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}

/// Writes a byte to a socket whenever one of these signals comes: who waits at its other end looks at everything. A
/// socket that is full wakes the sleeper, too.
///
/// # Errors
/// The system refuses the handlers.
pub fn wake(signals: impl IntoIterator<Item = c_int>, socket: &Arc<UnixStream>) -> io::Result<()> {
    for signal in signals {
        let socket = Arc::clone(socket);
        let wake = move || {
            // SAFETY: the socket is open as long as this handler has it, the byte lives for ever, and both calls are
            // allowed in handlers. The interrupted code may be about to read its errno.
            unsafe {
                let errno = *libc::__errno_location();
                libc::send(socket.as_raw_fd(), [0_u8].as_ptr().cast(), 1, libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL);
                *libc::__errno_location() = errno;
            }
        };
        // SAFETY: as above.
        unsafe { low_level::register(signal, wake) }?;
    }
    Ok(())
}

/// From now on a file that would grow beyond the limit (`ulimit -f`) is an error of the write, and no end of the
/// program. The programs that this one starts get the signal as usual: a handler is not inherited. If the signal was
/// ignored already, it stays so, here and there.
///
/// # Errors
/// The system refuses the handler.
pub fn report_file_limits() -> io::Result<()> {
    if is_ignored(SIGXFSZ) {
        return Ok(());
    }
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).map(|_| ())
}

/// Ends this process as the signal would have without a handler. May be called in a handler.
pub fn end_by(signal: c_int) -> ! {
    // SAFETY: structures of numbers, and calls that are allowed in handlers.
    unsafe {
        let mut action: sigaction = mem::zeroed();
        action.sa_sigaction = libc::SIG_DFL;
        sigaction(signal, &raw const action, std::ptr::null_mut());
        let mut unblocked: sigset_t = mem::zeroed();
        libc::sigemptyset(&raw mut unblocked);
        libc::sigaddset(&raw mut unblocked, signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const unblocked, std::ptr::null_mut());
        libc::raise(signal);
        // The default of none of these is to go on.
        libc::_exit(128 + signal)
    }
}
