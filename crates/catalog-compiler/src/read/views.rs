//! Which metrics are read together: of a family, or in `views/NAME.toml` of several.

use super::row::Row;
use crate::schema::{Family, SummaryRow, ViewRow};

/// The folder of the files that several families share.
pub const FOLDER: &str = "views";

/// Views and the figures that a report begins with.
#[derive(Debug, Default)]
pub struct ViewSet {
    pub views: Vec<ViewRow>,
    pub summary: Vec<SummaryRow>,
}

/// What a family's file or a shared one says.
pub fn read(row: &mut Row<'_, '_>) -> ViewSet {
    ViewSet {
        views: row.tables("view", None, |row| ViewRow {
            place: row.place(),
            name: row.string("name"),
            title: row.string("title"),
            metrics: row.strings("metrics"),
        }),
        summary: row.tables("summary", None, |row| SummaryRow {
            place: row.place(),
            label: row.string("label"),
            metric: row.string("metric"),
            of: row.optional_string("of"),
        }),
    }
}

/// Puts a shared set before the family's own, without the metrics that the family is said not to have.
pub fn add(family: &mut Family, shared: &ViewSet, without: &[String]) {
    let has = |metric: &String| !without.contains(metric);
    let views = shared.views.iter().map(|view| ViewRow {
        metrics: view.metrics.iter().filter(|metric| has(metric)).cloned().collect(),
        ..view.clone()
    });
    family.views.splice(0..0, views);
    family.summary.splice(0..0, shared.summary.iter().filter(|row| has(&row.metric)).cloned());
}
