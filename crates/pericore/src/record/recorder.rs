//! Samples on their way into a file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use pericore_observe::record::{About, Ending, Header};
use pericore_recordings::{FileNames, Parts, RecordOutput, Sink, is_object, rfc3339};
use pericore_report::fewer::Fewer;
use pericore_report::figures::thousands;
use pericore_table::FlushPace;

use super::{PACES, RecordArgs};
use crate::failure::Failure;
use crate::measure::{Receiver, Subject, Taken};
use crate::{notice, refused_file, target};

/// Writes each sample as it comes.
pub struct Recorder<'a> {
    args: &'a RecordArgs,
    /// Opened, and nothing written yet.
    opened: Option<RecordOutput>,
    writer: Option<Sink<RecordOutput>>,
    names: FileNames<'a>,
    /// The first line of each part.
    header: Option<Header>,
    /// Number of the part that is written, from 1.
    part: u32,
    /// When it began, in seconds of the measurement.
    part_began: f64,
    /// Samples of the parts before.
    before: u64,
    /// The first and the last file that were ended before the end of the measurement.
    ended: Option<(PathBuf, PathBuf)>,
    signal: Option<i32>,
}

impl<'a> Recorder<'a> {
    /// Nothing is opened before the measurement begins.
    pub fn new(args: &'a RecordArgs, parts: Parts) -> Self {
        let is_virtual = args.measure.machine.is_some();
        let names = FileNames {
            file: &args.output,
            parts,
            host: (!is_virtual).then(target::host_name).flatten(),
            started: if is_virtual { UNIX_EPOCH } else { SystemTime::now() },
        };
        Self {
            args,
            opened: None,
            writer: None,
            names,
            header: None,
            part: 1,
            part_began: 0.0,
            before: 0,
            ended: None,
            signal: None,
        }
    }

    /// The name of the part that is written.
    fn path(&self) -> PathBuf {
        self.names.name(self.part, self.part_began)
    }

    /// Opens the file of the part that is written, in a folder that is there then.
    fn create(&self) -> Result<RecordOutput, Failure> {
        let path = self.path();
        if let Some(folder) = path.parent().filter(|_| self.names.parts.by_host_and_day && !is_object(&path)) {
            let refuse = |error| Failure::failed(refused_file::writing(folder, &error));
            fs::create_dir_all(folder).map_err(refuse)?;
        }
        if fs::metadata(&path).is_ok_and(|known| known.is_dir()) {
            let (folder, file) = (path.display(), path.join(super::FILE));
            return Err(Failure::failed(format!("{folder} is a folder; name a file, such as -o {}", file.display())));
        }
        RecordOutput::open(&path).map_err(|error| {
            Failure::failed(format!("cannot write {}: {error}; name another file with -o", path.display()))
        })
    }

    /// Begins a file.
    fn start(&self, file: RecordOutput, header: &Header) -> Result<Sink<RecordOutput>, Failure> {
        let is_virtual = self.args.measure.machine.is_some();
        let pace = FlushPace { seconds: if is_virtual { PACES.1 } else { PACES.0 } / 1e3 };
        self.written(Sink::begin(self.args.form(), file, header, pace))
    }

    /// True if the file that is written has its size or time.
    fn is_full(&self, end: f64) -> bool {
        let Some(writer) = &self.writer else { return false };
        writer.samples() > 0 && self.names.parts.are_full(writer.bytes(), end - self.part_began)
    }

    /// Ends the file that is written, and begins the next, so many seconds after the start.
    fn go_on(&mut self, now: f64) -> Result<(), Failure> {
        let (Some(writer), Some(header)) = (&mut self.writer, &self.header) else { return Ok(()) };
        let samples = writer.samples();
        if samples > 0 {
            let outcome = writer.end(&Ending::Whole).and_then(|()| writer.output_mut().complete());
            let path = writer.output().path().to_owned();
            self.ended = Some((self.ended.take().map_or_else(|| path.clone(), |(first, _)| first), path));
            self.written(outcome)?;
            self.part += 1;
        }
        self.part_began = now;
        let next = self.start(self.create()?, header)?;
        self.writer = Some(next);
        self.before += samples;
        Ok(())
    }

    /// The run failed: says so in the file, and in the failure what there is of it.
    pub fn fail(mut self, failure: Failure) -> Failure {
        let Some(writer) = &mut self.writer else { return failure };
        if writer.samples() == 0 && !writer.output().is_in_place() {
            return failure;
        }
        let whole = writer.bytes();
        writer.output_mut().cut(whole);
        let ended = writer.end(&Ending::Failed { why: failure.to_string() });
        if ended.and_then(|()| writer.output_mut().complete()).is_err() {
            let whole = writer.bytes();
            writer.output_mut().cut(whole);
        }
        if !writer.output().is_in_place() {
            return failure;
        }
        if writer.written() == 0 {
            return failure;
        }
        let path = writer.output().path().display();
        failure.with_advice(&format!("the {} samples before it are in {path}", writer.written()))
    }

    /// What a write came to.
    fn written<T>(&self, outcome: io::Result<T>) -> Result<T, Failure> {
        outcome.map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => error.into(),
            _ => Failure::failed(refused_file::writing(&self.path(), &error)),
        })
    }
}

impl Receiver for Recorder<'_> {
    fn open(&mut self) -> Result<(), Failure> {
        self.opened = Some(self.create()?);
        Ok(())
    }

    fn begin(&mut self, subject: &Subject<'_>) -> Result<(), Failure> {
        let Some(file) = self.opened.take() else { return Ok(()) };
        Fewer::of(&subject.plan.layout()).iter().for_each(notice::warn);
        let is_virtual = self.args.measure.machine.is_some();
        if !is_virtual {
            self.names.started = SystemTime::now();
        }
        let about = About {
            pericore: env!("CARGO_PKG_VERSION").to_owned(),
            title: subject.title.clone(),
            emulated: subject.emulated.clone(),
            started: (!is_virtual).then(|| rfc3339(self.names.started)),
            host: self.names.host.clone(),
            event_files: self.args.measure.wanted.files.names(),
            // Only a model knows it.
            truth: self.args.truth && is_virtual,
        };
        let header = Header::new(about, subject.plan);
        self.writer = Some(self.start(file, &header)?);
        self.header = Some(header);
        Ok(())
    }

    fn take(&mut self, taken: Taken<'_>) -> Result<(), Failure> {
        let end = taken.end.unwrap_or(taken.sample.seconds);
        if self.names.is_another_day(self.part_began, end) {
            self.go_on(end)?;
        }
        let Some(writer) = &mut self.writer else { return Ok(()) };
        // Only what has a sample in it is worth more than an older recording.
        let written = writer.sample(end, taken.sample, taken.truth);
        let outcome = written.and_then(|is_there| if is_there { writer.output_mut().put_in_place() } else { Ok(()) });
        self.written(outcome)?;
        if self.is_full(end) { self.go_on(end) } else { Ok(()) }
    }

    fn remark(&mut self, _words: &str) -> Result<(), Failure> {
        Ok(())
    }

    fn interrupted(&mut self, signal: i32) {
        self.signal = Some(signal);
    }

    fn writes_in(&self) -> Vec<PathBuf> {
        let Some(writer) = self.writer.as_ref().filter(|_| !is_object(&self.args.output)) else { return Vec::new() };
        let place = writer.output().path();
        // Parts of folders by host and date are made below the output, others beside it.
        let below = Some(self.args.output.as_path()).filter(|output| output.is_dir());
        let beside = writer.output().folder().or_else(|| place.parent());
        let folders = below.into_iter().chain(beside).chain(self.args.output.parent());
        let named = |folder: &Path| if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.to_owned() };
        folders.map(named).collect()
    }

    fn finish(&mut self) -> Result<(), Failure> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        let signal = self.signal.and_then(|signal| u64::try_from(signal).ok());
        let mut outcome = writer.end(&signal.map_or(Ending::Whole, |signal| Ending::Interrupted { signal }));
        if outcome.is_ok() && writer.samples() > 0 {
            outcome = writer.output_mut().complete();
        }
        let (samples, bytes) = (writer.samples(), thousands(writer.bytes() as f64));
        let path = writer.output().path().display().to_string();
        let is_in_place = writer.output().is_in_place();
        self.written(outcome)?;
        if let Some((first, last)) = &self.ended {
            let (parts, last) = if samples == 0 { (self.part - 1, &**last) } else { (self.part, Path::new(&path)) };
            let samples = self.before + samples;
            notice::warn(format!("{samples} samples in {parts} parts, {} to {}", first.display(), last.display()));
            return Ok(());
        }
        if samples == 0 {
            let what = if is_in_place { "has nothing but its first line and its last" } else { "was not written" };
            notice::warn(format!("no sample: {path} {what}"));
            return Ok(());
        }
        let plural = if samples == 1 { "" } else { "s" };
        notice::warn(format!("{samples} sample{plural}, {bytes} bytes, in {path} (pericore report {path})"));
        Ok(())
    }
}
