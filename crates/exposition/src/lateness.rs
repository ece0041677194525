//! Samples that come late: the machine was too busy to take them when they were due.

/// A sample is late from this share of its interval on.
const LATE: f64 = 1.5;

/// When samples are due, and how many were not taken.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lateness {
    /// Seconds between two samples.
    pub interval: f64,
    /// Samples that were not taken, since the one before took too long.
    pub missed: u64,
    /// Seconds by which the last sample was longer than its interval; 0 if it was not.
    pub last: f64,
    /// The next warning comes when so many are missed.
    warns_at: u64,
}

impl Lateness {
    /// Nothing is late yet.
    pub const fn of(interval: f64) -> Self {
        Self { interval, missed: 0, last: 0.0, warns_at: 0 }
    }

    /// Notes a sample of so many seconds. A warning, if it is time for one: each comes when twice as many are missed.
    pub fn note(&mut self, seconds: f64) -> Option<String> {
        self.last = (seconds - self.interval).max(0.0);
        if seconds < self.interval * LATE {
            return None;
        }
        self.missed += (seconds / self.interval).round() as u64 - 1;
        if self.missed < self.warns_at.max(1) {
            return None;
        }
        self.warns_at = self.missed * 2;
        let (interval, missed) = (self.interval, self.missed);
        Some(format!(
            "samples come late: the last one is of {seconds:.3} s instead of {interval:.3} s, and {missed} were missed \
             so far; give a longer -I, fewer metrics, or the process a higher priority"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missed_samples_are_counted_and_warnings_get_rarer() {
        let mut lateness = Lateness::of(1.0);
        let lengths = [1.0, 1.4, 0.2, 1.6, 1.9, 2.1, 1.0, 9.0];
        let warned = lengths.map(|seconds| lateness.note(seconds).is_some());
        // Missed by then: 0 0 0 1 2 3 3 11.
        assert_eq!(warned, [false, false, false, true, true, false, false, true]);
        assert_eq!((lateness.missed, lateness.last), (11, 8.0));
        assert!(lateness.note(1.2).is_none() && (lateness.last - 0.2).abs() < 1e-9);
        let text = Lateness::of(1.0).note(8.1).unwrap();
        assert!(text.contains("8.100 s instead of 1.000 s, and 7 were missed"), "{text}");
    }
}
