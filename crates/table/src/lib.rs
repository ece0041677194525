//! Recordings as Parquet tables, for DuckDB, Polars, pandas and whatever else reads them.
//!
//! A recording is one long table (`docs/recording.md`): a row for each count of each sample. [`TableWriter`] takes
//! what the writer of JSON lines takes. Behind each row group it writes a footer for all rows until there, and it
//! never changes what it has written: the file is a whole Parquet file after each of its writes. [`RecordedLines`]
//! gives a table back as the lines of the recording, so that the same [`Reader`](pericore_observe::record::Reader)
//! checks both forms. [`CsvWriter`] writes the same rows as text.

mod batch;
mod columns;
mod csv;
mod held;
mod lines;
mod row;
mod rows;
mod source;
mod write;

#[cfg(test)]
mod tests;

pub use csv::CsvWriter;
pub use lines::RecordedLines;
pub use source::is_table;
pub use write::{FlushPace, TableWriter};

/// The version of the table: it changes when a reader of the version before would misunderstand.
pub const TABLE: u64 = 1;

/// Keys of the file's metadata.
mod key {
    /// The version of the table.
    pub const TABLE: &str = "pericore.table";
    /// The first line of the recording.
    pub const RECORDING: &str = "pericore.recording";
    /// Its last line.
    pub const ENDING: &str = "pericore.ending";
}
