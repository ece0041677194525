//! Trace files: a program's accesses, kept.
//!
//! A file is 16 bytes of [`MAGIC`], a version, and blocks. A block is its kind (1 byte), the bytes of its contents (4, little-endian), a
//! CRC-32 over both and the contents (4), and the contents. The first block is the header; the last says how many accesses there are,
//! so that a file that was cut off at the edge of a block is recognised as well. Numbers in contents are LEB128; text is its length and
//! its bytes.

mod bytes;
mod crc;
mod error;
mod packing;
mod reader;
mod recorder;
mod writer;

#[cfg(test)]
mod test;

pub use error::TraceError;
pub use reader::{TraceReader, fuzz_reader};
pub use recorder::Recorder;
pub use writer::TraceWriter;

use crate::Geometry;

/// How a trace file begins.
const MAGIC: &[u8; 16] = b"pericore trace\n\0";
/// Version of the format.
const VERSION: u32 = 3;
/// Contents of a block: at least this much before a block of accesses is written, and never more than [`LARGEST_BLOCK`].
const BLOCK: usize = 64 << 10;
/// Largest contents of a block.
const LARGEST_BLOCK: u32 = 1 << 20;

const HEADER: u8 = b'H';
const THREAD: u8 = b'T';
const ACCESSES: u8 = b'A';
const COUNTS: u8 = b'C';
const NOTE: u8 = b'N';
const END: u8 = b'E';

/// What a trace says about how it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceHeader {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The cache that loads and stores went through.
    pub data_cache: Geometry,
    /// The cache that instruction fetches went through.
    pub fetch_cache: Geometry,
}
