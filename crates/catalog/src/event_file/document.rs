//! The file as JSON: rows as unread slices of the text, so that each can fail by itself and say where it stands.

use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The largest file that is read: Intel's largest has about 2 MB.
pub const MAX_BYTES: usize = 64 << 20;

/// The most rows that a file may have: Intel's largest has about 5000.
pub const MAX_ROWS: usize = 200_000;

/// A file that cannot be used at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// More than [`MAX_BYTES`].
    #[error("it has more than {} MB; is it an event file?", MAX_BYTES >> 20)]
    TooLarge,
    /// No JSON, or damaged.
    #[error("line {line}, column {column}: {problem}; fetch the file again")]
    Damaged {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong there.
        problem: String,
    },
    /// JSON, but something else.
    #[error(
        "it has neither \"Events\" nor \"Metrics\"; give one of Intel's event or metric files (github.com/intel/perfmon)"
    )]
    NotEvents,
}

/// A file, with its rows unread.
#[derive(Debug)]
pub(super) struct Document<'t> {
    text: &'t str,
    header: Option<String>,
    events: Vec<&'t RawValue>,
    metrics: Vec<&'t RawValue>,
}

impl<'t> Document<'t> {
    pub(super) fn parse(text: &'t str) -> Result<Self, FileError> {
        if text.len() > MAX_BYTES {
            return Err(FileError::TooLarge);
        }
        let body = text.strip_prefix('\u{feff}').unwrap_or(text);
        let top: Top<'t> = serde_json::from_str(body).map_err(|error| damaged(&error))?;
        let (events, metrics) = match (top.events, top.metrics) {
            (None, None) => return Err(FileError::NotEvents),
            (events, metrics) => (events.unwrap_or_default(), metrics.unwrap_or_default()),
        };
        Ok(Self { text, header: top.header.and_then(|header| header.info), events, metrics })
    }

    /// What the file says it is.
    pub(super) fn header(&self) -> Option<&str> {
        self.header.as_deref()
    }

    pub(super) fn events(&self) -> impl Iterator<Item = (usize, &'t str)> {
        with_lines(self.text, &self.events)
    }

    pub(super) fn metrics(&self) -> impl Iterator<Item = (usize, &'t str)> {
        with_lines(self.text, &self.metrics)
    }
}

/// Rows and the lines that they begin on. Rows stand in the order of the text: each line is counted once.
fn with_lines<'t>(text: &'t str, rows: &[&'t RawValue]) -> impl Iterator<Item = (usize, &'t str)> {
    let mut line = 1;
    let mut counted = 0;
    rows.iter().map(move |row| {
        let row = row.get();
        // A row borrows from the text: its place is the distance of the two.
        let offset = row.as_ptr().addr().saturating_sub(text.as_ptr().addr()).min(text.len());
        line +=
            text.as_bytes().get(counted..offset).map_or(0, |part| part.iter().filter(|byte| **byte == b'\n').count());
        counted = offset.max(counted);
        (line, row)
    })
}

fn damaged(error: &serde_json::Error) -> FileError {
    let text = error.to_string();
    // serde_json ends its message with the place, which this error has apart.
    let problem = text.split(" at line ").next().unwrap_or(&text).to_owned();
    FileError::Damaged { line: error.line(), column: error.column(), problem }
}

/// What a file says of itself.
#[derive(Deserialize)]
struct Header {
    #[serde(rename = "Info")]
    info: Option<String>,
}

/// The file's outermost value: an object with lists of rows, or a bare list of events.
struct Top<'t> {
    header: Option<Header>,
    events: Option<Vec<&'t RawValue>>,
    metrics: Option<Vec<&'t RawValue>>,
}

impl<'de> Deserialize<'de> for Top<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TopVisitor)
    }
}

struct TopVisitor;

impl<'de> Visitor<'de> for TopVisitor {
    type Value = Top<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with \"Events\" or \"Metrics\", or a list of events")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, rows: A) -> Result<Self::Value, A::Error> {
        Ok(Top { header: None, events: Some(limited(rows)?), metrics: None })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut top = Top { header: None, events: None, metrics: None };
        while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            let place = match &*key {
                "Events" => &mut top.events,
                "Metrics" => &mut top.metrics,
                "Header" => {
                    // A header of another shape is none: rows are what counts.
                    top.header = serde_json::from_str(map.next_value::<&'de RawValue>()?.get()).ok();
                    continue;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            if place.is_some() {
                return Err(de::Error::custom(format!("a second list of {key}")));
            }
            *place = Some(map.next_value::<Rows<'de>>()?.0);
        }
        Ok(top)
    }
}

struct Rows<'t>(Vec<&'t RawValue>);

impl<'de> Deserialize<'de> for Rows<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RowsVisitor;
        impl<'de> Visitor<'de> for RowsVisitor {
            type Value = Rows<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of rows")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, rows: A) -> Result<Self::Value, A::Error> {
                limited(rows).map(Rows)
            }
        }
        deserializer.deserialize_seq(RowsVisitor)
    }
}

/// All rows, or an error once there are more than a file of events can have: tiny rows would eat much more memory than text.
fn limited<'de, A: SeqAccess<'de>>(mut rows: A) -> Result<Vec<&'de RawValue>, A::Error> {
    let mut all = Vec::new();
    while let Some(row) = rows.next_element::<&'de RawValue>()? {
        if all.len() == MAX_ROWS {
            return Err(de::Error::custom(format!("more than {MAX_ROWS} rows")));
        }
        all.push(row);
    }
    Ok(all)
}
