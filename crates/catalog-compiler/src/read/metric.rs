//! `blocks/BLOCK/metrics.toml`.

use super::row::Row;
use crate::schema::{Limit, Metric};

/// A metric.
pub fn read(row: &mut Row<'_, '_>) -> Metric {
    Metric {
        place: row.place(),
        name: row.string("name"),
        expression: row.string("expression"),
        printed: row.optional_string("printed"),
        unit_of_measure: row.string("unit_of_measure"),
        quantity: row.optional_word("quantity", "quantity"),
        side: row.optional_word("side", "side"),
        description: row.string("description"),
        source: row.string("source"),
        caveats: row.strings("caveats"),
        limit: row.table("limit", |row| Limit {
            place: row.place(),
            above: row.number("above"),
            means: row.string("means"),
            see: row.strings("see"),
        }),
    }
}
