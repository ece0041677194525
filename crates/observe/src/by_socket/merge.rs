//! Samples of several sockets as one.

use crate::session::{Sample, Withdrawn};

/// One sample of those of the parts of a plan, which come in its order.
pub(super) fn merged(samples: Vec<Sample>) -> Sample {
    let mut samples = samples;
    if samples.len() == 1 {
        return samples.remove(0);
    }
    let mut whole = Sample::of_sockets(samples.iter().flat_map(Sample::lengths));
    whole.is_checked = samples.iter().all(|sample| sample.is_checked);
    for sample in samples {
        whole.paused = whole.paused.max(sample.paused);
        whole.stood_before_reading |= sample.stood_before_reading;
        whole.withdrawn = both(whole.withdrawn.take(), sample.withdrawn);
        whole.counts.extend(sample.counts);
    }
    whole
}

/// What two checks of the same turn do not confirm.
fn both(one: Option<Withdrawn>, other: Option<Withdrawn>) -> Option<Withdrawn> {
    let (Some(one), Some(other)) = (&one, &other) else { return one.or(other) };
    Some(Withdrawn { samples: one.samples.max(other.samples), doubts: [&one.doubts[..], &other.doubts].concat() })
}
