//! `--events FILE`: events and metrics in Intel's format work wherever the built-in ones do. The files are written here.

use std::fs;
use std::process::Output;

use crate::ours::pericore;
use tempfile::NamedTempFile;

/// A file of events or metrics.
struct Scratch(NamedTempFile);

impl Scratch {
    fn new(text: &str) -> Self {
        let file = NamedTempFile::with_suffix(".json").expect("a scratch file");
        fs::write(&file, text).expect("a scratch file");
        Self(file)
    }

    fn path(&self) -> &str {
        self.0.path().to_str().expect("a plain path")
    }
}

/// Under another name what the guide calls CAS_COUNT.RD (Table 2-63: code 0x04, umask 0x03), and two rows that are wrong.
const EVENTS: &str = r#"{"Header": {"Version": "test"}, "Events": [
{"Unit": "iMC", "EventCode": "0x04", "UMask": "0x03", "EventName": "UNC_M_MY_READS", "Counter": "0,1,2,3",
 "BriefDescription": "Reads of memory.", "SomethingNew": ["x"]},
{"Unit": "iMC", "EventCode": "0x1FF", "UMask": "0x03", "EventName": "UNC_M_TOO_WIDE", "Counter": "0,1,2,3"},
{"Unit": "CBO", "EventCode": "0x34", "UMask": "0x11", "EventName": "UNC_C_MY_LOOKUP.ANY", "Counter": "7"}
]}"#;

/// Bandwidth and the share of reads, in Intel's form; a metric of the cores, and a formula that does not read.
const METRICS: &str = r#"{"Metrics": [
{"MetricName": "my_bandwidth", "Formula": "(a*64/1000000)/DURATIONTIMEINSECONDS", "UnitOfMeasure": "MB/sec",
 "Events": [{"Name": "UNC_M_MY_READS", "Alias": "a"}], "Constants": [], "BriefDescription": "Reads of memory a second."},
{"MetricName": "my_share", "Formula": "100 * a/(a + b)", "UnitOfMeasure": "percent",
 "Events": [{"Name": "UNC_M_CAS_COUNT.RD", "Alias": "a"}, {"Name": "UNC_M_CAS_COUNT.WR", "Alias": "b"}]},
{"MetricName": "ipc", "Formula": "a / b", "Events": [{"Name": "INST_RETIRED.ANY", "Alias": "a"}]},
{"MetricName": "broken", "Formula": "a +", "Events": [{"Name": "UNC_M_CAS_COUNT.RD", "Alias": "a"}]}
]}"#;

const WORKLOAD: &str = "stream:requests=20000";

fn rows(output: &Output) -> Vec<serde_json::Value> {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stderr);
    text.lines().filter(|line| line.starts_with('{')).map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn events_of_a_file_count_like_built_in_ones() {
    let file = Scratch::new(EVENTS);
    let events = "unc_m_my_reads,imc/MY_READS,thresh=2/,imc/CAS_COUNT.RD/,imc/CAS_COUNT.RD,thresh=2/";
    let line = ["stat", "--machine", "e5-2600", "--events", file.path(), "--workload", WORKLOAD, "-j", "-e", events];
    let output = pericore(&line);
    let rows = rows(&output);
    let counts: Vec<f64> = rows.iter().map(|row| row["counter-value"].as_str().unwrap().parse().unwrap()).collect();
    assert_eq!(counts.len(), 4);
    assert!(counts[0] > 1000.0, "{counts:?}");
    assert_eq!((counts[0], counts[1]), (counts[2], counts[3]), "the same control value counts the same");
    let said = String::from_utf8_lossy(&output.stderr);
    let name = file.0.path().file_name().unwrap().to_str().unwrap();
    assert!(said.contains(&format!("{name}:4: UNC_M_TOO_WIDE left out: EventCode 0x1ff does not fit imc")), "{said}");
    assert!(said.contains(&format!("{name}:5: UNC_C_MY_LOOKUP.ANY left out: counter 7 is none of cbo's 4")), "{said}");
}

/// Six rows that cannot be counted are named, one by one; of the rest their number.
#[test]
fn of_many_bad_rows_the_number_is_reported() {
    for (bad, last) in [(6, None), (7, Some("1 more row left out")), (9, Some("3 more rows left out"))] {
        let row = |number: usize| {
            format!(r#"{{"Unit": "iMC", "EventName": "UNC_M_BAD{number}", "EventCode": "0x1FF", "UMask": "0x0"}}"#)
        };
        let good = r#"{"Unit": "iMC", "EventName": "UNC_M_GOOD", "EventCode": "0x04", "UMask": "0x03"}"#;
        let rows: Vec<String> = (0..bad).map(row).chain([good.to_owned()]).collect();
        let file = Scratch::new(&format!(r#"{{"Events": [{}]}}"#, rows.join(",\n")));
        let output = pericore(&["list", "--machine", "e5-2600", "--events", file.path(), "imc/CAS"]);
        let printed = String::from_utf8_lossy(&output.stderr);
        assert_eq!(printed.matches("does not fit imc").count(), 6, "{printed}");
        assert_eq!(last.is_some(), printed.contains(" more row"), "{printed}");
        assert!(last.is_none_or(|last| printed.contains(last)), "{printed}");
    }
}

#[test]
fn metrics_of_a_file_are_evaluated() {
    let (events, metrics) = (Scratch::new(EVENTS), Scratch::new(METRICS));
    // The file with the metrics first: order does not matter.
    let line = [
        "stat",
        "--machine",
        "e5-2600",
        "--events",
        metrics.path(),
        "--events",
        events.path(),
        "--workload",
        WORKLOAD,
        "-j",
        "-M",
        "my_bandwidth,imc/my_share",
        "-e",
        "imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/",
    ];
    let output = pericore(&line);
    let rows = rows(&output);
    let of = |event: &str, key: &str| -> f64 {
        let row = rows.iter().find(|row| row["event"] == event).unwrap_or_else(|| panic!("{event}: {rows:?}"));
        row[key].as_str().unwrap().parse().unwrap()
    };
    let (reads, writes) = (of("imc/CAS_COUNT.RD/", "counter-value"), of("imc/CAS_COUNT.WR/", "counter-value"));
    let row = rows.iter().find(|row| row["event"] == "imc/my_bandwidth").unwrap();
    let seconds = row["event-runtime"].as_f64().unwrap() / 1e9;
    let bandwidth = of("imc/my_bandwidth", "metric-value");
    assert_eq!(row["metric-unit"], "B/s");
    assert!((bandwidth / (reads * 64.0 / seconds) - 1.0).abs() < 1e-3, "{bandwidth}");
    let share = of("imc/my_share", "metric-value");
    assert!((share - 100.0 * reads / (reads + writes)).abs() < 1e-3, "{share}");
    let said = String::from_utf8_lossy(&output.stderr);
    let name = metrics.0.path().file_name().unwrap().to_str().unwrap();
    assert!(said.contains(&format!("{name}:6: 1 metric left out from here on: core events")), "{said}");
    assert!(said.contains(&format!("{name}:7: broken left out: its formula does not read")), "{said}");
}

/// Bits 7:0 select the event, bits 15:8 the umask, bit 22 enables (Table 2-61).
#[test]
fn dry_runs_list_and_explain_know_them() {
    let (events, metrics) = (Scratch::new(EVENTS), Scratch::new(METRICS));
    let planned =
        pericore(&["stat", "--machine", "e5-2600", "--events", events.path(), "--dry-run", "-e", "imc2/MY_READS/"]);
    let text = String::from_utf8_lossy(&planned.stderr);
    assert!(planned.status.success() && text.contains("<- 0x400304  (select and enable)"), "{text}");
    let both = ["--events", events.path(), "--events", metrics.path()];
    let listed =
        pericore(&[&["list", "--machine", "e5-2600", "--metrics", "--json", "my_bandwidth"], &both[..]].concat());
    let row: serde_json::Value = serde_json::from_slice(&listed.stdout).expect("one line");
    assert_eq!((&row["unit"], &row["unit_of_measure"]), (&"imc".into(), &"B/s".into()));
    let explained = pericore(&[&["explain", "--machine", "e5-2600", "my_share"], &both[..]].concat());
    let text = String::from_utf8_lossy(&explained.stdout);
    assert!(text.contains("imc/CAS_COUNT.RD") && text.contains("-M imc/my_share "), "{text}");
}

#[test]
fn a_file_brings_no_hardware() {
    let file = Scratch::new(EVENTS);
    for line in [
        &["stat", "--machine", "icelake", "-e", "imc/MY_READS/"][..],
        &["stat", "--machine", "icelake", "--dry-run", "-e", "imc/MY_READS/"],
        &["list", "--machine", "icelake"],
    ] {
        let output = pericore(&[line, &["--events", file.path()]].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains("cannot add a family"), "{said}");
    }
    let other = Scratch::new(r#"[{"Unit": "XYZ", "EventName": "UNC_XYZ_A", "EventCode": "0x1"}]"#);
    let output = pericore(&["stat", "--machine", "e5-2600", "--events", other.path(), "-e", "imc/CAS_COUNT.RD/"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("nothing in it is for e5-2600") && said.contains("no unit \"XYZ\""), "{said}");
}

/// Its rows would fit, as far as codes and masks go: its header says that they mean something else.
#[test]
fn a_file_of_another_family_is_refused() {
    let header = "Performance Monitoring Events for Intel(R) Xeon(R) 6 Processor with P-cores - V1.20";
    let events = EVENTS.replace(r#"{"Version": "test"}"#, &format!(r#"{{"Info": "{header}", "Version": "1.20"}}"#));
    let file = Scratch::new(&events);
    for (machine, other) in [("e5-2600", true), ("ice-lake", true), ("gnr", false)] {
        let output = pericore(&["list", "--machine", machine, "--events", file.path(), "my_reads"]);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(text.contains("it is for granite-rapids, not for"), other, "{text}");
        assert_eq!(output.status.success(), !other, "{text}");
    }
}

/// Three rows of Intel's file of Granite Rapids, as Linux has them: without a header, under a name of no family. Two
/// names are of the sub-channels that this memory controller is the first to have.
#[test]
fn a_file_without_a_header_is_known_by_its_names() {
    let row = |unit: &str, code: &str, umask: &str, name: &str| {
        format!(
            r#"{{"Unit":"{unit}","EventCode":"{code}","UMask":"{umask}","EventName":"{name}","Counter":"0,1,2,3"}}"#
        )
    };
    let rows = [
        row("IMC", "0x05", "0xcf", "UNC_M_CAS_COUNT_SCH0.RD"),
        row("IMC", "0x06", "0xcf", "UNC_M_CAS_COUNT_SCH1.RD"),
        row("CHA", "0x01", "0x00", "UNC_CHA_CLOCKTICKS"),
    ];
    let file = Scratch::new(&format!("[{}]", rows.join(",")));
    for (machine, other) in [("emerald-rapids", true), ("ice-lake", true), ("gnr", false), ("srf", false)] {
        let output = pericore(&["list", "--machine", machine, "--events", file.path(), "cas_count_sch0"]);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.success(), !other, "{machine}: {text}");
        assert_eq!(text.contains(&format!("not for {machine}; add --machine")), other, "{text}");
    }
}
