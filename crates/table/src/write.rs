//! Writing: a row group and a footer in each write.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::errors::ParquetError;
use parquet::file::metadata::{FileMetaData, KeyValue, ParquetMetaDataBuilder, ParquetMetaDataWriter};
use parquet::file::writer::SerializedFileWriter;
use pericore_observe::record::{Ending, Header, ending_text, header_text};
use pericore_observe::session::Sample;

use crate::columns::{properties, schema};
use crate::held::Held;
use crate::row::Constants;
use crate::rows::Rows;
use crate::{TABLE, key};

/// Rows of a row group at most, but for those of one sample: this bounds the memory of who writes and of who reads.
const MOST_ROWS: usize = 1 << 18;

/// Bytes of footers that a table may have beyond as many as it has of rows.
const ROOM: u64 = 1 << 20;

/// How often rows are written.
#[derive(Debug, Clone, Copy)]
pub struct FlushPace {
    /// Seconds of the measurement that a row group has, until footers take more room than rows: then they become
    /// longer.
    pub seconds: f64,
}

/// Writes a recording as a table.
#[derive(Debug)]
pub struct TableWriter<W> {
    out: W,
    /// Collects in memory what the next write is.
    file: SerializedFileWriter<Vec<u8>>,
    constants: Constants,
    metadata: Vec<KeyValue>,
    pace: FlushPace,
    held: Held,
    rows: Rows,
    /// Samples that were written.
    written: u64,
    /// When the last write was, in seconds of the measurement.
    written_at: f64,
    /// Length of the last footer.
    footer: u64,
    /// Bytes of all footers.
    footers: u64,
    bytes: u64,
    /// A write failed: what follows would not fit what is there.
    is_broken: bool,
}

impl<W: Write> TableWriter<W> {
    /// Begins a table. Nothing is written yet.
    ///
    /// # Errors
    /// A recording in which nothing is counted has no rows.
    pub fn begin(out: W, header: &Header, pace: FlushPace) -> io::Result<Self> {
        if header.counts.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "nothing is counted: a table would have no rows"));
        }
        let metadata = vec![
            KeyValue::new(key::TABLE.to_owned(), TABLE.to_string()),
            KeyValue::new(key::RECORDING.to_owned(), header_text(header)?),
        ];
        let file = SerializedFileWriter::new(Vec::new(), schema(), Arc::new(properties())).map_err(of_parquet)?;
        Ok(Self {
            out,
            file,
            constants: Constants::of(header),
            metadata,
            pace,
            held: Held::new(header),
            rows: Rows::new(),
            written: 0,
            written_at: 0.0,
            footer: 0,
            footers: 0,
            bytes: 0,
            is_broken: false,
        })
    }

    /// Takes a sample that ended so many seconds after the start; `truth` is the same with the model's counts. True if
    /// something was written.
    ///
    /// # Errors
    /// The output takes no more, or the sample is not of the header's plan.
    pub fn sample(&mut self, end: f64, sample: &Sample, truth: Option<&Sample>) -> io::Result<bool> {
        if let Some(settled) = self.held.take(end, sample, truth)? {
            self.rows.push(&self.constants, &settled)?;
        }
        let has_room = self.footers + self.footer <= self.bytes - self.footers + ROOM;
        let is_due = end - self.written_at >= self.pace.seconds && has_room;
        if self.rows.len() > 0 && (is_due || self.rows.len() + self.constants.rows() > MOST_ROWS) {
            self.written_at = end;
            self.write()?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Writes what is left, and how the recording ended. A recording that was [cut](Ending::Cut) does not say so.
    ///
    /// # Errors
    /// The output takes no more.
    pub fn end(&mut self, ending: &Ending) -> io::Result<()> {
        while let Some(settled) = self.held.release() {
            self.rows.push(&self.constants, &settled)?;
        }
        if let Some(ending) = ending_text(ending, self.held.given())? {
            self.metadata.push(KeyValue::new(key::ENDING.to_owned(), ending));
        }
        self.write()
    }

    /// Samples taken.
    pub fn samples(&self) -> u64 {
        self.held.taken()
    }

    /// Samples of whole writes.
    pub const fn written(&self) -> u64 {
        self.written
    }

    /// Bytes of whole writes: what is behind them is a part of one.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What it writes to.
    pub const fn output(&self) -> &W {
        &self.out
    }

    /// The same, to be changed.
    pub const fn output_mut(&mut self) -> &mut W {
        &mut self.out
    }

    /// Writes the rows, if there are any, and a footer for all rows until here.
    fn write(&mut self) -> io::Result<()> {
        if self.is_broken {
            return Err(io::Error::other("a write before this one failed"));
        }
        self.is_broken = true;
        if self.rows.len() > 0 {
            self.rows.write(&mut self.file).map_err(of_parquet)?;
        }
        let footer = self.footer().map_err(of_parquet)?;
        self.footer = footer.len() as u64;
        self.file.write_all(&footer)?;
        self.file.flush()?;
        let bytes = std::mem::take(self.file.inner_mut());
        self.out.write_all(&bytes)?;
        self.bytes += bytes.len() as u64;
        self.footers += self.footer;
        self.written = self.held.given();
        self.is_broken = false;
        Ok(())
    }

    /// What stands at the end of a Parquet file: schema, metadata, and where each column of each row group is.
    fn footer(&self) -> Result<Vec<u8>, ParquetError> {
        let (groups, schema) = (self.file.flushed_row_groups(), self.file.schema_descr().clone());
        let rows = groups.iter().map(|group| group.num_rows()).sum();
        let (version, created_by) = (self.file.properties().writer_version().as_num(), self.file.properties());
        let created_by = Some(created_by.created_by().to_owned());
        let metadata = Some(self.metadata.clone());
        let about = FileMetaData::new(version, rows, created_by, metadata, Arc::new(schema), None);
        let whole = ParquetMetaDataBuilder::new(about).set_row_groups(groups.to_vec()).build();
        let mut footer = Vec::new();
        ParquetMetaDataWriter::new(&mut footer, &whole).finish()?;
        Ok(footer)
    }
}

/// What a table in memory comes to; only a mistake of ours can make it fail.
fn of_parquet(error: ParquetError) -> io::Error {
    io::Error::other(error)
}
