//! Tables of a recording by hand, whole, cut, changed by others.

use std::io::{BufRead as _, Read as _};

use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;
use pericore_observe::record::{Ending, Reader, Recorded};

use super::*;

/// Written by hand after docs/recording.md: two samples of three counts, the second with all that can be said of one.
const BY_HAND: &str = include_str!("by_hand.rec");

/// Each sample is written as soon as no later one can withdraw it.
const AT_ONCE: FlushPace = FlushPace { seconds: 0.0 };

/// As many whole tables as there were writes.
#[derive(Default)]
struct Disk {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl std::io::Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        self.ends.push(self.bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The table of a recording in JSON lines.
fn table(text: &str, pace: FlushPace) -> Disk {
    let mut reader = Reader::open(text.as_bytes()).expect("a recording").as_written();
    let mut disk = Disk::default();
    let mut writer = TableWriter::begin(&mut disk, reader.header(), pace).expect("memory takes all");
    for recorded in reader.by_ref() {
        let Recorded { end, sample, truth } = recorded.expect("a sample");
        writer.sample(end, &sample, truth.as_ref()).expect("memory takes all");
    }
    writer.end(reader.ending().expect("it is over")).expect("memory takes all");
    assert_eq!(writer.bytes(), writer.output().bytes.len() as u64);
    disk
}

fn lines(bytes: &[u8]) -> std::io::Result<String> {
    let mut text = String::new();
    RecordedLines::in_memory(bytes.to_vec())?.read_to_string(&mut text)?;
    Ok(text)
}

/// A recording of so many samples of a second, in each of which the last count is the number of the sample.
fn long(samples: usize) -> String {
    let first = BY_HAND.lines().next().expect("a line");
    let mut text = format!("{first}\n");
    for number in 1..=samples {
        text += &format!("{{\"end\":{number}.0,\"seconds\":1.0,\"tsc-cycles\":7,\"counts\":[1,2,{number}]}}\n");
    }
    text + &format!("{{\"ended\":\"whole\",\"samples\":{samples}}}\n")
}

fn samples(text: &str) -> usize {
    text.lines().filter(|line| line.starts_with("{\"end\"")).count()
}

#[test]
fn a_recording_comes_back_to_the_byte() {
    // A table's lines have their fields in another order: they are read and written once more.
    let again = |bytes: &[u8]| {
        let mut reader =
            Reader::open(RecordedLines::in_memory(bytes.to_vec()).expect("a table")).expect("a recording").as_written();
        let mut text = Vec::new();
        let mut writer = pericore_observe::record::Writer::begin(&mut text, reader.header()).expect("memory takes all");
        for recorded in reader.by_ref() {
            let Recorded { end, sample, truth } = recorded.expect("a sample");
            writer.sample(end, &sample, truth.as_ref()).expect("memory takes all");
        }
        writer.end(reader.ending().expect("it is over")).expect("memory takes all");
        String::from_utf8(text).expect("UTF-8")
    };
    let withdrawing = BY_HAND.replace(
        "{\"ended\":\"interrupted\",\"samples\":2,",
        "{\"end\":4.0,\"seconds\":1.0,\"tsc-cycles\":1,\"counts\":[0,1,2],\
         \"withdrawn\":{\"samples\":2,\"doubts\":[{\"count\":2,\
         \"why\":\"set \
         back\"}]}}\n{\"ended\":\"interrupted\",\"samples\":3,",
    );
    let cut = &BY_HAND[..BY_HAND.rfind("{\"ended\"").expect("a last line")];
    let long = long(70);
    for text in [BY_HAND, &withdrawing, cut, &long] {
        assert_eq!(again(&table(text, AT_ONCE).bytes), text);
        assert_eq!(again(&table(text, FlushPace { seconds: 10.0 }).bytes), text);
    }
}

/// What another program finds in it, column by column; the numbers are those of the lines. 2026-11-22T19:42:00Z is
/// 1795376520 s (`date -u -d … +%s`).
#[test]
fn rows_have_what_the_lines_have() {
    let reader = SerializedFileReader::new(bytes::Bytes::from(table(BY_HAND, AT_ONCE).bytes)).expect("a table");
    let rows: Vec<Vec<(String, Field)>> = reader
        .get_row_iter(None)
        .expect("rows")
        .map(|row| row.expect("a row").get_column_iter().map(|(name, field)| (name.clone(), field.clone())).collect())
        .collect();
    let text = |text: &str| Field::Str(text.to_owned());
    let column = |name: &str| -> Vec<Field> {
        rows.iter()
            .filter_map(|row| row.iter().find(|(found, _)| found == name))
            .map(|(_, field)| field.clone())
            .collect()
    };
    assert_eq!(rows.len(), 6);
    assert_eq!(column("unit"), ["cbo", "imc", "imc", "cbo", "imc", "imc"].map(text));
    assert_eq!(column("instance"), [1, 0, 2, 1, 0, 2].map(Field::Int));
    assert_eq!(column("event")[..2], ["cbo1/LLC_LOOKUP.DATA_READ/", "imc/CAS_COUNT.RD/"].map(text));
    let counts = [7, 1000, u64::MAX, 20].map(Field::ULong);
    assert_eq!(column("count"), [&counts[..], &[Field::Null, Field::ULong(3)]].concat());
    let duties = [1.0, 1.0, 1.0, 0.5].map(Field::Double);
    assert_eq!(column("duty"), [&duties[..], &[Field::Null, Field::Double(1.0)]].concat());
    assert_eq!(column("validity"), ["measured", "measured", "measured", "scaled", "unreadable", "suspect"].map(text));
    assert_eq!(column("seconds"), [1.0, 1.0, 1.0, 1.25, 1.25, 1.25].map(Field::Double));
    assert_eq!(column("elapsed"), [1.0, 1.0, 1.0, 2.5, 2.5, 2.5].map(Field::Double));
    assert_eq!(column("sample"), [0, 0, 0, 1, 1, 1].map(Field::Long));
    assert_eq!(column("tsc_cycles")[2..4], [2_700_000_000, 3_000_000_000].map(Field::ULong));
    assert_eq!(column("standard_error")[3], Field::Double(2.5));
    assert!(column("host").iter().all(|host| *host == text("db1")));
    assert_eq!(column("time")[5], Field::TimestampMicros(1_795_376_520_000_000 + 2_500_000));
}

/// RFC 4180 by hand: an event with a comma in its name stands in quotation marks, what is missing is empty.
#[test]
fn comma_separated_values_have_the_same_rows() {
    let text = BY_HAND.replace("imc/CAS_COUNT.RD/\",\"unit", "imc/CAS_COUNT.RD,edge_det=1/\",\"unit");
    let mut reader = Reader::open(text.as_bytes()).expect("a recording").as_written();
    let mut bytes = Vec::new();
    let mut writer = CsvWriter::begin(&mut bytes, reader.header()).expect("memory takes all");
    for recorded in reader.by_ref() {
        let Recorded { end, sample, truth } = recorded.expect("a sample");
        writer.sample(end, &sample, truth.as_ref()).expect("memory takes all");
    }
    writer.end().expect("memory takes all");
    let text = String::from_utf8(bytes).expect("UTF-8");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 7, "{text}");
    assert_eq!(
        [lines[0], lines[1], lines[4], lines[5]],
        [
            "time,host,socket,unit,instance,event,count,duty,validity,seconds,elapsed,sample,tsc_cycles,standard_error,\
             truth",
            "2026-11-22T19:42:01.000000Z,db1,0,cbo,1,cbo1/LLC_LOOKUP.DATA_READ/,7,1,measured,1,1,0,2700000000,,",
            "2026-11-22T19:42:02.500000Z,db1,0,cbo,1,cbo1/LLC_LOOKUP.DATA_READ/,20,0.5,scaled,1.25,2.5,1,\
             3000000000,2.5,",
            "2026-11-22T19:42:02.500000Z,db1,0,imc,0,\"imc/CAS_COUNT.RD,edge_det=1/\",,,unreadable,1.25,2.5,1,\
             3000000000,,",
        ]
    );
}

/// A check withdraws a count of samples that are still held: their rows say so.
#[test]
fn withdrawn_counts_are_suspect_in_the_rows() {
    let line = "{\"end\":3.0,\"seconds\":0.5,\"tsc-cycles\":1,\"counts\":[0,1,2],\
                \"withdrawn\":{\"samples\":1,\"doubts\":[{\"count\":0,\"why\":\"x\"}]}}\n";
    let text = BY_HAND.replace(
        "{\"ended\":\"interrupted\",\"samples\":2,",
        &format!("{line}{{\"ended\":\"interrupted\",\"samples\":3,"),
    );
    let reader = SerializedFileReader::new(bytes::Bytes::from(table(&text, AT_ONCE).bytes)).expect("a table");
    let grades: Vec<String> = reader
        .get_row_iter(None)
        .expect("rows")
        .map(|row| row.expect("a row").get_column_iter().nth(8).map(|(_, grade)| grade.to_string()).unwrap_or_default())
        .collect();
    let plain = "\"measured\"";
    assert_eq!(grades, [plain, plain, plain, "\"suspect\"", "\"unreadable\"", "\"suspect\"", plain, plain, plain]);
}

/// Wherever a write is broken off: all that was written whole before is read.
#[test]
fn what_was_written_whole_is_read_wherever_it_is_cut() {
    let Disk { bytes, ends } = table(&long(30), AT_ONCE);
    assert!(ends.len() > 8, "{ends:?}");
    // The footer of one write more says how it ended.
    for (number, end) in ends.iter().enumerate() {
        assert_eq!(
            samples(&lines(&bytes[..*end]).expect("a whole table")),
            if number + 1 == ends.len() { 30 } else { number + 1 }
        );
    }
    for cut in (0..bytes.len()).step_by(487) {
        let whole = ends.iter().filter(|end| **end <= cut).count();
        match lines(&bytes[..cut]) {
            Ok(text) => assert_eq!(samples(&text), whole, "{cut}"),
            Err(error) => {
                assert!(whole == 0 && error.to_string().contains("before its first footer"), "{cut}: {error}")
            }
        }
    }
    let reader = RecordedLines::in_memory(bytes[..ends[3] + 9].to_vec()).expect("a table");
    assert_eq!(reader.behind(), 9);
}

/// Without a bound, 1,980 writes with footers that grow by some 2 KB each would come to 4 GB.
#[test]
fn footers_take_little_more_room_than_rows() {
    let (slow, fast) = (table(&long(2000), FlushPace { seconds: 1e9 }), table(&long(2000), AT_ONCE));
    assert_eq!(slow.ends.len(), 1);
    assert!(fast.ends.len() > 20 && fast.ends.len() < 200, "{}", fast.ends.len());
    assert!(fast.bytes.len() < 3 << 20, "{} and {}", fast.bytes.len(), slow.bytes.len());
}

#[test]
fn what_is_no_table_of_ours_is_refused_in_words() {
    let refused = |bytes: &[u8]| lines(bytes).expect_err("it is refused").to_string();
    assert!(refused(b"PAR1").contains("before its first footer"));
    let whole = table(BY_HAND, AT_ONCE).bytes;
    let changed = |old: &[u8], new: &[u8]| {
        assert_eq!(old.len(), new.len());
        let mut bytes = whole.clone();
        let places: Vec<usize> =
            bytes.windows(old.len()).enumerate().filter(|(_, w)| *w == old).map(|(at, _)| at).collect();
        assert!(!places.is_empty());
        places.into_iter().for_each(|at| bytes[at..at + new.len()].copy_from_slice(new));
        bytes
    };
    let other = changed(b"pericore.recording", b"pericore.re-coding");
    assert!(refused(&other).contains("no \"pericore.recording\""), "{}", refused(&other));
    let future = changed(b"pericore.table\x18\x011", b"pericore.table\x18\x012");
    assert!(
        refused(&future).contains("the table's version is \"2\", and this pericore reads version 1"),
        "{}",
        refused(&future)
    );
    let future = changed(b"{\"pericore-recording\":1,", b"{\"pericore-recording\":7,");
    assert!(refused(&future).contains("the format's version is 7"), "{}", refused(&future));
    let moved = changed(b"\"unit\":\"imc\",\"number\":0}", b"\"unit\":\"imc\",\"number\":3}");
    assert!(refused(&moved).contains("another program has rewritten it"), "{}", refused(&moved));
}

/// A disk that is full: what was written stays, and nothing is written behind what was not.
#[test]
fn after_a_failed_write_there_is_none() {
    struct Full(Vec<u8>);
    impl std::io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            if self.0.len() + bytes.len() > 60_000 {
                return Err(std::io::ErrorKind::StorageFull.into());
            }
            self.0.extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let text = long(200);
    let mut reader = Reader::open(text.as_bytes()).expect("a recording");
    let mut writer = TableWriter::begin(Full(Vec::new()), reader.header(), AT_ONCE).expect("memory takes it");
    let refused = reader
        .by_ref()
        .map(|recorded| recorded.expect("a sample"))
        .find_map(|recorded| writer.sample(recorded.end, &recorded.sample, None).err());
    assert_eq!(refused.expect("it is full").kind(), std::io::ErrorKind::StorageFull);
    let bytes = writer.bytes();
    assert!(writer.end(&Ending::Failed { why: "full".to_owned() }).is_err());
    assert_eq!((writer.bytes(), writer.output().0.len() as u64), (bytes, bytes));
    assert!(samples(&lines(&writer.output().0).expect("what was written")) > 3);
}

#[test]
fn nothing_counted_is_no_table() {
    let first = "{\"pericore-recording\":1,\"pericore\":\"0\",\"title\":\"t\",\"emulated\":null,\"started\":null,\
                 \"family\":\"e5-2600\",\"event-files\":[],\"truth\":false,\"selection\":[],\"events\":[],\
                 \"instances\":[],\"counts\":[]}\n";
    let reader = Reader::open(first.as_bytes()).expect("a recording");
    assert!(TableWriter::begin(Vec::new(), reader.header(), AT_ONCE).is_err());
}

/// Any byte of a table may be another one: it is read, or refused in words.
#[test]
fn a_changed_byte_does_no_harm() {
    let whole = table(BY_HAND, AT_ONCE).bytes;
    for at in (0..whole.len()).step_by(3) {
        let mut bytes = whole.clone();
        bytes[at] ^= [0x01, 0x80, 0xff][at / 3 % 3];
        let Ok(lines) = RecordedLines::in_memory(bytes) else { continue };
        if let Some(Err(error)) = lines.lines().find(Result::is_err) {
            assert!(!error.to_string().contains(char::is_control), "{error}");
        }
    }
}
