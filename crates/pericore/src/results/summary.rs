//! The figures that matter most, in words and bars, above the table.

use std::io::{self, Write};

use pericore_catalog::SummaryFigure;
use pericore_metrics::{Grade, UnitOfMeasure};

use super::{Report, Row, mark};
use crate::terminal::{WIDTH, columns, is_unicode};

/// Widest bar, in columns.
const BAR: usize = 40;

/// Prints the figures of the family's summary that were counted, for the whole machine or for each socket. Tables of
/// instances and of intervals have none.
pub fn print(out: &mut impl Write, report: &Report) -> io::Result<()> {
    let by_instance = report.rows.iter().any(|row| row.place.as_ref().is_some_and(|place| place.instance.is_some()));
    if report.interval_end.is_some() || by_instance {
        return Ok(());
    }
    let mut sockets: Vec<Option<u16>> = report.rows.iter().map(socket).collect();
    sockets.sort_unstable();
    sockets.dedup();
    let lines: Vec<String> = sockets.into_iter().flat_map(|socket| lines(report, socket)).collect();
    if !lines.is_empty() {
        writeln!(out)?;
    }
    lines.iter().try_for_each(|line| writeln!(out, " {line}"))
}

fn socket(row: &Row) -> Option<u16> {
    row.place.as_ref().map(|place| place.socket)
}

/// What there is to say of one socket, or of all together.
fn lines(report: &Report, of: Option<u16>) -> Vec<String> {
    let row_of = |name: &str| report.rows.iter().find(|row| row.name == name && socket(row) == of);
    let counted = report.summary.iter().filter_map(|headline| Some((headline, row_of(headline.metric)?)));
    let (mut bars, mut figures) = (Vec::new(), Vec::new());
    for (headline, row) in counted {
        let most = headline.of.and_then(row_of);
        match most.and_then(|most| of_most(headline, row, most)) {
            Some(line) => bars.push(line),
            None => figures.push(format!("{} {}", headline.label, figure(row))),
        }
    }
    let mut lines = bars;
    lines.extend(in_rows(figures));
    if let (Some(socket), Some(first)) = (of, lines.first_mut()) {
        *first = format!("S{socket} {first}");
    }
    lines
}

/// Figures side by side, as many as a line has room for.
fn in_rows(figures: Vec<String>) -> Vec<String> {
    const BETWEEN: &str = " | ";
    let mut rows: Vec<String> = Vec::new();
    for figure in figures {
        match rows.last_mut().filter(|row| columns(row) + BETWEEN.len() + columns(&figure) < WIDTH) {
            Some(row) => *row += &format!("{BETWEEN}{figure}"),
            None => rows.push(figure),
        }
    }
    rows
}

/// A figure beside the most that it can be, with a bar; nothing unless both are known.
fn of_most(headline: &SummaryFigure, row: &Row, most: &Row) -> Option<String> {
    let (number, greatest) = (row.value.number()?, most.value.number().filter(|greatest| *greatest > 0.0)?);
    let unit = row.unit_of_measure?;
    let (shown, symbol) = unit.scaled(greatest);
    let share = number / greatest;
    let doubt = row.value.validity().grade().max(most.value.validity().grade());
    let words = format!(
        "{} {} of {} {symbol} ({:.0} %){}",
        headline.label,
        digits(number * shown / greatest),
        digits(shown),
        share * 100.0,
        sign(doubt)
    );
    let room = (WIDTH - 3).saturating_sub(columns(&words)).min(BAR);
    Some(format!("{words} {}", bar(share, room)))
}

/// A number and its unit of measure, or what stands for it.
fn figure(row: &Row) -> String {
    let Some(number) = row.value.number() else { return row.placeholder().to_owned() };
    let (scaled, symbol) = row.unit_of_measure.unwrap_or(UnitOfMeasure::Count).scaled(number);
    format!("{} {symbol}{}", digits(scaled), sign(row.value.validity().grade())).trim_end().to_owned()
}

/// The mark of a number that is not plainly measured.
fn sign(grade: Grade) -> String {
    if grade == Grade::Measured { String::new() } else { format!(" {}", mark(grade)) }
}

/// As many digits as people compare.
fn digits(number: f64) -> String {
    match number.abs() {
        0.0 => "0".to_owned(),
        size if size >= 99.95 => format!("{number:.0}"),
        size if size >= 0.95 => format!("{number:.1}"),
        _ => format!("{number:.2}"),
    }
}

/// A bar of so many columns, full at 1. In a locale of UTF-8 it ends at an eighth of a column.
fn bar(share: f64, width: usize) -> String {
    drawn(share, width, is_unicode())
}

fn drawn(share: f64, width: usize, unicode: bool) -> String {
    const EIGHTHS: [&str; 8] = ["", "\u{258f}", "\u{258e}", "\u{258d}", "\u{258c}", "\u{258b}", "\u{258a}", "\u{2589}"];
    let share = share.clamp(0.0, 1.0);
    if !unicode {
        let full = (share * width as f64).round() as usize;
        return format!("[{}{}]", "#".repeat(full), ".".repeat(width - full));
    }
    let eighths = (share * width as f64 * 8.0).round() as usize;
    let text = format!("{}{}", "\u{2588}".repeat(eighths / 8), EIGHTHS[eighths % 8]);
    format!("{text}{}", "\u{2591}".repeat(width - columns(&text)))
}

#[cfg(test)]
mod tests;
