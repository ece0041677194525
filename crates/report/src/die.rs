//! Numbers of a unit's instances where these lie on the die: a map of a dozen lines instead of a list of sixty.

use std::io::{self, Write};

use pericore_metrics::UnitOfMeasure;

use crate::figures::{Digits, four_digits};
use crate::row::{Report, Row, mark};

/// Fewer instances read better as a list.
const FEWEST: usize = 16;
/// Widths of an instance's number and of what it counted.
const INSTANCE: usize = 3;
const NUMBER: usize = 6;

/// The rows of an event or metric, one for each instance in a socket.
pub(crate) struct Die<'r> {
    floorplan: &'static [&'static str],
    rows: Vec<&'r Row>,
}

impl<'r> Die<'r> {
    /// The map to which a row belongs, if there is one.
    pub(crate) fn of(report: &'r Report, row: &Row) -> Option<Self> {
        let place = row.place.as_ref()?;
        let is_drawn =
            |row: &Row| instance(row).is_some_and(|instance| places(report.floorplan).any(|place| place == instance));
        if !is_drawn(row) {
            return None;
        }
        let socket = |row: &Row| row.place.as_ref().map(|place| place.socket);
        let same = |other: &&Row| other.name == row.name && socket(other) == Some(place.socket) && is_drawn(other);
        let rows: Vec<&Row> = report.rows.iter().filter(same).collect();
        (rows.len() >= FEWEST).then_some(Self { floorplan: report.floorplan, rows })
    }

    pub(crate) fn begins_with(&self, row: &Row) -> bool {
        self.rows.first().is_some_and(|first| std::ptr::eq(*first, row))
    }

    /// Prints the map, all of its numbers in one unit of measure, and each with its mark.
    ///
    /// # Errors
    /// An output that cannot be written.
    pub(crate) fn print(&self, out: &mut impl Write, digits: Digits) -> io::Result<()> {
        let first = self.rows[0];
        let numbers = self.rows.iter().filter_map(|row| row.value.number());
        let (factor, symbol) = scale(first.unit_of_measure, numbers.map(f64::abs).fold(0.0, f64::max));
        let of = if symbol.is_empty() { String::new() } else { format!(", in {symbol}") };
        let socket = first.place.as_ref().map_or(0, |place| place.socket);
        writeln!(out, "  S{socket} {}{of}, by place on the die:", first.title())?;
        for line in self.floorplan.iter().map(|line| self.line(line, factor, digits)).filter(|line| !line.is_empty()) {
            writeln!(out, "{line}")?;
        }
        Ok(())
    }

    fn line(&self, line: &str, factor: f64, digits: Digits) -> String {
        let cell = |place: &str| {
            let Some(row) = self.rows.iter().find(|row| instance(row) == Some(place)) else {
                return " ".repeat(INSTANCE + NUMBER + 2);
            };
            let number = place.trim_start_matches(|character: char| !character.is_ascii_digit());
            let text = row.value.number().map_or_else(|| "-".to_owned(), |number| four_digits(number * factor, digits));
            format!("{number:>INSTANCE$} {text:>NUMBER$}{}", mark(row.value.validity().grade()))
        };
        line.split_whitespace().map(cell).collect::<String>().trim_end().to_owned()
    }
}

fn instance(row: &Row) -> Option<&str> {
    row.place.as_ref()?.instance.as_deref()
}

fn places(floorplan: &'static [&'static str]) -> impl Iterator<Item = &'static str> {
    floorplan.iter().flat_map(|line| line.split_whitespace())
}

/// What numbers up to the greatest are multiplied by, and what they are in then.
fn scale(unit: Option<UnitOfMeasure>, most: f64) -> (f64, &'static str) {
    const COUNTS: [(f64, &str); 4] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    let reference = if most > 0.0 { most } else { 1.0 };
    match unit {
        Some(unit) => {
            let (scaled, symbol) = unit.scaled(reference);
            (scaled / reference, symbol)
        }
        // A thousand is short enough as it is.
        None => COUNTS
            .iter()
            .find(|(step, _)| most >= step * 10.0)
            .map_or((1.0, ""), |&(step, symbol)| (1.0 / step, symbol)),
    }
}

#[cfg(test)]
mod tests;
