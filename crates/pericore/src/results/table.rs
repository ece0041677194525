//! The table for people: aligned, within 80 columns.

use std::io::{self, Write};

use pericore_metrics::UnitOfMeasure;

use super::{Place, Report, Row, limits};

/// Widths of the columns of numbers; the name gets the rest of 80 columns.
const VALUE: usize = 18;
const TRUTH: usize = 18;
const ERROR: usize = 9;
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

/// Prints a report. With `truth`, the model's figure and the difference stand beside each number.
pub fn print(out: &mut impl Write, report: &Report, truth: bool) -> io::Result<()> {
    if let Some(end) = report.interval_end {
        writeln!(out, "\n at {} s, the last {}:", seconds(end), length(report))?;
    }
    writeln!(out)?;
    let numbers = |value: &str, truth_text: &str, error: &str| {
        if truth { format!("{value:>VALUE$}{truth_text:>TRUTH$}{error:>ERROR$}") } else { format!("{value:>VALUE$}") }
    };
    if truth {
        writeln!(out, "{}", numbers("measured", "truth", "error"))?;
    }
    for row in &report.rows {
        let (value, true_value, error) = texts(row);
        let mut name = placed(row.place.as_ref(), &row.name);
        if let Some(spread) = row.spread {
            name = format!("{name} (+- {:.2} %)", spread * 100.0);
        }
        line(out, &numbers(&value, &true_value, &error), &name)?;
    }
    writeln!(out)?;
    validity(out, report)?;
    limits::print(out, report)
}

/// A row's name behind its place.
pub fn placed(place: Option<&Place>, name: &str) -> String {
    place.map_or_else(|| name.to_owned(), |place| format!("{place} {name}"))
}

/// A line of figures and a name. A name that is too long for the rest of the line gets one of its own, the figures under it.
pub fn line(out: &mut impl Write, figures: &str, name: &str) -> io::Result<()> {
    if figures.chars().count() + 2 + name.chars().count() <= LINE {
        writeln!(out, "{figures}  {name}")
    } else {
        writeln!(out, "  {name}\n{figures}")
    }
}

/// A number as the table shows it: a count, or in a unit of measure.
fn shown(number: f64, unit_of_measure: Option<UnitOfMeasure>) -> String {
    let Some(unit) = unit_of_measure else { return thousands(number) };
    let (scaled, symbol) = unit.scaled(number);
    let text = if scaled.abs() >= 1000.0 && scaled.fract() == 0.0 { thousands(scaled) } else { format!("{scaled:.3}") };
    format!("{text} {symbol}").trim_end().to_owned()
}

/// A row's value, or what stands for it.
pub fn value(row: &Row) -> String {
    let number = row.value.number().map(|number| shown(number, row.unit_of_measure));
    number.unwrap_or_else(|| row.placeholder().to_owned())
}

/// Value, truth and error as texts.
fn texts(row: &Row) -> (String, String, String) {
    let show = |number: f64| shown(number, row.unit_of_measure);
    let value = value(row);
    let truth = row.truth.map_or_else(|| "-".to_owned(), show);
    let error = match (row.error(), row.unit_of_measure) {
        (None, _) => "-".to_owned(),
        (Some(0.0), _) => "0".to_owned(),
        (Some(error), None) => thousands(error),
        (Some(error), Some(_)) => {
            let share = error / row.truth.unwrap_or(1.0);
            if share.abs() < 5e-10 { "0".to_owned() } else { format!("{:+.1e}", share) }
        }
    };
    (value, truth, error)
}

/// How far the numbers can be trusted: one line if all are plainly measured, else a line for each that is not.
fn validity(out: &mut impl Write, report: &Report) -> io::Result<()> {
    let doubtful: Vec<&Row> = report.rows.iter().filter(|row| !row.value.validity().concerns().is_empty()).collect();
    let runs = match report.runs {
        None => String::new(),
        Some(1) => " in the only run".to_owned(),
        Some(runs) => format!(" in each of {runs} runs"),
    };
    if doubtful.is_empty() {
        return writeln!(out, " validity: all measured, over {}{runs}", length(report));
    }
    let measured = report.rows.len() - doubtful.len();
    writeln!(out, " validity: {measured} of {} measured, over {}{runs}", report.rows.len(), length(report))?;
    for row in doubtful {
        write!(out, "   {}: {}", row.name, row.value.validity())?;
        writeln!(out, "{}", row.precision().map_or_else(String::new, |precision| format!(", {precision}")))?;
    }
    Ok(())
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
