//! `blocks/BLOCK/deviations.toml` and `undefined.toml`: what we decided, and why.

use super::row::Row;
use crate::schema::{Choice, Deviation};

/// The rows where we differ from a document for one reason. What all rows of a reason have alike stands at the reason.
pub fn reason(row: &mut Row<'_, '_>) -> Vec<Deviation> {
    let evidence = row.string("evidence");
    let shared = ["field", "guide", "intel", "ours"].map(|key| row.optional_string(key));
    let rows = row.tables("rows", Some("event"), |row| {
        let mut own = |key: &str, shared: &Option<String>| match shared {
            Some(shared) => row.optional_string(key).unwrap_or_else(|| shared.clone()),
            None => row.string(key),
        };
        let [field, guide, intel, ours] = &shared;
        Deviation {
            family: String::new(),
            unit: String::new(),
            field: own("field", field),
            guide: own("guide", guide),
            intel: own("intel", intel),
            ours: own("ours", ours),
            evidence: evidence.clone(),
            event: row.string("event"),
            place: row.place(),
        }
    });
    if rows.is_empty() {
        row.report("rows", "the reason has no rows", "add rows = [{ event = \"…\", … }], or remove it");
    }
    rows
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
