//! `stat --sample` on generated workloads: what windows say of them, beside the whole run.

use std::collections::HashMap;

use serde_json::Value;

use crate::ours::PERICORE;

/// All in one round.
const E5: &str = "imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/,imc/ACT_COUNT/,imc/CLOCKTICKS/,ha/REQUESTS.READS/,\
                  ha/REQUESTS.WRITES/,ha/IMC_WRITES.FULL/,cbo/LLC_VICTIMS.M_STATE/,cbo/TOR_OCCUPANCY.MISS_ALL/";

fn stat(arguments: &[&str]) -> (bool, String) {
    let mut command = crate::ours::command(PERICORE);
    let output = command.arg("stat").args(arguments).output().expect("it starts");
    (output.status.success(), String::from_utf8(output.stderr).expect("UTF-8"))
}

/// The rows of a run, by name.
fn rows(arguments: &[&str]) -> HashMap<String, Value> {
    let (is_good, text) = stat(&[&["-j"], arguments].concat());
    assert!(is_good, "{text}");
    let row = |line| serde_json::from_str::<Value>(line).unwrap_or_else(|_| panic!("{line}"));
    text.lines().map(row).map(|row| (row["event"].as_str().expect("a name").to_owned(), row)).collect()
}

fn number(row: &Value) -> f64 {
    row["counter-value"].as_str().unwrap_or_else(|| panic!("{row}")).parse().expect("a number")
}

/// With its low and high bound.
fn interval(row: &Value) -> [f64; 3] {
    let bound = |key| row[key].as_f64().unwrap_or_else(|| panic!("{row}"));
    [bound("low"), number(row), bound("high")]
}

/// A clock's count is virtual time times its rate, whatever was sampled: DDR5-5600 has 2.8 GHz in the eight channels'
/// clocks, DDR3-1600 800 MHz in four.
#[test]
fn clocks_count_virtual_time() {
    for (machine, share, hertz, channels) in [("8592+", "1/50", 2.8e9, 8.0), ("e5-2680", "1/7", 0.8e9, 4.0)] {
        let arguments = ["--machine", machine, "-e", "imc/CLOCKTICKS/", "--workload", "random", "--timeout", "2"];
        let sampled = rows(&[&arguments[..], &["--sample", share]].concat());
        let [low, count, high] = interval(&sampled["imc/CLOCKTICKS/"]);
        let by_hand = hertz * channels * 2e-3;
        assert!((count / by_hand - 1.0).abs() < 1e-3 && low <= by_hand && by_hand <= high, "{machine}: {count}");
    }
}

/// An error that is not reached is run for until the end: that is the whole run, count for count.
#[test]
fn an_error_that_is_not_reached_ends_with_the_whole_run() {
    let base = ["--machine", "e5-2600", "-e", E5, "--timeout", "0.05"];
    let whole = rows(&[&base[..], &["--workload", "random:read=70,requests=1000000000"]].concat());
    let sampled = rows(&[&base[..], &["--workload", "random:read=70", "--sample", "error=0.1%"]].concat());
    for (name, row) in &sampled {
        assert_eq!((number(row), &row["validity"]), (number(&whole[name]), &"measured".into()), "{row}");
        assert!(row["error-reached"] == true && row["low"] == row["high"], "{row}");
    }
}

/// The run ends when each half of an interval is within 5 % of its number, long before its second is over.
#[test]
fn a_run_goes_on_until_its_error_is_reached() {
    let base = ["--machine", "e5-2600", "-e", E5, "--workload", "random:read=70", "--timeout", "1000"];
    let sampled = rows(&[&base[..], &["--sample", "error=5%"]].concat());
    assert_eq!(sampled.len(), 9);
    for row in sampled.values() {
        let [low, count, high] = interval(row);
        assert!(high - count <= 0.05 * count && count - low <= 0.05 * count && count > 0.0, "{row}");
        assert_eq!((&row["requested-error"], &row["error-reached"]), (&0.05.into(), &true.into()), "{row}");
        assert!(row["pcnt-running"].as_f64().expect("a share") < 1.0, "{row}");
    }
    let (is_good, text) = stat(&[&base[..], &["--sample", "error=5%"]].concat());
    assert!(is_good && text.contains("error requested: 5 %, reached: the widest is "), "{text}");
    assert!(text.contains(" virtual time: 1.0") && text.contains(" in detail"), "{text}");
}

#[test]
fn what_cannot_be_sampled_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = folder.path().join("one.scenario");
    std::fs::write(&scenario, "phase a\nworkload stream\n").expect("a file");
    let scenario = scenario.to_str().expect("text");
    for (arguments, words) in [
        (&["--sample", "0/5"][..], "0/5: give a share of the run, from 1/2 to 1/10000"),
        (&["--sample", "error=0"], "error=0: give a share of the run"),
        (
            &["--sample", "error=200%"],
            "error=200%: give a share of the run, from 1/2 to 1/10000, such as 1/50, or an error",
        ),
        (&["--sample", "1/50", "--cold"], "--sample: with --cold the workload is not steady"),
        (&["--sample", "1/50,seed=3"], "--sample: the windows of a workload follow each other"),
        (&["--sample", "1/50", "--workload", scenario], "--sample: a scenario has phases"),
        (&["--sample", "1/50", "--workload", "idle"], "--sample: in a pause there is nothing to sample"),
        (
            &["--sample", "1/50", "--timeout", "1", "--workload", "random:requests=5000"],
            "--sample: with --timeout the workload goes on for that long; leave out requests=",
        ),
        (
            &["--sample", "1/50", "--workload", "random:requests=5000"],
            "--sample: 100 accesses are too short for 80 windows",
        ),
        (&["--sample", "1/50", "--timeout", "0.1"], "--sample: 2000 ns are too short for 80 windows of 200 ns each"),
        (&["--sample", "1/50", "--timeout", "1", "--", "true"], "--sample: a program is sampled to its end"),
        (&["--sample", "1/50", "-I", "1"], "cannot be used with"),
    ] {
        let (is_good, text) = stat(&[&["--machine", "e5-2600", "-e", "imc/CAS_COUNT.RD/"], arguments].concat());
        assert!(!is_good && text.contains(words), "{arguments:?}: {text}");
    }
}
