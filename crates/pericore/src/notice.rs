//! What the program says beside its results, on standard error. Whatever stands in it, a terminal only shows it.

use std::fmt;
use std::io::{self, Write};

use pericore_text::bounded;

/// Writes a line. That nobody can read it is no reason to end: counters may be running, and what they overwrote is
/// still to be put back.
pub fn warn(words: impl fmt::Display) {
    let _ = writeln!(io::stderr().lock(), "pericore: {}", bounded(&words.to_string()));
}
