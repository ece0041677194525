//! Writing a trace file.

use super::bytes::{put_number, put_text};
use super::crc::crc32;
use super::packing::Memory;
use super::{ACCESSES, BLOCK, COUNTS, END, HEADER, MAGIC, NOTE, THREAD, TraceError, TraceHeader, VERSION};
use crate::{Access, Note, Thread};
use std::io::Write;

/// Writes a trace file. Without [`TraceWriter::finish`], the file has no end mark and will be refused.
#[derive(Debug)]
pub struct TraceWriter<W: Write> {
    to: W,
    contents: Vec<u8>,
    memory: Memory,
    threads: u32,
    accesses: u64,
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Memory")
    }
}

impl<W: Write> TraceWriter<W> {
    /// Begins a trace.
    ///
    /// # Errors
    /// [`TraceError::Write`].
    pub fn new(mut to: W, header: &TraceHeader) -> Result<Self, TraceError> {
        let failed = |source| TraceError::Write { source };
        to.write_all(MAGIC).map_err(failed)?;
        to.write_all(&VERSION.to_le_bytes()).map_err(failed)?;
        let mut writer = Self { to, contents: Vec::new(), memory: Memory::default(), threads: 0, accesses: 0 };
        let mut contents = Vec::new();
        let command = shortened(&header.command);
        put_number(&mut contents, command.len() as u64);
        for word in command {
            put_text(&mut contents, word);
        }
        for geometry in [header.data_cache, header.fetch_cache] {
            put_number(&mut contents, u64::from(geometry.bytes));
            put_number(&mut contents, u64::from(geometry.ways));
        }
        writer.block(HEADER, &contents)?;
        Ok(writer)
    }

    /// Adds accesses. `threads` are all threads so far.
    ///
    /// # Errors
    /// [`TraceError::Write`].
    pub fn add(&mut self, accesses: &[Access], threads: &[Thread]) -> Result<(), TraceError> {
        self.add_threads(threads)?;
        for access in accesses {
            self.memory.pack(&mut self.contents, access);
            if self.contents.len() >= BLOCK {
                self.flush()?;
            }
        }
        self.accesses += accesses.len() as u64;
        Ok(())
    }

    /// Ends the trace.
    ///
    /// # Errors
    /// [`TraceError::Write`].
    pub fn finish(mut self, threads: &[Thread], notes: &[Note]) -> Result<W, TraceError> {
        self.add_threads(threads)?;
        self.flush()?;
        for (index, Thread { counts, .. }) in threads.iter().enumerate() {
            let mut contents = Vec::new();
            let numbers =
                [index as u64, counts.instructions, counts.loads, counts.stores, counts.fetches, counts.passed];
            for number in numbers {
                put_number(&mut contents, number);
            }
            self.block(COUNTS, &contents)?;
        }
        for note in notes {
            let mut contents = Vec::new();
            let (code, number) = note.reason.code();
            put_number(&mut contents, u64::from(note.pid));
            put_number(&mut contents, u64::from(code));
            put_number(&mut contents, number);
            put_text(&mut contents, &note.program);
            self.block(NOTE, &contents)?;
        }
        let mut contents = Vec::new();
        put_number(&mut contents, self.accesses);
        self.block(END, &contents)?;
        self.to.flush().map_err(|source| TraceError::Write { source })?;
        Ok(self.to)
    }

    fn add_threads(&mut self, threads: &[Thread]) -> Result<(), TraceError> {
        let known = self.threads as usize;
        for thread in threads.get(known..).unwrap_or_default() {
            let mut contents = Vec::new();
            put_number(&mut contents, u64::from(thread.process));
            put_number(&mut contents, thread.forked_from.map_or(0, |process| u64::from(process) + 1));
            put_number(&mut contents, u64::from(thread.pid));
            put_text(&mut contents, &thread.program);
            self.block(THREAD, &contents)?;
            self.threads += 1;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), TraceError> {
        if !self.contents.is_empty() {
            let contents = std::mem::take(&mut self.contents);
            self.block(ACCESSES, &contents)?;
            self.contents = contents;
            self.contents.clear();
            self.memory.clear();
        }
        Ok(())
    }

    fn block(&mut self, kind: u8, contents: &[u8]) -> Result<(), TraceError> {
        let [a, b, c, d] = (contents.len() as u32).to_le_bytes();
        let start = [kind, a, b, c, d];
        let sum = crc32(&[&start, contents]).to_le_bytes();
        let write = |to: &mut W| {
            to.write_all(&start)?;
            to.write_all(&sum)?;
            to.write_all(contents)
        };
        write(&mut self.to).map_err(|source| TraceError::Write { source })
    }
}

/// As many words of a command as are worth keeping: a block has to hold them.
fn shortened(command: &[String]) -> &[String] {
    let mut bytes = 0;
    let enough = command.iter().position(|word| {
        bytes += word.len() + 10;
        bytes > BLOCK
    });
    &command[..enough.unwrap_or(command.len())]
}
