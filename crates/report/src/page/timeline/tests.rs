use pericore_metrics::{Validity, Value};

use super::*;
use crate::row::Nature;

fn report(end: f64, value: Value, weight: Option<f64>) -> Report {
    let row = Row {
        unit_of_measure: Some(UnitOfMeasure::Nanoseconds),
        nature: Nature { weight, ..Nature::default() },
        ..Row::named("x", value)
    };
    Report { interval_end: Some(end), ..Report::of(vec![row]) }
}

fn of(values: impl IntoIterator<Item = Value>, room: usize) -> Timeline {
    let mut timeline = Timeline::with_room(room);
    for (end, value) in (1_i32..).zip(values) {
        timeline.add(&report(f64::from(end), value, None));
    }
    timeline
}

/// Room for 48 numbers: 48 samples one by one; of 100 in buckets 16 at most, so 8 samples in each.
#[test]
fn what_is_too_long_is_put_into_buckets_of_powers_of_two() {
    let counted = |last: i32| (1..=last).map(|number| Value::measured(f64::from(number)));
    let short = of(counted(48), 48);
    assert_eq!((short.in_bucket, short.ends.len(), short.begin), (1, 48, 0.0));
    let long = of(counted(100), 48);
    assert_eq!((long.in_bucket, long.ends.len()), (8, 13));
    assert_eq!((long.ends[0], long.ends[11], long.ends[12]), (8.0, 96.0, 100.0));
    let means: Vec<_> = [0, 11, 12].map(|at| long.rows[0].buckets[at].mean()).into();
    assert_eq!(means, [Some(4.5), Some(92.5), Some(98.5)], "of 1 to 8, of 89 to 96, of 97 to 100");
    assert_eq!(long.rows[0].buckets[0].extremes(), Some((1.0, 8.0)));
    assert_eq!(long.rows[0].largest(), 100.0);
}

/// No sample is lost or counted twice, at whatever length a recording ends.
#[test]
fn the_mean_of_all_buckets_is_that_of_all_samples() {
    // Of 48 and of 51, of which an odd and an even number of buckets is too many.
    for (last, room) in (1..=300).flat_map(|last| [(last, 48), (last, 51)]) {
        let timeline = of((1..=last).map(|number| Value::measured(f64::from(number))), room);
        let buckets = &timeline.rows[0].buckets;
        assert_eq!(buckets.len(), timeline.ends.len(), "{last}");
        let (sum, samples) =
            buckets.iter().fold((0.0, 0), |(sum, samples), bucket| (sum + bucket.sum, samples + bucket.samples));
        assert_eq!((sum, samples), (f64::from(last * (last + 1) / 2), usize::try_from(last).unwrap()));
        assert_eq!(timeline.ends.last().copied(), Some(f64::from(last)));
        let full = buckets.iter().rev().skip(1).all(|bucket| bucket.samples == timeline.in_bucket);
        assert!(full, "{last}: all but the last have as many samples");
    }
}

/// One doubtful sample makes its bucket doubtful; a bucket with a gap is not the mean of its time.
#[test]
fn a_bucket_is_as_doubtful_as_its_worst_sample() {
    let none = || Value::missing(Validity::not_defined("no turn"));
    let scaled = || Value::new(4.0, Validity::scaled(0.5));
    let suspect = || Value::new(4.0, Validity::suspect("changed by others"));
    let plain = || Value::measured(2.0);
    let mut pairs = vec![plain(), plain(), plain(), scaled(), suspect(), scaled(), plain(), none(), none(), none()];
    pairs.extend((0..50).map(|_| plain()));
    let timeline = of(pairs, 90);
    assert_eq!(timeline.in_bucket, 1, "60 samples have room");
    let marks: String = timeline.rows[0].buckets[..10].iter().map(Bucket::mark).collect();
    assert_eq!(marks, "   ~?~ !!!");
    let mut halved = timeline;
    halved.halve();
    let buckets = &halved.rows[0].buckets;
    let marks: String = buckets[..6].iter().map(Bucket::mark).collect();
    assert_eq!(marks, " ~??! ");
    assert_eq!(buckets[3].mean(), Some(2.0), "of those that have a number");
    assert_eq!(buckets[4].mean(), None);
}

/// A latency of 10 over 30 requests, then of 90 over 10: the mean of the requests is 30, not 50.
#[test]
fn quotients_weigh_as_much_as_their_denominators() {
    let mut timeline = Timeline::with_room(1);
    timeline.add(&report(1.0, Value::measured(10.0), Some(30.0)));
    timeline.add(&report(2.0, Value::measured(90.0), Some(10.0)));
    timeline.halve();
    assert_eq!(timeline.rows[0].buckets[0].mean(), Some(30.0));
    assert_eq!(timeline.rows[0].buckets[0].extremes(), Some((10.0, 90.0)));
}
