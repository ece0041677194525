//! `pericore list` without arguments: where to look.

use std::io::{self, Write};

use pericore_catalog::Family;
use pericore_text::{Paint, WIDTH, wrapped};

use super::topics;
use crate::failure::Failure;

/// Columns of a unit's or topic's name.
const NAME: usize = 12;

/// Prints the units of each family, the topics, and how to go on.
///
/// # Errors
/// An output that cannot be written.
pub fn print(out: &mut impl Write, families: &[&'static Family], paint: Paint) -> Result<(), Failure> {
    for family in families {
        writeln!(out, "{}: {}", paint.strong(family.name), family.title)?;
        for unit in family.units {
            let counts = [(unit.events.len(), "event"), (unit.metrics.len(), "metric")];
            let counts = counts.iter().filter(|(count, _)| *count > 0);
            let counts: Vec<String> = counts.map(|(count, noun)| format!("{count} {noun}{}", plural(*count))).collect();
            line(out, unit.name, &format!("{} ({})", unit.title, counts.join(", ")))?;
        }
        writeln!(out)?;
    }
    writeln!(out, "{}", paint.strong("Topics"))?;
    for topic in topics::all()? {
        line(out, &topic.word, &topic.title)?;
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

fn line(out: &mut impl Write, name: &str, text: &str) -> io::Result<()> {
    for (index, text) in wrapped(text, WIDTH - NAME - 3).iter().enumerate() {
        writeln!(out, "  {:<NAME$} {text}", if index == 0 { name } else { "" })?;
    }
    Ok(())
}
