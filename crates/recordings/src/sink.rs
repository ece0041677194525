//! The forms of a recording, behind one face.

use std::io::{self, Write};
use std::path::Path;

use pericore_observe::record::{Ending, Header, Writer};
use pericore_observe::session::Sample;
use pericore_table::{FlushPace, TableWriter};

/// A form of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordingForm {
    /// JSON lines.
    Jsonl,
    /// A Parquet table.
    Parquet,
}

/// Writes a recording in one of its forms.
#[derive(Debug)]
pub enum Sink<W: Write> {
    /// JSON lines.
    Lines(Writer<W>),
    /// A Parquet table.
    Table(Box<TableWriter<W>>),
}

impl RecordingForm {
    /// By the end of the file's name.
    pub fn of(path: &Path) -> Self {
        let is_table = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("parquet"));
        if is_table { Self::Parquet } else { Self::Jsonl }
    }
}

impl<W: Write> Sink<W> {
    /// Begins a recording.
    ///
    /// # Errors
    /// The output takes no more.
    pub fn begin(format: RecordingForm, out: W, header: &Header, pace: FlushPace) -> io::Result<Self> {
        Ok(match format {
            RecordingForm::Jsonl => Self::Lines(Writer::begin(out, header)?),
            RecordingForm::Parquet => Self::Table(Box::new(TableWriter::begin(out, header, pace)?)),
        })
    }

    /// Takes a sample that ended so many seconds after the start. True if the output has got a whole sample by it.
    ///
    /// # Errors
    /// The output takes no more.
    pub fn sample(&mut self, end: f64, sample: &Sample, truth: Option<&Sample>) -> io::Result<bool> {
        match self {
            Self::Lines(writer) => writer.sample(end, sample, truth).map(|()| true),
            Self::Table(writer) => writer.sample(end, sample, truth),
        }
    }

    /// Writes what is left, and how it ended.
    ///
    /// # Errors
    /// The output takes no more.
    pub fn end(&mut self, ending: &Ending) -> io::Result<()> {
        match self {
            Self::Lines(writer) => writer.end(ending),
            Self::Table(writer) => writer.end(ending),
        }
    }

    /// Samples taken.
    pub fn samples(&self) -> u64 {
        match self {
            Self::Lines(writer) => writer.samples(),
            Self::Table(writer) => writer.samples(),
        }
    }

    /// Samples that the output has got.
    pub const fn written(&self) -> u64 {
        match self {
            Self::Lines(writer) => writer.samples(),
            Self::Table(writer) => writer.written(),
        }
    }

    /// Bytes of whole writes.
    pub const fn bytes(&self) -> u64 {
        match self {
            Self::Lines(writer) => writer.bytes(),
            Self::Table(writer) => writer.bytes(),
        }
    }

    /// What it writes to.
    pub const fn output(&self) -> &W {
        match self {
            Self::Lines(writer) => writer.output(),
            Self::Table(writer) => writer.output(),
        }
    }

    /// The same, to be changed.
    pub const fn output_mut(&mut self) -> &mut W {
        match self {
            Self::Lines(writer) => writer.output_mut(),
            Self::Table(writer) => writer.output_mut(),
        }
    }
}
