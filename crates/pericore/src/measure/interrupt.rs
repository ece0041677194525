//! Ctrl-C and its kin: the measurement ends early, what was counted is printed, and the signal takes its course.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level;

use crate::failure::Failure;

/// Nanoseconds within which signals of a kind are one: whoever ends a command after a time sends its signal to the process and at once
/// to the process's group, too. That is no second wish.
const ONE_WISH: u64 = 1_000_000_000;

/// Notices the signals that ask for an end.
#[derive(Debug, Clone)]
pub struct Interrupt(Arc<AtomicI32>);

impl Interrupt {
    /// Watches from now on. A second signal of the same kind ends the program at once, if it comes a second after the first or later.
    ///
    /// # Errors
    /// The system refuses the handlers.
    pub fn watch() -> Result<Self, Failure> {
        let seen = Arc::new(AtomicI32::new(0));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let (seen, wishes) = (Arc::clone(&seen), Wishes::default());
            let notice = move || {
                if wishes.is_impatient(nanoseconds()) {
                    let _ = low_level::emulate_default_handler(signal);
                }
                seen.store(signal, Ordering::Relaxed);
            };
            // SAFETY: in a handler atomics, reading the clock and the default action are allowed, and nothing else is done there.
            unsafe { low_level::register(signal, notice) }
                .map_err(|error| Failure::failed(format!("cannot watch for signals: {error}")))?;
        }
        Ok(Self(seen))
    }

    /// The signal that came, if one did.
    pub fn signal(&self) -> Option<i32> {
        Some(self.0.load(Ordering::Relaxed)).filter(|&signal| signal != 0)
    }

    /// Ends as the signal would have, or with `otherwise` if none came.
    pub fn exit(&self, otherwise: ExitCode) -> ExitCode {
        match self.signal() {
            Some(signal) => {
                let _ = low_level::emulate_default_handler(signal);
                otherwise
            }
            None => otherwise,
        }
    }
}

/// When signals of a kind came.
#[derive(Debug, Default)]
struct Wishes {
    /// Nanoseconds; 0 before the first.
    first: AtomicU64,
}

impl Wishes {
    /// Notes one; true if it comes so long after the first that the sender does not want to wait.
    fn is_impatient(&self, now: u64) -> bool {
        let before = self.first.compare_exchange(0, now.max(1), Ordering::Relaxed, Ordering::Relaxed);
        before.is_err_and(|first| now.saturating_sub(first) >= ONE_WISH)
    }
}

/// Since some moment in the past. The standard library's clock does not promise that it may be read in a signal handler.
fn nanoseconds() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: room for the time. It cannot fail: the clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec.cast_unsigned().saturating_mul(1_000_000_000).saturating_add(time.tv_nsec.cast_unsigned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_that_is_doubled_is_one_wish() {
        let wishes = Wishes::default();
        assert!(!wishes.is_impatient(5));
        assert!(!wishes.is_impatient(5) && !wishes.is_impatient(5 + ONE_WISH - 1));
        assert!(wishes.is_impatient(5 + ONE_WISH));
    }
}
