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

#[cfg(test)]
mod tests {
    use super::*;

    /// What is divided by the length of a sample whose counters stood is suspect: also where they stood in one of two
    /// sockets only.
    #[test]
    fn counters_that_stood_in_one_socket_are_noted_for_all() {
        let sample = |stood| Sample { stood_before_reading: stood, ..Sample::default() };
        for (sockets, stood) in [([false, false], false), ([true, false], true), ([false, true], true)] {
            let whole = merged(sockets.map(sample).to_vec());
            assert_eq!(whole.stood_before_reading, stood, "{sockets:?}");
        }
    }

    use crate::session::Doubt;

    /// One sample is itself; of several the longest pause counts, all must be checked, and counts come one after the
    /// other. What either withdraws is withdrawn for as many samples as either says.
    #[test]
    fn samples_of_sockets_are_one() {
        let withdrawn = |samples, event| {
            let doubt = Doubt { event, socket: 0, instance: 0, why: String::new() };
            Some(Withdrawn { samples, doubts: vec![doubt] })
        };
        let sample = |paused, is_checked, withdrawn| Sample { paused, is_checked, withdrawn, ..Sample::default() };
        let alone = sample(0.5, false, withdrawn(3, 1));
        assert_eq!(merged(vec![alone.clone()]), alone);
        let both = merged(vec![sample(0.5, true, withdrawn(3, 1)), sample(0.25, true, withdrawn(5, 2))]);
        let Withdrawn { samples, doubts } = both.withdrawn.unwrap();
        let events: Vec<usize> = doubts.iter().map(|doubt| doubt.event).collect();
        assert_eq!((both.paused, both.is_checked, samples, events), (0.5, true, 5, vec![1, 2]));
        for (first, second) in [(withdrawn(3, 1), None), (None, withdrawn(3, 1))] {
            let whole = merged(vec![sample(0.1, true, first), sample(0.2, false, second)]);
            assert_eq!((whole.paused, whole.is_checked, whole.withdrawn), (0.2, false, withdrawn(3, 1)));
        }
    }
}
