//! Sessions that a program leaves open when it exits: their registers are put back all the same.

use std::sync::{Arc, Mutex, Once, PoisonError, Weak};

use super::line::OrderLine;

static OPEN: Mutex<Vec<Weak<OrderLine>>> = Mutex::new(Vec::new());
static WATCH: Once = Once::new();

/// Closes this session when the process exits, unless it was closed before.
pub(super) fn remember(line: &Arc<OrderLine>) {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    open.retain(|line| line.strong_count() > 0);
    open.push(Arc::downgrade(line));
    WATCH.call_once(|| {
        // SAFETY: the function is there as long as the library: of a shared one it is called before that is unloaded.
        // A refusal leaves the journal, and `pericore restore` puts back.
        unsafe { libc::atexit(close_all) };
    });
}

extern "C" fn close_all() {
    let open = std::mem::take(&mut *OPEN.lock().unwrap_or_else(PoisonError::into_inner));
    for line in open.iter().filter_map(Weak::upgrade) {
        // Nobody is left to read a failure; a journal that could not be carried out stays for `pericore restore`.
        let _ = line.close();
    }
}
