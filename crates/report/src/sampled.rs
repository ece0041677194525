//! How far numbers of a sampled run may lie from those of the whole run.

use pericore_metrics::Value;
use pericore_observe::session::{NORMAL, student};

use crate::row::{Report, Row};

/// Counts up to this vary by at least their root, however alike the parts are.
const RARE: f64 = 100.0;

/// A number may be off by so much of itself besides: caches that are filled by function are not
/// quite those of a detailed run.
const FUNCTION: f64 = 0.025;

/// Gives each row of a sampled run its 95 % interval: by Student's distribution from how much each number changes when
/// a part of the windows is left out (a jackknife), as in the reports `without`. `share` of the run was counted.
///
/// That it hardly changes says nothing of what is too rare to be in windows: the count of an event varies by at least
/// the root of what was counted, up to 100, and by at least 1.
pub fn add_intervals(report: &mut Report, without: &[Report], share: f64) {
    for (index, row) in report.rows.iter_mut().enumerate() {
        let numbers: Option<Vec<f64>> =
            without.iter().map(|without| without.rows.get(index).and_then(|row| row.value.number())).collect();
        let Some((number, error)) = row.value.number().zip(numbers.and_then(|numbers| jackknife(&numbers))) else {
            continue;
        };
        let error = if row.unit_of_measure.is_none() { error.max(least(number, share)) } else { error };
        row.standard_error = Some(error);
        let half = (NORMAL * error).hypot(FUNCTION * number);
        let is_never_below = number >= 0.0 && without.iter().all(|without| !is_negative(&without.rows[index]));
        let low = if is_never_below { (number - half).max(0.0) } else { number - half };
        row.interval = Some([low, number + half]);
    }
}

fn is_negative(row: &Row) -> bool {
    Value::number(&row.value).is_some_and(|number| number < 0.0)
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

    /// Four parts of 90, 100, 110 and 100 thousand; without each the mean of the others: 103.33, 100, 96.67 and 100.
    /// The deviation of the parts is 8165, that of their mean 4082.5; with three degrees of freedom 3.182 of these are
    /// 95 %, and 2.5 % of it besides.
    #[test]
    fn the_interval_is_students() {
        let without = [310e3 / 3.0, 100e3, 290e3 / 3.0, 100e3].map(|number| report(&[number], None));
        let mut whole = report(&[100e3], None);
        add_intervals(&mut whole, &without, 0.02);
        let [low, high] = whole.rows[0].interval.unwrap();
        let half = 12_991.0_f64.hypot(2500.0);
        assert!((low - 100e3 + half).abs() < 10.0 && (high - 100e3 - half).abs() < 10.0, "{low} to {high}");
    }

    /// Of 200 that were scaled up from 4, two deviations are the root of 4 times 50 and 1.96; none at all may have been
    /// one that was missed.
    #[test]
    fn what_is_rare_is_uncertain_however_alike_the_parts_are() {
        let without = [(); 20].map(|()| report(&[200.0, 0.0], None));
        let mut whole = report(&[200.0, 0.0], None);
        add_intervals(&mut whole, &without, 0.02);
        let near = |interval: Option<[f64; 2]>, low: f64, high: f64| {
            let [one, other] = interval.unwrap();
            assert!((one - low).abs() < 0.1 && (other - high).abs() < 0.1, "{one} to {other}");
        };
        near(whole.rows[0].interval, 3.9, 396.1);
        near(whole.rows[1].interval, 0.0, 98.0);
    }

    #[test]
    fn one_part_or_a_part_without_a_number_is_not_enough() {
        let mut whole = report(&[5.0], None);
        add_intervals(&mut whole, &[report(&[5.0], None)], 0.5);
        assert_eq!(whole.rows[0].interval, None);
        let mut missing = report(&[5.0], None);
        missing.rows[0].value = Value::missing(Validity::not_defined("no turn"));
        add_intervals(&mut whole, &[report(&[5.0], None), missing], 0.5);
        assert_eq!((whole.rows[0].interval, whole.rows[0].standard_error), (None, None));
    }

    #[test]
    fn a_metric_that_can_be_negative_has_an_interval_below_zero() {
        let unit = Some(pericore_metrics::UnitOfMeasure::from_symbol("ns").unwrap());
        let parts = [-1.0, 1.0].map(|number| report(&[number], unit));
        let mut whole = report(&[0.5], unit);
        add_intervals(&mut whole, &parts, 0.5);
        assert!(whole.rows[0].interval.unwrap()[0] < 0.0);
    }
}
