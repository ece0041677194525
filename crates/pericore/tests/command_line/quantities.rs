//! What adds up over instances and sockets, and what does not. Clocks are those of the presets' data sheets: an
//! X5570's uncore runs at 2.667 GHz
//! and an 8592+'s links at 20 GT/s.

use super::{pericore, stderr, stdout};

/// A metric's numbers, by place, from JSON lines.
fn numbers(arguments: &[&str]) -> Vec<(String, f64)> {
    let output = pericore(&[&["stat", "-j", "--workload", "idle"], arguments].concat());
    let rows = stderr(&output);
    let row = |line: &str| {
        let row: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {rows}"));
        let place = ["socket", "instance"].map(|key| row[key].as_str().unwrap_or_default().to_owned()).concat();
        (place, row["metric-value"].as_str().expect("a string").parse().expect("a number"))
    };
    rows.lines().map(row).collect()
}

fn is_near(number: f64, wanted: f64) -> bool {
    (number / wanted - 1.0).abs() < 1e-3
}

#[test]
fn clocks_and_speeds_of_two_sockets_are_those_of_one() {
    for (machine, metric, wanted, sockets) in
        [("nehalem", "UNCORE_FREQUENCY", 2.667e9, 2), ("emerald-rapids", "UPI_SPEED", 20e9, 2)]
    {
        let machine = format!("{machine}:sockets={sockets}");
        let line = ["--machine", &machine, "-M", metric];
        for scope in [&[][..], &["--per-socket"], &["-A"]] {
            for (place, number) in numbers(&[&line[..], scope].concat()) {
                assert!(is_near(number, wanted), "{machine} {metric} {scope:?} {place}: {number}");
            }
        }
    }
}

/// The four links of each of two sockets each have their share, and the whole is their sum.
#[test]
fn bytes_of_two_sockets_are_the_sum() {
    let line = ["--machine", "e5-2600:sockets=2", "--workload", "stream:requests=2000", "-M", "MEM_BW_READS"];
    let total = |scope: &[&str]| {
        let output = pericore(&[&["stat", "-j"], &line[..], scope].concat());
        let rows = stderr(&output);
        let value = |line: &str| {
            let row: serde_json::Value = serde_json::from_str(line).expect("a JSON line");
            row["metric-value"].as_str().expect("a string").parse::<f64>().expect("a number")
        };
        rows.lines().map(value).sum::<f64>()
    };
    // Each of 2,000 accesses reads a line of 64 bytes.
    assert_eq!([total(&[]), total(&["--per-socket"]), total(&["-A"])], [128_000.0; 3]);
}

#[test]
fn a_metric_has_its_quantity_and_side() {
    let list = |machine: &str, metric: &str| -> serde_json::Value {
        let output = pericore(&["list", "--metrics", "--machine", machine, "--json", metric]);
        let text = stdout(&output);
        let line = text.lines().find(|line| line.contains(&format!("\"metric\":\"{metric}\""))).expect("listed");
        serde_json::from_str(line).expect("a JSON line")
    };
    for (machine, metric, quantity, side) in [
        ("emerald-rapids", "UPI_DATA_RX_BANDWIDTH", "extensive", Some("received")),
        ("emerald-rapids", "UPI_DATA_TX_BANDWIDTH", "extensive", Some("sent")),
        ("emerald-rapids", "UPI_SPEED", "intensive", None),
        ("e5-2600", "RING_THRU_UPEVEN_BYTES", "extensive", Some("each-stop")),
        ("e5-2600", "AVG_TOR_DRD_MISS_LATENCY", "intensive", None),
        ("nehalem", "MEM_BANDWIDTH", "extensive", None),
    ] {
        let row = list(machine, metric);
        assert_eq!((row["quantity"].as_str(), row["side"].as_str()), (Some(quantity), side), "{row}");
    }
    let links = ["--machine", "emerald-rapids:sockets=2", "--workload", "idle", "-M", "UPI_DATA_RX_BANDWIDTH"];
    let table = stderr(&pericore(&[&["stat"], &links[..]].concat()));
    assert!(table.contains("upi/UPI_DATA_RX_BANDWIDTH (received)\n"), "{table}");
    let row: serde_json::Value =
        serde_json::from_str(stderr(&pericore(&[&["stat", "-j"], &links[..]].concat())).trim()).expect("a JSON line");
    assert_eq!((&row["quantity"], &row["side"]), (&"extensive".into(), &"received".into()), "{row}");
    let sheet = stdout(&pericore(&["explain", "--machine", "emerald-rapids", "upi/UPI_SPEED"]));
    assert!(sheet.contains("intensive: over several instances and sockets the mean"), "{sheet}");
}
