use pericore_metrics::{Validity, Value};

use super::*;
use crate::figures::precision;
use crate::row::Place;

static SUMMARY: [SummaryFigure; 4] = [
    SummaryFigure { label: "Memory", metric: "imc/ALL", of: Some("imc/PEAK") },
    SummaryFigure { label: "reads", metric: "imc/READS", of: None },
    SummaryFigure { label: "latency", metric: "cha/LATENCY", of: None },
    SummaryFigure { label: "misses", metric: "cha/MISSES", of: None },
];

fn row(name: &str, socket: Option<u16>, value: Value, unit: UnitOfMeasure) -> Row {
    let place = socket.map(|socket| Place { socket, instance: None, instances: 4 });
    Row { place, unit_of_measure: Some(unit), ..Row::named(name, value) }
}

fn printed(rows: Vec<Row>, interval_end: Option<f64>) -> String {
    let report = Report { interval_end, summary: &SUMMARY, ..Report::of(rows) };
    let mut text = Vec::new();
    print(&mut text, &report, true).unwrap();
    String::from_utf8(text).unwrap()
}

fn measured(number: f64) -> Value {
    Value::new(number, Validity::MEASURED)
}

/// The lines without bars, whose form depends on the locale.
fn words(text: &str) -> Vec<String> {
    let is_bar = |c: char| "[]#.".contains(c) || ('\u{2580}'..='\u{259f}').contains(&c);
    text.lines().map(|line| line.trim_end_matches(is_bar).trim().to_owned()).collect()
}

#[test]
fn the_share_of_the_peak_comes_first_and_figures_follow_in_one_line() {
    let rows = vec![
        row("imc/ALL", None, measured(37.44e9), UnitOfMeasure::BytesPerSecond),
        row("imc/PEAK", None, measured(51.2e9), UnitOfMeasure::BytesPerSecond),
        row("imc/READS", None, measured(27.6e9), UnitOfMeasure::BytesPerSecond),
        row("cha/LATENCY", None, measured(99.4), UnitOfMeasure::Nanoseconds),
        row("cha/MISSES", None, measured(0.041), UnitOfMeasure::Percent),
    ];
    let text = printed(rows, None);
    assert_eq!(
        words(&text),
        ["", "Memory 37.4 of 51.2 GB/s (73 %)", "reads 27.6 GB/s | latency 99.4 ns | misses 4.1 %"]
    );
}

#[test]
fn doubts_show_and_missing_numbers_are_named() {
    let suspect = Value::new(2e9, Validity::suspect("another tool"));
    let rows = vec![
        row("imc/ALL", None, suspect, UnitOfMeasure::BytesPerSecond),
        row("imc/PEAK", None, measured(4e9), UnitOfMeasure::BytesPerSecond),
        row("cha/LATENCY", None, Value::missing(Validity::not_defined("nothing")), UnitOfMeasure::Nanoseconds),
    ];
    assert_eq!(words(&printed(rows, None)), ["", "Memory 2.0 of 4.0 GB/s (50 %) ?", "latency <not defined>"]);
}

#[test]
fn without_the_peak_there_is_no_bar() {
    let rows = vec![row("imc/ALL", None, measured(2e9), UnitOfMeasure::BytesPerSecond)];
    assert_eq!(words(&printed(rows, None)), ["", "Memory 2.0 GB/s"]);
    let rows = vec![
        row("imc/ALL", None, measured(0.0), UnitOfMeasure::BytesPerSecond),
        row("imc/PEAK", None, measured(0.0), UnitOfMeasure::BytesPerSecond),
    ];
    assert_eq!(words(&printed(rows, None)), ["", "Memory 0 B/s"]);
}

#[test]
fn each_socket_has_its_own_and_intervals_have_none() {
    let rows =
        || [0, 1].map(|socket| row("imc/READS", Some(socket), measured(1e9), UnitOfMeasure::BytesPerSecond)).into();
    assert_eq!(words(&printed(rows(), None)), ["", "S0 reads 1.0 GB/s", "S1 reads 1.0 GB/s"]);
    assert_eq!(printed(rows(), Some(1.0)), "");
}

#[test]
fn bars_are_as_long_as_their_share() {
    assert_eq!(drawn(0.5, 4, false), "[##..]");
    assert_eq!(drawn(-1.0, 2, false), "[..]");
    assert_eq!(drawn(7.0, 2, false), "[##]");
    assert_eq!(drawn(0.5, 3, true), "\u{2588}\u{258c}\u{2591}");
    assert_eq!(drawn(0.999, 2, true), "\u{2588}\u{2588}");
}

#[test]
fn small_numbers_keep_a_digit() {
    assert_eq!(
        [0.0, 0.004, 0.94, 0.96, 9.84, 99.94, 99.96, 478.3].map(digits),
        ["0", "0.00", "0.94", "1.0", "9.8", "99.9", "100", "478"]
    );
}

/// A share of nothing cannot be told: the error of a zero stands in the row's own unit of measure.
#[test]
fn the_error_of_a_zero_has_a_unit() {
    let scaled = |number, unit, error| {
        let value = Value::new(number, Validity::scaled(0.5));
        let row = row("imc/MEM_WRITE_BANDWIDTH", None, value, UnitOfMeasure::BytesPerSecond);
        precision(&Row { unit_of_measure: unit, standard_error: Some(error), ..row }).unwrap_or_default()
    };
    let bandwidth = Some(UnitOfMeasure::BytesPerSecond);
    assert_eq!(scaled(0.0, bandwidth, 223_897.8), "standard error 223.898 kB/s");
    assert_eq!(scaled(0.0, None, 12_345.6), "standard error 12,346");
    assert_eq!(scaled(50.0, bandwidth, 1.0), "standard error 2.00 %");
}
