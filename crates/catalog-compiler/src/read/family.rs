//! `families/FAMILY.toml` and `values/FAMILY/NAME.toml`.

use super::row::Row;
use crate::schema::{Family, NamedValue, ValueSet};

/// The family, and the names of its units in order.
pub fn read(row: &mut Row<'_, '_>) -> (Family, Vec<String>) {
    let family = Family {
        place: row.place(),
        name: row.string("family"),
        aliases: row.strings("aliases"),
        title: row.string("title"),
        documents: row.tables("documents", None, |row| (row.string("cite"), row.string("title"))),
        cpus: row.tables("cpus", None, |row| (row.number("family"), row.number("model"))),
        clocks: row.tables("clocks", None, |row| (row.string("name"), row.string("description"))),
        default_metrics: row.strings("default_metrics"),
        units: Vec::new(),
        value_sets: Vec::new(),
    };
    let units = row.strings("units");
    if units.is_empty() {
        row.report("units", "the family has no units", "add units = [\"…\"], in the order of output");
    }
    (family, units)
}

/// A set of named values.
pub fn value_set(row: &mut Row<'_, '_>, name: String) -> ValueSet {
    ValueSet {
        place: row.place(),
        name,
        source: row.string("source"),
        values: row.tables("values", None, |row| NamedValue {
            place: row.place(),
            name: row.string("name"),
            value: row.number("value"),
            description: row.string("description"),
        }),
    }
}
