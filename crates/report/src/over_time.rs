//! How each row went over the intervals of a recording.

use std::io::{self, Write};

use pericore_metrics::{UnitOfMeasure, Validity};
use serde::Serialize;

use crate::figures::{line, placed, seconds, thousands};
use crate::lines::quoted;
use crate::row::{Place, Report, Row, placeholder};
use crate::style::Form;

/// Widths of the columns of numbers and of the time.
const NUMBER: usize = 9;
const TIME: usize = 13;

/// The rows of all intervals.
#[derive(Debug, Default)]
pub struct OverTime {
    series: Vec<Series>,
    intervals: usize,
    seconds: f64,
}

/// A row over all intervals.
#[derive(Debug)]
struct Series {
    name: String,
    place: Option<Place>,
    unit: UnitOfMeasure,
    is_metric: bool,
    points: Vec<Point>,
    validity: Validity,
}

/// A row's number in an interval that has one.
#[derive(Debug, Clone, Copy)]
struct Point {
    number: f64,
    /// What it weighs in the mean.
    weight: f64,
    end: f64,
}

/// What a series comes to, in its unit of measure.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Course {
    /// Each interval weighs as much as it is long; of a quotient of counts, as much as its denominator.
    mean: f64,
    least: f64,
    median: f64,
    p95: f64,
    most: f64,
    /// End of the interval with the most.
    most_at: f64,
}

impl OverTime {
    /// Adds an interval.
    pub fn add(&mut self, report: &Report) {
        if self.series.is_empty() {
            self.series = report.rows.iter().map(Series::of).collect();
        }
        self.intervals += 1;
        self.seconds += report.seconds;
        for (series, row) in self.series.iter_mut().zip(&report.rows) {
            series.add(row, report);
        }
    }

    /// Intervals so far.
    pub const fn intervals(&self) -> usize {
        self.intervals
    }

    /// How far the intervals lie apart, for each row: the standard error of the mean that follows from it, as a share
    /// of the mean.
    pub fn spreads(&self) -> Vec<Option<f64>> {
        self.series.iter().map(Series::spread).collect()
    }

    /// Prints a line for each row.
    ///
    /// # Errors
    /// An output that cannot be written.
    pub fn print(&self, form: Form<'_>, out: &mut impl Write, emulated: Option<&str>) -> io::Result<()> {
        match form {
            Form::Json => self.json(out, emulated)?,
            Form::Separated(separator) => self.separated(out, separator)?,
            Form::Table => self.table(out)?,
        }
        out.flush()
    }

    fn table(&self, out: &mut impl Write) -> io::Result<()> {
        let heading = ["mean", "least", "median", "95 %", "most"].map(|word| format!("{word:>NUMBER$}")).concat();
        writeln!(out, "\n{heading}{:>TIME$}", "at s")?;
        for series in &self.series {
            let (figures, symbol) = series.figures();
            let name = format!("{} {symbol}", placed(series.place.as_ref(), &series.name));
            line(out, &figures, name.trim_end())?;
        }
        let plural = if self.intervals == 1 { "" } else { "s" };
        writeln!(out, "\n over {} interval{plural}, {} s", self.intervals, seconds(self.seconds))?;
        for series in self.series.iter().filter(|series| !series.validity.reasons().is_empty()) {
            let without = self.intervals - series.points.len();
            let without = if without > 0 { format!("{without} without a number; ") } else { String::new() };
            writeln!(out, "   {}: {without}{}", series.name, series.validity)?;
        }
        Ok(())
    }

    fn json(&self, out: &mut impl Write, emulated: Option<&str>) -> io::Result<()> {
        for series in &self.series {
            let course = series.course();
            let shown = |number: fn(Course) -> f64| course.map(|course| series.unit.in_symbol(number(course)));
            let line = JsonSeries {
                socket: series.place.as_ref().map(|place| format!("S{}", place.socket)),
                instance: series.place.as_ref().and_then(|place| place.instance.as_deref()),
                aggregate_number: series.place.as_ref().map(|place| place.instances),
                event: &series.name,
                unit: series.unit.symbol(),
                mean: shown(|course| course.mean),
                least: shown(|course| course.least),
                median: shown(|course| course.median),
                p95: shown(|course| course.p95),
                most: shown(|course| course.most),
                most_at: course.map(|course| course.most_at),
                intervals: self.intervals,
                without_number: self.intervals - series.points.len(),
                validity: series.validity.grade().name(),
                reasons: (!series.validity.reasons().is_empty()).then(|| series.validity.to_string()),
                emulated,
            };
            serde_json::to_writer(&mut *out, &line)?;
            writeln!(out)?;
        }
        Ok(())
    }

    /// Fields in the order of the table: place if there is one, numbers, time, unit, name; then intervals, those
    /// without a number, validity.
    fn separated(&self, out: &mut impl Write, separator: &str) -> io::Result<()> {
        for series in &self.series {
            let mut fields: Vec<String> = series.place.iter().map(ToString::to_string).collect();
            match series.course() {
                Some(course) => {
                    fields.extend(course.numbers().map(|number| format!("{:.6}", series.unit.in_symbol(number))));
                    fields.push(format!("{:.9}", course.most_at));
                }
                None => fields.extend(std::iter::repeat_n(String::new(), 6)),
            }
            let without = self.intervals - series.points.len();
            fields.extend([series.unit.symbol().to_owned(), series.name.clone()]);
            fields.extend([self.intervals, without].map(|number| number.to_string()));
            fields.push(series.validity.grade().name().to_owned());
            let fields: Vec<_> = fields.iter().map(|field| quoted(field, separator)).collect();
            writeln!(out, "{}", fields.join(separator))?;
        }
        Ok(())
    }
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct JsonSeries<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    socket: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instance: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    aggregate_number: Option<usize>,
    event: &'a str,
    unit: &'a str,
    mean: Option<f64>,
    least: Option<f64>,
    median: Option<f64>,
    p95: Option<f64>,
    most: Option<f64>,
    most_at: Option<f64>,
    intervals: usize,
    without_number: usize,
    validity: &'a str,
    #[serde(rename = "concerns", skip_serializing_if = "Option::is_none")]
    reasons: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    emulated: Option<&'a str>,
}

impl Series {
    fn of(row: &Row) -> Self {
        Self {
            name: row.name.clone(),
            place: row.place.clone(),
            // Intervals differ in length: counts compare as rates.
            unit: row.unit_of_measure.unwrap_or(UnitOfMeasure::PerSecond),
            points: Vec::new(),
            is_metric: row.unit_of_measure.is_some(),
            validity: Validity::MEASURED,
        }
    }

    fn add(&mut self, row: &Row, report: &Report) {
        self.validity = std::mem::take(&mut self.validity).and(row.value.validity());
        let Some(number) = row.value.number() else { return };
        let (seconds, end) = (row.seconds, report.interval_end.unwrap_or(report.seconds));
        let number = match row.unit_of_measure {
            Some(_) => number,
            None if seconds > 0.0 => number / seconds,
            None => return,
        };
        self.points.push(Point { number, weight: row.weight(), end });
    }

    fn course(&self) -> Option<Course> {
        let mut sorted: Vec<f64> = self.points.iter().map(|point| point.number).collect();
        sorted.sort_by(f64::total_cmp);
        let (&least, &most) = (sorted.first()?, sorted.last()?);
        let highest = self.points.iter().find(|point| point.number == most)?;
        let whole: f64 = self.points.iter().map(|point| point.weight).sum();
        let weighted = self.points.iter().map(|point| point.number * point.weight).sum::<f64>();
        let mean = if whole > 0.0 { weighted / whole } else { sorted.iter().sum::<f64>() / sorted.len() as f64 };
        let (median, p95) = (percentile(&sorted, 50), percentile(&sorted, 95));
        Some(Course { mean, least, median, p95, most, most_at: highest.end })
    }

    /// The standard error of the mean as a share of it; nothing for a single interval or a mean of 0, or if no number
    /// can hold it. Short intervals vary more,
    /// and weigh less.
    fn spread(&self) -> Option<f64> {
        let mean = self.course()?.mean;
        let whole: f64 = self.points.iter().map(|point| point.weight).sum();
        if self.points.len() < 2 || mean == 0.0 || whole <= 0.0 {
            return None;
        }
        let squares: f64 = self.points.iter().map(|point| point.weight * (point.number - mean).powi(2)).sum();
        let share = (squares / (self.points.len() - 1) as f64 / whole).sqrt() / mean.abs();
        // Squares of absurd numbers, or what is divided by next to nothing.
        share.is_finite().then_some(share)
    }

    /// The table's numbers, all in one symbol, so that they compare.
    fn figures(&self) -> (String, &'static str) {
        let Some(course) = self.course() else {
            return (format!("{:>1$}", placeholder(self.validity.grade(), self.is_metric), 5 * NUMBER + TIME), "");
        };
        let largest = if course.most.abs() >= course.least.abs() { course.most } else { course.least };
        let (scaled, symbol) = self.unit.scaled(largest);
        let factor = if largest == 0.0 { 1.0 } else { scaled / largest };
        let cell = |number: f64| format!("{:>NUMBER$}", figure(number * factor));
        let numbers = course.numbers().map(cell).concat();
        (format!("{numbers}{:>TIME$}", seconds(course.most_at)), symbol)
    }
}

impl Course {
    const fn numbers(self) -> [f64; 5] {
        [self.mean, self.least, self.median, self.p95, self.most]
    }
}

/// The least of the numbers that so many per cent of them do not exceed.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted[rank - 1]
}

/// A number in the width of a column.
fn figure(number: f64) -> String {
    match number.abs() {
        size if size < 10.0 => format!("{number:.3}"),
        size if size < 100.0 => format!("{number:.2}"),
        size if size < 1000.0 => format!("{number:.1}"),
        size if size < 999_999.5 => thousands(number),
        _ => format!("{number:.2e}"),
    }
}

#[cfg(test)]
mod tests {
    use pericore_metrics::Value;

    use super::*;

    #[test]
    fn a_figure_has_four_digits() {
        let shown = [0.0, 9.999, 10.0, -99.99, 100.0, 999.9, 1000.0, 999_999.0, 1e6].map(figure);
        let wanted = ["0.000", "9.999", "10.00", "-99.99", "100.0", "999.9", "1,000", "999,999", "1.00e6"];
        assert_eq!(shown, wanted);
    }

    fn interval(end: f64, seconds: f64, count: Option<f64>, share: f64) -> Report {
        let row =
            |name: &str, value: Value, unit_of_measure| Row { seconds, unit_of_measure, ..Row::named(name, value) };
        let count = count.map_or_else(|| Value::missing(Validity::not_defined("no turn")), Value::measured);
        let rows = vec![row("x", count, None), row("y", Value::measured(share), Some(UnitOfMeasure::Percent))];
        Report { interval_end: Some(end), seconds, ..Report::of(rows) }
    }

    /// 100, 50 and 300 in one second, one second and two: rates 100, 50 and 150, whose mean is 450 in 4 s. Without its
    /// last number.
    #[test]
    fn counts_are_rates_and_long_intervals_weigh_more() {
        let mut over_time = OverTime::default();
        for (end, seconds, count, share) in [
            (1.0, 1.0, Some(100.0), 0.5),
            (2.0, 1.0, Some(50.0), 0.1),
            (4.0, 2.0, Some(300.0), 0.3),
            (5.0, 1.0, None, 0.5),
        ] {
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
}
