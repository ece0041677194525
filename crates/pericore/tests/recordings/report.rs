//! What `pericore report` shows of recordings.

use std::fs;
use std::process::Output;

use super::E5;
use super::folder::{Folder, stderr_of};

/// `stat` and, of the same run, `record` and `report`: equal lines in all forms and scopes, of which each case has a third
/// and each pair is in two cases, once with the model's figures and once without. Under a table `stat` says more.
#[test]
fn a_report_is_what_stat_would_have_printed() {
    let folder = Folder::new();
    let events = ["-e", "imc/CAS_COUNT.RD/,cbo1/CLOCKTICKS/,{imc/ACT_COUNT,name=opened/,imc/CAS_COUNT.WR/}"];
    let asked = [&events[..], &["-M", "MEM_READ_BANDWIDTH,AVG_TOR_DRD_MISS_LATENCY"]].concat();
    let turns = ["-M", "LLC_DRD_MISS_PCT", "-e", "cbo/LLC_LOOKUP.WRITE/"];
    let sockets = ["--machine", "e5-2600:sockets=2", "--workload", "copy:requests=60k,footprint=64M"];
    let emr = ["--machine", "8592+", "--workload", "random:requests=4k,footprint=64M"];
    // The same span, as a whole and by intervals; where events take turns, one interval, since one that cuts a turn in two tells more of the
    // standard error.
    let cases = [
        ("spans", &E5[..], &asked[..], &["--timeout", "0.025"][..], false),
        ("intervals", &E5[..], &asked[..], &[][..], true),
        ("two sockets", &sockets[..], &asked[..], &["--timeout", "0.02", "-D", "0.02"][..], false),
        ("turns", &E5[..], &turns[..], &["-I", "1000"][..], false),
        ("turns by intervals", &E5[..], &turns[..], &[][..], true),
        ("mesh", &emr[..], &[][..], &["--timeout", "0.01"][..], false),
    ];
    for (number, (case, machine, asked, when, by_interval)) in cases.into_iter().enumerate() {
        folder.shown(&[&["record", "--truth"], machine, asked, when]);
        let scopes = [&[][..], &["--per-socket"], &["-A"]];
        let forms = [&[][..], &["-j"], &["-x", ";"]];
        for (shift, scope) in scopes.into_iter().enumerate() {
            // Each scope has another form in the next case.
            let form = forms[(number + shift) % forms.len()];
            // The next case with this pair is three further on.
            let truth = if number < 3 { &[][..] } else { &["--truth"] };
            let how = [scope, form, truth, if by_interval { &["-I"] } else { &[][..] }].concat();
            let report = folder.shown(&[&["report"], &how]);
            let how = [scope, form, truth, if by_interval { &["-I", "0.01"] } else { &[][..] }].concat();
            let when = if case == "turns" { &[][..] } else { when };
            let stat = folder.shown(&[&["stat", "-o", "/dev/stdout"], machine, asked, when, &how]);
            assert!(report.lines().count() > 1, "{case} {how:?}: {report}");
            if form.is_empty() {
                let behind = stat.strip_prefix(&report).unwrap_or_else(|| panic!("{case} {how:?}:\n{stat}\n{report}"));
                assert!(behind.starts_with(" accesses: "), "{case} {how:?}: {behind}");
            } else {
                assert_eq!(stat, report, "{case} {how:?}");
            }
        }
    }
}

/// Where events take turns, the sum of the intervals is scaled up from the parts of all of them, also from those of an interval that was too
/// short for a turn: the numbers of a single long interval.
#[test]
fn turns_are_scaled_up_over_the_whole() {
    let folder = Folder::new();
    let asked = ["-M", "LLC_DRD_MISS_PCT", "-e", "cbo/LLC_LOOKUP.WRITE/,cbo/LLC_VICTIMS.M_STATE/"];
    let rows = |text: String| {
        let rows = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
        rows.map(|row| {
            ["event", "counter-value", "metric-value", "pcnt-running", "validity"].map(|key| row[key].clone())
        })
        .collect::<Vec<_>>()
    };
    let stat = rows(folder.shown(&[&["stat", "-j", "-o", "/dev/stdout", "--timeout", "0.025"], &E5, &asked]));
    assert!(stat.iter().all(|row| row[4] == "scaled"), "{stat:?}");
    for interval in ["0.01", "0.007", "0.0015"] {
        let run = folder.run(&[&["record", "--timeout", "0.025", "-I", interval], &E5, &asked]);
        assert_eq!(stderr_of(&run).contains("take turns"), interval == "0.0015", "{}", stderr_of(&run));
        assert_eq!(rows(folder.shown(&[&["report", "-j"]])), stat, "{interval}");
    }
}

/// What was recorded serves for more than was asked for; what was not is named.
#[test]
fn other_events_and_metrics_are_found_in_what_was_recorded() {
    let folder = Folder::new();
    folder.shown(&[&["record", "-e", "imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/"], &E5]);
    let bandwidth = folder.shown(&[&["report", "-M", "MEM_BANDWIDTH", "-j"]]);
    let stat = folder.shown(&[&["stat", "-M", "MEM_BANDWIDTH", "-j", "-o", "/dev/stdout", "-I", "0.01"], &E5]);
    let by_interval = folder.shown(&[&["report", "-M", "MEM_BANDWIDTH", "-j", "-I"]]);
    assert_eq!(stat, by_interval);
    assert!(bandwidth.contains("\"event\":\"imc/MEM_BANDWIDTH\"") && bandwidth.contains("\"emulated\":\"e5-2680\""));
    let one = folder.shown(&[&["report", "-e", "uncore_imc_3/event=0x4,umask=0x3/", "-A"]]);
    assert!(one.contains("S0 imc3") && !one.contains("imc2"), "{one}");
    for (asked, words) in [
        (["-e", "imc/ACT_COUNT/"], "imc/ACT_COUNT/ was not recorded (only imc/CAS_COUNT.RD/, imc/CAS_COUNT.WR/)"),
        (["-M", "PCT_REQUESTS_PAGE_HIT"], "/ was not recorded"),
        (["-e", "imc/CAS_COUNTS.RD/"], "CAS_COUNT"),
        (["--from", "5"], "no sample between --from and --to; it goes from 0 to 0.0000"),
        (["--from", "-1"], "give seconds from the start"),
    ] {
        let output = folder.run(&[&["report"], &asked]);
        assert!(!output.status.success() && stderr_of(&output).contains(words), "{asked:?}: {}", stderr_of(&output));
    }
    let output = folder.run(&[&["report", "--truth"]]);
    assert!(stderr_of(&output).contains("recorded without --truth"), "{}", stderr_of(&output));
}

/// The parts before and behind a time make the whole, and every row of a course lies between its least and most.
#[test]
fn a_recording_is_shown_in_parts_and_over_time() {
    let folder = Folder::new();
    folder.shown(&[&["record", "-e", "imc/CAS_COUNT.RD/"], &E5]);
    let count = |span: &[&str]| {
        let line = folder.shown(&[&["report", "-j"], span]);
        let row: serde_json::Value = serde_json::from_str(&line).expect("one line");
        row["counter-value"].as_str().and_then(|text| text.parse::<f64>().ok()).expect("a count")
    };
    assert_eq!(count(&["--to", "12e-6"]) + count(&["--from", "12e-6"]), count(&[]));
    let table = folder.shown(&[&["report", "--over-time"]]);
    assert!(
        table.contains("mean") && table.contains("EMULATED") && table.lines().all(|line| line.chars().count() <= 80)
    );
    let line = folder.shown(&[&["report", "--over-time", "-j"]]);
    let row: serde_json::Value = serde_json::from_str(&line).expect("one line");
    let number = |key: &str| row[key].as_f64().unwrap_or_else(|| panic!("no {key}: {line}"));
    let seconds = 0.000_03;
    assert!((number("mean") * seconds / count(&[]) - 1.0).abs() < 0.2, "a rate: {line}");
    let ordered = ["least", "median", "p95", "most"].map(number);
    assert!(ordered.is_sorted() && (ordered[0]..=ordered[3]).contains(&number("mean")), "{line}");
    assert!((1e-5..4e-5).contains(&number("most-at")) && row["intervals"] == 4, "{line}");
    let fields = folder.shown(&[&["report", "--over-time", "-x", ","]]);
    assert_eq!(fields.trim_end().split(',').count(), 11, "{fields}");
}

/// Twice the requests are twice the reads. What cannot be compared says so.
#[test]
fn two_recordings_are_compared() {
    let folder = Folder::new();
    let record = |file: &str, workload: &str| {
        folder.shown(&[&[
            "record",
            "-o",
            file,
            "--machine",
            "e5-2600",
            "-e",
            "imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/",
            "--workload",
            workload,
        ]]);
    };
    record("one.rec", "stream:requests=20k,footprint=64M");
    record("two.rec", "stream:requests=10k,footprint=64M");
    folder.shown(&[
        &["record", "-o", "three.rec", "--machine", "e5-2600:sockets=2", "-e", "imc/CAS_COUNT.RD/"],
        &E5[2..],
    ]);
    folder.shown(&[&["record", "-o", "four.rec", "--machine", "nehalem", "--workload", "idle", "--timeout", "0.02"]]);
    let diff = |arguments: &[&str]| folder.run(&[&["report", "one.rec", "--diff"], arguments]);
    let rows = |output: &Output| {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect::<Vec<serde_json::Value>>()
    };
    let same = rows(&diff(&["one.rec", "-j"]));
    assert!(same.iter().all(|row| row["change"] == 0.0 && row["first"] == row["second"]), "{same:?}");
    let halved = rows(&diff(&["two.rec", "-j"]));
    let reads = &halved[0];
    let number = |key: &str| reads[key].as_f64().unwrap_or_else(|| panic!("no {key}: {reads}"));
    assert_eq!(number("change"), (number("second") - number("first")) / number("first"));
    assert!((-0.55..-0.45).contains(&number("change")) && reads["may-be-chance"] == false, "{reads}");
    assert_eq!((&reads["first-emulated"], &reads["event"]), (&"e5-2680".into(), &"imc/CAS_COUNT.RD/".into()));
    let table = String::from_utf8(diff(&["two.rec"]).stdout).expect("UTF-8");
    assert!(
        table.contains("the recordings differ in length") && table.lines().all(|line| line.chars().count() <= 80),
        "{table}"
    );
    let fields = diff(&["two.rec", "-x", ";", "-e", "imc/CAS_COUNT.RD/", "-A"]);
    let fields = String::from_utf8(fields.stdout).expect("UTF-8");
    assert_eq!(fields.lines().map(|line| line.split(';').count()).collect::<Vec<_>>(), [10; 4], "{fields}");
    let common = diff(&["three.rec", "-j"]);
    assert!(stderr_of(&common).contains("three.rec: imc/CAS_COUNT.WR/ was not recorded"), "{}", stderr_of(&common));
    assert_eq!(rows(&common).iter().map(|row| row["event"].clone()).collect::<Vec<_>>(), ["imc/CAS_COUNT.RD/"]);
    for (arguments, words) in [
        (&["three.rec", "-e", "imc/CAS_COUNT.WR/"][..], "three.rec: imc/CAS_COUNT.WR/ was not recorded"),
        (&["four.rec"], "four.rec: it was recorded on nehalem"),
        (&["five.rec"], "cannot read five.rec"),
        (&["two.rec", "--over-time"], "cannot be used with"),
    ] {
        let output = diff(arguments);
        assert!(
            !output.status.success() && stderr_of(&output).contains(words),
            "{arguments:?}: {}",
            stderr_of(&output)
        );
    }
    let sockets = diff(&["three.rec", "-e", "imc/CAS_COUNT.RD/", "-A"]);
    assert!(String::from_utf8_lossy(&sockets.stdout).contains("left out: 0 rows of the first alone, 4 of the second"));
}

/// The workload is over within the delay.
#[test]
fn a_recording_without_samples_says_so() {
    let folder = Folder::new();
    let output = folder.shell(&format!(r#""$P" record -D 1000 {} -o /dev/stdout >pericore.rec"#, E5.join(" ")));
    assert!(stderr_of(&output).contains("no sample: /dev/stdout has nothing but"), "{}", stderr_of(&output));
    for how in [&[][..], &["-I"], &["--over-time"], &["--diff", "pericore.rec"]] {
        let output = folder.run(&[&["report"], how]);
        assert_eq!(output.status.code(), Some(255), "{how:?}");
        assert!(
            stderr_of(&output).contains("no sample: the recording ended before the first one"),
            "{how:?}: {}",
            stderr_of(&output)
        );
    }
}

/// A pipe is no file to rename; and nobody who stops reading is told so.
#[test]
fn recordings_go_through_pipes() {
    let folder = Folder::new();
    let run = E5.join(" ");
    let output = folder.shell(&format!(r#""$P" record {run} -o /dev/stdout 2>/dev/null | "$P" report /dev/stdin -j"#));
    assert!(String::from_utf8_lossy(&output.stdout).contains("MEM_READ_BANDWIDTH"), "{}", stderr_of(&output));
    let output = folder.shell(&format!(r#""$P" record {run} -I 0.0001 2>/dev/null; "$P" report -I | head -n 1"#));
    assert!(output.stderr.is_empty(), "{}", stderr_of(&output));
}

#[test]
fn a_report_never_overwrites_what_it_reads() {
    let folder = Folder::new();
    folder.shown(&[&["record", "-o", "x.rec"], &E5]);
    folder.shown(&[&["record", "-o", "y.rec"], &E5]);
    let recorded = fs::read(folder.file("x.rec")).expect("a recording");
    std::os::unix::fs::symlink("x.rec", folder.file("soft")).expect("a link");
    fs::hard_link(folder.file("x.rec"), folder.file("hard")).expect("a link");
    for output in ["x.rec", "soft", "hard", "./x.rec"] {
        for read in [&["x.rec"][..], &["y.rec", "--diff", "x.rec"], &["x.rec", "--diff", "y.rec"], &["-I", "soft"]] {
            let refused = folder.run(&[&["report", "-o", output], read]);
            assert!(!refused.status.success(), "{output} {read:?}");
            assert!(
                stderr_of(&refused).contains("which would be overwritten; name another file"),
                "{}",
                stderr_of(&refused)
            );
            assert_eq!(fs::read(folder.file("x.rec")).expect("a recording"), recorded, "{output} {read:?}");
        }
    }
    folder.shown(&[&["report", "x.rec", "-o", "out"]]);
    folder.shown(&[&["report", "x.rec", "-o", "out"]]);
    assert!(fs::read_to_string(folder.file("out")).expect("a table").contains("MEM_READ_BANDWIDTH"));
}

#[test]
fn standard_input_is_a_recording_like_another() {
    let folder = Folder::new();
    folder.shown(&[&["record", "-o", "x.rec"], &E5]);
    let named = folder.shown(&[&["report", "x.rec"]]);
    for script in [r#"cat x.rec | "$P" report -"#, r#""$P" report - <x.rec"#] {
        assert_eq!(String::from_utf8_lossy(&folder.shell(script).stdout), named, "{script}");
    }
    let output = folder.shell(r#"cat x.rec | "$P" report x.rec --diff -"#);
    assert!(String::from_utf8_lossy(&output.stdout).contains("second: standard input"), "{}", stderr_of(&output));
    for (script, words) in [
        (r#""$P" report - </dev/null"#, "standard input: it ends before its first line does"),
        (r#""$P" report - --diff - <x.rec"#, "standard input holds only one recording"),
        (r#""$P" report - -o x.rec <x.rec"#, "this is the recording standard input itself"),
    ] {
        let output = folder.shell(script);
        assert!(!output.status.success() && stderr_of(&output).contains(words), "{script}: {}", stderr_of(&output));
    }
}
