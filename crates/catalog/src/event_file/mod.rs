//! Intel's public event and metric files, read at run time: JSON as in github.com/intel/perfmon, and Linux's lists of events,
//! which are the same rows without the header.
//!
//! [`EventFile::parse`] reads the text and borrows from it; rows that cannot be used are reported with their line and the rest
//! is kept. [`overlay`] makes a family that has the file's events next to the built-in ones, [`with_metrics`] one that has its metrics
//! too, for all look-ups alike.

mod document;
mod formula;
mod metric;
mod overlay;
mod problem;
mod row;

pub use document::{FileError, MAX_BYTES, MAX_ROWS};
pub use formula::Converted;
pub use metric::FileMetric;
pub use overlay::{MetricOverlay, Overlay, Replaced, overlay, with_metrics};
pub use problem::Problem;
pub use row::FileEvent;

use std::collections::HashMap;

use crate::rows::Family;
use document::Document;

/// What a file has for a family.
#[derive(Debug, Clone, Default)]
pub struct EventFile<'t> {
    /// What its header says it is, such as `Performance Monitoring Events for …`.
    pub header: Option<String>,
    /// Events of the family's units, in file order.
    pub events: Vec<FileEvent<'t>>,
    /// Metrics, in file order. [`FileMetric::convert`] puts their formulas into the metric language.
    pub metrics: Vec<FileMetric<'t>>,
    /// Rows that cannot be used, in file order.
    pub problems: Vec<RowProblem>,
}

/// A row that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {name}: {problem}")]
pub struct RowProblem {
    /// Line of the file, from 1, on which the row begins.
    pub line: usize,
    /// The event's or metric's name, as far as it could be read.
    pub name: String,
    /// What is wrong.
    pub problem: Problem,
}

impl<'t> EventFile<'t> {
    /// Reads a file for a family.
    ///
    /// # Errors
    /// [`FileError`]: no JSON, damaged, too large, or not a file of events or metrics. A bad row is no error, see
    /// [`EventFile::problems`].
    pub fn parse(text: &'t str, family: &'t Family<'t>) -> Result<Self, FileError> {
        let document = Document::parse(text)?;
        let mut file = Self { header: document.header().map(str::to_owned), ..Self::default() };
        let mut first: HashMap<(&str, String), (usize, u64)> = HashMap::new();
        for (line, raw) in document.events() {
            match row::read(raw, family) {
                Ok(event) => {
                    let name = event.full_name();
                    match *first.entry((event.unit.name, name.to_ascii_uppercase())).or_insert((line, event.config)) {
                        (earlier, config) if config != event.config => {
                            let (name, problem) = (printable(&name), Problem::Twice(earlier));
                            file.problems.push(RowProblem { line, name, problem });
                        }
                        _ => file.events.push(FileEvent { line, ..event }),
                    }
                }
                Err((name, problem)) => file.problems.push(RowProblem { line, name, problem }),
            }
        }
        for (line, raw) in document.metrics() {
            match metric::read(raw) {
                Ok(metric) => file.metrics.push(FileMetric { line, ..metric }),
                Err((name, problem)) => file.problems.push(RowProblem { line, name, problem }),
            }
        }
        Ok(file)
    }
}

/// `text` without what could upset a terminal or the event syntax's reader: control characters become spaces.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests;
