//! A recording, opened to be seen with a selection's eyes.

use std::fs::{File, Metadata};
use std::io::{self, BufReader};
use std::os::fd::AsFd as _;
use std::path::Path;

use pericore_catalog::Family;
use pericore_observe::record::{About, Ending, Header, Reader, RecordError, View};
use pericore_observe::results::Layout;
use pericore_observe::selection::Selection;
use pericore_observe::session::Sample;

use super::Span;
use crate::failure::Failure;
use crate::measure::SelectionArgs;
use crate::notice;
use crate::refused_file;

/// Names standard input in place of a file.
pub const STANDARD_INPUT: &str = "-";

/// A recording that is being read.
#[derive(Debug)]
pub struct Recording {
    /// The file, as the user named it.
    name: String,
    /// What the system says of it.
    file: Metadata,
    reader: Reader<BufReader<File>>,
    view: View,
    span: Span,
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
    pub fn open(path: &Path, wanted: &SelectionArgs, span: Span) -> Result<Self, Failure> {
        Self::with(path, span, |name, header| {
            let family = family(name, header)?;
            if !wanted.is_empty() {
                return wanted.selection(family);
            }
            let family = wanted.files.extend(family)?.family;
            Selection::again(family, &header.asked).map_err(|error| unknown(name, &header.about, &error.to_string()))
        })
    }

    /// The same, with what another recording is seen with.
    ///
    /// # Errors
    /// As [`Recording::open`].
    pub fn open_like(&self, path: &Path) -> Result<Self, Failure> {
        Self::with(path, self.span, |_, _| Ok(self.view.layout().selection.clone()))
    }

    fn with(
        path: &Path,
        span: Span,
        selection: impl FnOnce(&str, &Header) -> Result<Selection, Failure>,
    ) -> Result<Self, Failure> {
        let is_standard_input = path == Path::new(STANDARD_INPUT);
        let name = if is_standard_input { "standard input".to_owned() } else { path.display().to_string() };
        let opened =
            if is_standard_input { io::stdin().as_fd().try_clone_to_owned().map(File::from) } else { File::open(path) };
        let refuse = |error| Failure::failed(refused_file::reading(Path::new(&name), &error));
        let opened = opened.map_err(refuse)?;
        let file = opened.metadata().map_err(refuse)?;
        let reader = Reader::open(BufReader::new(opened)).map_err(|error| damaged(&name, &error))?;
        let header = reader.header();
        let view = View::new(header, selection(&name, header)?)
            .map_err(|error| Failure::failed(format!("{name}: {error}")))?;
        Ok(Self { name, file, reader, view, span, read: 0, taken: 0, last: 0.0 })
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
            let recorded = recorded.map_err(|error| damaged(&self.name, &error))?;
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
        match self.reader.ending() {
            Some(Ending::Failed { why }) => {
                notice::warn(format!("{name}: the measurement failed after {read} samples: {why}"));
            }
            Some(Ending::Cut { half }) => {
                let half = half.map_or_else(String::new, |line| {
                    format!("; line {line} was written in part only, and is left out")
                });
                notice::warn(format!(
                    "{name}: cut after {read} samples: the line that says how it ended is missing{half}"
                ));
            }
            _ => {}
        }
        match (self.taken, self.read) {
            (0, 0) => Err(Failure::failed(format!("{name}: no sample in it: it ended before the first; record again"))),
            (0, _) => Err(Failure::failed(format!(
                "{name}: no sample between --from and --to; it goes from 0 to {} s",
                self.last
            ))),
            _ => Ok(()),
        }
    }
}

fn family(name: &str, header: &Header) -> Result<&'static Family, Failure> {
    pericore_catalog::family(&header.family).ok_or_else(|| {
        let (family, version) = (&header.family, &header.about.pericore);
        Failure::failed(format!(
            "{name}: recorded on a family {family:?} that is not known here; read it with pericore {version}, which wrote it"
        ))
    })
}

fn damaged(name: &str, error: &RecordError) -> Failure {
    Failure::failed(format!("{name}: {error}"))
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
