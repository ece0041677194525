use super::crc::crc32;
use super::{TraceError, TraceHeader, TraceReader, TraceWriter, fuzz_reader};
use crate::access::{Access, Counts, Kind, Source, Thread};
use crate::{Error, Geometry, Note, Reason};
use proptest::prelude::*;

fn header() -> TraceHeader {
    TraceHeader {
        command: vec!["sort".into(), "a b".into(), String::new()],
        data_cache: Geometry::L1,
        fetch_cache: Geometry { bytes: 64 << 10, ways: 4 },
    }
}

fn thread(process: u32) -> Thread {
    let counts = Counts { instructions: 1 << 40, loads: 3, stores: 4, fetches: 5, passed: 6 };
    Thread { process, forked_from: process.checked_sub(1), pid: 77, program: format!("/bin/{process}"), counts }
}

fn notes() -> Vec<Note> {
    [
        Reason::FollowingOff,
        Reason::ExecFailed(13),
        Reason::Evex(0xFFFF_FFFF_1234),
        Reason::StillRunning,
        Reason::TooManyThreads(9),
        Reason::More(2),
    ]
    .map(|reason| Note { pid: 5, program: "/p".into(), reason })
    .to_vec()
}

fn file(accesses: &[Access], threads: &[Thread]) -> Vec<u8> {
    let mut writer = TraceWriter::new(Vec::new(), &header()).unwrap();
    // Threads and accesses come bit by bit, as they do while a program runs.
    let half = accesses.len() / 2;
    writer.add(&accesses[..half], threads).unwrap();
    writer.add(&accesses[half..], threads).unwrap();
    writer.finish(threads, &notes()).unwrap()
}

/// All accesses, or the first error.
fn read(file: &[u8]) -> Result<Vec<Access>, TraceError> {
    let mut reader = TraceReader::new(file)?;
    let (mut batch, mut all) = (Vec::new(), Vec::new());
    loop {
        match reader.next_batch(&mut batch) {
            Ok(true) => all.append(&mut batch),
            Ok(false) => return Ok(all),
            Err(Error::Trace(error)) => return Err(error),
            Err(other) => panic!("{other}"),
        }
    }
}

fn some_accesses() -> Vec<Access> {
    let access = |index: u64| Access {
        address: 0x7000_0000_0000 + index * 4096 % 977,
        instructions: index * 3,
        size: if index % 7 == 6 { 12345 } else { 8 },
        thread: (index % 3) as u32,
        kind: Kind::ALL[index as usize % Kind::ALL.len()],
        // The first two kinds are loads and stores.
        after: if index % 8 < 2 { (index % 5) as u8 * 60 } else { 0 },
    };
    (0..40).map(access).collect()
}

#[test]
fn the_checksum_is_the_usual_one() {
    assert_eq!(crc32(&[b"1234", b"56789"]), 0xCBF4_3926);
}

#[test]
fn what_is_written_is_read() {
    let (accesses, threads) = (some_accesses(), [thread(0), thread(1), thread(2)]);
    let file = file(&accesses, &threads);
    let mut reader = TraceReader::new(&file[..]).unwrap();
    assert_eq!(reader.header(), &header());
    let mut batch = Vec::new();
    assert!(reader.next_batch(&mut batch).unwrap());
    assert_eq!(batch, accesses);
    assert!(!reader.next_batch(&mut batch).unwrap());
    assert!(!reader.next_batch(&mut batch).unwrap());
    assert_eq!(reader.threads(), threads);
    assert_eq!(reader.summary().notes, notes());
    assert_eq!(reader.summary().total.instructions, 3 << 40);
}

#[test]
fn every_cut_is_refused_with_its_place() {
    let file = file(&some_accesses(), &[thread(0), thread(1), thread(2)]);
    for length in 0..file.len() {
        match read(&file[..length]) {
            Err(TraceError::Truncated { offset }) => assert_eq!(offset, length as u64),
            Err(TraceError::Foreign) => assert!(length < 16),
            other => panic!("cut to {length}: {other:?}"),
        }
    }
}

#[test]
fn every_changed_byte_is_noticed() {
    let file = file(&some_accesses(), &[thread(0), thread(1), thread(2)]);
    for place in 0..file.len() {
        for flip in [1, 0x80, 0xFF] {
            let mut damaged = file.clone();
            damaged[place] ^= flip;
            match read(&damaged) {
                Err(TraceError::Damaged { offset, .. }) => assert!(offset <= place as u64, "{place}: {offset}"),
                Err(TraceError::Foreign) => assert!(place < 16),
                Err(TraceError::Version { .. }) => assert!((16..20).contains(&place)),
                // A length that grew, to no more than a block may have.
                Err(TraceError::Truncated { .. }) => {}
                other => panic!("byte {place}: {other:?}"),
            }
        }
    }
}

#[test]
fn missing_blocks_and_trailing_bytes_are_noticed() {
    let (accesses, threads) = (some_accesses(), [thread(0), thread(1), thread(2)]);
    let whole = file(&accesses, &threads);
    let mut longer = whole.clone();
    longer.push(0);
    let end = read(&longer).unwrap_err();
    assert!(matches!(end, TraceError::Damaged { offset, .. } if offset == whole.len() as u64), "{end}");

    // The block of accesses taken out whole: the checksums are right, the sum is not.
    let mut blocks = Vec::new();
    let mut at = 20;
    while at < whole.len() {
        let length = u32::from_le_bytes(whole[at + 1..at + 5].try_into().unwrap()) as usize;
        blocks.push(at..at + 9 + length);
        at += 9 + length;
    }
    let accesses = blocks.iter().find(|block| whole[block.start] == super::ACCESSES).unwrap().clone();
    let mut shorter = whole.clone();
    shorter.drain(accesses);
    assert!(read(&shorter).unwrap_err().to_string().contains("blocks are missing"));
}

#[test]
fn foreign_files_and_other_versions_are_named() {
    assert!(matches!(read(b""), Err(TraceError::Foreign)));
    assert!(matches!(read(b"#!/bin/sh\nexit 0\n and more than sixteen bytes"), Err(TraceError::Foreign)));
    let mut later = file(&[], &[]);
    for version in [2, 4] {
        later[16] = version;
        assert!(matches!(read(&later), Err(TraceError::Version { found, known: 3 }) if found == u32::from(version)));
    }
}

fn access() -> impl Strategy<Value = Access> {
    let address = prop_oneof![0x1000_u64..0x2000, any::<u64>()];
    let size = prop_oneof![Just(8_u64), Just(64), any::<u64>()];
    let order = (0_u64..1 << 20, any::<u8>());
    (address, order, size, 0_u32..5, prop::sample::select(Kind::ALL.to_vec())).prop_map(
        |(address, (instructions, after), size, thread, kind)| {
            let after = if matches!(kind, Kind::Load | Kind::Store) { after } else { 0 };
            Access { address, instructions, size, thread, kind, after }
        },
    )
}

proptest! {
    #[test]
    fn any_accesses_come_back(accesses in prop::collection::vec(access(), 0..500)) {
        let threads: Vec<Thread> = (0..5).map(thread).collect();
        prop_assert_eq!(read(&file(&accesses, &threads)).unwrap(), accesses);
    }

    #[test]
    fn arbitrary_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        fuzz_reader(&bytes);
        let mut with_start = file(&[], &[]);
        with_start.truncate(20);
        with_start.extend(bytes);
        fuzz_reader(&with_start);
    }

    /// Past the checksum, where a fuzzer of bytes hardly comes: contents of any kind, rightly summed.
    #[test]
    fn arbitrary_contents_do_no_harm(
        blocks in prop::collection::vec((prop::sample::select(b"HTACNE".to_vec()), prop::collection::vec(any::<u8>(), 0..60)), 0..12),
    ) {
        let mut file = TraceWriter::new(Vec::new(), &header()).unwrap().finish(&[], &[]).unwrap();
        // Without its end: 9 bytes before, 1 of contents.
        file.truncate(file.len() - 10);
        for (kind, contents) in blocks {
            let mut start = vec![kind];
            start.extend((contents.len() as u32).to_le_bytes());
            let sum = crc32(&[&start, &contents]);
            file.extend(start);
            file.extend(sum.to_le_bytes());
            file.extend(contents);
        }
        fuzz_reader(&file);
    }
}

#[test]
fn a_block_is_written_before_it_is_too_large() {
    let accesses: Vec<Access> = (0..200_000)
        .map(|index: u64| Access {
            address: index.wrapping_mul(0x9E37_79B9_7F4A_7C15),
            instructions: index << 30,
            size: 8,
            thread: 0,
            kind: Kind::Load,
            after: 0,
        })
        .collect();
    assert_eq!(read(&file(&accesses, &[thread(0)])).unwrap(), accesses);
}
