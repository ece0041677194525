//! A table as the lines of its recording.

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};

use parquet::data_type::ByteArray;
use parquet::file::FOOTER_SIZE;
use parquet::file::metadata::{FooterTail, KeyValue, ParquetMetaDataReader};
use parquet::file::reader::{FileReader as _, Length as _};
use parquet::file::serialized_reader::SerializedFileReader;
use pericore_observe::record::{Header, LONGEST_LINE, Reader};

use crate::batch::{Batch, Batches};
use crate::source::TableBytes;
use crate::{TABLE, key};

/// How far back a footer is looked for, behind which a write was broken off: no write is longer.
const LONGEST_WRITE: u64 = 1 << 30;

/// Bytes that are searched at a time.
const WINDOW: usize = 1 << 16;

/// Reads a table as the lines of its recording, with one sample in memory.
pub struct RecordedLines {
    file: SerializedFileReader<TableBytes>,
    header: Header,
    ending: Option<String>,
    /// The row group that is next.
    group: usize,
    batches: Option<(Batches, usize)>,
    line: Vec<u8>,
    /// Bytes of the line that were read.
    at: usize,
    is_over: bool,
    /// Bytes behind the last whole write.
    behind: u64,
}

impl std::fmt::Debug for RecordedLines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RecordedLines")
            .field("group", &self.group)
            .field("behind", &self.behind)
            .finish_non_exhaustive()
    }
}

impl RecordedLines {
    /// Opens a table. `begin` is what was read of it already, if it is a pipe; a file is read from its beginning.
    ///
    /// # Errors
    /// It is no table of a recording, or cannot be read; the message says so.
    pub fn open(file: File, begin: Vec<u8>) -> io::Result<Self> {
        Self::of(TableBytes::of(file, begin)?)
    }

    /// Opens a table that is in memory.
    ///
    /// # Errors
    /// As [`RecordedLines::open`].
    pub fn in_memory(bytes: Vec<u8>) -> io::Result<Self> {
        Self::of(TableBytes::in_memory(bytes))
    }

    fn of(source: TableBytes) -> io::Result<Self> {
        without_panic(|| Self::opened(&source))
    }

    fn opened(source: &TableBytes) -> io::Result<Self> {
        let whole = last_whole(source)?;
        let behind = source.len() - whole.len();
        let file = SerializedFileReader::new(whole).map_err(|error| damaged(&error))?;
        let known = file.metadata().file_metadata().key_value_metadata().map_or(&[][..], Vec::as_slice);
        let value = |name: &str| {
            let pair = known.iter().find(|KeyValue { key, .. }| key == name);
            pair.and_then(|pair| pair.value.clone())
        };
        let Some(first) = value(key::RECORDING) else {
            return Err(refuse(format!(
                "its metadata has no {:?}: not a Pericore recording, or another program has rewritten it",
                key::RECORDING
            )));
        };
        match value(key::TABLE) {
            Some(version) if version == TABLE.to_string() => {}
            other => {
                let found: String = other.unwrap_or_default().chars().filter(|c| !c.is_control()).take(20).collect();
                return Err(refuse(format!(
                    "the table's version is {found:?}, and this pericore reads version {TABLE}; read it with the \
                     pericore that wrote it"
                )));
            }
        }
        let line = one_line(first)?;
        let header = Reader::open(&line[..]).map_err(|error| refuse(error.to_string()))?.header().clone();
        if header.counts.is_empty() {
            return Err(refuse("its first line announces no counts".to_owned()));
        }
        let ending = value(key::ENDING);
        Ok(Self { file, header, ending, group: 0, batches: None, line, at: 0, is_over: false, behind })
    }

    /// Bytes behind the last whole write: a part of one.
    pub const fn behind(&self) -> u64 {
        self.behind
    }

    /// Puts the next line into place; an empty one at the end.
    fn advance(&mut self) -> io::Result<()> {
        self.line.clear();
        self.at = 0;
        while !self.is_over {
            if let Some((batches, left)) = &mut self.batches
                && *left > 0
            {
                let rows = self.header.counts.len();
                if *left < rows {
                    return Err(damaged(&"a row group ends in the middle of a sample"));
                }
                *left -= rows;
                let batch = batches.next(rows).map_err(|error| damaged(&error))?;
                return self.compose(&batch);
            }
            self.batches = None;
            if self.group == self.file.num_row_groups() {
                self.is_over = true;
                self.line = self.ending.take().map_or_else(|| Ok(Vec::new()), one_line)?;
                return Ok(());
            }
            let group = self.file.get_row_group(self.group).map_err(|error| damaged(&error))?;
            let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
            self.batches = Some((Batches::of(&*group).map_err(|error| damaged(&error))?, rows));
            self.group += 1;
        }
        Ok(())
    }

    /// Makes a sample's line of its rows.
    fn compose(&mut self, batch: &Batch) -> io::Result<()> {
        let Some((Some(details), others)) = batch.sample_json.split_first() else {
            return Err(reordered());
        };
        if others.iter().any(Option::is_some) || !self.is_in_order(batch) {
            return Err(reordered());
        }
        let details = text(details)?.trim_end();
        let open = details.strip_suffix('}').filter(|open| open.starts_with('{'));
        let mut line = open.ok_or_else(|| damaged(&"sample_json is no JSON object"))?.to_owned();
        line.push_str(",\"counts\":");
        numbers(&mut line, &batch.counts);
        let mut separator = ",\"validity\":[";
        for (at, details) in batch.count_json.iter().enumerate() {
            let Some(details) = details else { continue };
            let fields = text(details)?.strip_prefix('{').ok_or_else(|| damaged(&"count_json is no JSON object"))?;
            line.push_str(separator);
            line.push_str(&format!("{{\"count\":{at},{fields}"));
            separator = ",";
            // A dictionary makes a long text of each of many rows.
            if line.len() > LONGEST_LINE {
                return Err(too_long());
            }
        }
        if separator == "," {
            line.push(']');
        }
        if self.header.about.truth {
            line.push_str(",\"truth\":");
            numbers(&mut line, &batch.truths);
        }
        line.push('}');
        self.line = one_line(line)?;
        Ok(())
    }

    /// True if the rows are what the first line announces, in its order.
    fn is_in_order(&self, batch: &Batch) -> bool {
        let is = |found: &Option<ByteArray>, wanted: &str| {
            found.as_ref().is_some_and(|found| found.data() == wanted.as_bytes())
        };
        self.header.counts.iter().enumerate().all(|(at, &(event, instance))| {
            let place = &self.header.instances[instance];
            batch.sockets[at] == Some(i32::from(place.socket))
                && batch.instances[at] == Some(i32::from(place.number))
                && is(&batch.units[at], &place.unit)
                && is(&batch.events[at], &self.header.events[event].label)
        })
    }
}

impl Read for RecordedLines {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for RecordedLines {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.line.len() && !self.is_over {
            without_panic(|| self.advance()).inspect_err(|_| self.is_over = true)?;
        }
        Ok(&self.line[self.at..])
    }

    fn consume(&mut self, read: usize) {
        self.at = (self.at + read).min(self.line.len());
    }
}

/// The source until the last footer with which it is a whole file: what is behind was broken off.
fn last_whole(source: &TableBytes) -> io::Result<TableBytes> {
    let is_whole = |source: &TableBytes| ParquetMetaDataReader::new().parse_and_finish(source).is_ok();
    if is_whole(source) {
        return Ok(source.clone());
    }
    let (magic, footer) = (b"PAR1", FOOTER_SIZE as u64);
    let mut end = source.len();
    let least = end.saturating_sub(LONGEST_WRITE).max(2 * footer);
    let mut window = vec![0; WINDOW + magic.len() - 1];
    while end > least {
        let begin = end.saturating_sub(WINDOW as u64);
        let read = source.read_at(&mut window, begin)?;
        let found = window[..read].windows(magic.len()).enumerate().rev().filter(|(_, bytes)| bytes == magic);
        for (at, _) in found {
            let cut = source.cut(begin + (at + magic.len()) as u64);
            if has_footer(&cut)? && is_whole(&cut) {
                return Ok(cut);
            }
        }
        end = begin;
    }
    Err(refuse("it ends before its first footer does: nothing can be read of it; record again".to_owned()))
}

/// True if the length at its end leads to a place in it, which costs less to see than to read.
fn has_footer(source: &TableBytes) -> io::Result<bool> {
    let mut tail = [0; FOOTER_SIZE];
    let Some(at) = source.len().checked_sub(FOOTER_SIZE as u64) else { return Ok(false) };
    if source.read_at(&mut tail, at)? < FOOTER_SIZE {
        return Ok(false);
    }
    Ok(FooterTail::try_new(&tail).is_ok_and(|tail| (tail.metadata_length() as u64) < at))
}

/// Numbers as a JSON list.
fn numbers(line: &mut String, numbers: &[Option<i64>]) {
    let texts =
        numbers.iter().map(|number| number.map_or_else(|| "null".to_owned(), |n| n.cast_unsigned().to_string()));
    line.push('[');
    line.push_str(&texts.collect::<Vec<_>>().join(","));
    line.push(']');
}

fn text(bytes: &ByteArray) -> io::Result<&str> {
    bytes.as_utf8().map_err(|error| damaged(&error))
}

/// A line with its end, if it is one line.
fn one_line(text: String) -> io::Result<Vec<u8>> {
    if text.contains('\n') || text.len() >= LONGEST_LINE {
        return Err(too_long());
    }
    let mut line = text.into_bytes();
    line.push(b'\n');
    Ok(line)
}

/// The parquet crate panics over some damaged pages, where an error is meant.
fn without_panic<T>(read: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err(damaged(&"a page of it is damaged")))
}

fn too_long() -> io::Error {
    damaged(&"a line of it has a line feed inside, or more than 64 MB")
}

fn refuse(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// The words of the parquet crate can have bytes of the file in them.
fn damaged(what: &dyn std::fmt::Display) -> io::Error {
    refuse(what.to_string().replace(char::is_control, " "))
}

fn reordered() -> io::Error {
    refuse("its rows are not those that pericore wrote, in that order: another program has rewritten it".to_owned())
}
