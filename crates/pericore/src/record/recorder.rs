//! Samples on their way into a file.

use std::io;
use std::path::PathBuf;
use std::time::SystemTime;

use pericore_observe::record::{About, Ending, Header};
use pericore_table::FlushPace;

use super::file::RecordFile;
use super::sink::{RecordingForm, Sink};
use super::time::rfc3339;
use super::{PACES, RecordArgs};
use crate::failure::Failure;
use crate::measure::{Receiver, Subject, Taken};
use crate::results::fewer::Fewer;
use crate::results::table::thousands;
use crate::{notice, refused_file};

/// This machine's name in its network.
fn host() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

/// Writes each sample as it comes.
pub struct Recorder<'a> {
    args: &'a RecordArgs,
    /// Opened, and nothing written yet.
    opened: Option<RecordFile>,
    writer: Option<Sink<RecordFile>>,
    /// The first line of each part.
    header: Option<Header>,
    /// Number of the part that is written, from 1.
    part: u32,
    /// When it began, in seconds of the measurement.
    part_began: f64,
    /// Samples of the parts before.
    before: u64,
    signal: Option<i32>,
}

impl<'a> Recorder<'a> {
    /// Nothing is opened before the measurement begins.
    pub const fn new(args: &'a RecordArgs) -> Self {
        Self { args, opened: None, writer: None, header: None, part: 1, part_began: 0.0, before: 0, signal: None }
    }

    /// The name of the part that is written.
    fn path(&self) -> PathBuf {
        self.args.parts.name(&self.args.output, self.part)
    }

    /// Begins a file.
    fn start(&self, file: RecordFile, header: &Header) -> Result<Sink<RecordFile>, Failure> {
        let format = self.args.format.unwrap_or_else(|| RecordingForm::of(&self.args.output));
        let is_virtual = self.args.measure.machine.is_some();
        let pace = FlushPace { seconds: if is_virtual { PACES.1 } else { PACES.0 } / 1e3 };
        self.written(Sink::begin(format, file, header, pace))
    }

    /// Ends the file that has its size or time, and begins the next.
    fn go_on_if_full(&mut self, end: f64) -> Result<(), Failure> {
        let (Some(writer), Some(header)) = (&mut self.writer, &self.header) else { return Ok(()) };
        if writer.samples() == 0 || !self.args.parts.is_full(writer.bytes(), end - self.part_began) {
            return Ok(());
        }
        let ended = writer.end(&Ending::Whole).and_then(|()| writer.output_mut().put_in_place());
        let samples = writer.samples();
        self.written(ended)?;
        let name = self.args.parts.name(&self.args.output, self.part + 1);
        let next = self.start(RecordFile::create(&name)?, header)?;
        self.writer = Some(next);
        self.before += samples;
        (self.part, self.part_began) = (self.part + 1, end);
        Ok(())
    }

    /// The run failed: says so in the file, and in the failure what there is of it.
    pub fn fail(mut self, failure: Failure) -> Failure {
        let Some(writer) = &mut self.writer else { return failure };
        if writer.samples() == 0 && !writer.output().is_in_place() {
            return failure;
        }
        writer.output().cut(writer.bytes());
        let ended = writer.end(&Ending::Failed { why: failure.to_string() });
        if ended.and_then(|()| writer.output_mut().put_in_place()).is_err() {
            writer.output().cut(writer.bytes());
        }
        if !writer.output().is_in_place() {
            return failure;
        }
        if writer.written() == 0 {
            return failure;
        }
        let path = writer.output().path().display();
        failure.with_advice(&format!("the {} samples before that are in {path}", writer.written()))
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
        self.opened = Some(RecordFile::create(&self.path())?);
        Ok(())
    }

    fn begin(&mut self, subject: &Subject<'_>) -> Result<(), Failure> {
        let Some(file) = self.opened.take() else { return Ok(()) };
        Fewer::say(&Fewer::of(&subject.plan.layout()));
        let is_virtual = self.args.measure.machine.is_some();
        let about = About {
            pericore: env!("CARGO_PKG_VERSION").to_owned(),
            title: subject.title.clone(),
            emulated: subject.emulated.clone(),
            started: (!is_virtual).then(|| rfc3339(SystemTime::now())),
            host: (!is_virtual).then(host).flatten(),
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
        let Some(writer) = &mut self.writer else { return Ok(()) };
        let end = taken.end.unwrap_or(taken.sample.seconds);
        // Only what has a sample in it is worth more than an older recording.
        let written = writer.sample(end, taken.sample, taken.truth);
        let outcome = written.and_then(|is_there| if is_there { writer.output_mut().put_in_place() } else { Ok(()) });
        self.written(outcome)?;
        self.go_on_if_full(end)
    }

    fn remark(&mut self, _words: &str) -> Result<(), Failure> {
        Ok(())
    }

    fn interrupted(&mut self, signal: i32) {
        self.signal = Some(signal);
    }

    fn clears_up_in(&self) -> Option<PathBuf> {
        let waiting = self.writer.as_ref()?.output().folder()?;
        Some(waiting.to_owned())
    }

    fn finish(&mut self) -> Result<(), Failure> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        let signal = self.signal.and_then(|signal| u64::try_from(signal).ok());
        let mut outcome = writer.end(&signal.map_or(Ending::Whole, |signal| Ending::Interrupted { signal }));
        if outcome.is_ok() && writer.samples() > 0 {
            outcome = writer.output_mut().put_in_place();
        }
        let (samples, bytes) = (writer.samples(), thousands(writer.bytes() as f64));
        let path = writer.output().path().display().to_string();
        let is_in_place = writer.output().is_in_place();
        self.written(outcome)?;
        if self.part > 1 {
            let (samples, parts) = (self.before + samples, if samples == 0 { self.part - 1 } else { self.part });
            let [first, last] = [1, parts].map(|number| self.args.parts.name(&self.args.output, number));
            notice::warn(format!("{samples} samples in {parts} parts, {} to {}", first.display(), last.display()));
            return Ok(());
        }
        if samples == 0 {
            let what = if is_in_place { "has nothing but its first line and its last" } else { "was not written" };
            notice::warn(format!("no sample: {path} {what}"));
            return Ok(());
        }
        let plural = if samples == 1 { "" } else { "s" };
        notice::warn(format!(
            "{samples} sample{plural}, {bytes} bytes, in {path}: `pericore report {path}` shows them"
        ));
        Ok(())
    }
}
