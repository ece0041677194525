//! `stat --sample` on a real program: what windows say of it, beside the whole run of the same trace.

use std::collections::HashMap;
use std::fs;
use std::process::Output;
use std::sync::LazyLock;

use tempfile::TempDir;

use crate::ours::PERICORE;

const EVENTS: &str = "imc/CAS_COUNT.RD/,imc/ACT_COUNT/,ha/REQUESTS.READS/,\
                      cbo/LLC_LOOKUP.DATA_READ,state=0x1F/,cbo/LLC_LOOKUP.WRITE,state=0x1F/";

fn stat(arguments: &[&str]) -> Output {
    let mut command = crate::ours::command(PERICORE);
    command.args(["stat", "--machine", "e5-2600"]).args(arguments).output().expect("it starts")
}

fn text(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).expect("UTF-8")
}

/// The rows of a run, by name.
fn rows(events: &str, arguments: &[&str]) -> HashMap<String, serde_json::Value> {
    let output = stat(&[&["-j", "-e", events, "-M", "imc/MEM_BANDWIDTH"], arguments].concat());
    assert!(output.status.success(), "{}", text(&output));
    let row = |line| serde_json::from_str::<serde_json::Value>(line).unwrap_or_else(|_| panic!("{line}"));
    text(&output).lines().map(row).map(|row| (row["event"].as_str().expect("a name").to_owned(), row)).collect()
}

fn number(row: &serde_json::Value) -> f64 {
    let value = row.get("counter-value").or_else(|| row.get("metric-value"));
    value.and_then(|value| value.as_str()).unwrap_or_else(|| panic!("{row}")).parse().expect("a number")
}

/// A trace of a program that puts 60,000 numbers into a table and adds them up.
static TRACE: LazyLock<(TempDir, String)> = LazyLock::new(|| {
    let script = "BEGIN { for (i = 0; i < 60000; i++) table[i * 7919 % 100003] = i
                  for (key in table) sum += table[key] * key
                  print sum }";
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace").to_str().expect("text").to_owned();
    let output = stat(&["-e", "imc/CAS_COUNT.RD/", "--save-trace", &path, "--", "awk", script]);
    assert!(output.status.success(), "{}", text(&output));
    (folder, path)
});

/// What the whole trace has.
static WHOLE: LazyLock<HashMap<String, serde_json::Value>> = LazyLock::new(|| rows(EVENTS, &["--trace", &TRACE.1]));

/// An interval has the whole run's number in 95 of 100 runs. A program's addresses differ from run to run, so that a
/// test which failed in the other five would fail now and then: twice the interval has all but one in ten thousand.
/// Reads of memory are known by function, too: within a tenth.
#[test]
fn the_whole_run_is_near_the_intervals() {
    let trace = &TRACE.1;
    let whole = &*WHOLE;
    assert!(whole.values().all(|row| row.get("low").is_none() && row["pcnt-running"] == 100.0), "{whole:?}");
    for share in ["1/10", "1/30,seed=2"] {
        let sampled = rows(EVENTS, &["--trace", trace, "--sample", share]);
        for (name, row) in &sampled {
            let (true_number, number) = (number(&whole[name]), number(row));
            let bound = |key| row[key].as_f64().unwrap_or_else(|| panic!("{row}"));
            let (low, high) = (bound("low"), bound("high"));
            assert!(low <= number && number <= high && row["validity"] == "scaled", "{row}");
            assert!(row["pcnt-running"].as_f64().expect("a share") < 35.0, "{row}");
            let near = low - (number - low)..=high + (high - number);
            assert!(near.contains(&true_number), "{share} {name}: {true_number} is not near {low} to {high}");
            if name.contains(".RD/") || name.contains("READS") {
                assert!((number / true_number - 1.0).abs() < 0.1, "{share} {name}: {number}, whole {true_number}");
            }
        }
        assert_eq!(sampled.len(), 6, "{sampled:?}");
    }
}

/// Windows are as dense as an error takes, and what is known of each number says whether it is so well known.
#[test]
fn a_program_has_as_many_windows_as_an_error_takes() {
    let trace = &TRACE.1;
    let whole = &*WHOLE;
    let mut shares = Vec::new();
    for error in [0.05, 0.2] {
        let sampled = rows(EVENTS, &["--trace", trace, "--sample", &format!("error={}%", error * 100.0)]);
        for (name, row) in &sampled {
            let (number, high) = (number(row), row["high"].as_f64().expect("a bound"));
            let is_reached = (high - number) * 0.999_999 <= error * number;
            assert_eq!((&row["requested-error"], &row["error-reached"]), (&error.into(), &is_reached.into()), "{row}");
            let true_number = self::number(&whole[name]);
            assert!((true_number - number).abs() <= 2.0 * (high - number), "{name}: {true_number} is not near {row}");
        }
        shares.push(sampled["imc/CAS_COUNT.RD/"]["pcnt-running"].as_f64().expect("a share"));
    }
    assert!(shares[0] >= shares[1], "{shares:?}");
    let output = stat(&["-e", EVENTS, "--trace", trace, "--sample", "error=20%"]);
    assert!(text(&output).contains("error requested: 20 %, "), "{}", text(&output));
}

/// A truth is of the same windows: what counters have, to the last access. Four events of a slice take turns.
#[test]
fn a_sampled_truth_is_of_the_same_windows() {
    let events = format!("{EVENTS},cbo/TOR_INSERTS.MISS_ALL/,cbo/LLC_VICTIMS.M_STATE/");
    let rows = rows(&events, &["--trace", &TRACE.1, "--sample", "1/20", "--truth"]);
    assert_eq!(rows.len(), 8, "{rows:?}");
    for row in rows.values() {
        let (truth, error) = (row["truth"].as_f64().expect("a truth"), row["error"].as_f64().expect("an error"));
        assert!(error.abs() <= 1e-9 * truth, "{row}");
    }
}

/// `true` has some thousand accesses beyond the first level: all of them are among the first.
#[test]
fn a_short_program_is_counted_whole() {
    let whole = rows(EVENTS, &["--", "true"]);
    let sampled = rows(EVENTS, &["--sample", "1/50", "--", "true"]);
    for (name, row) in &sampled {
        assert_eq!((row.get("low"), &row["validity"]), (None, &"measured".into()), "{row}");
        let close = number(row) / number(&whole[name]).max(1.0);
        assert!(number(&whole[name]) < 100.0 || (0.9..1.1).contains(&close), "{row}, whole {}", whole[name]);
    }
}

#[test]
fn what_cannot_be_sampled_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("lines"), "b\na\n".repeat(20_000)).expect("a file");
    let lines = folder.path().join("lines").to_str().expect("text").to_owned();
    for (arguments, words) in [
        (&["--sample", "50", "--", "true"][..], "50: give a share of the run, from 1/2 to 1/10000"),
        (&["--sample", "1/50", "-I", "1", "--", "true"], "cannot be used with"),
        (&["--sample", "1/10000", "--", "sort", &lines], "give a larger share, or measure the program whole"),
    ] {
        let output = stat(arguments);
        assert!(!output.status.success() && text(&output).contains(words), "{arguments:?}: {}", text(&output));
    }
}
