//! `blocks/BLOCK/values/NAME.toml`: values with names.

use super::row::Row;
use crate::schema::{NamedValue, ValueSet};

/// A set of named values.
pub fn read(row: &mut Row<'_, '_>, name: String) -> ValueSet {
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
