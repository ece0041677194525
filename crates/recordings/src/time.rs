//! Wall time in words.

use std::time::{SystemTime, UNIX_EPOCH};

/// A time as RFC 3339 writes it, in UTC, to the millisecond: `2026-11-22T19:42:00.000Z`. Before 1970 it is 1970.
pub fn rfc3339(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second, milli) = (second / 3600, second / 60 % 60, second % 60, since.subsec_millis());
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

/// Year, month and day of a number of days since 1970. Years begin in March here, so that a leap day comes last.
const fn civil(days: u64) -> (u64, u64, u64) {
    /// Days from 1 March of the year 0 to 1 January 1970.
    const EPOCH: u64 = 719_468;
    const OF_400_YEARS: u64 = 146_097;
    let days = days + EPOCH;
    let (era, day) = (days / OF_400_YEARS, days % OF_400_YEARS);
    // Without the leap days of 4, 100 and 400 years, all years have 365 days.
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // March to January alternate between 31 and 30 days, in fives of 153.
    let month = (5 * day + 2) / 153;
    let day_of_month = day - (153 * month + 2) / 5 + 1;
    let (year, month) = (era * 400 + year, if month < 10 { month + 3 } else { month - 9 });
    (if month <= 2 { year + 1 } else { year }, month, day_of_month)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Seconds from `date -u -d … +%s`.
    #[test]
    fn known_days() {
        for (milliseconds, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_799_999, "2000-02-29T23:59:59.999Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (1_735_689_599_000, "2024-12-31T23:59:59.000Z"),
            (1_763_840_520_250, "2025-11-22T19:42:00.250Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_millis(milliseconds)), text);
        }
    }
}
