//! What a word finds: a map without one, all kinds of rows for one, patterns in events.

use super::{measured, pericore, refused, stderr, stdout};

/// What a look-up prints that finds something.
fn found(arguments: &[&str]) -> String {
    let output = pericore(&[&["list"], arguments].concat());
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    let text = stdout(&output);
    let too_wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(too_wide.is_empty(), "{too_wide:#?}");
    text
}

#[test]
fn without_a_word_there_is_a_map() {
    let map = found(&[]);
    for part in [
        "e5-2600: ",
        "emerald-rapids: ",
        "nehalem: ",
        "\n  cbo ",
        "\n  cha ",
        "\nTopics\n",
        "\n  DDIO ",
        "pericore list '*'",
    ] {
        assert!(map.contains(part), "{part:?}: {map}");
    }
    assert!(map.lines().count() < 80, "{map}");
    let one = found(&["--machine", "nehalem"]);
    assert!(one.contains("\n  uncore ") && !one.contains("\n  cbo "), "{one}");
    assert!(found(&["*", "--machine", "nehalem"]).contains("QMC_NORMAL_READS"));
}

/// The kind and name of each row that a word finds, in order.
fn rows(word: &[&str]) -> Vec<(String, String)> {
    let text = found(word);
    let row = |line: &str| {
        let (kind, rest) = line.split_once(' ')?;
        let name = rest.split_whitespace().next()?;
        ["unit", "metric", "event", "register"].contains(&kind).then(|| (kind.to_owned(), name.to_owned()))
    };
    text.lines().filter_map(row).collect()
}

#[test]
fn a_word_finds_all_kinds_of_rows_the_best_first() {
    let has = |rows: &[(String, String)], name: &str| rows.iter().any(|(_, known)| known == name);
    let bandwidth = rows(&["bandwidth"]);
    assert!(bandwidth[0].0 == "metric" && has(&bandwidth, "imc/MEM_BANDWIDTH"), "{bandwidth:?}");
    let latency = rows(&["latency", "--machine", "e5-2600"]);
    assert!(latency[0].0 == "metric" && has(&latency, "cbo/AVG_TOR_DRD_MISS_LATENCY"), "{latency:?}");
    // A unit's own name goes before what belongs to it, and narrows what other words find.
    assert_eq!(rows(&["imc", "--machine", "e5-2600"])[0], ("unit".to_owned(), "imc".to_owned()));
    let writes = rows(&["imc", "bandwidth"]);
    assert!(has(&writes, "imc/MEM_BANDWIDTH") && !has(&writes, "iio/IO_READ_BANDWIDTH"), "{writes:?}");
    assert!(rows(&["cbo", "victims"]).iter().any(|(kind, name)| kind == "event" && name == "cbo/LLC_VICTIMS"));
    assert!(rows(&["unit_ctl", "--machine", "e5-2600"]).iter().any(|(kind, _)| kind == "register"));
}

/// No event of the E5-2600 or of Emerald Rapids has these words in its name.
#[test]
fn a_topic_finds_what_is_called_otherwise() {
    for (topic, machine, name) in [
        ("DDIO", "emerald-rapids", "cha/IO_WRITE_BANDWIDTH"),
        ("numa", "e5-2600", "cbo/LLC_DRD_RFO_MISS_TO_NODE0"),
        ("CXL", "emerald-rapids", "cxlcm"),
        ("remote", "e5-2600", "qpi"),
        ("snoop", "nehalem", "uncore/PCT_GQ_PEER_PROBE_TRACKER_FULL"),
    ] {
        let found = rows(&[topic, "--machine", machine]);
        assert!(found.iter().any(|(_, known)| known == name), "{topic}: {found:?}");
    }
    // Programs get what has the word, and nothing else.
    assert_eq!(pericore(&["list", "--json", "--machine", "e5-2600", "ddio"]).status.code(), Some(1));
}

#[test]
fn a_subevents_name_alone_is_found() {
    refused(
        &["explain", "M_STATE"],
        129,
        &["could be any of these", "cbo/LLC_VICTIMS.M_STATE", "cha/LLC_VICTIMS.M_STATE"],
    );
    let sheet = stdout(&pericore(&["explain", "--machine", "e5-2600", "RD_UNDERFILL"]));
    assert!(sheet.contains("imc/CAS_COUNT.RD_UNDERFILL"), "{sheet}");
}

/// The E5-2600's CAS_COUNT has three subevents of reads: RD_REG, RD_UNDERFILL, and RD for both.
#[test]
fn a_pattern_selects_the_events_that_fit() {
    let counted = |events: &str| {
        let rows = stderr(&measured(&["-j", "-e", events]));
        let name = |line: &str| {
            let row: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {rows}"));
            row["event"].as_str().expect("a name").to_owned()
        };
        let mut names: Vec<String> = rows.lines().map(name).collect();
        names.sort();
        names
    };
    let reads = ["imc/CAS_COUNT.RD/", "imc/CAS_COUNT.RD_REG/", "imc/CAS_COUNT.RD_UNDERFILL/"];
    assert_eq!(counted("imc/CAS_COUNT.RD*/"), reads);
    assert_eq!(counted("imc/cas_count.rd*/"), reads);
    assert_eq!(counted("imc2/ACT*/,ha/CLOCKTICKS/"), ["ha/CLOCKTICKS/", "imc2/ACT_COUNT/"]);
    assert!(counted("imc/*/").len() > 20);
    refused(&["stat", "--machine", "e5-2600", "-e", "imc/NEVER*/"], 129, &["imc has no event \"NEVER*\""]);
}
