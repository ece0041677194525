//! The time of day.

use std::fmt;

/// Hours, minutes and seconds where the user is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TimeOfDay {
    /// Since midnight.
    pub hour: i32,
    /// Of the hour.
    pub minute: i32,
    /// Of the minute; 60 in a leap second.
    pub second: i32,
}

impl TimeOfDay {
    /// Now.
    pub fn now() -> Self {
        // SAFETY: no argument, the time is returned.
        let seconds = unsafe { libc::time(std::ptr::null_mut()) };
        // SAFETY: a structure of numbers and a pointer that may be null.
        let mut parts: libc::tm = unsafe { std::mem::zeroed() };
        // SAFETY: both are valid; the function writes to `parts` only.
        unsafe { libc::localtime_r(&raw const seconds, &raw mut parts) };
        Self { hour: parts.tm_hour, minute: parts.tm_min, second: parts.tm_sec }
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}:{:02}", self.hour, self.minute, self.second)
    }
}
