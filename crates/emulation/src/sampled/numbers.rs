//! Counts as estimates have them, and back.

use pericore_observe::session::Sample;

/// A count.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
pub const fn float(number: u64) -> f64 {
    number as f64
}

/// A count, of an estimate.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts saturate: no count is below 0")]
pub fn whole_number(number: f64) -> u64 {
    number.round() as u64
}

/// Brings what would be said without a part of the windows nearer to what all of them say: what was counted is known,
/// and only the rest varies. `share` of the run was counted, and of events that take turns less.
pub fn damp(without: Sample, all: &Sample, share: f64) -> Sample {
    let nearer = |without: f64, all: f64, share: f64| all + (1.0 - share).max(0.0).sqrt() * (without - all);
    let counts = without.counts.into_iter().zip(&all.counts).map(|(mut count, all)| {
        let share = share.min(all.validity.duty());
        let both = count.count.zip(all.count);
        count.count = both.map(|(count, all)| whole_number(nearer(float(count), float(all), share)));
        count
    });
    let tsc_cycles = whole_number(nearer(float(without.tsc_cycles), float(all.tsc_cycles), share));
    Sample { counts: counts.collect(), tsc_cycles, seconds: nearer(without.seconds, all.seconds, share), ..all.clone() }
}
