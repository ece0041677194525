//! The lines of a file that nobody vouches for.

use std::io::{BufRead, Read as _};

use serde_json::Value;

use super::{LONGEST_LINE, RecordError};

/// Reads one line after the other, each into the same memory.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    number: usize,
}

/// What a line turned out to be.
pub(super) enum Line {
    /// A value.
    Whole(Value),
    /// The last one, without its end.
    Half,
    /// There are no more.
    None,
}

impl<R: BufRead> Lines<R> {
    pub(super) const fn new(input: R) -> Self {
        Self { input, buffer: Vec::new(), number: 0 }
    }

    /// The next line.
    pub(super) fn next(&mut self) -> Result<Line, RecordError> {
        self.buffer.clear();
        self.number += 1;
        let line = self.number;
        let limit = LONGEST_LINE as u64 + 1;
        let read = (&mut self.input).take(limit).read_until(b'\n', &mut self.buffer);
        read.map_err(|error| RecordError::Io { line, message: error.to_string() })?;
        let damaged = |what: String| RecordError::Damaged { line, field: None, what };
        if self.buffer.is_empty() {
            return Ok(Line::None);
        }
        if self.buffer.len() > LONGEST_LINE {
            return Err(damaged(format!("it is longer than {} MB", LONGEST_LINE >> 20)));
        }
        if self.buffer.last() != Some(&b'\n') {
            return Ok(Line::Half);
        }
        let parsed = serde_json::from_slice(&self.buffer);
        parsed.map(Line::Whole).map_err(|error| damaged(format!("it is no JSON (column {})", error.column())))
    }

    /// Number of the line read last, from 1.
    pub(super) const fn number(&self) -> usize {
        self.number
    }

    /// The line read last, as it stands there.
    pub(super) fn text(&self) -> &[u8] {
        &self.buffer
    }
}
