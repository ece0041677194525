//! What the program does when things go wrong around it, and what it says of input that cannot be right.

use std::process::Command;

use tempfile::TempDir;

use super::{SMALL, measured, pericore, refused, stderr, stdout};
use crate::ours::{PERICORE, command};

/// A shell script in which `$P` is the program, so that its path may have any characters.
fn shell(script: &str) -> Command {
    let mut shell = command("sh");
    shell.args(["-c", script]);
    shell
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// A panic would end with 101, and in the middle of whatever was under way.
#[test]
fn a_full_disk_is_an_error_and_no_panic() {
    for (script, status) in [
        (r#""$P" stat --machine e5-2600 --workload stream:requests=2k 2>/dev/full"#, 255),
        (r#""$P" stat --machine no-such 2>/dev/full"#, 129),
        (r#""$P" list no-such-word-anywhere 2>/dev/full"#, 1),
        (r#""$P" >/dev/full"#, 255),
        (r#""$P" list >/dev/full"#, 255),
    ] {
        let output = shell(script).output().expect("sh runs");
        assert_eq!(output.status.code(), Some(status), "{script}: {}", stderr(&output));
    }
}

/// The journals that cannot be used are all named, each with its file; none of them hides the others.
#[test]
fn restore_names_every_journal_that_it_cannot_use() {
    let state = folder();
    std::fs::create_dir(state.path().join("pericore")).expect("a folder");
    for name in ["one.journal", "two.journal"] {
        std::fs::write(state.path().join("pericore").join(name), "pericore journal 1\nboot x\n").expect("written");
    }
    let output = shell(r#""$P" restore >/dev/full"#).env("XDG_STATE_HOME", state.path()).output().expect("sh runs");
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(255), "{said}");
    for part in ["one.journal", "two.journal", "checksum", "remove the file"] {
        assert!(said.contains(part), "no {part:?} in {said}");
    }
}

/// A slip in a path is told; no folders come about.
#[test]
fn a_journal_in_a_folder_that_is_not_there_is_refused() {
    let folder = folder();
    let missing = folder.path().join("missing");
    let path = missing.join("stat.journal");
    let path = path.to_str().expect("UTF-8");
    let output = measured(&["--journal", path]);
    assert_eq!(output.status.code(), Some(255));
    assert!(stderr(&output).contains(path) && !missing.exists(), "{}", stderr(&output));
}

#[test]
fn values_that_cannot_be_are_refused_with_what_can() {
    let stat = |rest: &[&'static str]| [&["stat", "--machine", "e5-2600", "--workload", SMALL], rest].concat();
    for option in ["-I", "--timeout", "--delay", "--rotate"] {
        for value in ["-1", "0", "inf", "NaN", "1e300"] {
            refused(&stat(&[option, value]), 129, &[option, "milliseconds above 0"]);
        }
    }
    refused(&stat(&["-x", ""]), 129, &["-x", "give the separator"]);
    for way in ["run", "boot"] {
        refused(&["machine", way, "--machine", "e5-2600", "--timeout", "0", "--", "true"], 129, &["--timeout"]);
    }
    refused(&["machine", "peek", "--machine", "e5-2600", "cbo0/unit_ct"], 129, &["did you mean cbo", "unit_ctl"]);
    refused(&["machine", "poke", "--machine", "e5-2600", "cbo0/ctl0=-1"], 129, &["cbo0/ctl0=-1", "64 bits"]);
    let output = pericore(&["stat", "--machine", "e5-2600", "--workload", "steam"]);
    assert_eq!(stderr(&output).matches("idle").count(), 1, "{}", stderr(&output));
}

/// clap would not say which one.
#[test]
fn an_argument_that_is_no_text_is_named() {
    use std::os::unix::ffi::OsStrExt;
    let word = std::ffi::OsStr::from_bytes(b"caf\xe9/CLOCKTICKS/");
    let output = command(PERICORE).args(["stat", "-e"]).arg(word).output();
    let output = output.expect("the program starts");
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(129), "{said}");
    assert!(said.contains(r#""caf\xE9/CLOCKTICKS/": not UTF-8 text"#) && said.lines().count() == 1, "{said}");
}

/// 4,000 events and one of them wrong: the message stays on a terminal's screen.
#[test]
fn of_a_long_list_only_the_place_is_shown() {
    let events = "imc/CAS_COUNT.RD/,".repeat(4000) + "imc/CAS_COUNT.RDD/";
    let output = pericore(&["stat", "--machine", "e5-2600", "-e", &events]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(129));
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 3, "{said}");
    assert!(lines[1].ends_with("imc/CAS_COUNT.RDD/") && lines[1..].iter().all(|line| line.chars().count() <= 80));
    let name = lines[1].chars().count() - "CAS_COUNT.RDD/".len();
    assert_eq!(lines[2], format!("{}{}", " ".repeat(name), "^".repeat("CAS_COUNT.RDD".len())));
}

/// Counters that a snapshot left programmed are somebody else's: a free one is taken beside them, and counts exactly; where there is none, that
/// is said. Event select 4, umask 3 on each channel's counters (guide, Table 2-66).
#[test]
fn a_workload_runs_on_a_snapshot_and_leaves_its_counters_alone() {
    let folder = folder();
    let file = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let (one, all) = (file("one.machine"), file("all.machine"));
    let poke = |from: &str, writes: &[&str], to: &str| {
        let output = pericore(&[&["machine", "poke", "--machine", from, "-o", to], writes].concat());
        assert!(output.status.success(), "{}", stderr(&output));
    };
    poke("e5-2600:cores=4", &["imc/ctl0=0x400304", "imc/ctr0=0x1234"], &one);
    poke(&one, &["imc/ctl1=0x400304", "imc/ctl2=0x400304", "imc/ctl3=0x400304"], &all);
    let read = ["-e", "imc/CAS_COUNT.RD/", "--workload", "stream:requests=3000"];
    let output = pericore(&[&["stat", "--machine", &one, "-j", "--truth"], &read[..]].concat());
    let row: serde_json::Value = serde_json::from_str(stderr(&output).trim()).expect("a JSON line");
    // Each access reads a line of its own.
    assert_eq!((row["counter-value"].as_str(), row["truth"].as_f64()), (Some("3000.000000"), Some(3000.0)), "{row}");
    assert_eq!((row["validity"].as_str(), row["error"].as_f64()), (Some("measured"), Some(0.0)), "{row}");
    let table = stderr(&pericore(&[&["stat", "--machine", &one], &read[..]].concat()));
    // A long title has several lines.
    let words = table.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("1 socket of 4 active cores, registers of ") && words.contains("EMULATED"), "{table}");
    let taken = pericore(&[&["stat", "--machine", &all], &read[..]].concat());
    assert!(!taken.status.success() && stderr(&taken).contains("--take-over"), "{}", stderr(&taken));
    let threads = ["stat", "--machine", &one, "--workload", "stream:threads=9"];
    refused(&threads, 129, &["threads=9", "from 1 to 8", "cores="]);
}

/// A snapshot of a machine that the model is none of: what can be done with it is said.
#[test]
fn a_snapshot_beyond_the_model_is_refused_with_advice() {
    let folder = folder();
    let file = folder.path().join("nine.machine");
    let path = file.to_str().expect("UTF-8");
    std::fs::write(&file, "pericore-machine 1\nmachine e5-2600 sockets=1 cores=9 threads=2 slices=8\nend\n")
        .expect("written");
    refused(&["stat", "--machine", path], 129, &["9 cores", "pericore machine show", "--dry-run"]);
    assert!(pericore(&["stat", "--machine", path, "--cost"]).status.success());
    std::fs::write(&file, "nothing of that kind").expect("written");
    refused(&["stat", "--machine", path], 255, &[path, "not a snapshot"]);
    refused(&["stat", "--machine", "no-such.machine"], 129, &["no machine", "snapshot file"]);
    refused(&["machine", "run", "--machine", path, "--sockets", "2", "--", "true"], 129, &["--sockets", path]);
}

/// 64 cores in a socket of an 8592+, whatever the number of sockets.
#[test]
fn sockets_beyond_the_model_are_of_the_same_part() {
    for (machine, words) in [
        ("8592+", "1 socket of 64 cores with 2 threads"),
        ("8592+:sockets=2", "2 sockets of 64 cores with 2 threads"),
        ("8592+:sockets=4", "4 sockets of 64 cores with 2 threads"),
    ] {
        let shown = stdout(&pericore(&["machine", "show", "--machine", machine]));
        assert!(shown.contains(words), "{machine}: {}", shown.lines().next().unwrap_or(""));
    }
}

/// The value in a JSON line, and its validity.
fn row(text: &str, name: &str) -> (f64, String, f64) {
    let rows = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("a JSON line"));
    let row = rows.into_iter().find(|row| row["event"] == name).unwrap_or_else(|| panic!("no {name} in {text}"));
    let value = row["metric-value"].as_str().expect("perf prints a string").parse().expect("a number");
    (value, row["validity"].as_str().expect("a word").to_owned(), row["event-runtime"].as_f64().expect("nanoseconds"))
}

/// 2,000 lines of 64 bytes: with four channels of DDR3-1600, 51.2 GB/s together, they take 2.5 us at the least. The measurement ends
/// with them, so that the bandwidth is what the memory gave, and not thinned by an idle rest.
#[test]
fn a_short_run_is_measured_only_as_long_as_it_lasts() {
    let workload = "stream:requests=2000";
    let output = pericore(&["stat", "--machine", "e5-2600", "--workload", workload, "-j"]);
    let (bandwidth, validity, nanoseconds) = row(&stderr(&output), "imc/MEM_READ_BANDWIDTH");
    assert_eq!(validity, "measured");
    assert!((2_500.0..5_000.0).contains(&nanoseconds), "{nanoseconds} ns");
    assert!((25.6e9..51.2e9).contains(&bandwidth), "{bandwidth} B/s");
}

/// After an overflow the counters stand until they are read. Ratios of counts are exact, rates are too low: these are suspect; and of the time
/// it is said that it is too long.
#[test]
fn rates_are_suspect_where_the_counters_stood() {
    let stat = |rest: &[&'static str]| {
        let line = ["stat", "--machine", "nehalem", "-c", "100", "--timeout", "0.005"];
        stderr(&pericore(&[&line[..], rest].concat()))
    };
    let text = stat(&["-j", "-M", "MEM_READ_BANDWIDTH,AVG_MEM_READ_LATENCY"]);
    assert_eq!(row(&text, "uncore/MEM_READ_BANDWIDTH").1, "suspect", "{text}");
    assert_eq!(row(&text, "uncore/AVG_MEM_READ_LATENCY").1, "measured", "{text}");
    let (first, last) = (text.lines().next().expect("a line"), text.lines().last().expect("a line"));
    assert!(first.contains(r#""event-runtime-is":"at most""#) && !last.contains("at most"), "{text}");
    let text = stat(&["-x;"]);
    assert!(text.lines().next().is_some_and(|line| line.ends_with(";at most")), "{text}");
    assert!(text.lines().last().is_some_and(|line| !line.ends_with("at most")), "{text}");
    let text = stat(&[]);
    assert!(text.contains("suspect: the counters stood from the") && text.contains("6.400? "), "{text}");
}

/// A scenario without the ending that tells it from a workload's name.
#[test]
fn a_file_that_could_be_a_scenario_is_told_how_to_be_one() {
    let folder = folder();
    let file = folder.path().join("day.txt");
    std::fs::write(&file, "phase 1us\n").expect("written");
    let path = file.to_str().expect("UTF-8");
    refused(&["stat", "--machine", "e5-2600", "--workload", path], 129, &[path, "ends with .scenario"]);
}

/// A server that would read all the time is told what makes sense.
#[test]
fn an_interval_that_reading_would_fill_is_refused() {
    refused(&["serve", "-I", "0.4"], 129, &["-I 0.4", "at least 10 ms"]);
}

/// Defaults from the user's file; a mistake in it is told with its place, and keeps nobody from putting registers back.
#[test]
fn the_users_defaults_are_taken_and_their_mistakes_told() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("pericore")).expect("a folder");
    let file = folder.path().join("pericore/config.toml");
    let run = |line: &[&str], config: &str| {
        std::fs::write(&file, config).expect("written");
        let mut command = command(PERICORE);
        let command = command.args(line).env_remove("PERICORE_CONFIG").env("XDG_CONFIG_HOME", folder.path());
        command.env("XDG_STATE_HOME", folder.path()).output().expect("the program starts")
    };
    let stat = ["stat", "--machine", "e5-2600", "--workload", SMALL];
    let output = run(&stat, "[stat]\nevent = \"ha/REQUESTS.READS/\"\njson-output = true\n");
    let text = stderr(&output);
    assert!(text.starts_with('{') && text.contains("ha/REQUESTS.READS/") && text.lines().count() == 1, "{text}");
    // What the line says leaves no room for some, and others lack what they need.
    let line = ["stat", "--machine", "e5-2600", "--workload", SMALL, "-e", "ha/REQUESTS.READS/", "-j"];
    let output = run(&[&line[..], &["--per-socket"]].concat(), "[stat]\nper-unit = true\n");
    assert!(stderr(&output).contains("\"socket\"") && !stderr(&output).contains("\"instance\""), "{}", stderr(&output));
    let broken = "[stat]\n\nintervl-print = 5\n";
    let output = run(&stat, broken);
    assert_eq!(output.status.code(), Some(129));
    let said = stderr(&output);
    assert!(said.contains("config.toml:3: ") && said.contains("did you mean interval-print"), "{said}");
    let restored = run(&["restore"], broken);
    assert!(restored.status.success() && stdout(&restored).contains("no session"), "{}", stderr(&restored));
}
