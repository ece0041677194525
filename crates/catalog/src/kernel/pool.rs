//! The names that rows refer to by index.

use std::sync::OnceLock;

/// Names, a line each.
static NAMES: &str = include_str!(concat!(env!("OUT_DIR"), "/kernel-names.txt"));

/// A name by its index.
pub fn name(index: u32) -> &'static str {
    static LINES: OnceLock<Vec<&'static str>> = OnceLock::new();
    LINES.get_or_init(|| NAMES.split('\n').collect()).get(index as usize).copied().unwrap_or_default()
}
