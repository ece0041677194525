//! The same rows as comma-separated values, as RFC 4180 has them, for what reads nothing else.

use std::io::{self, Write};

use chrono::{DateTime, SecondsFormat};
use parquet::data_type::ByteArray;
use pericore_observe::record::Header;
use pericore_observe::session::Sample;

use crate::columns::COLUMNS;
use crate::held::{Held, Settled};
use crate::row::{Constants, TableRow};

/// Columns that only serve to make lines of a table again.
const OF_LINES: usize = 2;

/// Writes a recording as comma-separated values.
#[derive(Debug)]
pub struct CsvWriter<W> {
    out: W,
    constants: Constants,
    held: Held,
}

impl<W: Write> CsvWriter<W> {
    /// Writes the names of the columns.
    ///
    /// # Errors
    /// The output takes no more.
    pub fn begin(mut out: W, header: &Header) -> io::Result<Self> {
        let names: Vec<&str> = COLUMNS[..COLUMNS.len() - OF_LINES].iter().map(|column| column.name).collect();
        writeln!(out, "{}", names.join(","))?;
        Ok(Self { out, constants: Constants::of(header), held: Held::new(header) })
    }

    /// Takes a sample that ended so many seconds after the start; `truth` is the same with the model's counts.
    ///
    /// # Errors
    /// The output takes no more, or the sample is not of the header's plan.
    pub fn sample(&mut self, end: f64, sample: &Sample, truth: Option<&Sample>) -> io::Result<()> {
        match self.held.take(end, sample, truth)? {
            Some(settled) => self.write(&settled),
            None => Ok(()),
        }
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// The output takes no more.
    pub fn end(&mut self) -> io::Result<()> {
        while let Some(settled) = self.held.release() {
            self.write(&settled)?;
        }
        self.out.flush()
    }

    fn write(&mut self, settled: &Settled) -> io::Result<()> {
        let mut text = String::new();
        for row in self.constants.rows_of(settled) {
            text += &self.line(&row);
            text.push('\n');
        }
        self.out.write_all(text.as_bytes())
    }

    /// The fields in the order of the columns.
    fn line(&self, row: &TableRow<'_>) -> String {
        let (place, count) = (row.place, row.count);
        let fields: [String; COLUMNS.len() - OF_LINES] = [
            time(row.time),
            self.constants.host.as_ref().map_or_else(String::new, quoted),
            place.socket.to_string(),
            quoted(&place.unit),
            place.instance.to_string(),
            quoted(&place.event),
            field(count.count),
            field(row.duty),
            row.validity.to_owned(),
            row.seconds.to_string(),
            row.elapsed.to_string(),
            row.sample.to_string(),
            row.tsc_cycles.to_string(),
            field(count.standard_error),
            field(row.truth),
        ];
        fields.join(",")
    }
}

/// A time in RFC 3339; nothing for one that no calendar has.
fn time(microseconds: i64) -> String {
    let time = DateTime::from_timestamp_micros(microseconds);
    time.map_or_else(String::new, |time| time.to_rfc3339_opts(SecondsFormat::Micros, true))
}

/// What there is, or nothing.
fn field(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// A text, in quotation marks where it has something inside that would end it.
fn quoted(text: &ByteArray) -> String {
    let text = String::from_utf8_lossy(text.data());
    if text.contains([',', '"', '\r', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into_owned() }
}
