//! Documents of others that the repository does not hold, where they are at hand.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, io};

/// The folder with Intel's own event files, in `$PERICORE_SHARED` or beside the repository; or a loud word, past the capture of a
/// test's output, that it is not there and so `what` is not done.
pub fn shared(what: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let folder = env::var_os("PERICORE_SHARED").map_or_else(beside, PathBuf::from).join("reference");
    if folder.join("perfmon").is_dir() {
        return Some(folder);
    }
    let folder = folder.display();
    let message = format!("\nSKIPPED: {what}. {folder} is not there; set PERICORE_SHARED.\n\n");
    io::stderr().write_all(message.as_bytes()).expect("stderr takes text");
    None
}
