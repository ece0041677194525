//! Two recordings beside each other.

use std::io::{self, Write};

use serde::Serialize;

use crate::figures::{line, placed, value};
use crate::lines::quoted;
use crate::over_time::OverTime;
use crate::row::{Place, Report, Row};
use crate::style::Form;

/// Widths of the columns.
const VALUE: usize = 17;
const SPREAD: usize = 9;
const CHANGE: usize = 11;

/// Changes up to so many standard errors may be chance.
pub const CHANCE: f64 = 2.0;

/// Lengths are alike if they differ by no more than this share.
const ALIKE: f64 = 0.01;

/// A recording as a whole, and how far its intervals lie apart.
#[derive(Debug)]
pub struct ComparedRecording {
    /// Machine and workload.
    pub title: String,
    /// The software machine, if it was one.
    pub emulated: Option<String>,
    /// All intervals added up.
    pub whole: Report,
    /// For each row its standard error as a share of it.
    pub spreads: Vec<Option<f64>>,
    /// How many there are.
    pub intervals: usize,
}

/// A row of both.
#[derive(Debug)]
pub struct RowPair<'a> {
    /// Event or metric.
    pub name: &'a str,
    /// Where it was counted.
    pub place: Option<&'a Place>,
    /// The first recording's row, and its standard error as a share of it.
    pub one: (&'a Row, Option<f64>),
    /// The second's.
    pub other: (&'a Row, Option<f64>),
}

impl ComparedRecording {
    /// Of all intervals added up, and each for itself.
    pub fn new(title: String, emulated: Option<String>, whole: Report, over_time: &OverTime) -> Self {
        Self { title, emulated, whole, spreads: over_time.spreads(), intervals: over_time.intervals() }
    }

    /// Each row with its standard error as a share of it: from how far the intervals lie apart, or, where there is
    /// one only, from the turns in it.
    fn rows(&self) -> impl Iterator<Item = (&Row, Option<f64>)> {
        let of_turns = |row: &Row| {
            let share = row.standard_error? / row.value.number()?.abs();
            share.is_finite().then_some(share)
        };
        self.whole.rows.iter().zip(&self.spreads).map(move |(row, spread)| (row, spread.or_else(|| of_turns(row))))
    }
}

/// The rows of the same name and place, in the order of the first.
pub fn pairs<'a>(one: &'a ComparedRecording, other: &'a ComparedRecording) -> Vec<RowPair<'a>> {
    let place = |row: &Row| row.place.as_ref().map(ToString::to_string);
    // A name may be there twice, as an event and a metric, or asked for twice: then by the order.
    let mut left: Vec<(&Row, Option<f64>)> = other.rows().collect();
    let pair = |one: (&'a Row, Option<f64>)| {
        let is_same = |row: &Row| row.name == one.0.name && place(row) == place(one.0);
        let at = left.iter().position(|(row, _)| is_same(row))?;
        Some(RowPair { name: &one.0.name, place: one.0.place.as_ref(), one, other: left.remove(at) })
    };
    one.rows().filter_map(pair).collect()
}

impl RowPair<'_> {
    /// The change as a share of the first; nothing without numbers, or from 0.
    pub fn change(&self) -> Option<f64> {
        let (one, other) = (self.one.0.value.number()?, self.other.0.value.number()?);
        if one == other {
            return Some(0.0);
        }
        Some((other - one) / one.abs()).filter(|change| change.is_finite())
    }

    /// Twice the standard error of the difference, in the row's unit of measure; nothing if the intervals say nothing.
    pub fn error(&self) -> Option<f64> {
        let (one, other) = (self.one.0.value.number()?, self.other.0.value.number()?);
        let error = CHANCE * (self.one.1? * one).hypot(self.other.1? * other);
        error.is_finite().then_some(error)
    }

    /// True if there is a change no larger than what the intervals within each recording let expect; nothing if these
    /// say nothing.
    pub fn may_be_chance(&self) -> Option<bool> {
        let (one, other) = (self.one.0.value.number()?, self.other.0.value.number()?);
        if one == other {
            return Some(false);
        }
        self.error().map(|error| (other - one).abs() <= error)
    }
}

/// Prints the rows of both, and how they changed.
///
/// # Errors
/// An output that cannot be written.
pub fn print(
    out: &mut impl Write,
    form: Form<'_>,
    pairs: &[RowPair<'_>],
    one: &ComparedRecording,
    other: &ComparedRecording,
) -> io::Result<()> {
    match form {
        Form::Table => table(out, pairs, one, other),
        Form::Json => json(out, pairs, one, other),
        Form::Separated(separator) => separated(out, pairs, separator),
    }
}

fn table(
    out: &mut impl Write,
    pairs: &[RowPair<'_>],
    one: &ComparedRecording,
    other: &ComparedRecording,
) -> io::Result<()> {
    writeln!(out, "\n{:>VALUE$}{:>SPREAD$}{:>VALUE$}{:>SPREAD$}{:>CHANGE$}", "first", "+-", "second", "+-", "change")?;
    for pair in pairs {
        let side = |(row, spread): (&Row, Option<f64>)| {
            let spread = spread.map_or_else(|| "-".to_owned(), |share| format!("{:.2} %", share * 100.0));
            format!("{:>VALUE$}{spread:>SPREAD$}", value(row))
        };
        let mark = if pair.may_be_chance() == Some(true) { "~" } else { "" };
        let change = pair.change().map_or_else(|| "-".to_owned(), |change| format!("{mark}{:+.2} %", change * 100.0));
        let figures = format!("{}{}{change:>CHANGE$}", side(pair.one), side(pair.other));
        line(out, &figures, &placed(pair.place, pair.name))?;
    }
    writeln!(out)?;
    notes(out, pairs, one, other)?;
    validity(out, pairs)
}

/// What is to be known before anything is concluded.
fn notes(
    out: &mut impl Write,
    pairs: &[RowPair<'_>],
    one: &ComparedRecording,
    other: &ComparedRecording,
) -> io::Result<()> {
    if one.emulated.is_some() != other.emulated.is_some() {
        writeln!(out, " one of the two is EMULATED, the other is not")?;
    }
    if pairs.iter().any(|pair| pair.may_be_chance() == Some(true)) {
        writeln!(out, " ~ may be chance: at most {CHANCE} times the spread of the intervals (+-)")?;
    }
    let (a, b) = (one.whole.seconds, other.whole.seconds);
    if (a - b).abs() > ALIKE * a.max(b) && pairs.iter().any(|pair| pair.one.0.unit_of_measure.is_none()) {
        writeln!(out, " the recordings differ in length: counts are totals, not rates")?;
    }
    let alone = |side: &ComparedRecording| side.whole.rows.len() - pairs.len();
    if alone(one) + alone(other) > 0 {
        writeln!(out, " left out: {} rows of the first alone, {} of the second", alone(one), alone(other))?;
    }
    Ok(())
}

/// How far the numbers of both can be trusted.
fn validity(out: &mut impl Write, pairs: &[RowPair<'_>]) -> io::Result<()> {
    let sides = pairs.iter().flat_map(|pair| [(pair, "first", pair.one.0), (pair, "second", pair.other.0)]);
    let doubtful: Vec<_> = sides.filter(|(.., row)| !row.value.validity().reasons().is_empty()).collect();
    if doubtful.is_empty() {
        return writeln!(out, " validity: all measured");
    }
    writeln!(out, " validity: {} of {} measured", 2 * pairs.len() - doubtful.len(), 2 * pairs.len())?;
    for (pair, which, row) in doubtful {
        writeln!(out, "   {}, {which}: {}", placed(pair.place, pair.name), row.value.validity())?;
    }
    Ok(())
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct JsonPair<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    socket: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instance: Option<&'a str>,
    event: &'a str,
    unit: &'a str,
    first: Option<f64>,
    first_spread: Option<f64>,
    first_validity: &'a str,
    second: Option<f64>,
    second_spread: Option<f64>,
    second_validity: &'a str,
    change: Option<f64>,
    may_be_chance: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_emulated: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    second_emulated: Option<&'a str>,
}

/// A row's number in its unit's symbol.
fn number(row: &Row) -> Option<f64> {
    let number = row.value.number()?;
    Some(row.unit_of_measure.map_or(number, |unit| unit.in_symbol(number)))
}

fn json(
    out: &mut impl Write,
    pairs: &[RowPair<'_>],
    one: &ComparedRecording,
    other: &ComparedRecording,
) -> io::Result<()> {
    for pair in pairs {
        let pair_line = JsonPair {
            socket: pair.place.map(|place| format!("S{}", place.socket)),
            instance: pair.place.and_then(|place| place.instance.as_deref()),
            event: pair.name,
            unit: pair.one.0.unit_of_measure.map_or("", |unit| unit.symbol()),
            first: number(pair.one.0),
            first_spread: pair.one.1,
            first_validity: pair.one.0.value.validity().grade().name(),
            second: number(pair.other.0),
            second_spread: pair.other.1,
            second_validity: pair.other.0.value.validity().grade().name(),
            change: pair.change(),
            may_be_chance: pair.may_be_chance(),
            first_emulated: one.emulated.as_deref(),
            second_emulated: other.emulated.as_deref(),
        };
        serde_json::to_writer(&mut *out, &pair_line)?;
        writeln!(out)?;
    }
    Ok(())
}

/// Place if there is one; value, spread and validity of the first and of the second; change, unit, name. Shares are
/// in per cent.
fn separated(out: &mut impl Write, pairs: &[RowPair<'_>], separator: &str) -> io::Result<()> {
    for pair in pairs {
        let mut fields: Vec<String> = pair.place.iter().map(ToString::to_string).collect();
        let percent = |share: Option<f64>| share.map_or_else(String::new, |share| format!("{:.2}%", share * 100.0));
        for (row, spread) in [pair.one, pair.other] {
            fields.push(number(row).map_or_else(|| row.placeholder().to_owned(), |number| format!("{number:.6}")));
            fields.push(percent(spread));
            fields.push(row.value.validity().grade().name().to_owned());
        }
        fields.push(percent(pair.change()));
        fields.push(pair.one.0.unit_of_measure.map_or("", |unit| unit.symbol()).to_owned());
        fields.push(pair.name.to_owned());
        let fields: Vec<_> = fields.iter().map(|field| quoted(field, separator)).collect();
        writeln!(out, "{}", fields.join(separator))?;
    }
    Ok(())
}
