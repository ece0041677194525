//! Runs a program on a machine behind the doors.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::backend::Backend;
use crate::error::DoorsError;
use crate::files;
use crate::fuse;
use crate::log::Logged;
use crate::namespace::{self, Command, Outcome};

/// How to run it.
#[derive(Debug, Clone)]
pub struct Options {
    /// Log every access to this file.
    pub log: Option<PathBuf>,
    /// Fail if the accesses differ from those in this file.
    pub expect: Option<PathBuf>,
    /// Kill the program after this time.
    pub timeout: Option<Duration>,
    /// Preload the library that answers CPUID and serves mapped registers. Static programs go without it anyway.
    pub preload: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { log: None, expect: None, timeout: None, preload: true }
    }
}

/// How it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finished {
    /// How the program ended.
    pub outcome: Outcome,
    /// Register accesses that it made.
    pub accesses: u64,
}

/// How long to wait for the kernel to take the FUSE connection down once the namespace is gone.
const GRACE: Duration = Duration::from_secs(2);

/// Runs a program with a machine's registers in its view of the file system, and waits for it. Nothing of it is
/// visible outside, and nothing is left of it, however this process ends.
///
/// # Errors
/// [`DoorsError`]: the host lacks something, the program cannot run, time is up, or the accesses are not as expected.
pub fn run<B: Backend + 'static>(backend: B, mut command: Command, options: &Options) -> Result<Finished, DoorsError> {
    // Files are made before anything is started: a log that cannot be written should not cost a run.
    let backend = Arc::new(Logged::new(backend, options.log.as_deref(), options.expect.as_deref())?);
    let mut tree = files::tree(&backend);
    if options.preload {
        files::load_always(&mut tree);
        preload(&mut command);
    }
    let plan = namespace::plan(&files::doors(&tree, backend.platform()))?;
    let signals = signals::Quiet::begin();
    let (child, device) = namespace::start(&plan, &command)?;
    let session = fuse::serve(Arc::clone(&backend), tree, device)?;
    let outcome = child.wait(&plan, &command, options.timeout);
    drop(signals);
    let until = Instant::now() + GRACE;
    while !session.guard.is_finished() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(1));
    }
    let summary = backend.finish()?;
    let outcome = outcome?;
    match summary.mismatch {
        Some(mismatch) => Err(mismatch.into()),
        None => Ok(Finished { outcome, accesses: summary.accesses }),
    }
}

/// Puts our library before others that the environment preloads.
fn preload(command: &mut Command) {
    const NAME: &str = "LD_PRELOAD";
    let given = command.environment.iter().find(|(name, _)| name == NAME).map(|(_, value)| value.clone());
    let mut value = std::ffi::OsString::from(files::PRELOAD);
    if let Some(other) = given.or_else(|| std::env::var_os(NAME)).filter(|other| !other.is_empty()) {
        value.push(":");
        value.push(other);
    }
    command.environment.retain(|(name, _)| name != NAME);
    command.environment.push((NAME.into(), value));
}

mod signals {
    //! Ctrl-C is for the program, which is in the same process group; we stay to clean up.

    use std::mem;
    use std::sync::{Mutex, MutexGuard, PoisonError};

    const SIGNALS: [libc::c_int; 2] = [libc::SIGINT, libc::SIGQUIT];

    /// How many runs go on in this process, and what the signals did before the first that ignored them.
    static RUNS: Mutex<(usize, Vec<(libc::c_int, libc::sigaction)>)> = Mutex::new((0, Vec::new()));

    /// SIGINT and SIGQUIT are ignored while one of these lives, unless the caller handles them.
    pub struct Quiet(());

    fn runs() -> MutexGuard<'static, (usize, Vec<(libc::c_int, libc::sigaction)>)> {
        RUNS.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ignores a signal that would end this process, and tells what was there before.
    fn ignore(signal: libc::c_int) -> Option<(libc::c_int, libc::sigaction)> {
        // SAFETY: structures of numbers, and ignoring a signal runs no handler.
        unsafe {
            let (mut before, mut ignored): (libc::sigaction, libc::sigaction) = (mem::zeroed(), mem::zeroed());
            ignored.sa_sigaction = libc::SIG_IGN;
            let is_default =
                libc::sigaction(signal, std::ptr::null(), &raw mut before) == 0 && before.sa_sigaction == libc::SIG_DFL;
            let is_done = is_default && libc::sigaction(signal, &raw const ignored, std::ptr::null_mut()) == 0;
            is_done.then_some((signal, before))
        }
    }

    impl Quiet {
        pub fn begin() -> Self {
            let mut runs = runs();
            if runs.0 == 0 {
                runs.1 = SIGNALS.into_iter().filter_map(ignore).collect();
            }
            runs.0 += 1;
            Self(())
        }
    }

    impl Drop for Quiet {
        fn drop(&mut self) {
            let mut runs = runs();
            runs.0 -= 1;
            if runs.0 == 0 {
                for (signal, before) in runs.1.drain(..) {
                    // SAFETY: restores what was there before.
                    unsafe { libc::sigaction(signal, &raw const before, std::ptr::null_mut()) };
                }
            }
        }
    }
}
