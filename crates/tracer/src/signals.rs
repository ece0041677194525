//! Signals to this process that are meant for the program.

use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};

const SIGNALS: [i32; 6] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGUSR1, libc::SIGUSR2];
/// Programs that signals can be passed on to at the same time; more are traced, but get none.
const MOST: usize = 64;

static PROGRAMS: [AtomicI32; MOST] = [const { AtomicI32::new(0) }; MOST];
static BEFORE: Mutex<Before> = Mutex::new(Before { users: 0, actions: Vec::new() });

/// What the signals did before, and how many have asked for the handler since.
struct Before {
    users: usize,
    actions: Vec<(i32, libc::sigaction)>,
}

extern "C" fn pass_on(signal: i32, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    // SAFETY: the kernel passes valid information to a handler with SA_SIGINFO.
    let code = unsafe { (*info).si_code };
    // What the terminal sends goes to the whole process group, the program included.
    if code == libc::SI_KERNEL {
        return;
    }
    // SAFETY: plain access to this thread's errno, which the interrupted code may be about to read.
    let errno = unsafe { *libc::__errno_location() };
    for program in &PROGRAMS {
        let pid = program.load(Ordering::Relaxed);
        if pid != 0 {
            // SAFETY: the program is not reaped before its entry is cleared.
            unsafe { libc::kill(pid, signal) };
        }
    }
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

/// Passes signals on for as long as it lives.
pub struct Forwarding(());

impl Forwarding {
    pub fn begin() -> Self {
        let mut before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
        before.users += 1;
        if before.users == 1 {
            before.actions =
                SIGNALS.into_iter().filter_map(|signal| install(signal).map(|action| (signal, action))).collect();
        }
        Self(())
    }

    /// Passes signals on to a program, until [`stop`].
    #[expect(clippy::unused_self, reason = "signals are passed on only while there is a Forwarding")]
    pub fn to(&self, pid: i32) {
        let _ =
            PROGRAMS.iter().find(|entry| entry.compare_exchange(0, pid, Ordering::Relaxed, Ordering::Relaxed).is_ok());
    }
}

/// Passes nothing on to a program any more. To be called before it is reaped: its number may be another's then.
pub fn stop(pid: i32) {
    for entry in &PROGRAMS {
        let _ = entry.compare_exchange(pid, 0, Ordering::Relaxed, Ordering::Relaxed);
    }
}

impl Drop for Forwarding {
    fn drop(&mut self) {
        let mut before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
        before.users -= 1;
        if before.users == 0 {
            for (signal, action) in before.actions.drain(..) {
                // SAFETY: restores what was there.
                unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) };
            }
        }
    }
}

/// Installs the handler, unless the signal is ignored (nohup). Returns what was there.
fn install(signal: i32) -> Option<libc::sigaction> {
    // SAFETY: an all-zero sigaction is valid.
    let mut old: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: only reads the present action.
    if unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut old) } != 0 || old.sa_sigaction == libc::SIG_IGN {
        return None;
    }
    // SAFETY: as above.
    let mut new: libc::sigaction = unsafe { std::mem::zeroed() };
    let handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) = pass_on;
    new.sa_sigaction = handler as libc::sighandler_t;
    new.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
    // SAFETY: the handler does nothing but what signal handlers may do.
    let installed = unsafe { libc::sigaction(signal, &raw const new, std::ptr::null_mut()) } == 0;
    installed.then_some(old)
}
