//! `report --html`: a page that shows recordings in any browser, without a network.

use std::io::Write as _;
use std::path::Path;

use pericore_observe::results::Scope;
use pericore_recordings::RecordFile;
use pericore_report::compare::{ComparedRecording, pairs};
use pericore_report::page::{self, Curves, PageData, RecordingData};
use pericore_report::rows;

use super::diff;
use super::recording::Recording;
use crate::failure::Failure;
use crate::results::output::{must_be_file, must_not_be};

/// Writes a page of one recording, or of two that are compared. The file is put in its place when it is whole; an older
/// one becomes FILE.old, as with `record`.
///
/// # Errors
/// A recording that cannot be read, or a file that cannot be written.
pub fn write(path: &Path, mut one: Recording, other: Option<Recording>) -> Result<(), Failure> {
    must_be_file("--html", path)?;
    for recording in std::iter::once(&one).chain(&other) {
        must_not_be("--html", path, recording.name(), recording.file())?;
    }
    let mut file = RecordFile::open(path).map_err(|error| refused(path, &error))?;
    let sides = if other.is_some() { 2 } else { 1 };
    let (whole, one) = read(&mut one, sides)?;
    let mut recordings = vec![one];
    let compared = match other {
        None => None,
        Some(mut other) => {
            let (whole, other) = read(&mut other, sides)?;
            recordings.push(other);
            Some(whole)
        }
    };
    let pairs = compared.as_ref().map(|other| pairs(&whole, other)).unwrap_or_default();
    let page = page::fill(&whole.title, &PageData::of(recordings, &pairs)).map_err(Failure::failed)?;
    let written = file.write_all(page.as_bytes()).and_then(|()| file.put_in_place());
    written.map_err(|error| refused(path, &error))
}

/// Reads a recording to its end, when one page has so many.
fn read(recording: &mut Recording, sides: usize) -> Result<(ComparedRecording, RecordingData), Failure> {
    let mut curves = Curves::of_one_of(sides);
    let whole = diff::read(recording, Scope::System, &mut |recording, interval, report| {
        let units = rows::report(&recording.layout(), &interval.sample, None, Scope::Instance, interval.end);
        curves.add(report, &units);
    })?;
    let data = RecordingData::of(recording.name(), recording.about(), &whole, &curves);
    Ok((whole, data))
}

fn refused(path: &Path, error: &std::io::Error) -> Failure {
    Failure::failed(format!("cannot write {}: {error}; name another file with --html", path.display()))
}
