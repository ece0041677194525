//! One metric of a file. Its formula is kept as text, with the events' names in place of Intel's letters.

use std::borrow::Cow;

use serde::Deserialize;

use super::row::{Problem, Text};

/// A metric of a file. It is listed, not evaluated: its formula may need events of the cores.
#[derive(Debug, Clone, Default)]
pub struct FileMetric<'t> {
    /// Line of the file, from 1.
    pub line: usize,
    /// Name.
    pub name: Cow<'t, str>,
    /// Formula, with names in place of letters.
    pub formula: String,
    /// Events that it needs, in Intel's names.
    pub events: Vec<Cow<'t, str>>,
    /// Unit of measure, as the file has it.
    pub unit_of_measure: Cow<'t, str>,
    /// What it says, in the file's words.
    pub description: Cow<'t, str>,
}

impl FileMetric<'_> {
    /// True if all events that it needs are the uncore's.
    pub fn is_uncore(&self) -> bool {
        !self.events.is_empty() && self.events.iter().all(|event| event.starts_with("UNC_"))
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Row<'t> {
    #[serde(borrow, default)]
    metric_name: Option<Text<'t>>,
    #[serde(borrow, default)]
    formula: Option<Text<'t>>,
    #[serde(borrow, default)]
    unit_of_measure: Option<Text<'t>>,
    #[serde(borrow, default)]
    brief_description: Option<Text<'t>>,
    #[serde(borrow, default)]
    events: Vec<Letter<'t>>,
    #[serde(borrow, default)]
    constants: Vec<Letter<'t>>,
}

/// A name and the letter that stands for it in the formula.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Letter<'t> {
    #[serde(borrow)]
    name: Text<'t>,
    #[serde(borrow)]
    alias: Text<'t>,
}

/// Reads a row; a row that cannot be used gives its name and why.
pub(super) fn read(raw: &str) -> Result<FileMetric<'_>, (String, Problem)> {
    let unreadable = |error: serde_json::Error| {
        let text = error.to_string();
        Problem::Unreadable(text.split(" at line ").next().unwrap_or(&text).to_owned())
    };
    let row: Row<'_> = serde_json::from_str(raw).map_err(|error| ("a metric".to_owned(), unreadable(error)))?;
    let text = |text: Option<Text<'_>>| text.map_or(String::new(), |text| super::printable(&text.0));
    let name = text(row.metric_name);
    if name.is_empty() {
        return Err(("a metric without a name".to_owned(), Problem::Missing("MetricName")));
    }
    let Some(formula) = row.formula else { return Err((name, Problem::Missing("Formula"))) };
    let letters: Vec<&Letter<'_>> = row.events.iter().chain(&row.constants).collect();
    let formula = with_names(&formula.0, &letters);
    Ok(FileMetric {
        line: 0,
        name: Cow::Owned(name),
        formula,
        unit_of_measure: Cow::Owned(text(row.unit_of_measure)),
        description: Cow::Owned(text(row.brief_description)),
        events: row.events.into_iter().map(|event| event.name.0).collect(),
    })
}

/// The formula with each letter replaced by what it stands for.
fn with_names(formula: &str, letters: &[&Letter<'_>]) -> String {
    let mut out = String::with_capacity(formula.len() * 4);
    let mut rest = formula;
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    while let Some(first) = rest.chars().next() {
        let end = if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let word = &rest[..end];
        match letters.iter().find(|letter| letter.alias.0 == word) {
            Some(letter) => out.push_str(&super::printable(&letter.name.0)),
            None => out.push_str(&super::printable(word)),
        }
        rest = &rest[end..];
    }
    out
}
