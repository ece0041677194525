//! `deviations.toml` and `undefined.toml`: what we decided, and why.

use super::row::Row;
use crate::schema::{Choice, Deviation};

/// Where we differ from a document.
pub fn deviations(row: &mut Row<'_, '_>) -> Vec<Deviation> {
    row.tables("deviation", None, |row| Deviation {
        place: row.place(),
        family: row.string("family"),
        unit: row.string("unit"),
        event: row.string("event"),
        field: row.string("field"),
        guide: row.string("guide"),
        intel: row.string("intel"),
        ours: row.string("ours"),
        evidence: row.string("evidence"),
    })
}

/// What the documents leave open.
pub fn choices(row: &mut Row<'_, '_>) -> Vec<Choice> {
    row.tables("choice", None, |row| Choice {
        place: row.place(),
        subject: row.string("subject"),
        family: row.string("family"),
        unit: row.string("unit"),
        documents: row.string("documents"),
        choice: row.string("choice"),
        why: row.string("why"),
        others: row.string("others"),
    })
}
