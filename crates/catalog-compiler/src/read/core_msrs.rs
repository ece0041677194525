//! `core-msrs/NAME.toml`: MSRs outside the PMON that several families have, or one.

use std::rc::Rc;

use pericore_catalog_schema::{CounterControl, MsrKind, MsrScope};
use serde::Deserialize;

use super::row::Row;
use crate::schema::CoreMsrRow;

/// The folder of the sets.
pub const FOLDER: &str = "core-msrs";

/// The rows of a set.
pub fn read(row: &mut Row<'_, '_>) -> Vec<Rc<CoreMsrRow>> {
    let source = row.string("source");
    row.tables("msrs", None, |row| Rc::new(msr(row, &source)))
}

/// The word for what an MSR does; its numbers have keys of their own.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Kept,
    Cycles,
    Energy,
    CoreThreadCount,
    Counter,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Control {
    Global,
    Fixed,
    EventSelect,
}

fn msr(row: &mut Row<'_, '_>, source: &str) -> CoreMsrRow {
    CoreMsrRow {
        place: row.place(),
        address: row.number("address"),
        name: row.string("name"),
        scope: row.word("scope", "scope", MsrScope::Cpu),
        kind: match row.word("kind", "kind of MSR", Kind::Cycles) {
            Kind::Kept => MsrKind::Kept { writable: row.optional_number("writable").unwrap_or(0) },
            Kind::Cycles => MsrKind::Cycles,
            Kind::Energy => MsrKind::Energy { watts: row.number("watts") },
            Kind::CoreThreadCount => MsrKind::CoreThreadCount,
            Kind::Counter => MsrKind::Counter { enable: row.number("enable") },
        },
        reset: row.optional_number("reset").unwrap_or(0),
        controls: row.optional_word("controls", "control of counters").map(|control| match control {
            Control::Global => CounterControl::Global,
            Control::Fixed => CounterControl::Fixed,
            Control::EventSelect => CounterControl::EventSelect { counter: row.number("counter") },
        }),
        source: source.to_owned(),
    }
}
