//! The figures that matter most, in words and bars, above the table.

use std::io::{self, Write};

use pericore_catalog::SummaryFigure;
use pericore_metrics::{Grade, UnitOfMeasure};
use pericore_text::{WIDTH, columns};

use crate::row::{Report, Row, mark};

/// Widest bar, in columns.
const BAR: usize = 40;

/// Prints the figures of the family's summary that were counted, for the whole machine or for each socket. Tables of
/// instances and of intervals have none. With `unicode`, bars end at an eighth of a column.
///
/// # Errors
/// An output that cannot be written.
pub fn print(out: &mut impl Write, report: &Report, unicode: bool) -> io::Result<()> {
    let by_instance = report.rows.iter().any(|row| row.place.as_ref().is_some_and(|place| place.instance.is_some()));
    if report.interval_end.is_some() || by_instance {
        return Ok(());
    }
    let mut sockets: Vec<Option<u16>> = report.rows.iter().map(socket).collect();
    sockets.sort_unstable();
    sockets.dedup();
    let lines: Vec<String> = sockets.into_iter().flat_map(|socket| lines(report, socket, unicode)).collect();
    if !lines.is_empty() {
        writeln!(out)?;
    }
    lines.iter().try_for_each(|line| writeln!(out, " {line}"))
}

fn socket(row: &Row) -> Option<u16> {
    row.place.as_ref().map(|place| place.socket)
}

/// A figure in words.
#[derive(Debug)]
pub struct SummaryWords {
    /// What it is called, the number and what it can be at most.
    pub words: String,
    /// The share of that, if it is known: what a bar shows.
    pub share: Option<f64>,
}

/// The figures of one socket, or of all together.
pub fn figures(report: &Report, of: Option<u16>) -> Vec<SummaryWords> {
    let row_of = |name: &str| report.rows.iter().find(|row| row.name == name && socket(row) == of);
    let counted = report.summary.iter().filter_map(|headline| Some((headline, row_of(headline.metric)?)));
    let words = counted.map(|(headline, row)| {
        let most = headline.of.and_then(row_of);
        most.and_then(|most| of_most(headline, row, most))
            .unwrap_or_else(|| SummaryWords { words: format!("{} {}", headline.label, figure(row)), share: None })
    });
    words.collect()
}

/// What there is to say of one socket, or of all together.
fn lines(report: &Report, of: Option<u16>, unicode: bool) -> Vec<String> {
    let (mut lines, mut figures_alone) = (Vec::new(), Vec::new());
    for SummaryWords { words, share } in figures(report, of) {
        match share {
            Some(share) => {
                let room = (WIDTH - 3).saturating_sub(columns(&words)).min(BAR);
                lines.push(format!("{words} {}", drawn(share, room, unicode)));
            }
            None => figures_alone.push(words),
        }
    }
    lines.extend(in_rows(figures_alone));
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

/// A figure beside the most that it can be; nothing unless both are known.
fn of_most(headline: &SummaryFigure, row: &Row, most: &Row) -> Option<SummaryWords> {
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
    Some(SummaryWords { words, share: Some(share) })
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
pub fn digits(number: f64) -> String {
    match number.abs() {
        0.0 => "0".to_owned(),
        size if size >= 99.95 => format!("{number:.0}"),
        size if size >= 0.95 => format!("{number:.1}"),
        _ => format!("{number:.2}"),
    }
}

/// A bar of so many columns, full at 1.
pub fn drawn(share: f64, width: usize, unicode: bool) -> String {
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
