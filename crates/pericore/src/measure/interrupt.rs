//! Signals that ask for an end: the measurement ends early, what was counted is printed, and the signal takes its
//! course.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};

use signal_hook::low_level;

use crate::failure::Failure;
use crate::signals;

/// Nanoseconds within which signals of a kind are one: whoever ends a command after a time sends its signal to the
/// process and at once to the process's group, too. That is no second request.
const ONE_REQUEST: u64 = 1_000_000_000;

/// Nanoseconds that putting back may take: only after these does a second signal end the program with registers of its
/// own. A user who sends one every second would else leave them behind.
const TIME_TO_PUT_BACK: u64 = 10_000_000_000;

/// What a second signal after that says.
const LEFT_BEHIND: &[u8] = b"\npericore: ended before the registers were restored; run `pericore restore`\n";

/// True while a session of this process has overwritten registers.
static HOLDS_REGISTERS: AtomicBool = AtomicBool::new(false);

/// Registers of this process are overwritten for as long as it lives.
#[derive(Debug)]
pub struct HoldsRegisters(());

impl HoldsRegisters {
    /// From now on.
    pub fn begin() -> Self {
        HOLDS_REGISTERS.store(true, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for HoldsRegisters {
    fn drop(&mut self) {
        HOLDS_REGISTERS.store(false, Ordering::Relaxed);
    }
}

/// Notices the signals that ask for an end.
#[derive(Debug, Clone)]
pub struct Interrupt(Arc<AtomicI32>);

impl Interrupt {
    /// Watches from now on. A second signal of the same kind ends the program at once, if it comes a second after the
    /// first or later, and ten seconds where registers are still to be put back.
    ///
    /// # Errors
    /// The system refuses the handlers.
    pub fn watch() -> Result<Self, Failure> {
        let seen = Arc::new(AtomicI32::new(0));
        for signal in signals::that_end() {
            let (seen, requests) = (Arc::clone(&seen), Requests::default());
            let notice = move || {
                let holds_registers = HOLDS_REGISTERS.load(Ordering::Relaxed);
                let patience = if holds_registers { TIME_TO_PUT_BACK } else { ONE_REQUEST };
                if requests.is_impatient(nanoseconds(), patience) {
                    if holds_registers {
                        // SAFETY: bytes that live for ever, and a call that is allowed in handlers.
                        unsafe { libc::write(libc::STDERR_FILENO, LEFT_BEHIND.as_ptr().cast(), LEFT_BEHIND.len()) };
                    }
                    signals::end_by(signal);
                }
                seen.store(signal, Ordering::Relaxed);
            };
            // SAFETY: in a handler atomics, reading the clock, writing and the default action are allowed, and
            // nothing else is done there.
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
            Some(signal) => signals::end_by(signal),
            None => otherwise,
        }
    }
}

/// When signals of a kind came.
#[derive(Debug, Default)]
struct Requests {
    /// Nanoseconds; 0 before the first.
    first: AtomicU64,
}

impl Requests {
    /// Notes one; true if it comes so long after the first that the sender does not want to wait.
    fn is_impatient(&self, now: u64, patience: u64) -> bool {
        let before = self.first.compare_exchange(0, now.max(1), Ordering::Relaxed, Ordering::Relaxed);
        before.is_err_and(|first| now.saturating_sub(first) >= patience)
    }
}

/// Since some moment in the past. The standard library's clock does not promise that it may be read in a signal
/// handler.
fn nanoseconds() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: room for the time. It cannot fail: the clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec.cast_unsigned().saturating_mul(1_000_000_000).saturating_add(time.tv_nsec.cast_unsigned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As long as registers are to be put back a second signal has to wait for ten seconds; not any more when that is
    /// done.
    #[test]
    fn registers_are_held_until_they_are_put_back() {
        let holds = HoldsRegisters::begin();
        assert!(HOLDS_REGISTERS.load(Ordering::Relaxed));
        drop(holds);
        assert!(!HOLDS_REGISTERS.load(Ordering::Relaxed));
    }

    #[test]
    fn a_signal_that_is_doubled_is_one_request() {
        let requests = Requests::default();
        let is_impatient = |now| requests.is_impatient(now, ONE_REQUEST);
        assert!(!is_impatient(5));
        assert!(!is_impatient(5) && !is_impatient(5 + ONE_REQUEST - 1));
        assert!(is_impatient(5 + ONE_REQUEST) && !requests.is_impatient(5 + ONE_REQUEST, TIME_TO_PUT_BACK));
    }
}
