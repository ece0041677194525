//! `--metric-only`: a line for each interval and part of the machine, a column for each metric. On a terminal, a table
//! with more columns than have room beside each other goes on below.

use std::io::{self, Write};
use std::ops::Range;

use pericore_metrics::{Grade, Validity};
use serde::Serializer as _;
use serde::ser::SerializeMap as _;

use crate::lines::{in_symbol, quoted};
use crate::row::{Place, Report, Row, mark};
use crate::style::Form;
use crate::{figures, limits, table};

/// Lines of a table after which its headings come again.
const PAGE: usize = 25;
/// Widths of a table's columns: a metric's is as wide as its name, and no narrower than this.
const TIME: usize = 14;
const PLACE: usize = 14;
const NARROWEST: usize = 14;
/// Between two columns; behind a number there is its mark.
const BETWEEN: usize = 2;

/// Lines under headings that are not printed again each time.
#[derive(Debug)]
pub struct Sheet {
    /// Columns of a line; none if there is no end to them.
    width: Option<usize>,
    /// Since the last headings; nothing before the first.
    lines: Option<usize>,
}

/// A report, turned on its side.
struct Lines<'r> {
    report: &'r Report,
    /// The first row of each metric.
    columns: Vec<&'r Row>,
    /// A line's place, and its rows in the order of the columns: none where a metric is of other units.
    lines: Vec<(Option<&'r Place>, Vec<Option<&'r Row>>)>,
}

impl<'r> Lines<'r> {
    fn of(report: &'r Report) -> Self {
        let name = |row: &Row| row.place.as_ref().map(ToString::to_string);
        let (mut columns, mut lines) = (Vec::<&Row>::new(), Vec::<(Option<&Place>, Vec<&Row>)>::new());
        for row in report.rows.iter().filter(|row| row.unit_of_measure.is_some()) {
            if !columns.iter().any(|column| column.name == row.name) {
                columns.push(row);
            }
            match lines.iter_mut().find(|(_, rows)| rows.first().is_some_and(|first| name(first) == name(row))) {
                Some((_, rows)) => rows.push(row),
                None => lines.push((row.place.as_ref(), vec![row])),
            }
        }
        let cells = |rows: &[&'r Row]| {
            let of = |column: &&Row| rows.iter().find(|row| row.name == column.name).copied();
            columns.iter().map(of).collect()
        };
        let lines = lines.iter().map(|(place, rows)| (*place, cells(rows))).collect();
        Self { report, columns, lines }
    }

    /// What stands in the column of times, if there is one.
    fn time(&self) -> Option<String> {
        if self.report.is_summary { Some("summary".to_owned()) } else { self.report.interval_end.map(figures::seconds) }
    }

    /// Columns that stand beside each other: as many as have room behind so many signs. What is left comes below them.
    fn blocks(&self, before: usize, width: Option<usize>) -> Vec<Range<usize>> {
        let mut blocks: Vec<Range<usize>> = Vec::new();
        let mut room = 0;
        for (index, column) in self.columns.iter().enumerate() {
            let needed = BETWEEN + column_width(column) + 1;
            match blocks.last_mut() {
                Some(block) if needed <= room => block.end = index + 1,
                _ => {
                    blocks.push(index..index + 1);
                    room = width.map_or(usize::MAX, |width| width.saturating_sub(before));
                }
            }
            room = room.saturating_sub(needed);
        }
        blocks
    }

    fn has_places(&self) -> bool {
        self.lines.iter().any(|(place, _)| place.is_some())
    }
}

fn column_width(column: &Row) -> usize {
    column.name.chars().count().max(NARROWEST)
}

/// Everything that is to be said of a line's numbers.
fn validity(cells: &[Option<&Row>]) -> Validity {
    cells.iter().flatten().fold(Validity::MEASURED, |all, row| all.and(row.value.validity()))
}

/// Unit of measure and name, as perf puts them together.
fn heading(row: &Row) -> String {
    let symbol = row.unit_of_measure.map_or("", pericore_metrics::UnitOfMeasure::symbol);
    format!("{symbol}  {}", row.name)
}

impl Sheet {
    /// A sheet of lines of so many columns; of any number without.
    pub const fn new(width: Option<usize>) -> Self {
        Self { width, lines: None }
    }

    /// Prints a report's metrics; `emulated` names the software machine, if it was one.
    ///
    /// # Errors
    /// An output that cannot be written.
    pub fn print(
        &mut self,
        out: &mut impl Write,
        report: &Report,
        form: Form<'_>,
        emulated: Option<&str>,
    ) -> io::Result<()> {
        let lines = Lines::of(report);
        match form {
            Form::Table => self.table(out, &lines),
            Form::Json => json(out, &lines, emulated),
            Form::Separated(separator) => self.separated(out, &lines, separator),
        }
    }

    fn table(&mut self, out: &mut impl Write, of: &Lines<'_>) -> io::Result<()> {
        let places = of.has_places();
        let begin = |time: &str, place: &str| {
            let time = if of.time().is_some() { format!("{time:>TIME$}") } else { String::new() };
            if places { format!("{time}  {place:<PLACE$}") } else { time }
        };
        let blocks = of.blocks(begin("time", "place").len(), self.width);
        for block in &blocks {
            // One below the other, each needs its own.
            let has_headings = self.lines.is_some_and(|lines| lines < PAGE) && blocks.len() == 1;
            if !has_headings || of.report.is_summary {
                let names = of.columns[block.clone()].iter().map(|column| format!("  {:>NARROWEST$} ", column.name));
                writeln!(out, "\n{}{}", begin("time", "place"), names.collect::<String>().trim_end())?;
                self.lines = Some(0);
            }
            // Parts of the machine that have none of these metrics have a line in another block.
            for (place, cells) in of.lines.iter().filter(|(_, cells)| cells[block.clone()].iter().any(Option::is_some))
            {
                let place = place.map(ToString::to_string).unwrap_or_default();
                let mut numbers = begin(&of.time().unwrap_or_default(), &place);
                for (column, cell) in of.columns.iter().zip(cells).skip(block.start).take(block.len()) {
                    let width = column_width(column);
                    let (text, mark) = cell.map_or_else(
                        || (String::new(), ' '),
                        |row| (figures::value(row), mark(row.value.validity().grade())),
                    );
                    numbers += &format!("  {text:>width$}{mark}");
                }
                writeln!(out, "{}", numbers.trim_end())?;
            }
            self.lines = self.lines.map(|lines| lines + of.lines.len());
        }
        let shown: Vec<&Row> = of.report.rows.iter().filter(|row| row.unit_of_measure.is_some()).collect();
        if of.time().is_none() {
            writeln!(out)?;
            table::validity(out, of.report, &shown)?;
            return limits::print(out, of.report);
        }
        // That events take turns does not change from line to line: there the mark will do.
        table::doubts(out, shown.into_iter().filter(|row| row.value.validity().grade() > Grade::Scaled))
    }

    /// A first line with the names; then time and place, where they tell lines apart, the values, and the validity of
    /// the least certain of these.
    fn separated(&mut self, out: &mut impl Write, of: &Lines<'_>, separator: &str) -> io::Result<()> {
        let mut line = |fields: Vec<String>| {
            let fields: Vec<_> = fields.iter().map(|field| quoted(field, separator)).collect();
            writeln!(out, "{}", fields.join(separator))
        };
        if self.lines.is_none() {
            let mut names: Vec<String> = of.time().map(|_| "time".to_owned()).into_iter().collect();
            names.extend(of.has_places().then(|| "place".to_owned()));
            names.extend(of.columns.iter().map(|column| heading(column)));
            names.push("validity".to_owned());
            line(names)?;
            self.lines = Some(0);
        }
        for (place, cells) in &of.lines {
            let time =
                if of.report.is_summary { of.time() } else { of.report.interval_end.map(|end| format!("{end:.9}")) };
            let mut fields: Vec<String> = time.into_iter().collect();
            fields.extend(place.map(ToString::to_string));
            fields.extend(cells.iter().map(|cell| cell.map_or_else(String::new, |row| in_symbol(row).0)));
            fields.push(validity(cells).grade().name().to_owned());
            line(fields)?;
        }
        Ok(())
    }
}

/// An object for each line, with the metrics' names as keys.
fn json(out: &mut impl Write, of: &Lines<'_>, emulated: Option<&str>) -> io::Result<()> {
    for (place, cells) in &of.lines {
        let mut serializer = serde_json::Serializer::new(&mut *out);
        let mut line = serializer.serialize_map(None)?;
        if let Some(end) = of.report.interval_end {
            line.serialize_entry("interval", &end)?;
        }
        if let Some(place) = place {
            line.serialize_entry("socket", &format!("S{}", place.socket))?;
            if let Some(instance) = &place.instance {
                line.serialize_entry("instance", instance)?;
            }
        }
        for row in cells.iter().flatten() {
            line.serialize_entry(&heading(row), &in_symbol(row).0)?;
        }
        let validity = validity(cells);
        line.serialize_entry("validity", validity.grade().name())?;
        if !validity.reasons().is_empty() {
            line.serialize_entry("concerns", &validity.to_string())?;
        }
        if let Some(machine) = emulated {
            line.serialize_entry("emulated", machine)?;
        }
        line.end()?;
        writeln!(out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use pericore_metrics::{UnitOfMeasure, Value};

    use super::*;

    /// Four metrics whose names take 22 to 28 columns, each with a mark and a gap of 2: on a terminal of 80 columns the
    /// first three have room beside each other, on one of 120 all have.
    #[test]
    fn more_metrics_than_a_terminal_has_room_for_go_on_below() {
        let names = [
            "imc/MEM_READ_BANDWIDTH",
            "imc/MEM_WRITE_BANDWIDTH",
            "imc/PCT_REQUESTS_PAGE_HIT",
            "cbo/AVG_TOR_DRD_MISS_LATENCY",
        ];
        let row = |name: &str| Row {
            name: name.to_owned(),
            place: None,
            value: Value::measured(0.5),
            seconds: 1.0,
            unit_of_measure: Some(UnitOfMeasure::Ratio),
            standard_error: None,
            spread: None,
            truth: None,
            limit: None,
            nature: crate::row::Nature::default(),
            answering: None,
            through: None,
        };
        let rows = names.map(row).into();
        let report = Report {
            interval_end: None,
            is_summary: false,
            seconds: 1.0,
            stood: false,
            paused: 0.0,
            is_withdrawn: false,
            runs: None,
            rows,
            summary: &[],
        };
        let headings = |width| {
            let mut out = Vec::new();
            Sheet::new(width).print(&mut out, &report, Form::Table, None).expect("memory takes all");
            let text = String::from_utf8(out).expect("UTF-8");
            text.lines()
                .filter(|line| line.contains('/'))
                .map(|line| line.split_whitespace().count())
                .collect::<Vec<_>>()
        };
        assert_eq!((headings(Some(80)), headings(Some(120)), headings(None)), (vec![3, 1], vec![4], vec![4]));
    }
}
