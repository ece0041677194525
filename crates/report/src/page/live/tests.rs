//! Expectations by hand: what a page gets after so many samples.

use pericore_metrics::{UnitOfMeasure, Validity, Value};
use serde_json::{Value as Json, json};

use super::super::PageData;
use super::*;
use crate::row::Row;

/// A sample of a second with so many rows, all of one value.
fn report(rows: usize, value: &Value) -> Report {
    let row = |index: usize| Row {
        unit_of_measure: Some(UnitOfMeasure::BytesPerSecond),
        ..Row::named(&format!("x{index}"), value.clone())
    };
    Report::of((0..rows).map(row).collect())
}

/// Samples at these seconds; the number is the sample's, in GB/s, from 1 on.
fn of(rows: usize, interval: f64, ends: impl IntoIterator<Item = f64>) -> LiveCurves {
    let mut curves = LiveCurves::of_interval(interval);
    for (number, end) in (1_i32..).zip(ends) {
        let report = report(rows, &Value::measured(f64::from(number) * 1e9));
        curves.add(end, &report, &report);
    }
    curves
}

/// What a page gets that has seen so many samples.
fn news(curves: &LiveCurves, after: u64) -> Json {
    let report = report(1, &Value::measured(2.5e9));
    let newest = Newest { title: "t", emulated: None, host: Some("h"), began: 100.0, due: 1.0, report: &report };
    serde_json::to_value(PageData::live(&newest, curves, after)).expect("JSON")
}

fn whole(news: &Json) -> &Json {
    &news["recordings"][0]["whole"]
}

/// An open page gets what it has not seen; a new one, and one from before a restart, all that there is.
#[test]
fn a_page_gets_what_is_new() {
    let curves = of(1, 1.0, [1.0, 2.0, 3.5]);
    let all = news(&curves, 0);
    assert_eq!(all["live"], json!({ "began": 100.0, "samples": 3, "due": 1.0 }));
    assert_eq!((&all["recordings"][0]["title"], &all["recordings"][0]["host"]), (&json!("t"), &json!("h")));
    assert_eq!(
        *whole(&all),
        json!({
            "oldest": 0, "first": 0, "begin": 0.0, "ends": [1.0, 2.0, 3.5], "samples": 1,
            "rows": [{
                "name": "x0", "socket": null, "instance": null, "unit": "B/s", "symbol": "GB/s", "factor": 1e-9,
                "mean": [1.0, 2.0, 3.0], "marks": [[" ", 3]],
            }],
        })
    );
    let last = news(&curves, 2);
    let only = |news: &Json| (whole(news)["first"].clone(), whole(news)["rows"][0]["mean"].clone());
    assert_eq!(only(&last), (json!(2), json!([3.0])));
    assert_eq!(whole(&last)["ends"], json!([3.5]));
    assert_eq!(only(&news(&curves, 3)), (json!(3), json!([])));
    assert_eq!(only(&news(&curves, u64::MAX)), (json!(3), json!([])));
}

/// 3,600 samples an hour: of 100 rows, 900 numbers each have room, so that 4 samples become one bucket. The one that is
/// not whole yet comes again.
#[test]
fn what_has_no_room_is_in_buckets() {
    let curves = of(100, 1.0, (1..=10).map(f64::from));
    let all = news(&curves, 0);
    let row = |news: &Json| {
        let row = &whole(news)["rows"][99];
        (row["mean"].clone(), row["least"].clone(), row["most"].clone())
    };
    assert_eq!((&whole(&all)["samples"], &whole(&all)["ends"]), (&json!(4), &json!([4.0, 8.0, 10.0])));
    assert_eq!(row(&all), (json!([2.5, 6.5, 9.5]), json!([1.0, 5.0, 9.0]), json!([4.0, 8.0, 10.0])));
    // Seen up to sample 9: the third bucket has more by now.
    let last = news(&curves, 9);
    assert_eq!((&whole(&last)["first"], row(&last).0), (&json!(2), json!([9.5])));
    // Seen up to sample 8, which filled the second bucket.
    assert_eq!(whole(&news(&curves, 8))["first"], json!(2));
    assert_eq!(whole(&news(&curves, 7))["first"], json!(1));
}

/// An hour is kept, however many samples come, and no more of it than there is room for.
#[test]
fn what_is_older_than_an_hour_is_dropped() {
    let curves = of(1, 10.0, (1..=1000).map(|sample| 10.0 * f64::from(sample)));
    let all = news(&curves, 0);
    let ends = whole(&all)["ends"].as_array().expect("an array");
    assert_eq!((ends.len(), &ends[0], &ends[359]), (360, &json!(6410.0), &json!(10000.0)));
    assert_eq!((&whole(&all)["oldest"], &whole(&all)["begin"]), (&json!(640), &json!(6400.0)));
    // A page that was away for longer gets all.
    assert_eq!(whole(&news(&curves, 5))["first"], json!(640));
    // After a pause of more than an hour only what came since.
    let paused = of(1, 10.0, [10.0, 20.0, 4000.0, 4010.0]);
    assert_eq!(whole(&news(&paused, 0))["ends"], json!([4000.0, 4010.0]));
    assert_eq!(whole(&news(&paused, 0))["begin"], json!(20.0));
    // Samples that come faster than they are due displace older ones.
    let fast = of(1, 1800.0, [1.0, 2.0, 3.0]);
    assert_eq!(whole(&news(&fast, 0))["ends"], json!([2.0, 3.0]));
}

/// Gaps and doubts go with the numbers, and the symbol is that of the hour's largest, also where that is not sent.
#[test]
fn gaps_doubts_and_symbols_are_those_of_the_hour() {
    let mut curves = LiveCurves::of_interval(1.0);
    let values = [
        Value::measured(2e9),
        Value::missing(Validity::unreadable("imc2", "all ones")),
        Value::new(5e6, Validity::suspect("doubt")),
    ];
    for (end, value) in (1_i32..).zip(&values) {
        let report = report(1, value);
        curves.add(f64::from(end), &report, &report);
    }
    let row = |after: u64| whole(&news(&curves, after))["rows"][0].clone();
    assert_eq!(row(0)["mean"], json!([2.0, null, 0.005]));
    assert_eq!(row(0)["marks"], json!([[" ", 1], ["!", 1], ["?", 1]]));
    assert_eq!((&row(2)["symbol"], &row(2)["mean"]), (&json!("GB/s"), &json!([0.005])));
}
