//! Words without any option: metrics, events, registers and units that match, the best first.

use std::io::Write;

use pericore_catalog::search::Query;
use pericore_catalog::{Family, Unit};
use pericore_text::{Paint, WIDTH, wrapped};

use super::terms::Terms;
use crate::failure::Failure;

/// Rows that are shown at most.
const SHOWN: usize = 20;
/// Columns before a description.
const INDENT: usize = 10;

/// What a row is about, the more useful first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Unit,
    Metric,
    Event,
    Register,
}

impl Sort {
    const ALL: [Self; 4] = [Self::Unit, Self::Metric, Self::Event, Self::Register];

    const fn name(self) -> &'static str {
        match self {
            Self::Unit => "unit",
            Self::Metric => "metric",
            Self::Event => "event",
            Self::Register => "register",
        }
    }

    /// What a row gains by it: a metric says more than the events that it is made of.
    const fn bonus(self) -> u32 {
        match self {
            Self::Unit => 25,
            Self::Metric => 20,
            Self::Event => 10,
            Self::Register => 0,
        }
    }

    /// How to see all of them.
    const fn option(self) -> &'static str {
        match self {
            Self::Unit | Self::Event => "--unit UNIT",
            Self::Metric => "--metrics",
            Self::Register => "--registers",
        }
    }
}

/// Something that matches, in all families that have it.
struct Row {
    score: u32,
    sort: Sort,
    name: String,
    description: &'static str,
    families: Vec<&'static str>,
}

/// Prints what matches; gives the number of rows that do.
///
/// # Errors
/// An output that cannot be written.
pub fn print(
    out: &mut impl Write,
    families: &[&'static Family],
    query: &Query,
    paint: Paint,
) -> Result<usize, Failure> {
    let terms = Terms::all(&query.text())?;
    let mut rows = Vec::new();
    for family in families {
        for unit in family.units.iter().copied() {
            of_unit(family, unit, &terms, &mut rows);
        }
    }
    rows.sort_by_key(|row: &Row| u32::MAX - row.score);
    for row in rows.iter().take(SHOWN) {
        writeln!(out, "{:<9} {}", row.sort.name(), paint.strong(&row.name))?;
        let place = if families.len() > 1 { format!(" ({})", row.families.join(", ")) } else { String::new() };
        for text in wrapped(&format!("{}{place}", row.description), WIDTH - INDENT) {
            writeln!(out, "{:INDENT$}{text}", "")?;
        }
    }
    if rows.len() > SHOWN {
        let left = |sort: Sort| {
            let count = rows[SHOWN..].iter().filter(|row| row.sort == sort).count();
            let plural = if count == 1 { "" } else { "s" };
            (count > 0).then(|| format!("{count} {}{plural} ({})", sort.name(), sort.option()))
        };
        let left: Vec<String> = Sort::ALL.into_iter().filter_map(left).collect();
        let text = format!("and {} more: {}", rows.len() - SHOWN, left.join(", "));
        wrapped(&text, WIDTH).iter().try_for_each(|text| writeln!(out, "{text}"))?;
    }
    if !rows.is_empty() {
        writeln!(out, "\nAll about one of them: pericore explain NAME")?;
    }
    Ok(rows.len())
}

fn of_unit(family: &'static Family, unit: &'static Unit, terms: &[Terms], rows: &mut Vec<Row>) {
    let mut add = |sort: Sort, name: &str, names: &[&str], texts: &[&'static str]| {
        let Some(score) = score(terms, unit, names, texts) else { return };
        let name = if sort == Sort::Unit { name.to_owned() } else { format!("{}/{name}", unit.name) };
        let description = texts.first().copied().unwrap_or_default();
        let known = rows.iter_mut().find(|row| row.sort == sort && row.name == name);
        match known {
            Some(row) => row.families.push(family.name),
            None => {
                rows.push(Row { score: score + sort.bonus(), sort, name, description, families: vec![family.name] })
            }
        }
    };
    add(Sort::Unit, unit.name, &[], &[unit.title]);
    for metric in unit.metrics {
        add(Sort::Metric, metric.name, &[metric.name], &[metric.description]);
    }
    for event in unit.events {
        add(Sort::Event, event.name, &[event.name], &[event.description]);
        // What the event says already is no reason to name each of its subevents.
        if score(terms, unit, &[event.name], &[event.description]).is_some() {
            continue;
        }
        for subevent in event.subevents {
            let full = format!("{}.{}", event.name, subevent.name);
            add(Sort::Event, &full, &[&full, subevent.name], &[subevent.description]);
        }
    }
    for register in unit.registers {
        add(Sort::Register, register.name, &[register.name, register.guide_name], &[register.description]);
    }
}

/// How well a row matches: as well as the best of the terms.
fn score(terms: &[Terms], unit: &Unit, names: &[&str], texts: &[&str]) -> Option<u32> {
    terms.iter().filter_map(|terms| terms.score(unit.name, unit.intel_prefix.unwrap_or(""), names, texts)).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of the rows beyond those shown: how many there are, and of each kind the number and the option that
    /// lists all.
    fn rest(word: &str) -> (usize, usize, String) {
        let family = pericore_catalog::family("e5-2600").unwrap();
        let mut out = Vec::new();
        let found = print(&mut out, &[family], &Query::new([word]), Paint::new(false)).unwrap();
        let text = String::from_utf8(out).unwrap();
        let is_row = |line: &&str| {
            let kind = line.split(' ').next().unwrap_or_default();
            Sort::ALL.iter().any(|sort| sort.name() == kind)
        };
        let shown = text.lines().filter(is_row).count();
        let rest = text.lines().skip_while(|line| !line.starts_with("and ")).take_while(|line| !line.is_empty());
        (found, shown, rest.collect::<Vec<_>>().join(" "))
    }

    /// The numbers of all kinds make up the rest, one has no plural, none is left out, and each kind has its option.
    #[test]
    fn what_is_not_shown_is_counted_by_kind_with_the_way_to_see_it() {
        let options =
            [("unit", "--unit UNIT"), ("metric", "--metrics"), ("event", "--unit UNIT"), ("register", "--registers")];
        let (mut single, mut kinds) = (0, std::collections::BTreeSet::new());
        for word in
            ["read", "write", "cycles", "ctl", "occupancy", "prefetch", "memory", "queue", "filter", "remote", "link"]
        {
            let (found, shown, rest) = rest(word);
            assert_eq!(shown, found.min(20), "{word}");
            if found <= 20 {
                assert_eq!(rest, "", "{word}");
                continue;
            }
            let (more, parts) = rest.strip_prefix("and ").and_then(|rest| rest.split_once(" more: ")).expect("a rest");
            assert_eq!(more, (found - 20).to_string(), "{word}");
            let mut sum = 0;
            for part in parts.split(", ") {
                let (number, kind) = part.split_once(' ').unwrap_or_else(|| panic!("{word}: {rest}"));
                let number: usize = number.parse().unwrap();
                let plural = if number == 1 { "" } else { "s" };
                let known = options.iter().find(|(name, option)| kind == format!("{name}{plural} ({option})"));
                let (name, _) = known.unwrap_or_else(|| panic!("{word}: {part:?} of {rest}"));
                assert!(number > 0, "{word}: {rest}");
                sum += number;
                single += usize::from(number == 1);
                kinds.insert(*name);
            }
            assert_eq!(sum, found - 20, "{word}: {rest}");
        }
        assert!(single > 0 && kinds.len() >= 3, "the words bring one of a kind, and most kinds: {single} {kinds:?}");
    }
}
