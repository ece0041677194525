//! The files `CODE.metrics`: formulas over letters, and the events and constants that these stand for.

use std::collections::BTreeMap;

use pericore_catalog_schema::{Arena, KernelMetric, MetricView};

use super::lines::TableLines;
use crate::Diagnostics;

/// A family's metrics.
#[derive(Debug, Default)]
pub struct MetricTable<'c> {
    pub metrics: Vec<KernelMetric<'c>>,
    /// Intel's file with its version; none if the metrics are this project's.
    pub file: Option<String>,
}

/// Reads `NAME | UNIT OF MEASURE | FORMULA | LETTER=EVENT … | LETTER=CONSTANT …`, and `file NAME VERSION DATE` above
/// them.
pub fn read<'c>(to: &'c Arena, lines: &TableLines, diagnostics: &mut Diagnostics) -> MetricTable<'c> {
    let mut table = MetricTable::default();
    for (place, line) in lines.iter() {
        if let Some(file) = line.strip_prefix("file ") {
            table.file = Some(file.to_owned());
            continue;
        }
        match metric(to, line) {
            Some(metric) => table.metrics.push(metric),
            None => {
                let fix = "write NAME | UNIT OF MEASURE | FORMULA | LETTER=EVENT … | LETTER=CONSTANT …";
                diagnostics.report(place, format!("{line:?} is no metric"), fix);
            }
        }
    }
    table
}

/// Metrics of this project, by group.
pub type Groups<'c> = BTreeMap<String, Vec<KernelMetric<'c>>>;

/// Reads `metrics GROUP`, and rows below it.
pub fn groups<'c>(to: &'c Arena, lines: &TableLines, diagnostics: &mut Diagnostics) -> Groups<'c> {
    let (mut groups, mut last) = (Groups::new(), String::new());
    for (place, line) in lines.iter() {
        match (line.strip_prefix("metrics "), metric(to, line)) {
            (Some(group), _) => group.trim().clone_into(&mut last),
            (None, Some(metric)) if !last.is_empty() => groups.entry(last.clone()).or_default().push(metric),
            _ => diagnostics.report(
                place,
                format!("{line:?} is no metric of a group"),
                "write `metrics GROUP`, or a row",
            ),
        }
    }
    groups
}

/// Reads `view NAME TITLE`, and the names of its metrics below it.
pub fn views(lines: &TableLines, diagnostics: &mut Diagnostics) -> Vec<ViewLine> {
    let mut views: Vec<ViewLine> = Vec::new();
    for (place, line) in lines.iter() {
        match (line.strip_prefix("view ").and_then(|rest| rest.split_once(' ')), views.last_mut()) {
            (Some((name, title)), _) => {
                views.push(ViewLine { name: name.to_owned(), title: title.to_owned(), metrics: Vec::new() });
            }
            (None, Some(view)) if line.starts_with(' ') => {
                view.metrics.extend(line.split_whitespace().map(str::to_owned));
            }
            _ => {
                diagnostics.report(place, format!("{line:?} is no view"), "write `view NAME TITLE`, and names below it")
            }
        }
    }
    views
}

/// Metrics that are read together.
#[derive(Debug)]
pub struct ViewLine {
    name: String,
    title: String,
    metrics: Vec<String>,
}

impl ViewLine {
    /// The view of a family with these metrics; none without any of its own.
    pub fn of<'c>(&self, to: &'c Arena, metrics: &[KernelMetric<'c>]) -> Option<MetricView<'c>> {
        let known =
            |name: &String| metrics.iter().find(|metric| metric.name == name.as_str()).map(|metric| metric.name);
        let metrics: Vec<&'c str> = self.metrics.iter().filter_map(known).collect();
        let title = format!("{}.", self.title);
        (!metrics.is_empty()).then(|| MetricView {
            name: to.text(&self.name),
            title: to.text(&title),
            metrics: to.list(metrics),
        })
    }
}

fn metric<'c>(to: &'c Arena, line: &str) -> Option<KernelMetric<'c>> {
    let parts: Vec<&str> = line.split('|').map(str::trim).collect();
    let [name, unit_of_measure, formula, events, constants] = parts[..] else { return None };
    let symbol = |word: &str| {
        let (symbol, name) = word.split_once('=')?;
        formula.contains(symbol).then(|| (to.text(symbol), to.text(name)))
    };
    let symbols = |words: &str| words.split_whitespace().map(symbol).collect::<Option<Vec<_>>>();
    let (events, constants) = (symbols(events)?, symbols(constants)?);
    (!events.is_empty()).then(|| KernelMetric {
        name: to.text(name),
        unit_of_measure: to.text(unit_of_measure),
        formula: to.text(formula),
        events: to.list(events),
        constants: to.list(constants),
    })
}
