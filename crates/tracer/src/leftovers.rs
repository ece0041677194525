//! Processes that the first program has left behind.

use crate::drain::text;
use crate::layout::PROGRAM_ARGUMENT;
use crate::memory::SharedMemory;
use crate::{Note, Reason};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a QEMU may take from its start to the opening of the plugin.
const PATIENCE: Duration = Duration::from_secs(5);

/// A QEMU of ours.
struct Leftover {
    pid: u32,
    program: String,
    /// False while it has been started but has not opened the plugin and the memory yet.
    joined: bool,
}

/// The notes on them. Waits for those that are just starting: without the tracer, they would find no plugin, and end.
pub fn notes(memory: &SharedMemory) -> Vec<Note> {
    let start = Instant::now();
    let mut found = scan(memory);
    while found.iter().any(|leftover| !leftover.joined) && start.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(5));
        found = scan(memory);
    }
    found.sort_by_key(|leftover| leftover.pid);
    found.into_iter().map(|Leftover { pid, program, .. }| Note { pid, program, reason: Reason::StillRunning }).collect()
}

fn scan(memory: &SharedMemory) -> Vec<Leftover> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let argument = memory.plugin_argument();
    let inode = memory.inode().to_string();
    let qemu = std::fs::canonicalize(Path::new(OsStr::from_bytes(&memory.shared().header().qemu.get()))).ok();
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid| leftover(pid, argument.as_bytes(), &inode, qemu.as_ref())).collect()
}

/// The process, if its command line is that of a QEMU of this run. An earlier run may have had the same: its memory is another file.
fn leftover(pid: u32, argument: &[u8], inode: &str, qemu: Option<&PathBuf>) -> Option<Leftover> {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    if line.is_empty() {
        // In the middle of exec() the kernel has the new image but no command line yet.
        let image = std::fs::read_link(format!("/proc/{pid}/exe")).ok();
        return (image.is_some() && image.as_ref() == qemu).then(|| Leftover {
            pid,
            program: String::new(),
            joined: false,
        });
    }
    let mut words = line.split(|&byte| byte == 0).skip(2);
    if words.next()? != argument {
        return None;
    }
    let program = text(words.nth(PROGRAM_ARGUMENT - 3)?);
    // One that has ended, and that nobody has waited for, has no mappings.
    let maps = std::fs::read(format!("/proc/{pid}/maps")).ok().filter(|maps| !maps.is_empty())?;
    // Lines of the file: addresses, permissions, offset, device, inode, name.
    let mapped: Vec<String> = text(&maps)
        .lines()
        .filter(|line| line.contains("/memfd:pericore-trace"))
        .filter_map(|line| line.split_ascii_whitespace().nth(4).map(str::to_owned))
        .collect();
    let joined = mapped.iter().any(|mapped| mapped == inode);
    (joined || mapped.is_empty()).then_some(Leftover { pid, program, joined })
}
