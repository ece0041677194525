//! Parquet files as recordings: an error in words, or lines of a recording, whose own checks follow.
//!
//! An input that begins as a Parquet file is taken as it is. Any other is a list of edits of a table that is right:
//! so the fuzzer reaches what lies behind magic numbers, lengths and footers. An edit has six bytes: what to do, how
//! far from the end of the file (three bytes), and two for the value.

use std::io::Read as _;
use std::sync::LazyLock;

use pericore_observe::record::Reader;
use pericore_table::{FlushPace, RecordedLines, TableWriter, is_table};

/// Bytes of lines that are looked at.
const MOST: u64 = 1 << 20;

/// A recording of three samples, as a table with a footer after each.
static TABLE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut reader = Reader::open(&include_bytes!("../../../crates/table/src/by_hand.rec")[..]).expect("it is right");
    let (header, mut out) = (reader.header().clone(), Vec::new());
    let mut writer = TableWriter::begin(&mut out, &header, FlushPace { seconds: 0.0 }).expect("memory takes all");
    for recorded in reader.by_ref() {
        let recorded = recorded.expect("it is right");
        writer.sample(recorded.end, &recorded.sample, recorded.truth.as_ref()).expect("memory takes all");
    }
    writer.end(&pericore_observe::record::Ending::Whole).expect("memory takes all");
    drop(writer);
    out
});

/// Any bytes.
pub fn run(data: &[u8]) {
    let bytes = if is_table(data) { data.to_vec() } else { edited(data) };
    let mut lines = match RecordedLines::in_memory(bytes) {
        Ok(lines) => lines,
        Err(error) => {
            assert!(!error.to_string().contains(char::is_control), "{error:?} would upset a terminal");
            return;
        }
    };
    let mut text = Vec::new();
    if let Err(error) = (&mut lines).take(MOST).read_to_end(&mut text) {
        assert!(!error.to_string().contains(char::is_control), "{error:?} would upset a terminal");
    }
    crate::recording::run(&text);
}

/// The table after some edits.
fn edited(data: &[u8]) -> Vec<u8> {
    let mut bytes = TABLE.clone();
    for edit in data.chunks_exact(6) {
        let back = usize::from(edit[1]) | usize::from(edit[2]) << 8 | usize::from(edit[3] & 1) << 16;
        let Some(at) = bytes.len().checked_sub(back + 1) else { continue };
        match edit[0] % 6 {
            0 => bytes[at] ^= edit[4],
            1 => bytes[at] = edit[4],
            2 => bytes.truncate(at),
            3 => bytes.insert(at, edit[4]),
            4 => drop(bytes.drain(at..(at + usize::from(edit[4])).min(bytes.len()))),
            _ => {
                let end = (at + usize::from(edit[4])).min(bytes.len());
                let copied = bytes[at..end].to_vec();
                let place = bytes.len().saturating_sub(usize::from(edit[5]));
                bytes.splice(place..place, copied);
            }
        }
    }
    bytes
}
