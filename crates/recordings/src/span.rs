//! A part of a recording.

/// A part of a recording, in seconds from the start.
#[derive(Debug, Clone, Copy)]
pub struct TimeSpan {
    /// What was before is left out.
    pub from: Option<f64>,
    /// What was later is left out.
    pub to: Option<f64>,
}

impl TimeSpan {
    /// False for what is no part of any recording: times before its start, or in the wrong order.
    pub fn is_possible(self) -> bool {
        let (from, to) = (self.from.unwrap_or(0.0), self.to.unwrap_or(f64::INFINITY));
        from >= 0.0 && from < to
    }

    /// True if a sample of so many seconds belongs to it that ended then.
    pub fn has(self, end: f64, seconds: f64) -> bool {
        let middle = end - seconds / 2.0;
        self.from.is_none_or(|from| middle >= from) && self.to.is_none_or(|to| middle < to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However a recording is cut, each sample is in one of the parts.
    #[test]
    fn parts_make_the_whole() {
        let ends = [0.5, 1.0, 1.5, 2.0];
        for cut in [0.1, 0.25, 0.3, 0.75, 1.0, 1.74, 1.76] {
            let (before, behind) = (TimeSpan { from: None, to: Some(cut) }, TimeSpan { from: Some(cut), to: None });
            for end in ends {
                assert_ne!(before.has(end, 0.5), behind.has(end, 0.5), "{end} at {cut}");
            }
        }
        assert!(TimeSpan { from: Some(0.2), to: Some(0.3) }.has(0.5, 0.5), "its middle is at 0.25");
        for (from, to) in [(1.0, 1.0), (2.0, 1.0), (-1.0, 1.0), (f64::NAN, 1.0), (0.0, f64::NAN)] {
            assert!(!TimeSpan { from: Some(from), to: Some(to) }.is_possible(), "{from} to {to}");
        }
    }
}
