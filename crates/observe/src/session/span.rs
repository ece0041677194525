//! How long it takes to stop or start what cannot be stopped or started at once.

use pericore_metrics::Validity;

use super::{Count, Moment, Sample};

/// Counters that ran for so much longer or shorter than their sample lasted, as a share of it, are in doubt.
const LIMIT: f64 = 0.02;

/// From when the first unit stood, or ran, to when the last did.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Span {
    pub(super) first: Moment,
    pub(super) last: Moment,
}

impl Span {
    /// When half of them did.
    pub(super) fn middle(&self) -> Moment {
        Moment {
            seconds: f64::midpoint(self.first.seconds, self.last.seconds),
            tsc: self.first.tsc.midpoint(self.last.tsc),
        }
    }

    fn seconds(&self) -> f64 {
        (self.last.seconds - self.first.seconds).max(0.0)
    }
}

/// How evenly units ran in the parts of a sample.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Evenness {
    /// Seconds that some unit ran longer or shorter than was reckoned.
    uneven: f64,
    /// Seconds in all.
    seconds: f64,
}

impl Evenness {
    /// A part from one start to the next stop. Units are stopped in the order in which they were started: where both take the same time, all have
    /// run equally long.
    pub(super) fn add(&mut self, started: &Span, stopped: &Span, seconds: f64) {
        self.uneven += (stopped.seconds() - started.seconds()).abs() / 2.0;
        self.seconds += seconds;
    }

    /// What is to be said of counts, if anything; `longer` is what would help.
    fn doubt(&self, longer: &str) -> Option<Validity> {
        (self.uneven > LIMIT * self.seconds).then(|| {
            Validity::suspect(format!(
                "units were stopped one after the other, and some ran {:.3} ms longer or shorter than {:.3} ms; choose {longer}",
                self.uneven * 1e3,
                self.seconds * 1e3
            ))
        })
    }
}

/// Marks counts whose units may have run for another time than the sample says: of those that take turns by `turns`, of the others by `always`.
pub(super) fn mark(sample: &mut Sample, always: Evenness, turns: Evenness) {
    let (always, turns) = (always.doubt("a longer interval"), turns.doubt("longer rounds (--rotate)"));
    for Count { validity, slices, .. } in &mut sample.counts {
        let doubt = if slices.is_empty() { &always } else { &turns };
        if let Some(doubt) = doubt {
            *validity = std::mem::take(validity).and(doubt);
        }
    }
}
