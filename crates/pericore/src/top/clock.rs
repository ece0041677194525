//! The time of day, by this machine's clock.

use pericore_dashboard::TimeOfDay;

/// Hours, minutes and seconds where the user is, now.
pub fn now() -> TimeOfDay {
    // SAFETY: no argument, the time is returned.
    let seconds = unsafe { libc::time(std::ptr::null_mut()) };
    // SAFETY: a structure of numbers and a pointer that may be null.
    let mut parts: libc::tm = unsafe { std::mem::zeroed() };
    // SAFETY: both are valid; the function writes to `parts` only.
    unsafe { libc::localtime_r(&raw const seconds, &raw mut parts) };
    TimeOfDay { hour: parts.tm_hour, minute: parts.tm_min, second: parts.tm_sec }
}
