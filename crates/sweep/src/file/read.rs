//! The file's TOML as grids.

use pericore_catalog::search::hint;
use toml::Spanned;
use toml::de::{DeArray, DeString, DeTable, DeValue};

use super::grid::{Axis, Grid, GridCounting, InText};
use crate::source::Mistake;

/// Values of a range at most.
const MOST_VALUES: i64 = 1_000_000;

const OF_FILE: [&str; 10] =
    ["output", "events", "metrics", "interval", "timeout", "rotate", "truth", "cold", "grid", "title"];
const OF_GRID: [&str; 11] = [
    "machines",
    "workloads",
    "machine",
    "workload",
    "events",
    "metrics",
    "interval",
    "timeout",
    "rotate",
    "truth",
    "cold",
];

type Entry<'t, 's> = (&'t Spanned<DeString<'s>>, &'t Spanned<DeValue<'s>>);

/// What a file has.
#[derive(Debug, Default)]
pub struct GridFile {
    pub output: Option<InText<String>>,
    pub grids: Vec<Grid>,
}

/// Reads a file's text.
pub fn read(text: &str) -> Result<GridFile, Mistake> {
    let table = DeTable::parse(text)
        .map_err(|error| Mistake::new(error.span().map_or(0, |span| span.start), error.message()))?;
    let (mut contents, mut counting) = (GridFile::default(), GridCounting::default());
    let mut grids: Option<(&DeArray<'_>, usize)> = None;
    for (key, value) in in_order(table.get_ref()) {
        match key.get_ref().as_ref() {
            "title" => drop(text_of(key, value)?),
            "output" => contents.output = Some(text_of(key, value)?),
            "grid" => {
                let list = value.get_ref().as_array();
                let list =
                    list.ok_or_else(|| Mistake::new(key.span().start, "grid: write [[grid]], in double brackets"))?;
                grids = Some((list, key.span().start));
            }
            name if count(&mut counting, name, key, value)? => {}
            name => return Err(unknown(key, name, &OF_FILE)),
        }
    }
    let (list, _) = grids.ok_or_else(|| {
        Mistake::new(0, "no [[grid]] in this file; add one with machines = [\"8592+\"] and workloads = [\"stream\"]")
    })?;
    for item in list.iter() {
        let table = item.get_ref().as_table();
        let table = table.ok_or_else(|| Mistake::new(item.span().start, "grid: write [[grid]], in double brackets"))?;
        contents.grids.push(grid(item.span().start, table, &counting)?);
    }
    Ok(contents)
}

fn grid(at: usize, table: &DeTable<'_>, defaults: &GridCounting) -> Result<Grid, Mistake> {
    let mut grid = Grid { at, counting: defaults.clone(), ..Grid::default() };
    for (key, value) in in_order(table) {
        match key.get_ref().as_ref() {
            "machines" => grid.machines = texts(key, value)?,
            "workloads" => grid.workloads = texts(key, value)?,
            "machine" => grid.machine = axes(key, value)?,
            "workload" => grid.workload = axes(key, value)?,
            name if count(&mut grid.counting, name, key, value)? => {}
            name => return Err(unknown(key, name, &OF_GRID)),
        }
    }
    for (name, list) in [("machines", &grid.machines), ("workloads", &grid.workloads)] {
        if list.is_empty() {
            return Err(Mistake::new(at, format!("this grid has no {name}; add {name} = [\"NAME\"]")));
        }
    }
    Ok(grid)
}

/// Takes a key of what is counted; false if it is none.
fn count(
    counting: &mut GridCounting,
    name: &str,
    key: &Spanned<DeString<'_>>,
    value: &Spanned<DeValue<'_>>,
) -> Result<bool, Mistake> {
    match name {
        "events" => counting.events = texts(key, value)?,
        "metrics" => counting.metrics = texts(key, value)?,
        "interval" => counting.interval = Some(number(key, value)?),
        "timeout" => counting.timeout = Some(number(key, value)?),
        "rotate" => counting.rotate = Some(number(key, value)?),
        "truth" => counting.truth = flag(key, value)?,
        "cold" => counting.cold = flag(key, value)?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// The table of parameters, each with its values.
fn axes(key: &Spanned<DeString<'_>>, value: &Spanned<DeValue<'_>>) -> Result<Vec<Axis>, Mistake> {
    let table =
        value.get_ref().as_table().ok_or_else(|| wrong(key, "takes a table of parameters: { seed = [1, 2] }"))?;
    let axis = |(key, value): Entry<'_, '_>| {
        let name = key.get_ref().to_string();
        let is_name =
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        if !is_name {
            return Err(wrong(key, "no name of a parameter: these have letters, digits, - and _"));
        }
        let values = values(key, value)?;
        if values.is_empty() {
            return Err(wrong(key, "has no value: give one, a list, or { from = 1, to = 9 }"));
        }
        Ok(Axis { name, values })
    };
    in_order(table).into_iter().map(axis).collect()
}

fn values(key: &Spanned<DeString<'_>>, value: &Spanned<DeValue<'_>>) -> Result<Vec<InText<String>>, Mistake> {
    if let Some(table) = value.get_ref().as_table() {
        return range(key, table);
    }
    let one = |value: &Spanned<DeValue<'_>>| {
        let word = match value.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(_) => whole(value)
                .ok_or_else(|| Mistake::new(value.span().start, "not a whole number of 64 bits"))?
                .to_string(),
            _ => {
                return Err(Mistake::new(
                    value.span().start,
                    format!("{}: give whole numbers, texts such as \"64M\", or {{ from = 1, to = 9 }}", key.get_ref()),
                ));
            }
        };
        Ok(InText { at: value.span().start, value: word })
    };
    match value.get_ref().as_array() {
        Some(list) => list.iter().map(one).collect(),
        None => Ok(vec![one(value)?]),
    }
}

/// `{ from = 1, to = 9, step = 2 }`: both ends are in it.
fn range(key: &Spanned<DeString<'_>>, table: &DeTable<'_>) -> Result<Vec<InText<String>>, Mistake> {
    let (mut from, mut to, mut step) = (None, None, 1);
    for (name, value) in in_order(table) {
        let number = whole(value).ok_or_else(|| wrong(name, "takes a whole number"))?;
        match name.get_ref().as_ref() {
            "from" => from = Some(number),
            "to" => to = Some(number),
            "step" => step = number,
            other => return Err(unknown(name, other, &["from", "to", "step"])),
        }
    }
    let (Some(from), Some(to)) = (from, to) else { return Err(wrong(key, "a range has from and to")) };
    if step < 1 || to < from || (i128::from(to) - i128::from(from)) / i128::from(step) >= i128::from(MOST_VALUES) {
        return Err(wrong(key, "the range is empty or too long; give from <= to, and a step of 1 or more"));
    }
    let at = key.span().start;
    let values = (0..).map_while(|index: i64| from.checked_add(index.checked_mul(step)?).filter(|&value| value <= to));
    Ok(values.map(|value| InText { at, value: value.to_string() }).collect())
}

fn texts(key: &Spanned<DeString<'_>>, value: &Spanned<DeValue<'_>>) -> Result<Vec<InText<String>>, Mistake> {
    match value.get_ref().as_array() {
        Some(list) => list.iter().map(|item| text_of(key, item)).collect(),
        None => Ok(vec![text_of(key, value)?]),
    }
}

fn text_of(key: &Spanned<DeString<'_>>, value: &Spanned<DeValue<'_>>) -> Result<InText<String>, Mistake> {
    let at = value.span().start;
    match value.get_ref() {
        DeValue::String(text) if !text.is_empty() => Ok(InText { at, value: text.to_string() }),
        _ => Err(Mistake::new(at, format!("{} takes text, in quotation marks", key.get_ref()))),
    }
}

fn number(key: &Spanned<DeString<'_>>, value: &Spanned<DeValue<'_>>) -> Result<InText<f64>, Mistake> {
    let parsed = match value.get_ref() {
        DeValue::Float(number) => number.as_str().replace('_', "").parse().ok(),
        DeValue::Integer(_) => whole(value).map(|number| number as f64),
        _ => None,
    };
    let at = value.span().start;
    parsed.map(|value| InText { at, value }).ok_or_else(|| wrong(key, "takes a number of milliseconds"))
}

fn flag(key: &Spanned<DeString<'_>>, value: &Spanned<DeValue<'_>>) -> Result<bool, Mistake> {
    value.get_ref().as_bool().ok_or_else(|| wrong(key, "takes true or false"))
}

fn whole(value: &Spanned<DeValue<'_>>) -> Option<i64> {
    let number = value.get_ref().as_integer()?;
    i64::from_str_radix(&number.as_str().replace('_', ""), number.radix()).ok()
}

fn wrong(key: &Spanned<DeString<'_>>, what: &str) -> Mistake {
    Mistake::new(key.span().start, format!("{}: {what}", key.get_ref()))
}

fn unknown(key: &Spanned<DeString<'_>>, name: &str, known: &[&str]) -> Mistake {
    let near = hint(name, known.iter().copied());
    Mistake::new(key.span().start, format!("no key {name:?} here{near}; known: {}", known.join(", ")))
}

fn in_order<'t, 's>(table: &'t DeTable<'s>) -> Vec<Entry<'t, 's>> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}
