use pericore_metrics::{UnitOfMeasure, Validity, Value};

use super::*;

fn row(name: &str, unit_of_measure: Option<UnitOfMeasure>, value: Value) -> Row {
    Row { unit_of_measure, ..Row::named(name, value) }
}

fn interval(end: f64, rows: Vec<Row>) -> Report {
    Report { interval_end: Some(end), ..Report::of(rows) }
}

fn printed(sheet: &mut Sheet, report: &Report) -> String {
    let mut out = Vec::new();
    sheet.print(&mut out, report, Form::Table, None).expect("memory takes all");
    String::from_utf8(out).expect("UTF-8")
}

fn sheet(width: usize) -> Sheet {
    Sheet::new(Some(width), true, Digits::Grouped)
}

fn read_bandwidth(bytes: f64) -> Row {
    row("imc/MEM_READ_BANDWIDTH", Some(UnitOfMeasure::BytesPerSecond), Value::measured(bytes))
}

/// Names in lines of nine signs, and of thirteen above counts; the unit of measure once, in the heading; marks behind
/// what is not plainly measured. The second interval is a line.
#[test]
fn an_interval_is_a_line_under_headings() {
    let mut sheet = sheet(80);
    let rows = |bytes, count| {
        let scaled = Value::new(count, Validity::scaled(0.5));
        vec![read_bandwidth(bytes), row("imc/CAS_COUNT.RD/", None, scaled)]
    };
    let first = "
                 imc/
            MEM_READ_           imc/
            BANDWIDTH   CAS_COUNT.RD
       time      GB/s
   0.500000     47.62        371,703~
";
    assert_eq!(printed(&mut sheet, &interval(0.5, rows(47.62e9, 371_703.0))), first);
    assert_eq!(printed(&mut sheet, &interval(1.0, rows(0.0, 0.0))), "   1.000000         0              0~\n");
    assert_eq!(printed(&mut sheet, &interval(1.5, rows(5e7, 1.0))), "   1.500000     0.050              1~\n");
}

/// A number that is too large for its column's unit of measure brings headings with another.
#[test]
fn headings_come_again_when_a_number_needs_a_larger_unit() {
    let mut sheet = sheet(80);
    let units = |text: &str| text.lines().filter(|line| line.contains("time")).map(str::to_owned).collect::<Vec<_>>();
    let mut next = |end, bytes| units(&printed(&mut sheet, &interval(end, vec![read_bandwidth(bytes)])));
    assert_eq!(next(1.0, 0.0), ["       time       B/s"]);
    assert!(next(2.0, 99_000.0).is_empty());
    assert_eq!(next(3.0, 47e9), ["       time      GB/s"]);
    assert!(next(4.0, 0.0).is_empty());
}

/// Each page of 25 lines has headings, and reports once what is in doubt.
#[test]
fn doubts_are_reported_once_a_page() {
    let mut sheet = sheet(80);
    let doubtful = || {
        row(
            "upi/RXQ_RESIDENCY",
            Some(UnitOfMeasure::Cycles),
            Value::missing(Validity::not_defined("the denominator is zero")),
        )
    };
    let texts: Vec<String> =
        (1..=26).map(|end| printed(&mut sheet, &interval(f64::from(end), vec![doubtful()]))).collect();
    let with = |what: &str| -> Vec<usize> {
        texts.iter().enumerate().filter(|(_, text)| text.contains(what)).map(|(index, _)| index).collect()
    };
    assert_eq!((with("denominator"), with("cycles")), (vec![0, 25], vec![0, 25]));
    assert_eq!(texts[1], "   2.000000         -!\n");
}

/// Columns of nine signs with a mark and a gap each: six of them and a time of eleven have room in 80 signs, and what
/// has none goes on below.
#[test]
fn more_metrics_than_a_terminal_has_room_for_go_on_below() {
    let rows = |count: usize| {
        let metric =
            |index: usize| row(&format!("imc/METRIC_{index}"), Some(UnitOfMeasure::Ratio), Value::measured(0.5));
        (0..count).map(metric).collect()
    };
    let numbers = |count, width| {
        let text = printed(&mut sheet(width), &interval(1.0, rows(count)));
        assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
        let lines = text.lines().filter(|line| line.contains("0.500"));
        lines.map(|line| line.matches("0.500").count()).collect::<Vec<_>>()
    };
    assert_eq!(numbers(6, 80), [6]);
    assert_eq!(numbers(7, 80), [6, 1]);
    assert_eq!(numbers(7, 120), [7]);
}

/// Names of 4 to 37 signs: three lines each, and below them the unit of measure. Where that takes more tables than four
/// lines do, four: time, five columns of 9 and one of 11 have room in 80 signs, one of 14 has not.
#[test]
fn long_names_have_few_lines() {
    let headings = |names: &[&str], width| {
        let ratio = |name: &&str| row(name, Some(UnitOfMeasure::Nanoseconds), Value::measured(0.5));
        let text = printed(&mut sheet(width), &interval(1.0, names.iter().map(ratio).collect()));
        let lines: Vec<String> = text.lines().skip(1).map(str::to_owned).collect();
        assert!(lines.iter().all(|line| line.chars().count() <= width), "{text}");
        lines
    };
    let long = "cha/DEMAND_RD_MISS_LOCAL_LATENCY_NS";
    assert_eq!(
        headings(&["imc/CAS", long], 80),
        [
            "                       cha/DEMAND_RD_",
            "                 imc/     MISS_LOCAL_",
            "                  CAS      LATENCY_NS",
            "       time        ns              ns",
            "   1.000000     0.500           0.500",
        ]
    );
    let six: Vec<String> = ["A", "B", "C", "D", "E"].iter().map(|first| format!("imc/{first}_BANDWIDTH")).collect();
    let six: Vec<&str> = six.iter().map(String::as_str).chain([long]).collect();
    let narrow = headings(&six, 80);
    assert_eq!(narrow.len(), 6, "{narrow:#?}");
    let last: Vec<&str> = narrow.iter().filter_map(|line| line.split_whitespace().last()).collect();
    assert_eq!(last, ["cha/", "DEMAND_RD_", "MISS_LOCAL_", "LATENCY_NS", "ns", "0.500"]);
    // A pipe's line is as one of a terminal is, if that has room for it.
    assert_eq!(headings(&six, usize::MAX), narrow);
    assert_eq!(headings(&[&six[..], &["imc/MORE", "imc/AND_MORE"]].concat(), 200).len(), 5);
}
