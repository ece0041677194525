//! Reports on their side: a line for each interval and part of the machine, a column for each number, as vmstat has it
//! (`-I`), or for each metric alone (`--metric-only`).

use std::io::{self, Write};

use pericore_metrics::{Grade, Validity};
use serde::Serializer as _;
use serde::ser::SerializeMap as _;

use crate::figures::Digits;
use crate::lines::{in_symbol, quoted};
use crate::row::{Place, Report, Row};
use crate::style::Form;
use crate::{figures, limits, table};
use columns::SheetColumns;
use pericore_text::WIDTH;

mod columns;

/// Lines of a table after which its headings come again, and what is in doubt is said again.
const PAGE: usize = 25;
/// Widths of the columns in front.
const TIME: usize = 11;
const PLACE: usize = 12;

/// Lines under headings that are not printed again each time.
#[derive(Debug)]
pub struct Sheet {
    /// SheetColumns of a line.
    width: usize,
    /// Counts have columns, too.
    has_events: bool,
    /// How counts are written.
    digits: Digits,
    /// Since the last headings; nothing before the first.
    lines: Option<usize>,
    /// The columns under the last headings.
    columns: SheetColumns,
    /// Rows whose doubts were reported in the last intervals, and how grave these were.
    reported: Vec<(String, Grade)>,
    /// Intervals since then.
    since_reported: usize,
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
    fn of(report: &'r Report, has_events: bool) -> Self {
        let name = |row: &Row| row.place.as_ref().map(ToString::to_string);
        let (mut columns, mut lines) = (Vec::<&Row>::new(), Vec::<(Option<&Place>, Vec<&Row>)>::new());
        for row in report.rows.iter().filter(|row| has_events || row.unit_of_measure.is_some()) {
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

    fn has_places(&self) -> bool {
        self.lines.iter().any(|(place, _)| place.is_some())
    }
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
    /// A sheet of lines of so many columns, of any number without, with metrics and, if they are wanted, counts of
    /// events.
    pub fn new(width: Option<usize>, has_events: bool, digits: Digits) -> Self {
        let (columns, reported) = (SheetColumns::default(), Vec::new());
        Self {
            width: width.unwrap_or(usize::MAX),
            has_events,
            digits,
            lines: None,
            columns,
            reported,
            since_reported: 0,
        }
    }

    /// Prints a report; `emulated` names the software machine, if it was one.
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
        let lines = Lines::of(report, self.has_events);
        match form {
            Form::Table => self.table(out, &lines),
            Form::Json => json(out, &lines, emulated),
            Form::Separated(separator) => self.separated(out, &lines, separator),
        }
    }

    fn table(&mut self, out: &mut impl Write, of: &Lines<'_>) -> io::Result<()> {
        let (has_time, has_places) = (of.time().is_some(), of.has_places());
        let begin = |time: &str, place: &str| {
            let time = if has_time { format!("{time:>TIME$}") } else { String::new() };
            if has_places { format!("{time} {place:<PLACE$}") } else { time }
        };
        let room = |width: usize| width.saturating_sub(begin("", "").len());
        let blocks = columns::side_by_side(&of.columns, room(self.width), room(WIDTH));
        for block in &blocks.blocks {
            let is_page = self.lines.is_none_or(|lines| lines >= PAGE) || of.report.is_summary;
            // One below the other, each needs its own.
            if is_page || blocks.blocks.len() > 1 || !self.columns.fit(&of.lines) {
                self.columns = SheetColumns::of(&of.columns[block.clone()], &blocks, block.start, &of.lines);
                writeln!(out)?;
                for (index, line) in self.columns.headings().enumerate() {
                    let is_last = index + 1 == self.columns.height();
                    let [time, place] = if is_last { ["time", "place"] } else { [""; 2] };
                    writeln!(out, "{}", format!("{}{line}", begin(time, place)).trim_end())?;
                }
                self.lines = Some(0);
            }
            // Parts of the machine that have none of these metrics have a line in another block.
            for (place, cells) in of.lines.iter().filter(|(_, cells)| cells[block.clone()].iter().any(Option::is_some))
            {
                let place = place.map(ToString::to_string).unwrap_or_default();
                let numbers = self.columns.line(&cells[block.clone()], self.digits);
                writeln!(out, "{}", format!("{}{numbers}", begin(&of.time().unwrap_or_default(), &place)).trim_end())?;
            }
            self.lines = self.lines.map(|lines| lines + of.lines.len());
        }
        let shown: Vec<&Row> = of.lines.iter().flat_map(|(_, cells)| cells).copied().flatten().collect();
        if !has_time {
            writeln!(out)?;
            table::validity(out, of.report, &shown)?;
            return limits::print(out, of.report);
        }
        self.doubts(out, shown)
    }

    /// What is in doubt, once a page: that events take turns, and what has no value, rarely changes from line to line,
    /// and there the marks will do.
    fn doubts(&mut self, out: &mut impl Write, shown: Vec<&Row>) -> io::Result<()> {
        if self.since_reported >= PAGE {
            (self.reported, self.since_reported) = (Vec::new(), 0);
        }
        self.since_reported += 1;
        let mut doubtful = shown;
        doubtful.retain(|row| row.value.validity().grade() > Grade::Scaled);
        doubtful.retain(|row| {
            let doubt = (row.name.clone(), row.value.validity().grade());
            let is_new = !self.reported.contains(&doubt);
            if is_new {
                self.reported.push(doubt);
            }
            is_new
        });
        table::doubts(out, doubtful.into_iter())
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
mod tests;
