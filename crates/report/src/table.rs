//! The table for people: aligned, within 80 columns.

use std::io::{self, Write};

use pericore_metrics::Grade;

use crate::die::Die;
use crate::figures::{Digits, line, placed, precision, seconds, shown, value_in};
use crate::row::{Report, Row, mark};
use crate::style::Style;
use crate::{limits, summary};

/// Widths of the columns of numbers; the name gets the rest of 80 columns.
const VALUE: usize = 18;
const TRUTH: usize = 18;
const ERROR: usize = 9;
const SHARE: usize = 12;

/// What the column of errors says, and what it does not.
const WHAT_ERROR_IS: &str =
    " error 0: the counters count what the model does; how close the model is to\n   silicon is in docs/calibration.md";

/// How long a report's counters ran.
fn length(report: &Report) -> String {
    let at_most = if report.stood { "at most " } else { "" };
    format!("{at_most}{} s", seconds(report.seconds))
}

/// For which share of the time nothing was counted, if it was any.
fn paused(report: &Report) -> String {
    let share = report.paused * 100.0;
    if share < 0.005 { String::new() } else { format!("; paused {share:.2} %") }
}

/// Prints a report.
///
/// # Errors
/// An output that cannot be written.
pub fn print(out: &mut impl Write, report: &Report, style: Style<'_>) -> io::Result<()> {
    let Style { truth, digits, unicode, .. } = style;
    if report.is_summary {
        writeln!(out, "\n all intervals:")?;
    }
    if let Some(end) = report.interval_end {
        let withdrawn = if report.is_withdrawn { "withdrawn: " } else { "" };
        writeln!(out, "\n {withdrawn}at {} s, the last {}:", seconds(end), length(report))?;
    }
    summary::print(out, report, unicode)?;
    writeln!(out)?;
    let numbers = |value: &str, truth_text: &str, error: &str| {
        if truth { format!("{value:>VALUE$}{truth_text:>TRUTH$}{error:>ERROR$}") } else { format!("{value:>VALUE$}") }
    };
    if truth {
        writeln!(out, "{}", numbers("measured", "model", "error"))?;
    }
    for row in &report.rows {
        // The truth of each would have no room there.
        if let Some(die) = Die::of(report, row).filter(|_| !truth) {
            if die.begins_with(row) {
                die.print(out, digits)?;
            }
            continue;
        }
        let (value, true_value, error) = texts(row, digits);
        let mut name = placed(row.place.as_ref(), &row.title());
        if let Some(spread) = row.spread {
            name = format!("{name} (+- {:.2} %)", spread * 100.0);
        }
        name += &row.interval.map_or_else(|| doubt(row), |[low, high]| half_interval(row, high - low));
        line(out, &numbers(&value, &true_value, &error), &name)?;
    }
    writeln!(out)?;
    validity(out, report, &report.rows.iter().collect::<Vec<_>>())?;
    if truth && report.interval_end.is_none() {
        writeln!(out, "{WHAT_ERROR_IS}")?;
    }
    limits::print(out, report)
}

/// Prints each row and the time of each run, and how far they lie from the mean of all.
///
/// # Errors
/// An output that cannot be written.
pub fn runs(out: &mut impl Write, all: &Report, each: &[Report], digits: Digits) -> io::Result<()> {
    let run = |out: &mut dyn Write, index: usize, value: &str, number: Option<f64>, mean: Option<f64>| {
        let share = number.zip(mean).map(|(number, mean)| (number - mean) / mean.abs() * 100.0);
        let share = share.filter(|share| share.is_finite());
        // Means are rounded: what is not there has no sign.
        let share = share.map(|share| if share.abs() < 0.005 { 0.0 } else { share });
        let share = share.map_or_else(|| "-".to_owned(), |share| format!("{share:+.2} %"));
        writeln!(out, "{value:>VALUE$}{share:>SHARE$}  run {}", index + 1)
    };
    writeln!(out, "\n each run, and its distance from the mean:")?;
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

/// What stands behind the name of a number that is not plainly measured: for how much of the time it was counted, as
/// perf has it, or a mark. Where there is no number, words stand in its place.
fn doubt(row: &Row) -> String {
    let validity = row.value.validity();
    match validity.grade() {
        Grade::Scaled if row.value.number().is_some() => format!(" ({:.0} %)", validity.duty() * 100.0),
        Grade::Suspect => format!(" {}", mark(Grade::Suspect)),
        _ => String::new(),
    }
}

/// Half of the 95 % interval of a sampled run, as a share of the number, or for a zero in the row's unit of measure.
fn half_interval(row: &Row, width: f64) -> String {
    match row.value.number() {
        Some(number) if number != 0.0 => format!(" (+- {:.2} %)", width / 2.0 / number.abs() * 100.0),
        _ => format!(" (at most {})", shown(width, row.unit_of_measure, Digits::Grouped)),
    }
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
            // Of nothing there is no share.
            let Some(truth) = row.truth.filter(|&truth| truth != 0.0) else { return (value, truth, show(error)) };
            let share = error / truth;
            if share.abs() < 5e-10 { "0".to_owned() } else { format!("{:+.1e}", share) }
        }
    };
    (value, truth, error)
}

/// How far those rows can be trusted that are shown: one line if all are plainly measured, else what there is to say of
/// the others, too.
///
/// # Errors
/// An output that cannot be written.
pub fn validity(out: &mut impl Write, report: &Report, shown: &[&Row]) -> io::Result<()> {
    let doubtful: Vec<&Row> = shown.iter().filter(|row| !row.value.validity().reasons().is_empty()).copied().collect();
    let runs = match report.runs {
        None => String::new(),
        Some(1) => " in the only run that ended".to_owned(),
        Some(runs) => format!(" in each of {runs} runs"),
    };
    if doubtful.is_empty() {
        return writeln!(out, " validity: all measured, over {}{runs}{}", length(report), paused(report));
    }
    let measured = shown.len() - doubtful.len();
    let (all, length, paused) = (shown.len(), length(report), paused(report));
    writeln!(out, " validity: {measured} of {all} measured, over {length}{runs}{paused}")?;
    doubts(out, doubtful.into_iter())
}

/// Why rows are not plainly measured, each reason once, with the first row that it is about. The same of another
/// instance is no other reason.
///
/// # Errors
/// An output that cannot be written.
pub fn doubts<'r>(out: &mut impl Write, rows: impl Iterator<Item = &'r Row>) -> io::Result<()> {
    let mut lines: Vec<([String; 2], String, &str, usize)> = Vec::new();
    for row in rows {
        let precision = precision(row).map_or_else(String::new, |precision| format!(", {precision}"));
        let kind = [row.value.validity().kind(), precision];
        match lines.iter_mut().find(|(known, ..)| *known == kind) {
            Some((.., others)) => *others += 1,
            None => lines.push((kind, row.value.validity().to_string(), &row.name, 0)),
        }
    }
    lines.iter().try_for_each(|([_, precision], words, name, others)| {
        let more = if *others == 0 { String::new() } else { format!(" and {others} more") };
        limits::item(out, &format!("{name}{more}: {words}{precision}"))
    })
}
