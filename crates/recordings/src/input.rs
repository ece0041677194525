//! The bytes of a recording, in whichever form it is.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use pericore_table::{RecordedLines, is_table};

/// A recording's lines, whatever they come from.
#[derive(Debug)]
pub enum Input {
    /// JSON lines.
    Lines(BufReader<File>),
    /// A Parquet table.
    Table(Box<RecordedLines>),
}

impl Input {
    /// Looks at the first bytes: a file's name says nothing.
    ///
    /// # Errors
    /// It cannot be read, or is a table that is none of a recording.
    pub fn of(file: File) -> io::Result<Self> {
        let mut lines = BufReader::new(file);
        if !is_table(lines.fill_buf()?) {
            return Ok(Self::Lines(lines));
        }
        let begin = lines.buffer().to_vec();
        Ok(Self::Table(Box::new(RecordedLines::open(lines.into_inner(), begin)?)))
    }

    /// True for a table.
    pub const fn is_table(&self) -> bool {
        matches!(self, Self::Table(_))
    }

    /// Bytes of a table behind its last whole write.
    pub fn behind(&self) -> u64 {
        match self {
            Self::Lines(_) => 0,
            Self::Table(lines) => lines.behind(),
        }
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Lines(lines) => lines.read(buffer),
            Self::Table(lines) => lines.read(buffer),
        }
    }
}

impl BufRead for Input {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self {
            Self::Lines(lines) => lines.fill_buf(),
            Self::Table(lines) => lines.fill_buf(),
        }
    }

    fn consume(&mut self, read: usize) {
        match self {
            Self::Lines(lines) => lines.consume(read),
            Self::Table(lines) => lines.consume(read),
        }
    }
}
