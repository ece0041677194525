//! Ctrl-C and its kin: the measurement ends early, what was counted is printed, and the signal takes its course.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::failure::Failure;

/// Notices the signals that ask for an end.
#[derive(Debug, Clone)]
pub struct Interrupt(Arc<AtomicUsize>);

impl Interrupt {
    /// Watches from now on. A second signal of the same kind ends the program at once.
    ///
    /// # Errors
    /// The system refuses the handlers.
    pub fn watch() -> Result<Self, Failure> {
        let seen = Arc::new(AtomicUsize::new(0));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let flag = Arc::new(std::sync::atomic::AtomicBool::new(false));
            let refuse = |error| Failure::failed(format!("cannot watch for signals: {error}"));
            signal_hook::flag::register_conditional_default(signal, Arc::clone(&flag)).map_err(refuse)?;
            signal_hook::flag::register(signal, flag).map_err(refuse)?;
            signal_hook::flag::register_usize(signal, Arc::clone(&seen), signal as usize).map_err(refuse)?;
        }
        Ok(Self(seen))
    }

    /// The signal that came, if one did.
    pub fn signal(&self) -> Option<i32> {
        i32::try_from(self.0.load(Ordering::Relaxed)).ok().filter(|&signal| signal != 0)
    }

    /// Ends as the signal would have, or with `otherwise` if none came.
    pub fn exit(&self, otherwise: ExitCode) -> ExitCode {
        match self.signal() {
            Some(signal) => {
                let _ = signal_hook::low_level::emulate_default_handler(signal);
                otherwise
            }
            None => otherwise,
        }
    }
}
