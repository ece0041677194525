//! How much memory and cache this machine has, as its kernel tells.

use std::path::Path;

/// Bytes of the last cache of the first CPU.
pub fn cache_bytes(root: &Path) -> Option<usize> {
    let size = |index: usize| {
        let path = format!("sys/devices/system/cpu/cpu0/cache/index{index}/size");
        let text = std::fs::read_to_string(root.join(path)).ok()?;
        text.trim().strip_suffix('K')?.parse::<usize>().ok().map(|kib| kib << 10)
    };
    (0..8).filter_map(size).max()
}

/// Bytes of memory that programs can have.
pub fn available_bytes(root: &Path) -> Option<usize> {
    let text = std::fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.parse::<usize>().ok().map(|kib| kib << 10)
}
