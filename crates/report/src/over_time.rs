//! How each row went over the intervals of a recording.

use std::io::{self, Write};

use pericore_metrics::{Grade, UnitOfMeasure, Validity};
use serde::Serialize;

use crate::figures::{line, placed, seconds, thousands};
use crate::lines::quoted;
use crate::row::{Place, Report, Row, mark, placeholder};
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
    /// Of the intervals with a number.
    validity: Validity,
    /// Of those without.
    missing: Validity,
}

/// A row's number in an interval that has one.
#[derive(Debug, Clone, Copy)]
struct Point {
    number: f64,
    /// What it weighs in the mean.
    weight: f64,
    end: f64,
    grade: Grade,
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
        for series in &self.series {
            let validity = series.all();
            if validity.reasons().is_empty() {
                continue;
            }
            let without = self.intervals - series.points.len();
            let without = if without > 0 { format!("{without} without a number; ") } else { String::new() };
            writeln!(out, "   {}: {without}{validity}", series.name)?;
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
                validity: series.grade().name(),
                reasons: Some(series.all()).filter(|all| !all.reasons().is_empty()).map(|all| all.to_string()),
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
            fields.push(series.grade().name().to_owned());
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
            missing: Validity::MEASURED,
        }
    }

    fn add(&mut self, row: &Row, report: &Report) {
        let Some(number) = row.value.number() else {
            self.missing = std::mem::take(&mut self.missing).and(row.value.validity());
            return;
        };
        self.validity = std::mem::take(&mut self.validity).and(row.value.validity());
        let (seconds, end) = (row.seconds, report.interval_end.unwrap_or(report.seconds));
        let number = match row.unit_of_measure {
            Some(_) => number,
            None if seconds > 0.0 => number / seconds,
            None => return,
        };
        self.points.push(Point { number, weight: row.weight(), end, grade: row.value.validity().grade() });
    }

    /// How far its numbers can be trusted; without any, why there are none.
    fn grade(&self) -> Grade {
        if self.points.is_empty() { self.missing.grade() } else { self.validity.grade() }
    }

    /// What there is to say of its intervals, with a number or without.
    fn all(&self) -> Validity {
        self.validity.clone().and(&self.missing)
    }

    fn course(&self) -> Option<Course> {
        let mut sorted: Vec<f64> = self.points.iter().map(|point| point.number).collect();
        sorted.sort_by(f64::total_cmp);
        let (&least, &most) = (sorted.first()?, sorted.last()?);
        // Times have roundings: of what is the same, the first.
        let highest = self.points.iter().find(|point| point.number >= most - most.abs() * f64::EPSILON * 16.0)?;
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
            return (format!("{:>1$}", placeholder(self.grade(), self.is_metric), 5 * NUMBER + TIME), "");
        };
        let largest = if course.most.abs() >= course.least.abs() { course.most } else { course.least };
        let (scaled, symbol) = self.unit.scaled(largest);
        let factor = if largest == 0.0 { 1.0 } else { scaled / largest };
        let is_doubtful = |number: f64| self.points.iter().any(|at| at.number == number && at.grade == Grade::Suspect);
        let (mut line, mut width) = (String::new(), NUMBER);
        for (column, number) in course.numbers().into_iter().enumerate() {
            line += &format!("{:>width$}", figure(number * factor));
            // The mean is of all of them. A mark takes the space before the next column.
            let is_marked = if column == 0 { self.grade() == Grade::Suspect } else { is_doubtful(number) };
            width = NUMBER - usize::from(is_marked);
            line.extend(is_marked.then(|| mark(Grade::Suspect)));
        }
        (format!("{line}{:>1$}", seconds(course.most_at), TIME + width - NUMBER), symbol)
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
mod tests;
