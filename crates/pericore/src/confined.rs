//! Confines our threads to their part, with one word where the kernel cannot.

use std::path::PathBuf;
use std::sync::Once;

pub use pericore_observe::linux::sandbox::ThreadPart;
use pericore_observe::linux::sandbox::confine as confine_thread;

use crate::notice;

/// All threads lack the same.
static REPORTED: Once = Once::new();

/// Confines this thread, and those that it starts from now on; it may write in these folders. Where that cannot be, the
/// user is told once, and it goes on.
pub fn confine(part: ThreadPart, folders: &[PathBuf]) {
    match confine_thread(part, folders) {
        Ok(missing) if missing.is_empty() => {}
        Ok(missing) => REPORTED.call_once(|| notice::warn(missing.words())),
        Err(error) => {
            REPORTED.call_once(|| notice::warn(format!("threads are not confined: {error}; it goes on without")))
        }
    }
}
