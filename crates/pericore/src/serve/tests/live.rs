//! What an open page gets of a server's samples.

use pericore_exporter::PageFeed as _;
use serde_json::{Value, json};

use super::*;

/// Samples of two sockets of an E5-2600 with four channels each; the n-th has n reads in each of a socket's channels.
#[test]
fn a_page_gets_what_it_has_not_seen() {
    let (plan, _) = planned(&["-e", "imc/CAS_COUNT.RD/"]);
    let hour = last_hour();
    let add = |number: u64| {
        let taken = sample(&plan, |_, _, _| (Some(number), Validity::MEASURED));
        hour.add(&plan.layout(), &taken, None);
    };
    let news = |after: u64| -> Value { serde_json::from_slice(&hour.since(after).expect("samples")).expect("JSON") };
    assert_eq!(hour.since(0), None);
    add(1);
    let first = news(0);
    assert_eq!(first["live"], json!({ "began": 1000.0, "samples": 1, "due": 10.0 }));
    assert_eq!(news(0), first, "what one page has had, the next one gets");
    add(2);
    add(3);
    let recording = |after: u64| news(after)["recordings"][0].clone();
    let all = recording(0);
    assert_eq!((&all["title"], &all["emulated"], &all["host"]), (&json!("x"), &json!("m"), &json!(null)));
    let lengths = |part: &Value| {
        let rows = part["rows"].as_array().expect("rows").iter();
        rows.map(|row| row["mean"].as_array().expect("numbers").len()).collect::<Vec<_>>()
    };
    assert_eq!((lengths(&all["whole"]), lengths(&all["by_unit"])), (vec![3], vec![3; 8]));
    // Eight channels, each with 3 reads.
    assert_eq!(all["rows"][0]["value"], json!("24"));
    let last = recording(2);
    assert_eq!((lengths(&last["whole"]), lengths(&last["by_unit"])), (vec![1], vec![1; 8]));
    assert_eq!((&last["whole"]["first"], &last["by_unit"]["oldest"]), (&json!(2), &json!(0)));
}
