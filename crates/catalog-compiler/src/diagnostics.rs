//! Defects of the catalogue's data, collected.

use std::fmt;

/// A line of a catalogue file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Place {
    /// Number of the file, in the order of registration.
    pub file: u16,
    /// Line, from 1; 0 stands for the whole file.
    pub line: u32,
}

/// A row of the compiled catalogue that needs no other form before, and its place.
#[derive(Debug, Clone)]
pub struct RowAt<T> {
    /// Where it stands.
    pub place: Place,
    /// The row.
    pub row: T,
}

/// One defect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Where.
    pub place: Place,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub fix: String,
}

/// All defects of a catalogue.
#[derive(Debug, Default)]
pub struct Diagnostics {
    files: Vec<String>,
    found: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Registers a file, by the path that messages show.
    pub fn file(&mut self, path: impl Into<String>) -> u16 {
        self.files.push(path.into());
        (self.files.len() - 1) as u16
    }

    /// Notes a defect.
    pub fn report(&mut self, place: Place, message: impl Into<String>, fix: impl Into<String>) {
        self.found.push(Diagnostic { place, message: message.into(), fix: fix.into() });
    }

    /// Path and line of a place, as `file:line`.
    pub fn show(&self, place: Place) -> String {
        let file = self.files.get(usize::from(place.file)).map_or("?", String::as_str);
        if place.line == 0 { file.to_owned() } else { format!("{file}:{}", place.line) }
    }

    /// `value` if nothing was found.
    ///
    /// # Errors
    /// Everything that was found, in the order of the files, each once.
    pub fn into_result<T>(mut self, value: T) -> Result<T, Self> {
        if self.found.is_empty() {
            return Ok(value);
        }
        self.found.sort_by_key(|d| d.place);
        // Units of several families are checked each, though their block stands once.
        self.found.dedup();
        Err(self)
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for d in &self.found {
            writeln!(f, "{}: {}\n    fix: {}", self.show(d.place), d.message, d.fix)?;
        }
        write!(f, "{} defect{} in the catalogue", self.found.len(), if self.found.len() == 1 { "" } else { "s" })
    }
}

impl std::error::Error for Diagnostics {}

/// The candidate closest to `name`, if any is close enough to be a slip of the pen.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .filter(|&(score, _)| score > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}
