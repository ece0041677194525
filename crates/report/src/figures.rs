//! Numbers, times and names as people read them.

use std::io::{self, Write};

use pericore_metrics::UnitOfMeasure;
use pericore_text::{WIDTH, columns};

use crate::row::{Place, Row};

/// Seconds with as many digits as tell something: a software machine's run may be over within a microsecond.
pub fn seconds(seconds: f64) -> String {
    if seconds < 1e-3 { format!("{seconds:.9}") } else { format!("{seconds:.6}") }
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

/// A row's name behind its place.
pub fn placed(place: Option<&Place>, name: &str) -> String {
    place.map_or_else(|| name.to_owned(), |place| format!("{place} {name}"))
}

/// A line of figures and a name. A name that is too long for the rest of the line gets one of its own, the figures
/// under it.
///
/// # Errors
/// An output that cannot be written.
pub fn line(out: &mut impl Write, figures: &str, name: &str) -> io::Result<()> {
    if columns(figures) + 2 + columns(name) <= WIDTH {
        writeln!(out, "{figures}  {name}")
    } else {
        writeln!(out, "  {name}\n{figures}")
    }
}

/// A number as the table shows it: a count, or in a unit of measure.
pub(crate) fn shown(number: f64, unit_of_measure: Option<UnitOfMeasure>, digits: Digits) -> String {
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

/// The standard error of a scaled number, in words: as a share of the number, or for a zero in the row's unit of
/// measure. Nothing for other numbers.
pub fn precision(row: &Row) -> Option<String> {
    let number = row.value.number()?;
    // How far runs lie apart says more, and an interval stands beside its number.
    if row.value.validity().duty() >= 1.0 || row.spread.is_some() || row.interval.is_some() {
        return None;
    }
    Some(match row.standard_error {
        None => "standard error not known, too few readings".to_owned(),
        Some(error) if number == 0.0 => {
            format!("standard error {}", shown(error, row.unit_of_measure, Digits::Grouped))
        }
        Some(error) => format!("standard error {:.2} %", 100.0 * (error / number).abs()),
    })
}

pub(crate) fn value_in(row: &Row, digits: Digits) -> String {
    let number = row.value.number().map(|number| shown(number, row.unit_of_measure, digits));
    number.unwrap_or_else(|| row.placeholder().to_owned())
}

impl Digits {
    pub(crate) fn whole(self, number: f64) -> String {
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

/// A number with enough digits to compare it with those beside it.
pub(crate) fn four_digits(number: f64, whole: Digits) -> String {
    match number.abs() {
        0.0 => "0".to_owned(),
        size if size >= 999.95 => whole.whole(number),
        size if size >= 99.995 => format!("{number:.1}"),
        size if size >= 9.9995 => format!("{number:.2}"),
        _ => format!("{number:.3}"),
    }
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
