//! `pericore list` without arguments: where to look.

use std::io::{self, Write};

use pericore_catalog::Family;
use pericore_text::{Paint, WIDTH, columns, wrapped};

use super::topics;
use crate::failure::Failure;

/// The fewest columns of a unit's or topic's name.
const NAME: usize = 12;

/// Prints the units of each family, the topics, and how to go on.
///
/// # Errors
/// An output that cannot be written.
pub fn print(out: &mut impl Write, families: &[&'static Family], paint: Paint) -> Result<(), Failure> {
    for family in families {
        heading(out, family, paint)?;
        let name = family.units.iter().map(|unit| columns(unit.name)).fold(NAME, usize::max);
        for unit in family.units {
            let counts = [(unit.events.len(), "event"), (unit.metrics.len(), "metric")];
            let counts = counts.iter().filter(|(count, _)| *count > 0);
            let counts: Vec<String> = counts.map(|(count, noun)| format!("{count} {noun}{}", plural(*count))).collect();
            // The driver counts some units under names of its own alone.
            let counts = if counts.is_empty() { String::new() } else { format!(" ({})", counts.join(", ")) };
            line(out, (unit.name, name), &format!("{}{counts}", unit.title))?;
        }
        writeln!(out)?;
    }
    writeln!(out, "{}", paint.strong("Topics"))?;
    for topic in topics::all()? {
        line(out, (&topic.word, NAME), &topic.title)?;
    }
    let ways = [
        ("pericore list latency", "rows about a topic, or with a word"),
        ("pericore list --unit imc", "all events of a unit"),
        ("pericore list --metrics", "all metrics; --registers: all registers"),
        ("pericore list '*'", "all events"),
        ("pericore explain NAME", "all about one of them"),
    ];
    writeln!(out)?;
    for (command, meaning) in ways {
        writeln!(out, "{command:<26} {meaning}")?;
    }
    Ok(())
}

const fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// What a family is called; further lines of a long title are indented.
fn heading(out: &mut impl Write, family: &Family, paint: Paint) -> io::Result<()> {
    let mut lines = wrapped(family.title, WIDTH - columns(family.name) - 2).into_iter();
    writeln!(out, "{}: {}", paint.strong(family.name), lines.next().unwrap_or_default())?;
    lines.try_for_each(|text| writeln!(out, "    {text}"))
}

/// A name in a column of a width, and what it is.
fn line(out: &mut impl Write, (name, width): (&str, usize), text: &str) -> io::Result<()> {
    for (index, text) in wrapped(text, WIDTH - width - 3).iter().enumerate() {
        writeln!(out, "  {:<width$} {text}", if index == 0 { name } else { "" })?;
    }
    Ok(())
}
