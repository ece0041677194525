//! What the page shows, as JSON has it.

use std::collections::HashMap;

use pericore_observe::record::About;
use serde::Serialize;

use super::curves::Curves;
use super::drawn::Drawn;
use super::live::{LiveCurves, Newest, RecentRows};
use super::timeline::{BucketRow, Timeline};
use crate::compare::{CHANCE, ComparedRecording, RowPair};
use crate::row::{Report, Row, mark};
use crate::{figures, limits, summary};

/// Digits of a drawn number, counted from the first one of its row's largest.
const DIGITS: i32 = 4;
/// Digits of a time behind the first.
const TIME_DIGITS: i32 = 7;

/// Everything.
#[derive(Debug, Serialize)]
pub struct PageData {
    /// The version that wrote the page.
    pub pericore: &'static str,
    /// One, or two that are compared.
    pub recordings: Vec<RecordingData>,
    /// What changed from the first to the second.
    pub changes: Vec<ChangeData>,
    /// Changes up to so many standard errors may be chance.
    pub chance: f64,
    /// What an open page of a server needs to go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    live: Option<LiveData>,
}

/// How an open page of a server goes on.
#[derive(Debug, Serialize)]
struct LiveData {
    /// When the server began, in seconds since the epoch: another one has other samples.
    began: f64,
    /// Samples since then.
    samples: u64,
    /// Seconds between them, when all is well.
    due: f64,
}

/// A recording.
#[derive(Debug, Serialize)]
pub struct RecordingData {
    name: String,
    title: String,
    emulated: Option<String>,
    host: Option<String>,
    started: Option<String>,
    pericore: String,
    seconds: f64,
    intervals: usize,
    stood: bool,
    figures: Vec<FigureData>,
    limits: Vec<String>,
    /// Metrics that others cannot exceed: beside them the others are flat.
    peaks: Vec<&'static str>,
    rows: Vec<RowData>,
    whole: CurvesData,
    by_unit: CurvesData,
}

/// A figure of the summary.
#[derive(Debug, Serialize)]
struct FigureData {
    words: String,
    share: Option<f64>,
}

/// A row of the table that `report` prints.
#[derive(Debug, Serialize)]
struct RowData {
    name: String,
    value: String,
    mark: char,
    validity: Option<String>,
}

/// Rows over time.
#[derive(Debug, Serialize)]
struct CurvesData {
    /// Numbers of the oldest bucket that the server keeps, and of the first one here; 0 in a recording.
    oldest: u64,
    first: u64,
    begin: f64,
    ends: Vec<f64>,
    /// Samples in each bucket.
    samples: usize,
    rows: Vec<CurveData>,
}

/// A row over time.
#[derive(Debug, Serialize)]
struct CurveData {
    name: String,
    socket: Option<u16>,
    instance: Option<String>,
    unit: &'static str,
    /// What the numbers are shown in, and how many of it the unit is.
    symbol: &'static str,
    factor: f64,
    mean: Vec<Option<f64>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    least: Vec<Option<f64>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    most: Vec<Option<f64>>,
    /// Marks and how often each stands in a row.
    marks: Vec<(char, usize)>,
}

/// A row of `report --diff`.
#[derive(Debug, Serialize)]
pub struct ChangeData {
    name: String,
    first: String,
    first_mark: char,
    second: String,
    second_mark: char,
    change: Option<f64>,
    /// What may be chance, as a share of the first.
    error: Option<f64>,
    may_be_chance: Option<bool>,
}

impl RecordingData {
    /// Of what was read: the name of the file, what it says of itself, and its rows.
    pub fn of(name: &str, about: &About, whole: &ComparedRecording, rows: &Curves) -> Self {
        Self {
            name: name.to_owned(),
            title: whole.title.clone(),
            emulated: about.emulated.clone(),
            host: about.host.clone(),
            started: about.started.clone(),
            pericore: about.pericore.clone(),
            seconds: whole.whole.seconds,
            intervals: whole.intervals,
            stood: whole.whole.stood,
            figures: figures(&whole.whole),
            limits: limits::words(&whole.whole),
            peaks: whole.whole.summary.iter().filter_map(|figure| figure.of).collect(),
            rows: whole.whole.rows.iter().map(RowData::of).collect(),
            whole: CurvesData::of(&rows.all),
            by_unit: CurvesData::of(&rows.units),
        }
    }

    /// Of a server's newest sample, with the last hour's curves from some sample on.
    fn live(newest: &Newest<'_>, curves: &LiveCurves, from: u64) -> Self {
        Self {
            name: "live".to_owned(),
            title: newest.title.to_owned(),
            emulated: newest.emulated.map(str::to_owned),
            host: newest.host.map(str::to_owned),
            started: None,
            pericore: env!("CARGO_PKG_VERSION").to_owned(),
            seconds: newest.report.seconds,
            intervals: 1,
            stood: newest.report.stood,
            figures: figures(newest.report),
            limits: limits::words(newest.report),
            peaks: newest.report.summary.iter().filter_map(|figure| figure.of).collect(),
            rows: newest.report.rows.iter().map(RowData::of).collect(),
            whole: CurvesData::of_window(&curves.all, from),
            by_unit: CurvesData::of_window(&curves.units, from),
        }
    }
}

fn figures(report: &Report) -> Vec<FigureData> {
    let figures = summary::figures(report, None).into_iter();
    figures.map(|figure| FigureData { words: figure.words, share: figure.share }).collect()
}

impl RowData {
    fn of(row: &Row) -> Self {
        let grade = row.value.validity().grade();
        let precision = figures::precision(row).map_or_else(String::new, |precision| format!(", {precision}"));
        Self {
            name: figures::placed(row.place.as_ref(), &row.title()),
            value: figures::value(row),
            mark: mark(grade),
            validity: (mark(grade) != ' ').then(|| format!("{}{precision}", row.value.validity())),
        }
    }
}

impl CurvesData {
    fn of(timeline: &Timeline) -> Self {
        let largest = largest_by_name(timeline.rows.iter().map(|row| (&*row.name, row.largest())));
        let rows = timeline.rows.iter().map(|row| {
            let points: Vec<Drawn> = row.buckets.iter().map(Drawn::from).collect();
            CurveData::of(row, &points, largest[&*row.name], timeline.in_bucket > 1)
        });
        Self {
            oldest: 0,
            first: 0,
            begin: shown_time(timeline.begin, timeline.begin, &timeline.ends),
            ends: timeline.ends.iter().map(|end| shown_time(*end, timeline.begin, &timeline.ends)).collect(),
            samples: timeline.in_bucket,
            rows: rows.collect(),
        }
    }

    fn of_window(window: &RecentRows, from: u64) -> Self {
        let (first, ends) = window.ends_from(from);
        let largest = largest_by_name(window.rows.iter().map(|row| (&*row.row.name, row.largest())));
        let rows = window.rows.iter().map(|row| {
            let points = row.drawn_from(first);
            CurveData::of(&row.row, &points, largest[&*row.row.name], window.in_bucket > 1)
        });
        Self {
            oldest: window.oldest,
            first: window.oldest + first as u64,
            begin: shown_time(window.begin, window.begin, &ends),
            ends: ends.iter().map(|end| shown_time(*end, window.begin, &ends)).collect(),
            samples: window.in_bucket,
            rows: rows.collect(),
        }
    }
}

/// Of the rows of each name the number furthest from 0: what has one name is compared, so it is in one unit.
fn largest_by_name<'a>(rows: impl Iterator<Item = (&'a str, f64)>) -> HashMap<&'a str, f64> {
    let mut largest = HashMap::new();
    for (name, number) in rows {
        let most: &mut f64 = largest.entry(name).or_default();
        *most = most.max(number);
    }
    largest
}

/// A time with as many digits as tell it from the next one.
fn shown_time(seconds: f64, begin: f64, ends: &[f64]) -> f64 {
    rounded(seconds, ends.last().map_or(0.0, |end| end - begin), TIME_DIGITS)
}

impl CurveData {
    fn of(row: &BucketRow, points: &[Drawn], largest: f64, has_extremes: bool) -> Self {
        let (shown, symbol) = row.unit.scaled(largest);
        let factor = if largest > 0.0 { shown / largest } else { row.unit.in_symbol(1.0) };
        let short = |number: f64| rounded(number * factor, shown, DIGITS);
        let extreme = |which: fn((f64, f64)) -> f64| {
            let extremes = points.iter().filter(|_| has_extremes);
            extremes.map(|point| point.extremes.map(which).map(short)).collect()
        };
        let mut marks: Vec<(char, usize)> = Vec::new();
        for mark in points.iter().map(|point| point.mark) {
            match marks.last_mut().filter(|(last, _)| *last == mark) {
                Some((_, times)) => *times += 1,
                None => marks.push((mark, 1)),
            }
        }
        Self {
            name: row.name.clone(),
            socket: row.place.as_ref().map(|place| place.socket),
            instance: row.place.as_ref().and_then(|place| place.instance.clone()),
            unit: row.unit.symbol(),
            symbol,
            factor,
            mean: points.iter().map(|point| point.mean.map(short)).collect(),
            least: extreme(|(least, _)| least),
            most: extreme(|(_, most)| most),
            marks,
        }
    }
}

impl ChangeData {
    /// Of a row of both.
    pub fn of(pair: &RowPair<'_>) -> Self {
        let first = pair.one.0.value.number().map(f64::abs);
        let grade = |row: &Row| mark(row.value.validity().grade());
        let of_first = |error: f64| first.map(|first| error / first).filter(|share| share.is_finite());
        Self {
            name: figures::placed(pair.place, pair.name),
            first: figures::value(pair.one.0),
            first_mark: grade(pair.one.0),
            second: figures::value(pair.other.0),
            second_mark: grade(pair.other.0),
            change: pair.change(),
            error: pair.error().and_then(of_first),
            may_be_chance: pair.may_be_chance(),
        }
    }
}

impl PageData {
    /// Of recordings and the rows that two of them have in common.
    pub fn of(recordings: Vec<RecordingData>, pairs: &[RowPair<'_>]) -> Self {
        let changes = pairs.iter().map(ChangeData::of).collect();
        Self { pericore: env!("CARGO_PKG_VERSION"), recordings, changes, chance: CHANCE, live: None }
    }

    /// Of a server's newest sample, with the last hour's curves from the first of some samples on, which the page has
    /// not seen yet or not whole.
    pub fn live(newest: &Newest<'_>, curves: &LiveCurves, after: u64) -> Self {
        let live = LiveData { began: newest.began, samples: curves.samples, due: newest.due };
        let recordings = vec![RecordingData::live(newest, curves, after)];
        Self { live: Some(live), ..Self::of(recordings, &[]) }
    }
}

/// A number with so many digits, counted from the first one of the largest that stands beside it.
fn rounded(number: f64, largest: f64, digits: i32) -> f64 {
    if largest == 0.0 || !largest.is_finite() {
        return number;
    }
    let behind = digits - 1 - largest.abs().log10().floor() as i32;
    // Powers of ten above 1 are exact, so that quotients by them print short.
    match 10_f64.powi(behind.abs()) {
        power if !power.is_finite() => number,
        power if behind >= 0 => (number * power).round() / power,
        power => (number / power).round() * power,
    }
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn digits_count_from_the_first_of_the_largest() {
        assert_eq!(rounded(37.4449, 51.2, 4), 37.44);
        assert_eq!(rounded(0.0049, 51.2, 4), 0.0);
        assert_eq!(rounded(123_456.0, 999_999.0, 4), 123_500.0);
        assert_eq!(rounded(0.000_123_456, 0.0009, 4), 0.000_123_5);
        assert_eq!(rounded(1.5, 0.0, 4), 1.5);
        assert_eq!(rounded(1e-310, 1e-310, 4), 1e-310);
    }
}
