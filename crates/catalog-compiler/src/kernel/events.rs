//! The files `CODE.events`: Intel's events, or how they differ from another family's.

use std::collections::BTreeMap;

use super::lines::TableLines;
use crate::{Diagnostics, Place};

/// What selects an event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventFact {
    pub code: u16,
    pub counters: u16,
    pub umask: u64,
    pub ports: u16,
    pub flow_classes: u8,
    pub filter_value: u32,
    pub filters: Option<String>,
    /// Further fields of the PMU, with their values.
    pub settings: Vec<(String, u64)>,
    pub deprecated: bool,
    pub offered: bool,
}

/// A unit's events by name, each with what it has behind the dot.
pub type UnitFacts = BTreeMap<String, Vec<(Option<String>, EventFact)>>;

/// All events of a family.
#[derive(Debug, Default)]
pub struct Facts {
    /// By unit.
    pub units: BTreeMap<String, UnitFacts>,
    /// How the names of a unit's events begin.
    pub prefixes: BTreeMap<String, String>,
}

/// Unit, event, subevent.
type Key = (String, String, Option<String>);

/// A file.
#[derive(Debug, Default)]
pub struct EventTable {
    place: Place,
    /// Intel's files: names, and versions with dates.
    pub files: Vec<(String, String)>,
    like: Option<String>,
    /// How many rows there are with those of the other family.
    rows: usize,
    prefixes: BTreeMap<String, String>,
    changes: Vec<Change>,
}

/// A line of a file.
#[derive(Debug)]
enum Change {
    Row(Key, EventFact),
    NoUnit(String),
    NoEvent(String, String),
    NoRow(Key),
}

/// Reads a table.
pub fn read(lines: &TableLines, diagnostics: &mut Diagnostics) -> EventTable {
    let mut table = EventTable { place: Place { file: lines.file, line: 0 }, ..EventTable::default() };
    let (mut unit, mut event) = (String::new(), None);
    for (place, line) in lines.iter() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let fact = match words[..] {
            [subevent, ref rest @ ..] if line.starts_with(' ') => {
                event.as_ref().and_then(|(name, start): &(String, EventFact)| {
                    let key = (unit.clone(), name.clone(), Some(subevent.to_owned()));
                    Some(Change::Row(key, settings(start, rest)?))
                })
            }
            ["file", name, version, date] => {
                table.files.push((name.to_owned(), format!("V{version}, {date}")));
                continue;
            }
            ["like", other] => {
                table.like = Some(other.to_owned());
                continue;
            }
            ["rows", count] => {
                table.rows = count.parse().unwrap_or(0);
                continue;
            }
            ["unit", name, ref prefix @ ..] => {
                (unit, event) = (name.to_owned(), None);
                table.prefixes.insert(unit.clone(), prefix.concat());
                continue;
            }
            ["-unit", name] => Some(Change::NoUnit(name.to_owned())),
            [name] if name.starts_with('-') => Some(removal(&unit, &name[1..])),
            [name, code, on] => {
                event = start(code, on).map(|fact| (name.to_owned(), fact));
                if event.is_some() {
                    continue;
                }
                None
            }
            [name, code, on, umask, ref rest @ ..] => umask.strip_prefix('=').and_then(|umask| {
                let words: Vec<&str> = std::iter::once(umask).chain(rest.iter().copied()).collect();
                Some(Change::Row((unit.clone(), name.to_owned(), None), settings(&start(code, on)?, &words)?))
            }),
            _ => None,
        };
        match fact {
            Some(change) => table.changes.push(change),
            None => diagnostics.report(place, format!("{line:?} is no event"), "write the table anew with extract.py"),
        }
    }
    table
}

fn removal(unit: &str, name: &str) -> Change {
    match name.split_once('.') {
        Some((event, "*")) => Change::NoEvent(unit.to_owned(), event.to_owned()),
        Some((event, subevent)) => Change::NoRow((unit.to_owned(), event.to_owned(), Some(subevent.to_owned()))),
        None => Change::NoRow((unit.to_owned(), name.to_owned(), None)),
    }
}

/// Code and counters, such as `35 0-3`.
fn start(code: &str, counters: &str) -> Option<EventFact> {
    let counters = match counters.split_once('-') {
        Some(("", "")) => 0,
        Some((first, last)) => {
            let (first, last): (u16, u16) = (first.parse().ok()?, last.parse().ok()?);
            (first..=last).try_fold(0_u16, |mask, counter| Some(mask | 1_u16.checked_shl(counter.into())?))?
        }
        None => 1_u16.checked_shl(counters.parse().ok()?)?,
    };
    Some(EventFact { code: u16::from_str_radix(code, 16).ok()?, counters, offered: true, ..EventFact::default() })
}

/// Umask with its extension, and the settings behind it.
fn settings(start: &EventFact, words: &[&str]) -> Option<EventFact> {
    let (umask, rest) = words.split_first()?;
    let (umask, extension) = umask.split_once('+').unwrap_or((umask, "0"));
    let hex = |text| u64::from_str_radix(text, 16).ok();
    let mut fact = EventFact { umask: hex(umask)? | hex(extension)? << 8, ..start.clone() };
    for word in rest {
        if let Some((field, value)) = word.split_once('=') {
            fact.settings.push((field.to_owned(), hex(value)?));
            continue;
        }
        let (kind, value) = word.split_at(1);
        match kind {
            "p" => fact.ports = hex(value)?.try_into().ok()?,
            "f" => fact.flow_classes = hex(value)?.try_into().ok()?,
            "v" => fact.filter_value = hex(value)?.try_into().ok()?,
            "F" => fact.filters = Some(value.to_owned()),
            "d" => fact.deprecated = true,
            "n" => fact.offered = false,
            _ => return None,
        }
    }
    Some(fact)
}

/// All events of a family, with those of the family that its table refers to.
pub fn merged(code: &str, tables: &BTreeMap<String, EventTable>, diagnostics: &mut Diagnostics) -> Facts {
    let mut rows = BTreeMap::new();
    let mut chain = Vec::new();
    let mut next = tables.get(code);
    while let Some(table) = next {
        chain.push(table);
        next = table.like.as_ref().and_then(|other| tables.get(other));
        if chain.len() > tables.len() {
            diagnostics.report(table.place, "tables refer to each other in a circle", "take out a line `like`");
            break;
        }
    }
    for change in chain.iter().rev().flat_map(|table| &table.changes) {
        match change {
            Change::Row(key, fact) => drop(rows.insert(key.clone(), fact.clone())),
            Change::NoUnit(unit) => rows.retain(|key: &Key, _| key.0 != *unit),
            Change::NoEvent(unit, event) => rows.retain(|key, _| key.0 != *unit || key.1 != *event),
            Change::NoRow(key) => drop(rows.remove(key)),
        }
    }
    if let Some(table) = chain.first().filter(|table| table.rows != rows.len()) {
        let message = format!("the table says {} rows, and has {}", table.rows, rows.len());
        diagnostics.report(table.place, message, "write it and those that it is like anew with extract.py");
    }
    let mut facts = Facts::default();
    for ((unit, event, subevent), fact) in rows {
        let rows = facts.units.entry(unit.clone()).or_default().entry(event.clone()).or_default();
        if rows.first().is_some_and(|(_, first)| first.code != fact.code)
            && let Some(table) = chain.first()
        {
            let message = format!("{unit}/{event} has rows with different codes");
            diagnostics.report(table.place, message, "give them different names in extract.py");
        }
        rows.push((subevent, fact));
    }
    facts.prefixes = chain.iter().rev().flat_map(|table| table.prefixes.clone()).collect();
    facts
}
