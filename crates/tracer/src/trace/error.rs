//! What can be wrong with a trace file.

use std::io;

/// A trace file that cannot be read or written. Offsets are bytes from the beginning of the file.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// Another kind of file.
    #[error("byte 0: this is no pericore trace: record one with --save-trace")]
    Foreign,
    /// A trace of another version.
    #[error("byte 16: the trace has format version {found}, and this pericore reads version {known}: record it again")]
    Version {
        /// In the file.
        found: u32,
        /// Known here.
        known: u32,
    },
    /// A file that ends too early.
    #[error(
        "byte {offset}: the trace ends here, before its end mark: the recording was cut short, or the copy is incomplete"
    )]
    Truncated {
        /// Where the file ends.
        offset: u64,
    },
    /// A file that says what cannot be.
    #[error("byte {offset}: the trace is damaged ({what}): copy or record it again")]
    Damaged {
        /// Where the damaged block begins.
        offset: u64,
        /// What is wrong.
        what: &'static str,
    },
    /// The system could not read.
    #[error("byte {offset}: cannot read the trace: {source}")]
    Read {
        /// Where.
        offset: u64,
        /// Why.
        source: io::Error,
    },
    /// The system could not write.
    #[error("cannot write the trace: {source}")]
    Write {
        /// Why.
        source: io::Error,
    },
}
