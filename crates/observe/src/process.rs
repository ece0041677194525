//! Which process is which: numbers are used again, and a number with its start time is not, as long as the machine runs.

use std::fs;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// This process.
pub fn id() -> u32 {
    std::process::id()
}

/// Gives memory back to the system that was needed for a while and is free now, as after a discovery. Nothing happens
/// with a C library that does so by itself.
pub fn give_back_memory() {
    #[cfg(target_env = "gnu")]
    // SAFETY: no memory that is in use is involved; it may be called at any time, by any thread.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// True unless a process has ended for certain: `/proc` may hide those of other users.
pub fn may_run(process: u32, started: u64) -> bool {
    match start_time(process) {
        Some(found) => started == 0 || found == started,
        None => {
            let number = i32::try_from(process).ok().and_then(Pid::from_raw);
            number.is_some_and(|number| test_kill_process(number) != Err(Errno::SRCH))
        }
    }
}

/// When a process was started, in clock ticks since boot; nothing if there is none of that number.
pub fn start_time(process: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The program's name, in parentheses, may hold anything; the start is the 20th field after it.
    text.rsplit_once(") ")?.1.split(' ').nth(19)?.parse().ok()
}
