//! Events that take turns: what comes again as often as their rounds do must not be in one of them alone.

use serde_json::Value;

use crate::ours::{PERICORE, command};

/// Each rank of DDR3-1600 is refreshed every 7.8 us (JESD79-3), the two of a channel in turn every 3.9: nearly as often
/// as two rounds of 2 us come again. What is sent over the links is received, so both directions have the same rate.
/// Over eight seeds the mean of their differences lies within two of its standard errors.
#[test]
fn rounds_do_not_keep_time_with_refreshes() {
    let of = |seed: u32| {
        let workload = format!("random:requests=30k,remote=30,seed={seed}");
        let mut program = command(PERICORE);
        program.args(["stat", "--machine", "e5-2600:sockets=2", "-M", "numa,link", "-j", "--workload", &workload]);
        let output = program.output().expect("it starts");
        let rows = String::from_utf8(output.stderr).expect("UTF-8");
        let rows: Vec<Value> = rows.lines().map(|row| serde_json::from_str(row).expect("JSON")).collect();
        let rate = |name: &str| {
            let row = rows.iter().find(|row| row["event"] == name).expect("its row");
            assert_eq!(row["validity"], "scaled", "{row}");
            row["metric-value"].as_str().and_then(|rate| rate.parse::<f64>().ok()).expect("a rate")
        };
        rate("qpi/RX_DATA_BANDWIDTH") / rate("qpi/TX_DATA_BANDWIDTH") - 1.0
    };
    let differences: Vec<f64> = (1..=8).map(of).collect();
    let mean = differences.iter().sum::<f64>() / 8.0;
    let variance = differences.iter().map(|of| (of - mean).powi(2)).sum::<f64>() / 7.0;
    let error = (variance / 8.0).sqrt();
    assert!(mean.abs() < 2.0 * error.max(0.002), "{mean:+.4} +- {error:.4}: {differences:?}");
}
