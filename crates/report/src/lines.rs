//! Output for programs: perf's JSON lines and perf's separated values, each with the validity.

use std::borrow::Cow;
use std::io::{self, Write};

use pericore_catalog::{Quantity, Side};
use serde::Serialize;

use crate::row::{Report, Row};

/// What is said of a run time that is too long.
const AT_MOST: &str = "at most";

/// A line in perf's keys, and ours after them.
#[derive(Serialize)]
struct JsonRow<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    socket: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instance: Option<&'a str>,
    #[serde(rename = "aggregate-number", skip_serializing_if = "Option::is_none")]
    aggregate_number: Option<usize>,
    /// Of the unit, only where such a machine can have more of them.
    #[serde(rename = "instances-answering", skip_serializing_if = "Option::is_none")]
    instances_answering: Option<usize>,
    #[serde(rename = "instances-possible", skip_serializing_if = "Option::is_none")]
    instances_possible: Option<usize>,
    #[serde(rename = "counter-value", skip_serializing_if = "Option::is_none")]
    counter_value: Option<String>,
    unit: &'a str,
    event: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    variance: Option<f64>,
    #[serde(rename = "event-runtime")]
    event_runtime: u64,
    /// Only where the counters stood for an unknown part of the run time: they ran for so long at most.
    #[serde(rename = "event-runtime-is", skip_serializing_if = "Option::is_none")]
    event_runtime_is: Option<&'a str>,
    #[serde(rename = "pcnt-running")]
    pcnt_running: f64,
    /// Per cent of the time in which counters were paused besides, if they were.
    #[serde(rename = "pcnt-paused", skip_serializing_if = "Option::is_none")]
    pcnt_paused: Option<f64>,
    #[serde(rename = "metric-value", skip_serializing_if = "Option::is_none")]
    metric_value: Option<String>,
    #[serde(rename = "metric-unit", skip_serializing_if = "Option::is_none")]
    metric_unit: Option<&'a str>,
    validity: &'a str,
    /// Only of a row that was printed before, and is in doubt by now.
    #[serde(skip_serializing_if = "is_false")]
    withdrawn: bool,
    #[serde(rename = "concerns", skip_serializing_if = "Option::is_none")]
    reasons: Option<String>,
    #[serde(rename = "standard-error", skip_serializing_if = "Option::is_none")]
    standard_error: Option<f64>,
    /// Of a sampled run: between these lies the number of the whole run, in 95 of 100 cases.
    #[serde(skip_serializing_if = "Option::is_none")]
    low: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    high: Option<f64>,
    /// The error that was requested of a sampled run, as a share of each number that is not zero, and whether this one
    /// is so well known.
    #[serde(rename = "requested-error", skip_serializing_if = "Option::is_none")]
    requested_error: Option<f64>,
    #[serde(rename = "error-reached", skip_serializing_if = "Option::is_none")]
    error_reached: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    truth: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<f64>,
    /// Whether a metric adds up over parts of the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    quantity: Option<&'a str>,
    /// At which side of a way its bytes are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    side: Option<&'a str>,
    /// Per cent: from there on the metric tells a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u8>,
    #[serde(rename = "limit-reached", skip_serializing_if = "Option::is_none")]
    limit_reached: Option<bool>,
    /// How its counters were reached, on a real machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    through: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    emulated: Option<&'a str>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

/// One JSON line for each row. `emulated` names the software machine, if it was one.
///
/// # Errors
/// An output that cannot be written.
pub fn json(out: &mut impl Write, report: &Report, emulated: Option<&str>) -> io::Result<()> {
    for row in &report.rows {
        let (value, truth, error) = in_symbol(row);
        let is_metric = row.unit_of_measure.is_some();
        let validity = row.value.validity();
        let line = JsonRow {
            interval: report.interval_end,
            socket: row.place.as_ref().map(|place| format!("S{}", place.socket)),
            instance: row.place.as_ref().and_then(|place| place.instance.as_deref()),
            aggregate_number: row.place.as_ref().map(|place| place.instances),
            instances_answering: row.answering.map(|answering| answering.counted),
            instances_possible: row.answering.map(|answering| answering.possible),
            counter_value: (!is_metric).then(|| value.clone()),
            unit: "",
            event: &row.name,
            variance: row.spread.map(|spread| spread * 100.0),
            event_runtime: (row.seconds * running(row) * 1e9).round() as u64,
            event_runtime_is: report.stood.then_some(AT_MOST),
            pcnt_running: (running(row) * 10_000.0).round() / 100.0,
            pcnt_paused: (report.paused > 0.0).then_some((report.paused * 10_000.0).round() / 100.0),
            metric_value: is_metric.then_some(value),
            metric_unit: row.unit_of_measure.map(|unit| unit.symbol()),
            validity: validity.grade().name(),
            withdrawn: report.is_withdrawn,
            reasons: (!validity.reasons().is_empty()).then(|| validity.to_string()),
            standard_error: row.standard_error.map(|error| number_in_symbol(row, error)),
            low: row.interval.map(|[low, _]| number_in_symbol(row, low)),
            high: row.interval.map(|[_, high]| number_in_symbol(row, high)),
            requested_error: row.requested.map(|(requested, _)| requested),
            error_reached: row.requested.map(|(_, is_reached)| is_reached),
            truth,
            error,
            quantity: row.nature.quantity.map(Quantity::name),
            side: row.nature.side.map(Side::name),
            limit: row.limit.map(|limit| limit.above),
            limit_reached: row.reaches_limit(),
            through: row.through,
            emulated,
        };
        serde_json::to_writer(&mut *out, &line)?;
        writeln!(out)?;
    }
    Ok(())
}

/// perf's `-x`: value, unit, event, run time, share of time, metric value, metric unit; then validity, with `truth`
/// also truth and error, each
/// empty where there is none, and where the counters stood for a part of the run time, a word on it. Every line of a
/// run has the same number of
/// fields: one that has the separator in it stands in quotation marks.
///
/// # Errors
/// An output that cannot be written.
pub fn separated(out: &mut impl Write, report: &Report, separator: &str, with_truth: bool) -> io::Result<()> {
    for row in &report.rows {
        let (value, truth, error) = in_symbol(row);
        let validity = row.value.validity();
        let runtime = (row.seconds * running(row) * 1e9).round();
        let share = format!("{:.2}", running(row) * 100.0);
        let mut fields = Vec::new();
        let end = if report.is_summary {
            Some("summary".to_owned())
        } else {
            report.interval_end.map(|end| format!("{end:.9}"))
        };
        fields.extend(end);
        if let Some(place) = &row.place {
            fields.push(place.to_string());
            // As perf has it: how many are added up, where some are.
            fields.extend(place.instance.is_none().then(|| place.instances.to_string()));
        }
        let (count, metric, symbol) = match row.unit_of_measure {
            // As perf has it; the mean of several runs may lie between two numbers.
            None => (value.trim_end_matches(".000000").to_owned(), String::new(), String::new()),
            Some(unit) => (String::new(), value, unit.symbol().to_owned()),
        };
        fields.extend([count, String::new(), row.name.clone()]);
        if report.runs.is_some() {
            // Where perf has it: behind the event.
            fields.push(row.spread.map_or_else(String::new, |spread| format!("{:.2}%", spread * 100.0)));
        }
        fields.extend([runtime.to_string(), share, metric, symbol, validity.grade().name().to_owned()]);
        if with_truth {
            fields.extend([truth, error].map(|number| number.map_or_else(String::new, |number| number.to_string())));
        }
        fields.extend(report.stood.then(|| AT_MOST.to_owned()));
        let fields: Vec<_> = fields.iter().map(|field| quoted(field, separator)).collect();
        writeln!(out, "{}", fields.join(separator))?;
    }
    Ok(())
}

/// The part of the time that a row's number is of: none where there is no number.
fn running(row: &Row) -> f64 {
    row.value.number().map_or(0.0, |_| row.value.validity().duty())
}

/// A field as readers of separated values take it (RFC 4180): as it is, unless it has the separator or quotation marks
/// in it.
pub fn quoted<'a>(field: &'a str, separator: &str) -> Cow<'a, str> {
    if field.contains(separator) || field.contains(['"', '\n']) {
        Cow::Owned(format!("\"{}\"", field.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(field)
    }
}

/// A number of a row in the symbol of its unit of measure.
fn number_in_symbol(row: &Row, number: f64) -> f64 {
    row.unit_of_measure.map_or(number, |unit| unit.in_symbol(number))
}

/// Value, truth and error in the symbol of the row's unit of measure.
pub(crate) fn in_symbol(row: &Row) -> (String, Option<f64>, Option<f64>) {
    let convert = |number: f64| number_in_symbol(row, number);
    let value =
        row.value.number().map_or_else(|| row.placeholder().to_owned(), |number| format!("{:.6}", convert(number)));
    (value, row.truth.map(convert), row.error().map(convert))
}
