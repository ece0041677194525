//! The table for people: aligned, within 80 columns.

use std::io::{self, Write};

use pericore_metrics::UnitOfMeasure;

use super::{Place, Report, Row, limits, summary};
use crate::terminal::columns;

/// Widths of the columns of numbers; the name gets the rest of 80 columns.
const VALUE: usize = 18;
const TRUTH: usize = 18;
const ERROR: usize = 9;
const SHARE: usize = 12;
const LINE: usize = 80;

/// Seconds with as many digits as tell something: a software machine's run may be over within a microsecond.
pub fn seconds(seconds: f64) -> String {
    if seconds < 1e-3 { format!("{seconds:.9}") } else { format!("{seconds:.6}") }
}

/// How long a report's counters ran.
fn length(report: &Report) -> String {
    let at_most = if report.stood { "at most " } else { "" };
    format!("{at_most}{} s", seconds(report.seconds))
}

/// How whole numbers are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Digits {
    /// With separators between thousands.
    #[default]
    Grouped,
    /// As a program wants them.
    Plain,
}

/// Prints a report. With `truth`, the model's figure and the difference stand beside each number.
pub fn print(out: &mut impl Write, report: &Report, truth: bool, digits: Digits) -> io::Result<()> {
    if report.is_summary {
        writeln!(out, "\n all intervals together:")?;
    }
    if let Some(end) = report.interval_end {
        let withdrawn = if report.is_withdrawn { "withdrawn: " } else { "" };
        writeln!(out, "\n {withdrawn}at {} s, the last {}:", seconds(end), length(report))?;
    }
    summary::print(out, report)?;
    writeln!(out)?;
    let numbers = |value: &str, truth_text: &str, error: &str| {
        if truth { format!("{value:>VALUE$}{truth_text:>TRUTH$}{error:>ERROR$}") } else { format!("{value:>VALUE$}") }
    };
    if truth {
        writeln!(out, "{}", numbers("measured", "truth", "error"))?;
    }
    for row in &report.rows {
        let (value, true_value, error) = texts(row, digits);
        let mut name = placed(row.place.as_ref(), &row.title());
        if let Some(spread) = row.spread {
            name = format!("{name} (+- {:.2} %)", spread * 100.0);
        }
        line(out, &numbers(&value, &true_value, &error), &name)?;
    }
    writeln!(out)?;
    validity(out, report, &report.rows.iter().collect::<Vec<_>>())?;
    limits::print(out, report)
}

/// A row's name behind its place.
pub fn placed(place: Option<&Place>, name: &str) -> String {
    place.map_or_else(|| name.to_owned(), |place| format!("{place} {name}"))
}

/// A line of figures and a name. A name that is too long for the rest of the line gets one of its own, the figures under it.
pub fn line(out: &mut impl Write, figures: &str, name: &str) -> io::Result<()> {
    if columns(figures) + 2 + columns(name) <= LINE {
        writeln!(out, "{figures}  {name}")
    } else {
        writeln!(out, "  {name}\n{figures}")
    }
}

/// A number as the table shows it: a count, or in a unit of measure.
fn shown(number: f64, unit_of_measure: Option<UnitOfMeasure>, digits: Digits) -> String {
    let Some(unit) = unit_of_measure else { return digits.whole(number) };
    let (scaled, symbol) = unit.scaled(number);
    let is_whole = scaled.abs() >= 1000.0 && scaled.fract() == 0.0;
    let text = if is_whole { digits.whole(scaled) } else { format!("{scaled:.3}") };
    format!("{text} {symbol}").trim_end().to_owned()
}

/// A row's value, or what stands for it.
pub fn value(row: &Row) -> String {
    value_in(row, Digits::Grouped)
}

fn value_in(row: &Row, digits: Digits) -> String {
    let number = row.value.number().map(|number| shown(number, row.unit_of_measure, digits));
    number.unwrap_or_else(|| row.placeholder().to_owned())
}

/// Prints each row and the time of each run, and how far they lie from the mean of all.
pub fn runs(out: &mut impl Write, all: &Report, each: &[Report], digits: Digits) -> io::Result<()> {
    let run = |out: &mut dyn Write, index: usize, value: &str, number: Option<f64>, mean: Option<f64>| {
        let share = number.zip(mean).map(|(number, mean)| (number - mean) / mean.abs() * 100.0);
        let share = share.filter(|share| share.is_finite());
        // Means are rounded: what is not there has no sign.
        let share = share.map(|share| if share.abs() < 0.005 { 0.0 } else { share });
        let share = share.map_or_else(|| "-".to_owned(), |share| format!("{share:+.2} %"));
        writeln!(out, "{value:>VALUE$}{share:>SHARE$}  run {}", index + 1)
    };
    writeln!(out, "\n each run, and how far it lies from the mean:")?;
    for (at, row) in all.rows.iter().enumerate() {
        writeln!(out, "  {}", placed(row.place.as_ref(), &row.name))?;
        for (index, report) in each.iter().enumerate() {
            // Each run is planned anew, and others may have taken units in between.
            let Some(own) = report.rows.get(at) else { continue };
            run(out, index, &value_in(own, digits), own.value.number(), row.value.number())?;
        }
    }
    writeln!(out, "  time")?;
    for (index, report) in each.iter().enumerate() {
        run(out, index, &length(report), Some(report.seconds), Some(all.seconds))?;
    }
    writeln!(out)
}

/// Value, truth and error as texts.
fn texts(row: &Row, digits: Digits) -> (String, String, String) {
    let show = |number: f64| shown(number, row.unit_of_measure, digits);
    let value = value_in(row, digits);
    let truth = row.truth.map_or_else(|| "-".to_owned(), show);
    let error = match (row.error(), row.unit_of_measure) {
        (None, _) => "-".to_owned(),
        (Some(0.0), _) => "0".to_owned(),
        (Some(error), None) => digits.whole(error),
        (Some(error), Some(_)) => {
            let share = error / row.truth.unwrap_or(1.0);
            if share.abs() < 5e-10 { "0".to_owned() } else { format!("{:+.1e}", share) }
        }
    };
    (value, truth, error)
}

/// How far those rows can be trusted that are shown: one line if all are plainly measured, else what there is to say of the others, too.
pub fn validity(out: &mut impl Write, report: &Report, shown: &[&Row]) -> io::Result<()> {
    let doubtful: Vec<&Row> = shown.iter().filter(|row| !row.value.validity().concerns().is_empty()).copied().collect();
    let runs = match report.runs {
        None => String::new(),
        Some(1) => " in the only run".to_owned(),
        Some(runs) => format!(" in each of {runs} runs"),
    };
    if doubtful.is_empty() {
        return writeln!(out, " validity: all measured, over {}{runs}", length(report));
    }
    let measured = shown.len() - doubtful.len();
    writeln!(out, " validity: {measured} of {} measured, over {}{runs}", shown.len(), length(report))?;
    doubts(out, doubtful.into_iter())
}

/// What is to be said of rows that are not plainly measured, each once, with the first row that it is about.
pub fn doubts<'r>(out: &mut impl Write, rows: impl Iterator<Item = &'r Row>) -> io::Result<()> {
    let mut said: Vec<(String, &str, usize)> = Vec::new();
    for row in rows {
        let precision = row.precision().map_or_else(String::new, |precision| format!(", {precision}"));
        let words = format!("{}{precision}", row.value.validity());
        match said.iter_mut().find(|(known, ..)| *known == words) {
            Some((.., others)) => *others += 1,
            None => said.push((words, &row.name, 0)),
        }
    }
    said.iter().try_for_each(|(words, name, others)| match others {
        0 => writeln!(out, "   {name}: {words}"),
        _ => writeln!(out, "   {name} and {others} more: {words}"),
    })
}

impl Digits {
    fn whole(self, number: f64) -> String {
        match self {
            Self::Grouped => thousands(number),
            Self::Plain => format!("{number:.0}"),
        }
    }
}

/// A whole number with separators between thousands.
pub fn thousands(number: f64) -> String {
    let digits = format!("{:.0}", number.abs());
    let mut text = String::with_capacity(digits.len() * 4 / 3 + 1);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    if number < 0.0 { format!("-{text}") } else { text }
}

#[cfg(test)]
mod tests {
    #[test]
    fn short_times_are_not_nothing() {
        assert_eq!(super::seconds(2.5e-7), "0.000000250");
        assert_eq!(super::seconds(0.25), "0.250000");
    }

    #[test]
    fn thousands_are_separated() {
        assert_eq!(super::thousands(0.0), "0");
        assert_eq!(super::thousands(999.0), "999");
        assert_eq!(super::thousands(1000.0), "1,000");
        assert_eq!(super::thousands(-1_234_567.0), "-1,234,567");
    }
}
