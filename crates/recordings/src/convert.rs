//! A recording in another form.

use std::io::{self, Write};

use pericore_observe::record::{Ending, Header, Recorded, Writer};
use pericore_table::{CsvWriter, FlushPace, TableWriter};

use crate::trace::TrackWriter;

/// A form that a recording can be brought into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conversion {
    /// JSON lines, as they are recorded.
    Jsonl,
    /// A Parquet table.
    Parquet,
    /// Comma-separated values, with the names of the columns.
    Csv,
    /// Chrome's trace format, for Perfetto: rates over time.
    Trace,
}

/// A writer of any of the forms.
#[derive(Debug)]
pub enum Converter<W: Write> {
    /// JSON lines.
    Lines(Writer<W>),
    /// A Parquet table.
    Table(Box<TableWriter<W>>),
    /// Comma-separated values.
    Csv(CsvWriter<W>),
    /// Chrome's trace format.
    Trace(TrackWriter<W>),
}

impl<W: Write> Converter<W> {
    /// Begins the output with what a recording says of itself.
    ///
    /// # Errors
    /// The output takes no more.
    pub fn begin(form: Conversion, out: W, header: &Header) -> io::Result<Self> {
        Ok(match form {
            Conversion::Jsonl => Self::Lines(Writer::begin(out, header)?),
            // What is converted is there already: nothing is lost by long row groups.
            Conversion::Parquet => {
                Self::Table(Box::new(TableWriter::begin(out, header, FlushPace { seconds: f64::INFINITY })?))
            }
            Conversion::Csv => Self::Csv(CsvWriter::begin(out, header)?),
            Conversion::Trace => Self::Trace(TrackWriter::begin(out, header)?),
        })
    }

    /// Writes a sample.
    ///
    /// # Errors
    /// The output takes no more.
    pub fn sample(&mut self, Recorded { end, sample, truth }: &Recorded) -> io::Result<()> {
        match self {
            Self::Lines(writer) => writer.sample(*end, sample, truth.as_ref()),
            Self::Table(writer) => writer.sample(*end, sample, truth.as_ref()).map(|_| ()),
            Self::Csv(writer) => writer.sample(*end, sample, truth.as_ref()),
            Self::Trace(writer) => writer.sample(*end, sample),
        }
    }

    /// Writes what is left, and how the recording ended.
    ///
    /// # Errors
    /// The output takes no more.
    pub fn end(&mut self, ending: &Ending) -> io::Result<()> {
        match self {
            Self::Lines(writer) => {
                writer.end(ending)?;
                writer.output_mut().flush()
            }
            Self::Table(writer) => {
                writer.end(ending)?;
                writer.output_mut().flush()
            }
            Self::Csv(writer) => writer.end(),
            Self::Trace(writer) => writer.end(),
        }
    }
}
