//! One metric of a file, with its formula as it stands and what its letters stand for.

use std::borrow::Cow;

use serde::Deserialize;

use super::Problem;
use super::row::Text;
use crate::rows::KernelMetric;

/// A metric of a file.
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
    /// The formula as the file has it.
    pub(super) raw_formula: Cow<'t, str>,
    /// Letters of the formula, and the events and constants that they stand for.
    pub(super) symbols: Vec<(Cow<'t, str>, Meaning<'t>)>,
    /// Unit of measure, as the file has it.
    pub unit_of_measure: Cow<'t, str>,
    /// What it says, in the file's words.
    pub description: Cow<'t, str>,
}

/// What a letter of a formula stands for.
#[derive(Debug, Clone)]
pub(super) enum Meaning<'t> {
    /// An event, in Intel's name, with what modifies it behind a colon.
    Event(Cow<'t, str>),
    /// Something known without counting.
    Constant(Cow<'t, str>),
}

impl FileMetric<'static> {
    /// The metric of a table that has Intel's formula and letters.
    pub(crate) fn of_table(row: &KernelMetric<'static>) -> Self {
        let symbols: Vec<Symbol<'static>> = row
            .events
            .iter()
            .chain(row.constants)
            .map(|&(alias, name)| Symbol { name: Text(Cow::Borrowed(name)), alias: Text(Cow::Borrowed(alias)) })
            .collect();
        let formula = with_names(row.formula, &symbols.iter().collect::<Vec<_>>());
        let means = |symbol: &'static str, meaning| (Cow::Borrowed(symbol), meaning);
        let events = row.events.iter().map(|&(alias, name)| means(alias, Meaning::Event(Cow::Borrowed(name))));
        let constants = row.constants.iter().map(|&(alias, name)| means(alias, Meaning::Constant(Cow::Borrowed(name))));
        FileMetric {
            line: 0,
            name: Cow::Borrowed(row.name),
            formula,
            events: row.events.iter().map(|(_, name)| Cow::Borrowed(*name)).collect(),
            raw_formula: Cow::Borrowed(row.formula),
            symbols: events.chain(constants).collect(),
            unit_of_measure: Cow::Borrowed(row.unit_of_measure),
            description: Cow::Owned(row.name.replace('_', " ")),
        }
    }
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
    events: Vec<Symbol<'t>>,
    #[serde(borrow, default)]
    constants: Vec<Symbol<'t>>,
}

/// A name and the letter that stands for it in the formula.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Symbol<'t> {
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
    let symbols: Vec<&Symbol<'_>> = row.events.iter().chain(&row.constants).collect();
    let with_names = with_names(&formula.0, &symbols);
    let events = row.events.iter().map(|symbol| (symbol.alias.0.clone(), Meaning::Event(symbol.name.0.clone())));
    let constants =
        row.constants.iter().map(|symbol| (symbol.alias.0.clone(), Meaning::Constant(symbol.name.0.clone())));
    Ok(FileMetric {
        line: 0,
        name: Cow::Owned(name),
        formula: with_names,
        symbols: events.chain(constants).collect(),
        raw_formula: formula.0,
        unit_of_measure: Cow::Owned(text(row.unit_of_measure)),
        description: Cow::Owned(text(row.brief_description)),
        events: row.events.into_iter().map(|event| event.name.0).collect(),
    })
}

/// The formula with each letter replaced by what it stands for.
fn with_names(formula: &str, symbols: &[&Symbol<'_>]) -> String {
    let mut out = String::with_capacity(formula.len() * 4);
    let mut rest = formula;
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    while let Some(first) = rest.chars().next() {
        let end = if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let word = &rest[..end];
        match symbols.iter().find(|symbol| symbol.alias.0 == word) {
            Some(symbol) => out.push_str(&super::printable(&symbol.name.0)),
            None => out.push_str(&super::printable(word)),
        }
        rest = &rest[end..];
    }
    out
}
