//! From the tracer to the model.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{BufReader, BufWriter, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};

use pericore_machine::FirstLevel;
use pericore_machine::workload::{ProgramAccess, ProgramKind, ProgramSource};
use pericore_recordings::RecordFile;
use pericore_tracer::{
    Access, Error, Geometry, Kind, Options, Recorder, Running, Source, Summary, TraceHeader, TraceReader, Tracer,
};

use super::Said;
use crate::failure::Failure;
use crate::{input, refused_file};

/// Where accesses come from.
enum Origin {
    Command {
        words: Vec<OsString>,
        save: Option<PathBuf>,
        caches: [FirstLevel; 2],
    },
    Live(Running),
    Recorded(Recorder<Running, BufWriter<RecordFile>>),
    /// And the file's bytes, if it is one.
    Replay(TraceReader<BufReader<File>>, Option<u64>),
    Over,
}

/// The stream of a program's accesses, and what became of the program.
pub struct Feed {
    title: String,
    origin: Origin,
    replay: bool,
    saved: bool,
    status: Option<ExitStatus>,
    cause: Option<String>,
    summary: Option<Summary>,
    error: Option<String>,
}

impl fmt::Debug for Feed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feed").field("title", &self.title).field("status", &self.status).finish_non_exhaustive()
    }
}

/// How the tracer is to run a program for a machine with these first-level caches.
pub fn options(caches: [FirstLevel; 2]) -> Options {
    let [data_cache, fetch_cache] = caches.map(|FirstLevel { bytes, ways }| Geometry { bytes, ways });
    Options { data_cache, fetch_cache, ..Options::default() }
}

impl Feed {
    fn new(title: String, origin: Origin, saved: bool) -> Self {
        let replay = matches!(origin, Origin::Replay(..));
        Self { title, origin, replay, saved, status: None, cause: None, summary: None, error: None }
    }

    /// A program that is not started yet.
    pub fn of_program(words: &[OsString], save: Option<&Path>, caches: [FirstLevel; 2]) -> Self {
        let title: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
        let origin = Origin::Command { words: words.to_vec(), save: save.map(Path::to_owned), caches };
        Self::new(title.join(" "), origin, save.is_some())
    }

    /// A trace.
    pub fn of_trace(path: &Path) -> Result<Self, Failure> {
        let refuse = |error: &dyn fmt::Display| Failure::failed(format!("{}: {error}", path.display()));
        let file = input::stream(path).map_err(|error| Failure::failed(refused_file::reading(path, &error)))?;
        let bytes = file.metadata().ok().filter(|file| file.is_file()).map(|file| file.len());
        let reader = TraceReader::new(BufReader::new(file)).map_err(|error| refuse(&error))?;
        let title = format!("{} (trace {})", reader.header().command.join(" "), path.display());
        Ok(Self::new(title, Origin::Replay(reader, bytes), false))
    }

    /// Command line, and where it comes from.
    pub fn title(&self) -> String {
        self.title.clone()
    }

    /// Bytes of the trace that have been read, and all of them.
    pub fn replayed(&self) -> Option<(u64, u64)> {
        let Origin::Replay(reader, bytes) = &self.origin else { return None };
        bytes.map(|bytes| (reader.offset(), bytes))
    }

    /// Starts the program.
    pub fn start(&mut self) -> Result<(), Failure> {
        let Origin::Command { words, save, caches } = &self.origin else { return Ok(()) };
        // The file first: if it cannot be written, the program need not begin.
        let file = match save {
            Some(path) => Some(
                RecordFile::open_private(path).map_err(|error| Failure::failed(refused_file::writing(path, &error)))?,
            ),
            None => None,
        };
        let Some((program, arguments)) = words.split_first() else { return Ok(()) };
        let options = options(*caches);
        let header = TraceHeader {
            command: words.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            data_cache: options.data_cache,
            fetch_cache: options.fetch_cache,
        };
        let running = Tracer::launch(program, arguments, options).map_err(|error| match &error {
            Error::QemuMissing { .. } => Failure::failed(error),
            Error::NotInPath { .. } => Failure::not_started(error, false),
            Error::Unreadable { source, .. } if source.kind() == ErrorKind::NotFound => {
                Failure::not_started(error, false)
            }
            _ => Failure::not_started(error, true),
        })?;
        self.origin = match file {
            Some(mut file) => {
                // What is cut short can be replayed as far as it goes.
                let placed = file.put_in_place();
                placed.map_err(|error| Failure::failed(refused_file::writing(file.path(), &error)))?;
                Origin::Recorded(Recorder::new(running, BufWriter::new(file), &header).map_err(Failure::failed)?)
            }
            None => Origin::Live(running),
        };
        Ok(())
    }

    /// Why accesses are missing, if they are.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// The next accesses and the threads so far; false at the end.
    fn refill(&mut self, batch: &mut Vec<Access>, spaces: &mut Vec<Space>) -> bool {
        let more = match &mut self.origin {
            Origin::Live(running) => next(running, batch, spaces),
            Origin::Recorded(recorder) => next(recorder, batch, spaces),
            Origin::Replay(reader, _) => next(reader, batch, spaces),
            Origin::Command { .. } | Origin::Over => return false,
        };
        match more {
            Ok(true) => return true,
            Ok(false) => {}
            // What the file is called stands in the title.
            Err(error) if self.replay => self.error = Some(format!("{}: {error}", self.title)),
            Err(error) => self.error = Some(error.to_string()),
        }
        batch.clear();
        self.finish();
        false
    }

    /// The stream has ended: how the program did.
    fn finish(&mut self) {
        let running = match std::mem::replace(&mut self.origin, Origin::Over) {
            Origin::Live(running) => running,
            Origin::Recorded(recorder) => recorder.into_source(),
            Origin::Replay(reader, _) => {
                self.summary = Some(reader.summary());
                return;
            }
            Origin::Command { .. } | Origin::Over => return,
        };
        if self.error.is_some() {
            return;
        }
        match running.finish() {
            Ok(finished) => {
                self.cause = finished.cause();
                self.status = Some(finished.status);
                self.summary = Some(finished.summary);
            }
            Err(error) => self.error = Some(error.to_string()),
        }
    }

    /// Ends the program if need be.
    pub fn end(&mut self) -> Said {
        let cut_short = !matches!(self.origin, Origin::Over);
        // Dropping it kills the program.
        self.origin = Origin::Over;
        Said {
            status: self.status,
            cause: self.cause.clone(),
            summary: self.summary.clone(),
            cut_short,
            trace_cut_short: cut_short && self.saved,
            replay: self.replay,
        }
    }
}

/// Address space of a thread, and the one that it was copied from.
type Space = (u32, Option<u32>);

fn next(source: &mut impl Source, batch: &mut Vec<Access>, spaces: &mut Vec<Space>) -> Result<bool, Error> {
    let more = source.next_batch(batch)?;
    let known = spaces.len();
    spaces.extend(source.threads()[known..].iter().map(|thread| (thread.process, thread.forked_from)));
    Ok(more)
}

/// The machine's end of a feed.
#[derive(Debug)]
pub struct Handle {
    feed: Arc<Mutex<Feed>>,
    batch: Vec<Access>,
    taken: usize,
    spaces: Vec<Space>,
}

impl Handle {
    pub fn new(feed: Arc<Mutex<Feed>>) -> Self {
        Self { feed, batch: Vec::new(), taken: 0, spaces: Vec::new() }
    }
}

impl ProgramSource for Handle {
    fn next_access(&mut self) -> Option<ProgramAccess> {
        while self.taken == self.batch.len() {
            self.taken = 0;
            let mut feed = self.feed.lock().unwrap_or_else(PoisonError::into_inner);
            if !feed.refill(&mut self.batch, &mut self.spaces) {
                return None;
            }
        }
        let access = self.batch[self.taken];
        self.taken += 1;
        Some(translated(access, &self.spaces))
    }
}

/// The tracer's access as the machine wants it.
pub fn translated(access: Access, spaces: &[Space]) -> ProgramAccess {
    let (process, forked_from) = spaces.get(access.thread as usize).copied().unwrap_or_default();
    ProgramAccess {
        address: access.address,
        size: access.size,
        instructions: access.instructions,
        thread: access.thread,
        process,
        forked_from,
        after: access.after,
        kind: match access.kind {
            Kind::Load => ProgramKind::Load,
            Kind::Store => ProgramKind::Store,
            Kind::Upgrade => ProgramKind::Upgrade,
            Kind::WriteBack => ProgramKind::WriteBack,
            Kind::Fetch => ProgramKind::Fetch,
            Kind::NonTemporal => ProgramKind::NonTemporal,
            Kind::Unmap => ProgramKind::Unmap,
            Kind::Progress => ProgramKind::Progress,
        },
    }
}

#[cfg(test)]
mod tests {
    use pericore_machine::uncore::ProgramCounts;
    use pericore_tracer::Counts;

    use super::*;

    /// The tracer leaves out what the first-level caches of the machine's part would keep: an Emerald Rapids has 48 KiB
    /// of 12 ways for data, and 32 KiB of 8 for instructions.
    #[test]
    fn a_program_is_traced_with_the_machines_own_caches() {
        let caches = [(48 << 10, 12), (32 << 10, 8)].map(|(bytes, ways)| FirstLevel { bytes, ways });
        let Options { data_cache, fetch_cache, .. } = options(caches);
        assert_eq!((data_cache.bytes, data_cache.ways), (48 << 10, 12));
        assert_eq!((fetch_cache.bytes, fetch_cache.ways), (32 << 10, 8));
    }

    /// What a program did is printed in figures, in threes.
    #[test]
    fn a_programs_figures_are_printed() {
        let total = Counts { instructions: 1_234_567, loads: 89_012, stores: 345, ..Counts::default() };
        let mut ended = Feed::of_program(&[], None, [FirstLevel { bytes: 1 << 15, ways: 8 }; 2]).end();
        ended.summary = Some(Summary { total, threads: 2, processes: 1, ..Summary::default() });
        let mut text = String::new();
        ended.print(&mut text, &ProgramCounts { prefetches: 6_789, ..ProgramCounts::default() }).unwrap();
        assert!(text.contains(" program: 1,234,567 instructions, 89,012 loads, 345 stores\n"), "{text}");
        assert!(text.contains("in 2 threads of 1 process\n") && text.contains(" 6,789 L2 prefetches;"), "{text}");
    }
}
