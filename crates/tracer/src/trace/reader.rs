//! Reading a trace file. Whatever the file holds, the answer is an access, the end, or an error with the place.

use super::bytes::Contents;
use super::crc::crc32;
use super::packing::Memory;
use super::{ACCESSES, COUNTS, END, HEADER, LARGEST_BLOCK, MAGIC, NOTE, THREAD, TraceError, TraceHeader, VERSION};
use crate::access::{self, Access, Counts, Source, Summary, Thread};
use crate::{Error, Geometry, Note, Reason};
use std::io::{ErrorKind, Read};

/// Replays a trace file.
#[derive(Debug)]
pub struct TraceReader<R: Read> {
    from: R,
    /// Bytes read so far, and where the present block begins.
    offset: u64,
    start: u64,
    header: TraceHeader,
    contents: Vec<u8>,
    memory: Memory,
    threads: Vec<Thread>,
    notes: Vec<Note>,
    accesses: u64,
    ended: bool,
}

impl<R: Read> TraceReader<R> {
    /// Opens a trace. Reads in large pieces: a buffer around the file gains nothing.
    ///
    /// # Errors
    /// [`TraceError`] if it is none, or of another version.
    pub fn new(from: R) -> Result<Self, TraceError> {
        let nothing = Geometry { bytes: 0, ways: 0 };
        let mut reader = Self {
            from,
            offset: 0,
            start: 0,
            header: TraceHeader { command: Vec::new(), data_cache: nothing, fetch_cache: nothing },
            contents: Vec::new(),
            memory: Memory::default(),
            threads: Vec::new(),
            notes: Vec::new(),
            accesses: 0,
            ended: false,
        };
        let magic: [u8; MAGIC.len()] = reader.take().map_err(|error| match error {
            TraceError::Truncated { .. } => TraceError::Foreign,
            other => other,
        })?;
        if &magic != MAGIC {
            return Err(TraceError::Foreign);
        }
        let found = u32::from_le_bytes(reader.take()?);
        if found != VERSION {
            return Err(TraceError::Version { found, known: VERSION });
        }
        if reader.block()? != HEADER {
            return Err(reader.damaged("the first block is no header"));
        }
        let contents = std::mem::take(&mut reader.contents);
        reader.header = header(&mut Contents(&contents)).ok_or_else(|| reader.damaged("the header"))?;
        Ok(reader)
    }

    /// How the trace was made.
    pub const fn header(&self) -> &TraceHeader {
        &self.header
    }

    /// Bytes read so far.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    const fn damaged(&self, what: &'static str) -> TraceError {
        TraceError::Damaged { offset: self.start, what }
    }

    /// Fills the batch with the next block of accesses. False at the end.
    fn next_block(&mut self, batch: &mut Vec<Access>) -> Result<bool, TraceError> {
        batch.clear();
        while !self.ended {
            let kind = self.block()?;
            let contents = std::mem::take(&mut self.contents);
            let mut rest = Contents(&contents);
            match kind {
                ACCESSES => self.accesses_of(&mut rest, batch)?,
                THREAD => {
                    let thread = thread(&mut rest).ok_or_else(|| self.damaged("a thread"))?;
                    self.threads.push(thread);
                }
                COUNTS => self.counts_of(&mut rest).ok_or_else(|| self.damaged("a thread's totals"))?,
                NOTE => {
                    let note = note(&mut rest).ok_or_else(|| self.damaged("a note"))?;
                    self.notes.push(note);
                }
                END => self.end(&mut rest)?,
                _ => return Err(self.damaged("a block of an unknown kind")),
            }
            self.contents = contents;
            if !batch.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn accesses_of(&mut self, rest: &mut Contents<'_>, batch: &mut Vec<Access>) -> Result<(), TraceError> {
        self.memory.clear();
        while !rest.is_empty() {
            let access =
                self.memory.unpack(rest, self.threads.len() as u32).ok_or_else(|| self.damaged("an access"))?;
            batch.push(access);
        }
        self.accesses += batch.len() as u64;
        Ok(())
    }

    fn counts_of(&mut self, rest: &mut Contents<'_>) -> Option<()> {
        let index = usize::try_from(rest.number()?).ok()?;
        let thread = self.threads.get_mut(index)?;
        let mut number = || rest.number();
        thread.counts = Counts {
            instructions: number()?,
            loads: number()?,
            stores: number()?,
            fetches: number()?,
            passed: number()?,
        };
        Some(())
    }

    fn end(&mut self, rest: &mut Contents<'_>) -> Result<(), TraceError> {
        if rest.number() != Some(self.accesses) {
            return Err(self.damaged("blocks are missing: it has not as many accesses as its end mark says"));
        }
        self.start = self.offset;
        match self.take::<1>() {
            Err(TraceError::Truncated { .. }) => {
                self.ended = true;
                Ok(())
            }
            Err(other) => Err(other),
            Ok(_) => Err(self.damaged("something follows the end mark")),
        }
    }

    /// Reads a block into `self.contents` and returns its kind.
    fn block(&mut self) -> Result<u8, TraceError> {
        self.start = self.offset;
        let start: [u8; 5] = self.take()?;
        let sum = u32::from_le_bytes(self.take()?);
        let [kind, length @ ..] = start;
        let length = u32::from_le_bytes(length);
        if length > LARGEST_BLOCK {
            return Err(self.damaged("a block is larger than any that is written"));
        }
        self.contents.resize(length as usize, 0);
        let mut contents = std::mem::take(&mut self.contents);
        let read = self.fill(&mut contents);
        self.contents = contents;
        read?;
        if crc32(&[&start, &self.contents]) != sum {
            Err(self.damaged("a block's checksum is wrong"))
        } else {
            Ok(kind)
        }
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], TraceError> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn fill(&mut self, mut bytes: &mut [u8]) -> Result<(), TraceError> {
        while !bytes.is_empty() {
            match self.from.read(bytes) {
                Ok(0) => return Err(TraceError::Truncated { offset: self.offset }),
                Ok(count) => {
                    self.offset += count as u64;
                    bytes = &mut bytes[count..];
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(source) => return Err(TraceError::Read { offset: self.offset, source }),
            }
        }
        Ok(())
    }
}

fn header(rest: &mut Contents<'_>) -> Option<TraceHeader> {
    let words = rest.number()?;
    let command = (0..words).map(|_| rest.text()).collect::<Option<_>>()?;
    let mut geometry = || Some(Geometry { bytes: rest.number32()?, ways: rest.number32()? });
    Some(TraceHeader { command, data_cache: geometry()?, fetch_cache: geometry()? })
}

fn thread(rest: &mut Contents<'_>) -> Option<Thread> {
    Some(Thread {
        process: rest.number32()?,
        forked_from: rest.number32()?.checked_sub(1),
        pid: rest.number32()?,
        program: rest.text()?,
        counts: Counts::default(),
    })
}

fn note(rest: &mut Contents<'_>) -> Option<Note> {
    let pid = rest.number32()?;
    let reason = Reason::from_saved(rest.number32()?, rest.number()?)?;
    Some(Note { pid, reason, program: rest.text()? })
}

impl<R: Read> Source for TraceReader<R> {
    fn next_batch(&mut self, batch: &mut Vec<Access>) -> Result<bool, Error> {
        Ok(self.next_block(batch)?)
    }

    fn threads(&self) -> &[Thread] {
        &self.threads
    }

    fn summary(&self) -> Summary {
        access::summarise(&self.threads, self.notes.clone())
    }
}

/// Reads arbitrary bytes as a trace, for a fuzzer: must neither panic nor loop nor take much memory.
#[doc(hidden)]
pub fn fuzz_reader(data: &[u8]) {
    read_all(data);
    // Past the part that a fuzzer would have to guess byte for byte.
    let start = [&MAGIC[..], &VERSION.to_le_bytes()].concat();
    read_all(start.chain(data));
}

fn read_all(from: impl Read) {
    if let Ok(mut reader) = TraceReader::new(from) {
        let mut batch = Vec::new();
        while reader.next_block(&mut batch).unwrap_or(false) {}
        let _ = reader.summary();
    }
}
