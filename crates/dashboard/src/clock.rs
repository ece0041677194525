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
    /// So many seconds after a time of RFC 3339 in UTC, as recordings have it: the time of day there. Without such a
    /// time, since midnight.
    pub fn after(started: Option<&str>, seconds: f64) -> Self {
        let part = |at: std::ops::Range<usize>| started?.get(at)?.parse::<i64>().ok();
        let start = part(11..13).unwrap_or(0) * 3600 + part(14..16).unwrap_or(0) * 60 + part(17..19).unwrap_or(0);
        let day = (start + seconds as i64).rem_euclid(86_400) as i32;
        Self { hour: day / 3600, minute: day / 60 % 60, second: day % 60 }
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}:{:02}", self.hour, self.minute, self.second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_recordings_are_those_of_utc() {
        let after = |started, seconds| TimeOfDay::after(started, seconds).to_string();
        assert_eq!(after(Some("2026-11-23T20:34:12.500Z"), 0.7), "20:34:12");
        assert_eq!(after(Some("2026-11-23T20:34:12.500Z"), 12_348.0), "00:00:00");
        assert_eq!(after(None, 3_661.9), "01:01:01");
    }
}
