//! This machine's memory, for traffic of our own: its lines, and how much of it and of cache the kernel reports.

use std::path::Path;

/// Bytes of a line.
pub const LINE: usize = 64;

/// A line of memory; of those that a chase goes through, the first word is the number of the next.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct CacheLine(pub [u64; LINE / 8]);

impl std::fmt::Debug for CacheLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0[0].fmt(f)
    }
}

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
