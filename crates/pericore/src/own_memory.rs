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

#[cfg(test)]
mod tests {
    use super::*;

    /// As Linux writes them: MemAvailable of /proc/meminfo in KiB, and the sizes of CPU 0's caches, of which the
    /// largest is the last.
    #[test]
    fn memory_and_caches_are_in_bytes() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!((available_bytes(folder.path()), cache_bytes(folder.path())), (None, None));
        let put = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put("proc/meminfo", "MemTotal:       32768000 kB\nMemFree:          100000 kB\nMemAvailable:    2097152 kB\n");
        for (index, size) in ["32K\n", "32K\n", "256K\n", "20480K\n"].iter().enumerate() {
            put(&format!("sys/devices/system/cpu/cpu0/cache/index{index}/size"), size);
        }
        assert_eq!(available_bytes(folder.path()), Some(2 << 30));
        assert_eq!(cache_bytes(folder.path()), Some(20 << 20));
    }
}
