//! Time in which counters are paused: what happens then is in no count.

use pericore_observe::session::Sample;

use crate::notice;

/// The share of the time from which on it is announced.
const LIMIT: f64 = 0.02;

/// Announces dead time above the limit, once a run.
#[derive(Debug, Default)]
pub struct DeadTime {
    is_announced: bool,
}

impl DeadTime {
    /// Looks at a sample.
    pub fn note(&mut self, sample: &Sample) {
        if !self.is_announced
            && let Some(text) = announcement(sample)
        {
            self.is_announced = true;
            notice::warn(text);
        }
    }
}

/// What is printed of a sample whose counters were paused for long.
fn announcement(sample: &Sample) -> Option<String> {
    let share = sample.share_paused();
    (share > LIMIT).then(|| {
        format!(
            "counters were paused for {:.1} % of the time, to be read and to change rounds, and what happened then is \
             in no count; choose a longer interval, fewer events, or --no-freeze",
            share * 100.0
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2 ms beside 98 ms are 2 %, and 3 ms beside 97 ms are 3 %.
    #[test]
    fn more_than_two_per_cent_is_announced() {
        let sample = |paused, seconds| Sample { paused, seconds, ..Sample::default() };
        assert_eq!(announcement(&sample(0.0019, 0.098)), None);
        assert_eq!(announcement(&Sample::default()), None);
        let text = announcement(&sample(0.003, 0.097)).unwrap();
        assert!(text.starts_with("counters were paused for 3.0 % of the time"), "{text}");
    }
}
