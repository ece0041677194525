//! The names that rows refer to by index.

use std::sync::OnceLock;

use crate::shipped::lasting_bytes;

/// Names, a line each, compressed.
static NAMES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/kernel-names.deflated"));

/// A name by its index.
pub fn name(index: u32) -> &'static str {
    static LINES: OnceLock<Vec<&'static str>> = OnceLock::new();
    LINES.get_or_init(lines).get(index as usize).copied().unwrap_or_default()
}

fn lines() -> Vec<&'static str> {
    let names = str::from_utf8(lasting_bytes(NAMES)).expect("the build has written a text");
    names.split('\n').collect()
}
