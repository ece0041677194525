//! `blocks/BLOCK/`: what a kind of block has, wherever it stands.

use super::Reader;
use super::row::Row;
use super::{event, judgement, metric, unit, values};
use crate::Place;
use crate::schema::{Block, Event, Include};

/// Files of a block by the start of their name; what follows a `-` is free.
const KINDS: [&str; 6] = ["block", "registers", "signals", "events", "metrics", "deviations"];

/// Reads a block's folder.
pub fn read(reader: &mut Reader<'_>, name: &str) -> Block {
    let folder = format!("blocks/{name}");
    let mut block = Block { name: name.to_owned(), ..Block::default() };
    for path in reader.toml_files(&folder) {
        let stem = super::stem(&path);
        let kind = stem.split_once('-').map_or(stem.as_str(), |(kind, _)| kind);
        if !KINDS.contains(&kind) {
            let file = reader.diagnostics.file(reader.files.shown(&path));
            let fix = format!("begin its name with one of {}", KINDS.join(", "));
            reader.diagnostics.report(Place { file, line: 0 }, "no file of a block", fix);
            continue;
        }
        reader.table(&path, |row| match kind {
            "block" => {
                (block.unit, block.includes) = (Some(unit::read(row)), row.tables("include", None, include));
            }
            "registers" => {
                block.layouts.extend(row.tables("layout", None, unit::layout));
                block.registers.extend(row.tables("register", None, unit::register));
                block.field_sets.extend(row.tables("field_set", None, unit::field_set));
            }
            "signals" => block.signals.extend(row.tables("signal", None, unit::signal)),
            "events" => block.events.extend(row.tables("event", None, event::read)),
            "metrics" => block.metrics.extend(row.tables("metric", None, metric::read)),
            _ => block.deviations.extend(row.tables("reason", None, judgement::reason).into_iter().flatten()),
        });
    }
    for path in reader.toml_files(&format!("{folder}/values")) {
        let set = super::stem(&path);
        reader.table(&path, |row| block.value_sets.push(values::read(row, set)));
    }
    layouts(reader, &mut block);
    block
}

fn include(row: &mut Row<'_, '_>) -> Include {
    Include {
        place: row.place(),
        block: row.string("block"),
        select: row.table("select", event::selected).unwrap_or_default(),
        without: row.placed_strings("without"),
    }
}

/// Gives registers the fields of the layouts that they name.
fn layouts(reader: &mut Reader<'_>, block: &mut Block) {
    for register in &mut block.registers {
        let Some(name) = &register.layout else { continue };
        if !register.fields.is_empty() {
            let fix = "leave one of them out";
            reader.diagnostics.report(register.place, format!("{} has fields and a layout", register.name), fix);
        }
        let found = name.split_once('/').and_then(|(of, layout)| {
            let of = reader.block(of, register.place)?;
            Some(of.layouts.iter().find(|known| known.name == layout)?.fields.clone())
        });
        match found {
            Some(fields) => register.fields = fields,
            None => reader.diagnostics.report(
                register.place,
                format!("no layout {name:?}"),
                "name it as BLOCK/LAYOUT, of a [[layout]] in that block's registers.toml",
            ),
        }
    }
}

/// The events of an included block, with the further control fields that they need here.
pub fn events_with(events: &[Event], select: &[(String, u64)]) -> impl Iterator<Item = Event> {
    events.iter().map(|event| {
        let mut event = event.clone();
        event.select.extend(select.iter().cloned());
        event
    })
}
