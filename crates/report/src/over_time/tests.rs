//! Rows over intervals, worked out by hand.

use pericore_metrics::Value;

use super::*;

#[test]
fn a_figure_has_four_digits() {
    let shown = [0.0, 9.999, 10.0, -99.99, 100.0, 999.9, 1000.0, 999_999.0, 1e6].map(figure);
    let wanted = ["0.000", "9.999", "10.00", "-99.99", "100.0", "999.9", "1,000", "999,999", "1.00e6"];
    assert_eq!(shown, wanted);
}

fn interval(end: f64, seconds: f64, count: Option<f64>, share: f64) -> Report {
    let row = |name: &str, value: Value, unit_of_measure| Row { seconds, unit_of_measure, ..Row::named(name, value) };
    let count = count.map_or_else(|| Value::missing(Validity::not_defined("no turn")), Value::measured);
    let rows = vec![row("x", count, None), row("y", Value::measured(share), Some(UnitOfMeasure::Percent))];
    Report { interval_end: Some(end), seconds, ..Report::of(rows) }
}

/// 100, 50 and 300 in one second, one second and two: rates 100, 50 and 150, whose mean is 450 in 4 s. Without its
/// last number.
#[test]
fn counts_are_rates_and_long_intervals_weigh_more() {
    let mut over_time = OverTime::default();
    for (end, seconds, count, share) in
        [(1.0, 1.0, Some(100.0), 0.5), (2.0, 1.0, Some(50.0), 0.1), (4.0, 2.0, Some(300.0), 0.3), (5.0, 1.0, None, 0.5)]
    {
        over_time.add(&interval(end, seconds, count, share));
    }
    let course = over_time.series[0].course().unwrap();
    assert_eq!(course, Course { mean: 112.5, least: 50.0, median: 100.0, p95: 150.0, most: 150.0, most_at: 4.0 });
    // Residuals -12.5, -62.5 and 37.5: squares by length 156.25 + 3906.25 + 2812.5, over 2 degrees of freedom and 4
    // s.
    let spread = over_time.series[0].spread().unwrap();
    assert!((spread - (6875.0_f64 / 2.0 / 4.0).sqrt() / 112.5).abs() < 1e-12, "{spread}");
    let shares = over_time.series[1].course().unwrap();
    assert_eq!((shares.median, shares.most, shares.most_at), (0.3, 0.5, 1.0), "the first of two");
    let mut table = Vec::new();
    over_time.table(&mut table).unwrap();
    let table = String::from_utf8(table).unwrap();
    assert!(table.contains("    112.5    50.00    100.0    150.0    150.0     4.000000  x /s\n"), "{table}");
    assert!(table.contains("    34.00    10.00    30.00    50.00    50.00     1.000000  y %\n"), "{table}");
    assert!(table.contains("x: 1 without a number; not defined: no turn"), "{table}");
}

/// A share of -8.5 % in the first of three intervals, none in the second: what has a number is suspect, and the
/// numbers that are have a mark. Which of two equal ones is the most does not hang on a rounding.
#[test]
fn numbers_that_cannot_be_are_marked() {
    let mut over_time = OverTime::default();
    for (end, share) in [(1.0, Some(-0.085)), (2.0, None), (3.0, Some(0.94)), (4.0, Some(0.940_000_000_000_000_1))] {
        let mut report = interval(end, 1.0, None, 0.0);
        report.rows[1].value = match share {
            Some(share) if share < 0.0 => Value::new(share, Validity::suspect("it cannot be less than 0")),
            Some(share) => Value::measured(share),
            None => Value::missing(Validity::not_defined("the denominator is zero")),
        };
        over_time.add(&report);
    }
    let series = &over_time.series[1];
    assert_eq!((series.grade(), series.course().unwrap().most_at), (Grade::Suspect, 3.0));
    assert_eq!(series.figures().0, "    59.83?  -8.500?   94.00    94.00    94.00     3.000000");
    let words = series.all().to_string();
    assert!(words.contains("less than 0") && words.contains("denominator"), "{words}");
    // Another without any number says why.
    assert_eq!(over_time.series[0].grade(), Grade::NotDefined);
}

/// A latency of 10 cycles over 30 requests, then of 90 over 10: 1,200 cycles over 40 requests are 30. Of the two
/// seconds the mean is 50.
#[test]
fn a_quotients_mean_is_that_of_its_counts() {
    let mut over_time = OverTime::default();
    for (end, cycles, requests) in [(1.0, 10.0, 30.0), (2.0, 90.0, 10.0)] {
        let mut report = interval(end, 1.0, None, cycles);
        report.rows[1].nature.weight = Some(requests);
        over_time.add(&report);
    }
    assert_eq!(over_time.series[1].course().unwrap().mean, 30.0);
}

/// Their squares are beyond all numbers.
#[test]
fn a_spread_that_is_no_number_is_none() {
    let mut over_time = OverTime::default();
    for share in [1e200, 3e200] {
        over_time.add(&interval(1.0, 1.0, None, share));
    }
    assert_eq!(over_time.spreads(), [None, None]);
}

#[test]
fn percentiles_are_numbers_that_occurred() {
    let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
    assert_eq!((percentile(&hundred, 50), percentile(&hundred, 95)), (50.0, 95.0));
    assert_eq!((percentile(&[7.0], 50), percentile(&[7.0], 95)), (7.0, 7.0));
    assert_eq!(percentile(&[1.0, 2.0, 3.0], 95), 3.0);
}

#[test]
fn figures_fit_their_column() {
    for number in [0.0, 9.9999, 99.999, 999.99, 999_999.4, 999_999.6, 1e18, -9.9999, -99_999.9] {
        assert!(figure(number).len() < NUMBER, "{}", figure(number));
    }
}
