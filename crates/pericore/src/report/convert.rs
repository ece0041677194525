//! A recording in another form.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use pericore_observe::record::{Ending, Header, Reader, Recorded, Writer};
use pericore_table::{CsvWriter, FlushPace, TableWriter};

use super::input::{Input, refused_input};
use super::recording::{damaged, warn_of_ending};
use super::span::TimeSpan;
use super::trace::TrackWriter;
use super::until::Conversion;
use crate::failure::Failure;

/// A writer of any of the forms.
enum Converter {
    Lines(Writer<Out>),
    Table(Box<TableWriter<Out>>),
    Csv(CsvWriter<Out>),
    Trace(TrackWriter<Out>),
}

type Out = BufWriter<Box<dyn Write>>;

/// Writes the recording in another form.
///
/// # Errors
/// A recording that cannot be read, or an output that cannot be written.
pub fn run(form: Conversion, file: File, name: &str, span: TimeSpan, out: Box<dyn Write>) -> Result<(), Failure> {
    let input = Input::of(file).map_err(|error| refused_input(name, &error))?;
    let (is_table, behind) = (input.is_table(), input.behind());
    let failed = |error| damaged(name, &error, is_table);
    let mut reader = Reader::open(input).map_err(failed)?.as_written();
    let mut converter = Converter::begin(form, BufWriter::new(out), reader.header())?;
    let mut samples = 0_u64;
    let outcome = loop {
        match reader.next() {
            None => break Ok(()),
            Some(Err(error)) => break Err(failed(error)),
            Some(Ok(recorded)) if span.has(recorded.end, recorded.sample.seconds) => {
                converter.sample(&recorded)?;
                samples += 1;
            }
            Some(Ok(_)) => {}
        }
    };
    // What was whole before a damage is worth having.
    let cut = Ending::Cut { half: None };
    let ending = if outcome.is_ok() { reader.ending().unwrap_or(&cut) } else { &cut };
    converter.end(ending)?;
    outcome.map_err(|failure| failure.with_advice(&format!("the {samples} samples before that were written")))?;
    warn_of_ending(name, ending, samples, is_table, behind);
    Ok(())
}

impl Converter {
    fn begin(form: Conversion, out: Out, header: &Header) -> io::Result<Self> {
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

    fn sample(&mut self, Recorded { end, sample, truth }: &Recorded) -> io::Result<()> {
        match self {
            Self::Lines(writer) => writer.sample(*end, sample, truth.as_ref()),
            Self::Table(writer) => writer.sample(*end, sample, truth.as_ref()).map(|_| ()),
            Self::Csv(writer) => writer.sample(*end, sample, truth.as_ref()),
            Self::Trace(writer) => writer.sample(*end, sample),
        }
    }

    fn end(&mut self, ending: &Ending) -> io::Result<()> {
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
