//! What to show when nothing matches: the nearest rows, with typing errors forgiven.

use std::io::{self, Write};

use pericore_catalog::search::{hint, known_names};
use pericore_catalog::{Event, Family, Subevent, Unit};
use pericore_text::{WIDTH, wrapped};

use super::Request;
use crate::notice;

/// Rows that are shown at most.
const SHOWN: usize = 12;

/// Says that nothing matches, and shows what is nearest. Machines get no rows: they asked for what matches.
pub fn print(out: &mut impl Write, families: &[&'static Family], request: &Request<'_>) -> io::Result<()> {
    let wanted = request.query.text();
    if request.query.is_empty() {
        notice::warn("nothing to list; leave out a filter");
        return Ok(());
    }
    let is_unit = |word: &&str| families.iter().any(|family| family.unit(word).is_some());
    if request.args.unit.is_none()
        && let Some(unit) = wanted.split(' ').find(is_unit)
    {
        let others: String =
            wanted.split(' ').filter(|word| *word != unit).fold(String::new(), |others, word| others + " " + word);
        notice::warn(format!(
            "nothing has {wanted:?} in its name or description, but {unit} is a unit: --unit {unit}{others}"
        ));
        return Ok(());
    }
    let ranked = if request.args.registers || request.args.metrics { Vec::new() } else { rank(families, request) };
    if request.args.json || ranked.is_empty() {
        let names = names(families, request, &wanted);
        if let Some(name) = names.iter().find(|name| name.eq_ignore_ascii_case(&wanted)) {
            notice::warn(format!("no row is called {name:?}, but something else is: pericore explain {name}"));
            return Ok(());
        }
        let near = hint(&wanted, names.iter().map(String::as_str));
        notice::warn(format!("nothing matches {wanted:?}{near}"));
        return Ok(());
    }
    writeln!(out, "Nothing has every word of {wanted:?}. Nearest:")?;
    for (family, unit, event, subevent) in ranked {
        let name =
            subevent.map_or_else(|| event.name.to_owned(), |subevent| format!("{}.{}", event.name, subevent.name));
        let family = if families.len() > 1 { format!("{} ", family.name) } else { String::new() };
        writeln!(out, "  {family}{}", request.paint.strong(&format!("{}/{name}", unit.name)))?;
        for text in wrapped(subevent.map_or(event.description, |subevent| subevent.description), WIDTH - 6) {
            writeln!(out, "      {text}")?;
        }
    }
    Ok(())
}

/// The names of what is listed.
fn names(families: &[&'static Family], request: &Request<'_>, wanted: &str) -> Vec<String> {
    let units = || families.iter().flat_map(|family| family.units.iter());
    if request.args.registers {
        units().flat_map(|unit| unit.registers).map(|register| register.name.to_owned()).collect()
    } else if request.args.metrics {
        units().flat_map(|unit| unit.metrics).map(|metric| metric.name.to_owned()).collect()
    } else {
        known_names(families, wanted)
    }
}

type Row = (&'static Family, &'static Unit, &'static Event, Option<&'static Subevent>);

/// The best rows, best first.
fn rank(families: &[&'static Family], request: &Request<'_>) -> Vec<Row> {
    let mut rows: Vec<(u32, Row)> = Vec::new();
    for family in families {
        for (_, unit, query) in request.units(family) {
            for event in unit.events {
                if let Some(score) = query.rank(&[event.name, unit.name], &[event.description]) {
                    rows.push((score, (family, unit, event, None)));
                    // Its subevents would all be as near: one row says it.
                    continue;
                }
                for subevent in event.subevents {
                    let texts = [subevent.description, event.description];
                    if let Some(score) = query.rank(&[event.name, subevent.name, unit.name], &texts) {
                        rows.push((score, (family, unit, event, Some(subevent))));
                    }
                }
            }
        }
    }
    rows.sort_by_key(|(score, _)| u32::MAX - score);
    rows.into_iter().take(SHOWN).map(|(_, row)| row).collect()
}
