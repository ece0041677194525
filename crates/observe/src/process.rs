//! Which process is which: numbers are used again, and a number with its start time is not, as long as the machine runs.

use std::fs;

/// This process.
pub fn id() -> u32 {
    std::process::id()
}

/// When a process was started, in clock ticks since boot; nothing if there is none of that number.
pub fn start_time(process: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The program's name, in parentheses, may hold anything; the start is the 20th field after it.
    text.rsplit_once(") ")?.1.split(' ').nth(19)?.parse().ok()
}
