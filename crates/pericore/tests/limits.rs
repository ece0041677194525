//! What limits a machine: `-M limits` names it, for traffic that is known to press on one thing.

use serde_json::Value;

fn pericore(line: &[&str]) -> (String, String) {
    let output = crate::ours::pericore(line);
    let [out, said] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("UTF-8"));
    assert!(output.status.success(), "{line:?}: {said}");
    (out, said)
}

fn stat(machine: &str, workload: &str, more: &[&str]) -> String {
    pericore(&[&["stat", "--machine", machine, "--workload", workload, "-M", "limits"], more].concat()).1
}

/// The metrics whose limit is reached.
fn reached(machine: &str, workload: &str) -> Vec<String> {
    let text = stat(machine, workload, &["-j"]);
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let told: Vec<Value> = lines.collect();
    assert!(told.len() >= 5 && told.iter().all(|line| line["limit"].is_u64()), "{text}");
    let above = told.iter().filter(|line| line["limit-reached"] == true);
    above.map(|line| line["event"].as_str().expect("a name").to_owned()).collect()
}

/// A machine, a workload, and the limits that it reaches.
type Case = (&'static str, &'static str, &'static [&'static str]);

#[test]
fn each_kind_of_traffic_meets_its_own_limit() {
    let cases: [Case; 10] = [
        ("e5-2600", "stream:requests=200k", &["imc/PCT_DATA_BUS_USED"]),
        ("e5-2600", "ntstore:requests=200k", &["imc/PCT_DATA_BUS_USED"]),
        // Rows lie anywhere.
        ("e5-2600", "random:requests=200k", &["imc/PCT_DATA_BUS_USED", "imc/PCT_REQUESTS_PAGE_MISS"]),
        // One access after the other presses on nothing, and so does what stays in the caches.
        ("e5-2600", "chase:requests=20k", &[]),
        ("e5-2600", "random:requests=200k,footprint=1M,threads=4", &[]),
        ("e5-2600", "idle", &[]),
        // All of it over links that carry half of what the channels do: answers wait for them, and so do requests.
        (
            "e5-2600:sockets=2",
            "random:requests=200k,remote=100",
            &["ha/PCT_UCLK_BL_FULL", "imc/PCT_REQUESTS_PAGE_MISS", "qpi/QPI_TX_UTIL", "r3qpi/PCT_CYCLES_NO_VNA_CREDIT"],
        ),
        ("nehalem", "stream:requests=100k", &["uncore/PCT_GQ_READ_TRACKER_FULL"]),
        ("nehalem", "chase:requests=20k", &[]),
        ("8592+", "stream:requests=40k,threads=4", &[]),
    ];
    meet(&cases);
}

#[test]
#[ignore = "long form: the two sockets take as long as all others together"]
fn remote_reads_of_emerald_rapids_meet_the_links() {
    // The other socket's directory knows these lines from the passes before: memory is only read.
    meet(&[("8592+:sockets=2", "stream:requests=300k,remote=100,threads=128", &["upi/UPI_TX_UTIL"])]);
}

fn meet(cases: &[Case]) {
    for (machine, workload, expected) in cases {
        let mut reached = reached(machine, workload);
        // The cores of a busy part are kept to its power budget, whatever they do.
        reached.retain(|metric| metric != "pcu/PCT_CYC_FREQ_POWER_LTD");
        assert_eq!(reached, *expected, "{machine} {workload}");
    }
}

#[test]
fn people_are_told_what_it_means_and_where() {
    let text = stat("e5-2600:sockets=2", "random:requests=100k,remote=100", &["--per-socket"]);
    assert!(text.contains("\n limits: "), "{text}");
    let (_, said) = text.split_once("qpi/QPI_TX_UTIL 8").expect("the links are reached");
    assert!(said.contains("(limit 65 %; 2 of 2 above, most S"), "{said}");
    assert!(said.contains("See qpi/QPI_LINK_UTIL,"), "{said}");
    assert!(text.lines().skip_while(|line| !line.starts_with(" limits")).all(|line| line.len() <= 80), "{text}");

    let text = stat("e5-2600", "idle", &[]);
    assert!(text.contains(" limits: none of 13 reached, 1 not known\n"), "pages of no access: {text}");
    // Without such a metric there is nothing to say.
    let (_, text) = pericore(&["stat", "--machine", "e5-2600", "--workload", "idle", "-M", "imc/MEM_READ_BANDWIDTH"]);
    assert!(!text.contains("limit"), "{text}");
}

/// Of four links the busiest is named, wherever it stands in the table.
#[test]
fn the_part_with_the_most_is_named() {
    let line = ["stat", "--machine", "e5-2600:sockets=2", "--workload", "random:requests=50k,remote=100,seed=4"];
    let line = [&line[..], &["-M", "qpi/QPI_TX_UTIL", "--per-unit"]].concat();
    let (_, rows) = pericore(&[&line[..], &["-j"]].concat());
    let rows = rows.lines().map(|row| serde_json::from_str::<Value>(row).expect("JSON"));
    let text = |row: &Value, key: &str| row[key].as_str().expect("a text").to_owned();
    let place = |row: &Value| format!("{} {}", text(row, "socket"), text(row, "instance"));
    let mut links: Vec<(f64, String)> =
        rows.map(|row| (text(&row, "metric-value").parse().expect("a number"), place(&row))).collect();
    assert_eq!(links.len(), 4);
    // Else the last would do as well.
    assert!(links[3].0 < links.iter().map(|link| link.0).fold(0.0, f64::max), "{links:?}");
    links.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (_, said) = pericore(&line);
    assert!(said.contains(&format!("4 of 4 above, most {})", links[3].1)), "{links:?}: {said}");
}

/// What is reached is known, though one of the channels has no number.
#[test]
fn a_limit_that_is_reached_is_no_longer_open() {
    let text = |channels: &str| {
        let (machine, metric) = (format!("e5-2600:all-ones={channels}"), "imc/PCT_DATA_BUS_USED");
        pericore(&["stat", "--machine", &machine, "--workload", "stream:requests=50k", "-M", metric, "--per-unit"]).1
    };
    let some = text("imc2");
    assert!(some.contains("\n limits: 1 of 1 reached\n") && some.contains("3 of 4 above"), "{some}");
    let none = text("imc");
    assert!(none.contains("\n limits: none of 1 reached, 1 not known\n"), "{none}");
}

#[test]
fn a_recording_tells_the_same() {
    let file = tempfile::NamedTempFile::with_suffix(".jsonl").expect("a file");
    let name = file.path().to_str().expect("UTF-8");
    let line = ["--machine", "e5-2600", "--workload", "stream:requests=50k", "-M", "limits"];
    pericore(&[&["record"], &line[..], &["-o", name]].concat());
    let (reported, _) = pericore(&["report", name]);
    let header = std::fs::read_to_string(&file).expect("a recording");
    let (_, limits) = reported.split_once(" limits: ").expect("it tells them");
    let reached = limits.strip_prefix("1 of 13 reached\n   imc/PCT_DATA_BUS_USED ").expect("the channels alone");
    let share: f64 = reached.split(' ').next().and_then(|share| share.parse().ok()).expect("a share");
    // Reads in order leave a tenth of the bus to refreshes and turns between ranks.
    assert!((86.0..=94.0).contains(&share), "{reported}");
    // By name: a later version may know more limits.
    assert!(header.contains("imc/PCT_DATA_BUS_USED,") && !header.contains("\"limits\""), "{header}");
}

#[test]
fn look_ups_show_limits() {
    let (text, _) = pericore(&["list", "--machine", "e5-2600", "--metrics", "PCT_DATA_BUS_USED"]);
    assert!(text.contains("Above 65 %: The memory channels"), "{text}");
    let (text, _) = pericore(&["explain", "--machine", "e5-2600", "imc/PCT_DATA_BUS_USED", "--json"]);
    let sheet: Value = serde_json::from_str(text.lines().next().expect("a sheet")).expect("JSON");
    assert_eq!(sheet["limit"], 65, "{text}");
    assert_eq!(sheet["limit_see"][2], "imc/PCT_REQUESTS_PAGE_MISS", "{text}");
}
