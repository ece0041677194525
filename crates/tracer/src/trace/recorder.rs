//! Recording what passes from a source to its consumer.

use super::{TraceError, TraceHeader, TraceWriter};
use crate::{Access, Error, Source, Summary, Thread};
use std::io::Write;

/// A source that writes all that it passes on to a trace file, and ends the file when its own source ends.
#[derive(Debug)]
pub struct Recorder<S: Source, W: Write> {
    source: S,
    writer: Option<TraceWriter<W>>,
}

impl<S: Source, W: Write> Recorder<S, W> {
    /// Begins a trace of a source. The writer should have a buffer.
    ///
    /// # Errors
    /// [`TraceError::Write`].
    pub fn new(source: S, to: W, header: &TraceHeader) -> Result<Self, TraceError> {
        Ok(Self { source, writer: Some(TraceWriter::new(to, header)?) })
    }

    /// The source.
    pub fn into_source(self) -> S {
        self.source
    }
}

impl<S: Source, W: Write> Source for Recorder<S, W> {
    fn next_batch(&mut self, batch: &mut Vec<Access>) -> Result<bool, Error> {
        let more = self.source.next_batch(batch)?;
        if more {
            if let Some(writer) = &mut self.writer {
                writer.add(batch, self.source.threads())?;
            }
        } else if let Some(writer) = self.writer.take() {
            writer.finish(self.source.threads(), &self.source.summary().notes)?;
        }
        Ok(more)
    }

    fn threads(&self) -> &[Thread] {
        self.source.threads()
    }

    fn summary(&self) -> Summary {
        self.source.summary()
    }
}
