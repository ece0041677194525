//! How far numbers of a sampled run may lie from those of the whole run.

use pericore_metrics::{UnitOfMeasure, Value};
use pericore_observe::session::{NORMAL, student};

use crate::row::{Report, Row};

/// Counts up to this vary by at least their root, however alike the parts are.
const RARE: f64 = 100.0;

/// Caches that are filled by function do not matter to a number that varies by less than this share of it: it is a
/// clock's, or a constant. A latency is neither, however alike the windows are.
const CONSTANT: f64 = 1e-5;

/// What a sampled run was.
#[derive(Debug, Clone, Copy)]
pub struct Sampled {
    /// How much of it was counted, as a share.
    pub share: f64,
    /// Numbers may be off by such a share of them besides, since caches were filled by function.
    pub by_function: f64,
    /// The parts follow each other in time, so that what changes slowly makes neighbours alike.
    pub in_order: bool,
    /// The error that was requested, as a share of each number.
    pub requested: Option<f64>,
}

/// Gives each row of a sampled run its 95 % interval: by Student's distribution from how much each number changes when
/// a part of the windows is left out (a jackknife), as in the reports `without`.
///
/// That it hardly changes says nothing of what is too rare to be in windows: the count of an event varies by at least
/// the root of what was counted, up to 100, and by at least 1. What was counted is known: only the rest varies.
pub fn add_intervals(report: &mut Report, without: &[Report], of: Sampled) {
    for (index, row) in report.rows.iter_mut().enumerate() {
        let numbers: Option<Vec<f64>> =
            without.iter().map(|without| without.rows.get(index).and_then(|row| row.value.number())).collect();
        let Some((number, error)) = row.value.number().zip(numbers.and_then(|numbers| spread(&numbers, of.in_order)))
        else {
            continue;
        };
        let is_latency = matches!(row.unit_of_measure, Some(UnitOfMeasure::Nanoseconds | UnitOfMeasure::Cycles));
        let is_constant = error < CONSTANT * number.abs() && !is_latency;
        let counted = of.share.min(row.value.validity().duty()).min(1.0);
        let least = if row.unit_of_measure.is_none() { least(number, counted) * (1.0 - counted).sqrt() } else { 0.0 };
        let error = error.max(least);
        let function = if is_constant { 0.0 } else { of.by_function };
        let half = (NORMAL * error).hypot(function * number);
        row.standard_error = Some(half / NORMAL);
        let is_never_below = number >= 0.0 && without.iter().all(|without| !is_negative(&without.rows[index]));
        let low = if is_never_below { (number - half).max(0.0) } else { number - half };
        row.interval = Some([low, number + half]);
        row.requested =
            of.requested.filter(|_| number != 0.0).map(|requested| (requested, half <= requested * number.abs()));
    }
}

/// The row whose interval is the widest for its number, and half of it as a share. Numbers that are zero have none: an
/// event that is in no window is not waited for. Nothing without any interval.
pub fn widest(report: &Report) -> Option<(f64, &Row)> {
    let half = |row: &Row| {
        let ([_, high], number) = (row.interval?, row.value.number()?);
        Some(if number == 0.0 { 0.0 } else { (high - number) / number.abs() })
    };
    let halves = report.rows.iter().filter_map(|row| Some((half(row)?, row)));
    halves.max_by(|(one, _), (other, _)| one.total_cmp(other))
}

fn is_negative(row: &Row) -> bool {
    Value::number(&row.value).is_some_and(|number| number < 0.0)
}

/// The standard error of a number, from what it would be without each part. Of parts in order, neighbours are also
/// taken together, two and four of them: the largest is believed, since what is alike in neighbours hides how much
/// varies.
fn spread(without: &[f64], in_order: bool) -> Option<f64> {
    let together = |count: usize| {
        let mean = without.iter().sum::<f64>() / without.len() as f64;
        // Without several parts a number is off by about what it is off without each, added up.
        let groups = without.chunks_exact(count).map(|group| group.iter().map(|number| number - mean).sum::<f64>());
        jackknife(&groups.collect::<Vec<_>>())
    };
    let sizes: &[usize] = if in_order { &[1, 2, 4] } else { &[1] };
    sizes.iter().filter_map(|&size| together(size)).reduce(f64::max)
}

/// The standard error of a number, from what it would be without each part; wider by Student's factor. None of fewer
/// than two parts.
#[expect(clippy::cast_precision_loss, reason = "they are few")]
fn jackknife(without: &[f64]) -> Option<f64> {
    let count = without.len() as f64;
    let freedom = without.len().checked_sub(1).filter(|&freedom| freedom > 0)?;
    let mean = without.iter().sum::<f64>() / count;
    let squares: f64 = without.iter().map(|number| (number - mean).powi(2)).sum();
    Some((squares * (count - 1.0) / count).sqrt() * student(freedom))
}

/// What a count that was scaled up from a share varies by at least.
fn least(number: f64, share: f64) -> f64 {
    (number * share).clamp(1.0, RARE).sqrt() / share
}

#[cfg(test)]
mod tests {
    use super::*;
    use pericore_metrics::Validity;

    fn report(numbers: &[f64], unit: Option<pericore_metrics::UnitOfMeasure>) -> Report {
        let row = |&number: &f64| Row { unit_of_measure: unit, ..Row::named("x", Value::measured(number)) };
        Report::of(numbers.iter().map(row).collect())
    }

    const OF_WORKLOAD: Sampled = Sampled { share: 0.02, by_function: 0.0, in_order: false, requested: None };

    /// Four parts of 90, 100, 110 and 100 thousand; without each the mean of the others: 103.33, 100, 96.67 and 100.
    /// The deviation of the parts is 8165, that of their mean 4082.5; with three degrees of freedom 3.182 of these are
    /// 95 %: 12,991. 2.45 % are added where it may be off by as much.
    #[test]
    fn the_interval_is_students() {
        let without = [310e3 / 3.0, 100e3, 290e3 / 3.0, 100e3].map(|number| report(&[number], None));
        for (by_function, half) in [(0.0, 12_991.0_f64), (0.0245, 12_991.0_f64.hypot(2450.0))] {
            let mut whole = report(&[100e3], None);
            add_intervals(&mut whole, &without, Sampled { by_function, ..OF_WORKLOAD });
            let [low, high] = whole.rows[0].interval.unwrap();
            assert!((low - 100e3 + half).abs() < 10.0 && (high - 100e3 - half).abs() < 10.0, "{low} to {high}");
            let (share, widest) = widest(&whole).unwrap();
            assert!((share - half / 100e3).abs() < 1e-4 && widest.name == "x");
        }
    }

    /// A pointer chase waits as long in each window, and is measured behind caches that were filled by function: 2.4 %
    /// of 50 ns are 1.2. A clock's rate has nothing to do with these.
    #[test]
    fn a_latency_that_does_not_vary_is_not_known_to_the_last_digit() {
        let intervals = [UnitOfMeasure::Nanoseconds, UnitOfMeasure::Hertz].map(|unit| {
            let without = [(); 20].map(|()| report(&[50.0], Some(unit)));
            let mut whole = report(&[50.0], Some(unit));
            add_intervals(&mut whole, &without, Sampled { by_function: 0.024, ..OF_WORKLOAD });
            (whole.rows[0].interval.unwrap(), whole.rows[0].standard_error.unwrap())
        });
        let [([low, high], error), (constant, none)] = intervals;
        assert!((low - 48.8).abs() < 1e-9 && (high - 51.2).abs() < 1e-9 && (error * NORMAL - 1.2).abs() < 1e-9);
        assert_eq!((constant, none), ([50.0; 2], 0.0));
    }

    /// Of 200 that were scaled up from 4, two deviations are the root of 4 times 50 and 1.96, or 196, less for the
    /// fiftieth that is known; none at all may have been one that was missed.
    #[test]
    fn what_is_rare_is_uncertain_however_alike_the_parts_are() {
        let without = [(); 20].map(|()| report(&[200.0, 0.0], None));
        let mut whole = report(&[200.0, 0.0], None);
        add_intervals(&mut whole, &without, Sampled { requested: Some(0.98), ..OF_WORKLOAD });
        let near = |interval: Option<[f64; 2]>, low: f64, high: f64| {
            let [one, other] = interval.unwrap();
            assert!((one - low).abs() < 0.1 && (other - high).abs() < 0.1, "{one} to {other}");
        };
        near(whole.rows[0].interval, 5.9, 394.1);
        near(whole.rows[1].interval, 0.0, 97.0);
        // 97 % of 200 are within 98 %, and of none there is no share.
        assert_eq!((whole.rows[0].requested, whole.rows[1].requested), (Some((0.98, true)), None));
        assert!((widest(&whole).unwrap().0 - 0.9702).abs() < 1e-3);
    }

    /// Twenty parts, the first ten without which a number is 1 less, and the others without which it is 1 more. With
    /// 19 degrees of freedom the deviation is the root of 19 times 2.093 / 1.96, or 4.65. Of five groups of four, two
    /// are 4 less, two 4 more, and one neither: the root of 4/5 times 64, times 2.776 / 1.96, or 10.1.
    #[test]
    fn what_changes_slowly_is_seen_in_groups_of_parts() {
        let without: Vec<f64> = (0..20).map(|part| if part < 10 { 99.0 } else { 101.0 }).collect();
        let [apart, in_order] = [false, true].map(|in_order| spread(&without, in_order).unwrap());
        assert!((apart - 4.65).abs() < 0.05 && (in_order - 10.13).abs() < 0.05, "{apart}, {in_order}");
    }

    /// What was counted whole is known.
    #[test]
    fn a_whole_run_has_no_error() {
        let without = [(); 20].map(|()| report(&[100e3], None));
        let mut whole = report(&[100e3], None);
        add_intervals(
            &mut whole,
            &without,
            Sampled { share: 1.0, by_function: 0.0, in_order: false, requested: Some(0.001) },
        );
        assert_eq!((whole.rows[0].interval, whole.rows[0].requested), (Some([100e3; 2]), Some((0.001, true))));
    }

    #[test]
    fn one_part_or_a_part_without_a_number_is_not_enough() {
        let half = Sampled { share: 0.5, ..OF_WORKLOAD };
        let mut whole = report(&[5.0], None);
        add_intervals(&mut whole, &[report(&[5.0], None)], half);
        assert_eq!(whole.rows[0].interval, None);
        let mut missing = report(&[5.0], None);
        missing.rows[0].value = Value::missing(Validity::not_defined("no turn"));
        add_intervals(&mut whole, &[report(&[5.0], None), missing], half);
        assert_eq!((whole.rows[0].interval, whole.rows[0].standard_error), (None, None));
        assert!(widest(&whole).is_none());
    }

    #[test]
    fn a_metric_that_can_be_negative_has_an_interval_below_zero() {
        let unit = Some(pericore_metrics::UnitOfMeasure::from_symbol("ns").unwrap());
        let parts = [-1.0, 1.0].map(|number| report(&[number], unit));
        let mut whole = report(&[0.5], unit);
        add_intervals(&mut whole, &parts, Sampled { share: 0.5, ..OF_WORKLOAD });
        assert!(whole.rows[0].interval.unwrap()[0] < 0.0);
    }
}
