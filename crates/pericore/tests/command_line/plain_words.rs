//! Messages that name the cause, and exit statuses that a script can go by. Each of these was wrong once:
//!
//! | what was wrong | test |
//! |---|---|
//! | `--why-not` without the last slash: no family has the events | [`a_name_is_called_what_it_is`] |
//! | the README's example of `--why-not` lacked the slash | `documents.rs` runs what is shown |
//! | a metric of several units "is an event" | [`a_name_is_called_what_it_is`] |
//! | our own event has a counter of another tool | `observe`, `plan/tests.rs`: `…_is_its_and_not_our_own_events` |
//! | of the numbers of sockets that are offered one is refused | [`a_number_of_sockets_that_is_offered_is_taken`] |
//! | a quotient that is not defined is `<not counted>` | [`a_quotient_without_a_value_was_counted`] |
//! | a slice that a part lacks has 0 | [`a_slice_that_a_part_lacks_is_named`] |
//! | `--metric-only` in a pipe: a table each | `perf_habits.rs`: `metrics_stand_in_one_line_where_nobody_looks` |
//! | a metric that cannot be, with advice about something else | [`a_metric_that_cannot_be_is_in_doubt`] |
//! | nothing found, an unread pipe, `doctor`: 0, 255, 0 | [`exit_statuses_differ_by_outcome`] |

use super::{measured, pericore, refused, stderr};
use crate::ours::command;

#[test]
fn a_name_is_called_what_it_is() {
    let stat = |rest: &[&'static str]| [&["stat", "--machine", "emerald-rapids"], rest].concat();
    refused(&stat(&["-M", "IO_WRITE_BANDWIDTH"]), 129, &["is a metric of cha, iio"]);
    refused(&stat(&["-e", "iio/IO_WRITE_BANDWIDTH/"]), 129, &["a metric, not an event", "-M iio/IO_WRITE_BANDWIDTH"]);
    refused(&stat(&["-M", "imc/CAS_COUNT.RD"]), 129, &["an event, not a metric", "-e imc/CAS_COUNT.RD/"]);
    refused(&["explain", "--why-not", "imc/CAS_COUNT.RD", "ha/CLOCKTICKS/"], 129, &["that ends the event"]);
    let lacks = r#"expected the "/" that ends the event, found ",""#;
    let caret = "\nimc/CAS_COUNT.RD,imc/CAS_COUNT.WR/\n                ^";
    refused(&["explain", "--why-not", "imc/CAS_COUNT.RD,imc/CAS_COUNT.WR/"], 129, &[lacks, caret]);
}

/// The numbers of sockets that a message offers are those that the machine takes.
#[test]
fn a_number_of_sockets_that_is_offered_is_taken() {
    let machine = |machine: &'static str| ["stat", "--machine", machine];
    for (sockets, offered) in [
        ("e5-2600:sockets=3", "1, 2 or 4 sockets"),
        ("e5-2600:sockets=8", "1, 2 or 4 sockets"),
        ("emerald-rapids:sockets=4", "1 or 2 sockets"),
        ("nehalem:sockets=3", "1 or 2 sockets"),
    ] {
        refused(&machine(sockets), 129, &[offered]);
    }
}

/// The slices of a part are known from a register: one that it lacks has no 0, alone or among all.
#[test]
fn a_slice_that_a_part_lacks_is_named() {
    let stat = ["stat", "--machine", "emerald-rapids:slices=60", "--workload", "idle", "-e"];
    let lacks = ["no cha62 answers on this machine", "this part has 60 of these"];
    refused(&[&stat[..], &["cha62/CLOCKTICKS/"]].concat(), 129, &lacks);
    let all = stderr(&pericore(&[&stat[..], &["cha/CLOCKTICKS/", "-A", "-j"]].concat()));
    let instances = |name: &str| all.lines().filter(|line| line.contains(&format!("\"{name}\""))).count();
    assert_eq!((instances("cha59"), instances("cha60"), instances("cha62")), (1, 0, 0), "{all}");
}

/// An idle machine has no reads, and so no share of them that missed: both were counted, and were 0.
#[test]
fn a_quotient_without_a_value_was_counted() {
    let idle = ["stat", "--machine", "e5-2600", "--workload", "idle", "-M", "LLC_DRD_MISS_RATIO"];
    let table = stderr(&pericore(&idle));
    assert!(table.contains("<not defined>") && !table.contains("<not counted>"), "{table}");
    let line = stderr(&pericore(&[&idle[..], &["-j"]].concat()));
    let row: serde_json::Value = serde_json::from_str(line.trim()).expect("a JSON line");
    assert_eq!((&row["metric-value"], &row["validity"]), (&"<not defined>".into(), &"not-defined".into()), "{row}");
    // What had no turn was not counted.
    let events = "imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/,imc/ACT_COUNT/,imc/PRE_COUNT.PAGE_MISS/,imc/CAS_COUNT.RD_REG/";
    let short = stderr(&measured(&["--rotate", "1000", "-e", events]));
    assert!(short.contains("<not counted>") && !short.contains("<not defined>"), "{short}");
}

/// A latency below 0 cannot be: a difference of two counts that were not taken at the same time. It is in doubt, and
/// the advice is about that.
#[test]
fn a_metric_that_cannot_be_is_in_doubt() {
    let events = ["-e", "imc/CAS_COUNT.RD/,cbo/LLC_VICTIMS.M_STATE/", "-M", "latency", "-I", "0.5", "--per-socket"];
    let text = stderr(&pericore(&[&["stat", "--machine", "e5-2600:sockets=2"], &events[..]].concat()));
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.split_whitespace().any(|word| word.starts_with('-') && word.ends_with('?')), "{text}");
    let advice =
        "suspect: it cannot be less than 0; the events behind it took turns: count fewer at once, or measure longer";
    assert!(
        words.contains(&format!("cbo/AVG_TOR_DRD_HIT_LATENCY: scaled, counted 24.8 % of the time; {advice}")),
        "{text}"
    );
}

#[test]
fn exit_statuses_differ_by_outcome() {
    let status = |arguments: &[&str]| pericore(arguments).status.code();
    assert_eq!(status(&["list", "victim"]), Some(0));
    for nothing in [&["list", "xyzzy"][..], &["list", "--json", "xyzzy"], &["list", "--metrics", "xyzzy"]] {
        assert_eq!(status(nothing), Some(1), "{nothing:?}");
    }
    assert_eq!(status(&["doctor", "--machine", "e5-2600"]), Some(0));
    assert_eq!(status(&["doctor", "--machine", "e5-2600:hidden=imc"]), Some(1));
    let unread = r#""$P" list --json | true; exit ${PIPESTATUS[0]}"#;
    let output = command("bash").args(["-c", unread]).output().expect("bash runs");
    assert_eq!(output.status.code(), Some(141), "{}", stderr(&output));
}
