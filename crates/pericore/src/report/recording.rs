//! A recording, opened to be seen with a selection's eyes.

use std::fs::{File, Metadata};
use std::io::{self, Seek as _, Write as _};
use std::os::fd::AsFd as _;
use std::path::Path;

use pericore_catalog::{Family, kernel};
use pericore_observe::record::{About, Ending, Header, Reader, RecordError, View, selection_of};
use pericore_observe::results::Layout;
use pericore_observe::session::Sample;
use pericore_recordings::{Input, TimeSpan, is_object, read_object};
use rustix::fs::{MemfdFlags, memfd_create};

use crate::failure::Failure;
use crate::measure::SelectionArgs;
use crate::refused_file;
use crate::{input, notice};

/// Names standard input in place of a file.
pub const STANDARD_INPUT: &str = "-";

/// A recording that is being read.
#[derive(Debug)]
pub struct Recording {
    /// The file, as the user named it.
    name: String,
    /// What the system says of it.
    file: Metadata,
    reader: Reader<Input>,
    /// It is a table: samples have numbers, and there are no lines.
    is_table: bool,
    /// Bytes of a table that were written in part only.
    behind: u64,
    view: View,
    span: TimeSpan,
    /// Samples read, and those of them in the span.
    read: u64,
    taken: u64,
    /// When the last sample read ended.
    last: f64,
}

/// An interval of a recording, or the whole.
#[derive(Debug, Default)]
pub struct Interval {
    /// Seconds from the start of the measurement to its end; none for the whole.
    pub end: Option<f64>,
    /// Its counts.
    pub sample: Sample,
    /// The same with the model's counts, if they were recorded.
    pub truth: Option<Sample>,
}

impl Interval {
    /// Adds a later one to a whole.
    pub fn add(&mut self, later: &Self) {
        self.sample.add(&later.sample);
        if let Some(truth) = &later.truth {
            self.truth.get_or_insert_default().add(truth);
        }
    }
}

impl Recording {
    /// Reads what was measured, and finds in it what is wanted: what was asked for when recording, unless the user names something.
    ///
    /// # Errors
    /// A file that is no recording, or has not what is wanted.
    pub fn open(path: &Path, wanted: &SelectionArgs, span: TimeSpan) -> Result<Self, Failure> {
        Self::with(path, span, |name, header| {
            let family = family(name, header)?;
            let selection = if wanted.is_empty() {
                let family = wanted.files.extend(family)?.family;
                let again = selection_of(header, family);
                again.map_err(|error| unknown(name, &header.about, &error.to_string()))?
            } else {
                wanted.selection(family)?
            };
            View::new(header, selection).map_err(|error| Failure::failed(format!("{name}: {error}")))
        })
    }

    /// The same, with what another recording is seen with; what this one does not have is said and left out.
    ///
    /// # Errors
    /// As [`Recording::open`].
    pub fn open_like(&self, path: &Path) -> Result<Self, Failure> {
        Self::with(path, self.span, |name, header| {
            let failed = |error| Failure::failed(format!("{name}: {error}"));
            let selection = self.view.layout().selection.clone();
            let (view, missing) = View::of_what_is_there(header, selection).map_err(failed)?;
            missing.iter().for_each(|error| notice::warn(format!("{name}: {error}; rows that need it are left out")));
            Ok(view)
        })
    }

    fn with(
        path: &Path,
        span: TimeSpan,
        view: impl FnOnce(&str, &Header) -> Result<View, Failure>,
    ) -> Result<Self, Failure> {
        let (opened, name) = file(path)?;
        let file = opened.metadata().map_err(|error| Failure::failed(refused_file::reading(path, &error)))?;
        let input = Input::of(opened).map_err(|error| refused_input(&name, &error))?;
        let (is_table, behind) = (input.is_table(), input.behind());
        let reader = Reader::open(input).map_err(|error| damaged(&name, &error, is_table))?;
        let view = view(&name, reader.header())?;
        Ok(Self { name, file, reader, is_table, behind, view, span, read: 0, taken: 0, last: 0.0 })
    }

    /// The file, as the user named it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the system says of it.
    pub const fn file(&self) -> &Metadata {
        &self.file
    }

    /// What the recording says of itself.
    pub const fn about(&self) -> &About {
        &self.reader.header().about
    }

    /// What is counted where.
    pub fn layout(&self) -> Layout<'_> {
        self.view.layout()
    }

    /// The next interval in the span.
    ///
    /// # Errors
    /// A damaged line.
    pub fn next(&mut self) -> Result<Option<Interval>, Failure> {
        for recorded in self.reader.by_ref() {
            let recorded = recorded.map_err(|error| damaged(&self.name, &error, self.is_table))?;
            self.read += 1;
            self.last = recorded.end;
            if self.span.has(recorded.end, recorded.sample.seconds) {
                self.taken += 1;
                let truth = recorded.truth.as_ref().map(|truth| self.view.of(truth));
                let sample = self.view.of(&recorded.sample);
                return Ok(Some(Interval { end: Some(recorded.end), sample, truth }));
            }
        }
        Ok(None)
    }

    /// All intervals in the span, added up.
    ///
    /// # Errors
    /// A damaged line, or no interval at all.
    pub fn whole(&mut self) -> Result<Interval, Failure> {
        let mut whole = Interval::default();
        while let Some(interval) = self.next()? {
            whole.add(&interval);
        }
        self.finish()?;
        Ok(whole)
    }

    /// Says what is to be said at its end.
    ///
    /// # Errors
    /// There was no interval in the span.
    pub fn finish(&self) -> Result<(), Failure> {
        let (name, read) = (&self.name, self.read);
        if let Some(ending) = self.reader.ending() {
            warn_of_ending(name, ending, read, self.is_table, self.behind);
        }
        match (self.taken, self.read) {
            (0, 0) => Err(Failure::failed(format!(
                "{name}: no sample: the recording ended before the first one; record again"
            ))),
            (0, _) => Err(Failure::failed(format!(
                "{name}: no sample between --from and --to; it goes from 0 to {} s",
                self.last
            ))),
            _ => Ok(()),
        }
    }
}

/// The file of a recording, and what to call it.
///
/// # Errors
/// It cannot be opened.
pub fn file(path: &Path) -> Result<(File, String), Failure> {
    let (opened, name) = if path == Path::new(STANDARD_INPUT) {
        (io::stdin().as_fd().try_clone_to_owned().map(File::from), "standard input".to_owned())
    } else if is_object(path) {
        (object(path), path.display().to_string())
    } else {
        (input::stream(path), path.display().to_string())
    };
    let opened = opened.map_err(|error| Failure::failed(refused_file::reading(Path::new(&name), &error)))?;
    Ok((opened, name))
}

/// An object of a store, as a file in memory.
fn object(path: &Path) -> io::Result<File> {
    let bytes = read_object(path)?;
    let mut file = File::from(memfd_create("recording", MemfdFlags::CLOEXEC)?);
    file.write_all(&bytes)?;
    file.rewind()?;
    Ok(file)
}

/// Says how a recording ended, unless that is as it was to.
pub fn warn_of_ending(name: &str, ending: &Ending, samples: u64, is_table: bool, behind: u64) {
    match ending {
        Ending::Failed { why } => {
            notice::warn(format!("{name}: the measurement failed after {samples} samples: {why}"));
        }
        Ending::Cut { half } => {
            let half = match (half, behind) {
                (Some(line), _) => format!("; line {line} is incomplete and ignored"),
                (None, 0) => String::new(),
                (None, behind) => format!("; the last {behind} bytes are incomplete and ignored"),
            };
            let what = if is_table { "what" } else { "the line that" };
            notice::warn(format!("{name}: cut after {samples} samples: {what} says how it ended is missing{half}"));
        }
        Ending::Whole | Ending::Interrupted { .. } => {}
    }
}

fn family(name: &str, header: &Header) -> Result<&'static Family, Failure> {
    let own = pericore_catalog::family(&header.family);
    // What only the kernel counts, such as events of the cores, no family has by itself.
    let has_all = |own: &&'static Family| header.events.iter().all(|event| own.unit(&event.unit).is_some());
    let of_kernel = || kernel::family(&header.family).map(kernel::ShippedKernel::driven_family);
    own.filter(has_all).or_else(of_kernel).or(own).ok_or_else(|| {
        let (family, version) = (&header.family, &header.about.pericore);
        Failure::failed(format!(
            "{name}: recorded on an unknown family {family:?}; read it with pericore {version}, which wrote it"
        ))
    })
}

/// A table has no lines, of which the errors of recordings speak: its first line is metadata, and behind it there is a
/// line for each sample.
pub fn damaged(name: &str, error: &RecordError, is_table: bool) -> Failure {
    let failure = |what: String| Failure::failed(format!("{name}: {what}"));
    match error {
        RecordError::Io { message, .. } if is_table => failure(message.clone()),
        RecordError::Damaged { line, field, what } if is_table => {
            let field = field.as_ref().map_or_else(String::new, |field| format!(", {field}"));
            let sample = line.saturating_sub(1);
            failure(format!("sample {sample}{field}: {what}; the file is damaged; use --to to read what precedes it"))
        }
        _ => failure(error.to_string()),
    }
}

/// What was asked for when recording is not known here.
fn unknown(name: &str, about: &About, error: &str) -> Failure {
    let advice = if about.event_files.is_empty() {
        format!("it was written by pericore {}: read it with that, or name with -e and -M what to show", about.pericore)
    } else {
        format!("it was recorded with event files: give --events {}", about.event_files.join(" --events "))
    };
    Failure::failed(format!("{name}: {error}\n{advice}"))
}

/// Why a file is no input.
pub fn refused_input(name: &str, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::InvalidData => Failure::failed(format!("{name}: {error}")),
        _ => Failure::failed(refused_file::reading(Path::new(name), error)),
    }
}
