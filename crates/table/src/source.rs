//! Where a table is read from: a file, or what came through a pipe.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// The bytes that a table begins with.
const MAGIC: &[u8] = b"PAR1";

/// Bytes of a table that does not come from a file at most: it has to be in memory.
const MOST_IN_MEMORY: u64 = 1 << 30;

/// True if these are the first bytes of a table.
pub fn is_table(begin: &[u8]) -> bool {
    begin.starts_with(MAGIC)
}

/// The bytes of a table. Clones share them.
#[derive(Debug, Clone)]
pub struct TableBytes {
    bytes: Held,
    /// Bytes that count: what is behind is as if it were not there.
    length: u64,
}

#[derive(Debug, Clone)]
enum Held {
    File(Arc<File>),
    Memory(Bytes),
}

/// Reads a source from some place on.
#[derive(Debug)]
pub struct From {
    source: TableBytes,
    at: u64,
}

impl TableBytes {
    /// A file, which is read where it is needed; of what is no file, all is taken into memory, with the bytes that were
    /// read already before it.
    ///
    /// # Errors
    /// It cannot be read, or memory would not hold it.
    pub fn of(mut file: File, mut begin: Vec<u8>) -> io::Result<Self> {
        let known = file.metadata()?;
        if known.is_file() {
            return Ok(Self { bytes: Held::File(Arc::new(file)), length: known.len() });
        }
        let length = (&mut file).take(MOST_IN_MEMORY + 1).read_to_end(&mut begin)? as u64;
        if length > MOST_IN_MEMORY {
            let why = "more than 1 GiB through a pipe; name the file instead";
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
        }
        Ok(Self::in_memory(begin))
    }

    /// Bytes in memory.
    pub fn in_memory(bytes: Vec<u8>) -> Self {
        Self { length: bytes.len() as u64, bytes: Held::Memory(bytes.into()) }
    }

    /// The same without what is behind so many bytes.
    pub fn cut(&self, length: u64) -> Self {
        Self { bytes: self.bytes.clone(), length: length.min(self.length) }
    }

    /// Reads into the buffer from some place on; fewer bytes at the end.
    pub fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        let left = usize::try_from(self.length.saturating_sub(at)).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(left);
        let buffer = &mut buffer[..wanted];
        match &self.bytes {
            Held::File(file) => file.read_at(buffer, at),
            Held::Memory(bytes) => {
                let at = usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
                (&bytes[at..]).read(buffer)
            }
        }
    }
}

impl Length for TableBytes {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for TableBytes {
    type T = From;

    fn get_read(&self, start: u64) -> Result<From> {
        Ok(From { source: self.clone(), at: start })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        // Before memory is taken for it: lengths in a damaged file are any.
        if start.checked_add(length as u64).is_none_or(|end| end > self.length) {
            return Err(ParquetError::EOF(format!("{length} bytes from {start} on, of {}", self.length)));
        }
        let mut bytes = vec![0; length];
        From { source: self.clone(), at: start }.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}

impl Read for From {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read_at(buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}
