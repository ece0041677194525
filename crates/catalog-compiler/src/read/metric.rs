//! `metrics/FAMILY/UNIT.toml`.

use super::row::Row;
use crate::Place;
use crate::schema::{Limit, Metric};

/// Unit, place of the file, metrics.
pub fn read(row: &mut Row<'_, '_>) -> (String, Place, Vec<Metric>) {
    let unit = row.string("unit");
    let metrics = row.tables("metric", None, |row| Metric {
        place: row.place(),
        name: row.string("name"),
        expression: row.string("expression"),
        printed: row.optional_string("printed"),
        unit_of_measure: row.string("unit_of_measure"),
        description: row.string("description"),
        source: row.string("source"),
        caveats: row.strings("caveats"),
        limit: row.table("limit", |row| Limit {
            place: row.place(),
            above: row.number("above"),
            means: row.string("means"),
            see: row.strings("see"),
        }),
    });
    (unit, row.place(), metrics)
}
