//! What adds up over instances and sockets, and what does not. Clocks are those of the presets' data sheets: an
//! X5570's uncore runs at 2.667 GHz
//! and an 8592+'s links at 20 GT/s.

use std::collections::BTreeMap;

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

/// Whether numbers of several places add up, by what a metric is called and measured in.
fn adds_up(metric: &str, unit_of_measure: &str) -> bool {
    let is_mean = ["AVG_", "DEPTH", "_WHEN_", "SPEED"].iter().any(|word| metric.contains(word));
    !is_mean && matches!(unit_of_measure, "B" | "B/s" | "count" | "/s" | "s")
}

/// A metric's name, whether it adds up, and how it is written behind `-M`.
fn all_metrics(family: &str) -> Vec<(String, bool, String)> {
    let listed = stdout(&pericore(&["list", "--metrics", "--machine", family, "--json"]));
    let metric = |line: &str| {
        let row: serde_json::Value = serde_json::from_str(line).expect("a JSON line");
        let text = |key: &str| row[key].as_str().expect("a string").to_owned();
        let (unit, metric) = (text("unit"), text("metric"));
        // These name a band, which has a frequency.
        let band = metric.strip_prefix("PCT_FREQ_BAND").map_or_else(String::new, |band| format!("{{band{band}=0x8}}"));
        let name = format!("{unit}/{metric}");
        (name.clone(), adds_up(&metric, &text("unit_of_measure")), format!("{name}{band}"))
    };
    listed.lines().map(metric).collect()
}

/// Numbers that stand for themselves, by metric, in the order of their places.
fn measured(machine: &str, workload: &str, metrics: &str, scope: &[&str]) -> BTreeMap<String, Vec<f64>> {
    // Cold caches fill faster than they are warmed; rounds of a microsecond are many in each run.
    let line =
        ["stat", "-j", "--machine", machine, "--workload", workload, "-M", metrics, "--cold", "--rotate", "0.001"];
    let output = pericore(&[&line[..], scope].concat());
    let rows = stderr(&output);
    let mut numbers: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for line in rows.lines().filter(|line| line.starts_with('{')) {
        let row: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {rows}"));
        let (name, value) = (row["event"].as_str().expect("a string"), row["metric-value"].as_str());
        let name = name.split('{').next().expect("a name").to_owned();
        numbers.entry(name).or_default().extend(value.and_then(|value| value.parse::<f64>().ok()));
    }
    assert!(!numbers.is_empty(), "{rows}");
    numbers
}

/// All metrics of all families, on two sockets: bytes and counts of the whole are the sum of the sockets', and nothing
/// else is: a share, a latency or a frequency of the whole lies between those of the sockets. A run's counts are the
/// same whichever way they are printed.
#[test]
fn of_all_metrics_only_what_adds_up_is_added_up() {
    let workload = "mixed:requests=20000,threads=8,remote=30";
    // Fewest that must have numbers: what adds up, and what does not.
    for (family, least) in
        [("nehalem", [8, 18]), ("e5-2600", [60, 70]), ("emerald-rapids", [50, 40]), ("sapphire-rapids", [50, 40])]
    {
        let metrics = all_metrics(family);
        let requests: Vec<&str> = metrics.iter().map(|(_, _, request)| request.as_str()).collect();
        let requests = requests.join(",");
        let machine = format!("{family}:sockets=2");
        let whole = measured(&machine, workload, &requests, &[]);
        let sockets = measured(&machine, workload, &requests, &["--per-socket"]);
        let mut compared = [0, 0];
        for (name, adds_up, _) in &metrics {
            let (Some([whole]), Some([one, other])) =
                (whole.get(name).map(|v| &v[..]), sockets.get(name).map(|v| &v[..]))
            else {
                continue;
            };
            compared[usize::from(!adds_up)] += 1;
            // Six decimals are printed.
            let margin = 2e-6 + 1e-9 * whole.abs();
            let (least, most) = if *adds_up { (one + other, one + other) } else { (one.min(*other), one.max(*other)) };
            assert!(
                (least - margin..=most + margin).contains(whole),
                "{family} {name}: {whole} of two sockets with {one} and {other}"
            );
        }
        assert!(compared[0] >= least[0] && compared[1] >= least[1], "{family}: {compared:?} of {}", metrics.len());
    }
}
