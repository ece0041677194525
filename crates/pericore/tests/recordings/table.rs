//! `record -o FILE.parquet` as a user meets it.

use std::fs;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use super::E5;
use super::folder::{Folder, stderr_of};

/// The same run in both forms: all that `report` prints is the same, and the same seed gives the same file.
#[test]
fn a_table_reports_as_its_lines_do() {
    let folder = Folder::new();
    let emr = ["--machine", "8592+", "--workload", "random:requests=4k,footprint=64M"];
    let turns = [&E5[..], &["-M", "LLC_DRD_MISS_PCT", "-e", "cbo/LLC_LOOKUP.WRITE/", "--truth"]].concat();
    for run in [&E5[..], &emr, &turns] {
        folder.shown(&[&["record", "-o", "x.rec"], run]);
        folder.shown(&[&["record", "-o", "x.parquet"], run]);
        folder.shown(&[&["record", "-o", "other", "--format", "parquet"], run]);
        let table = fs::read(folder.file("x.parquet")).expect("a table");
        assert!(table.starts_with(b"PAR1") && table.ends_with(b"PAR1"), "{} bytes", table.len());
        assert_eq!(table, fs::read(folder.file("other")).expect("a table"));
        for how in [&[][..], &["-j", "-A"], &["-I", "-x", ";"], &["--over-time"], &["--to", "1", "-j"]] {
            let (lines, rows) =
                (folder.shown(&[&["report", "x.rec"], how]), folder.shown(&[&["report", "x.parquet"], how]));
            assert!(lines.lines().count() > 1, "{how:?}: {lines}");
            assert_eq!(lines, rows, "{how:?}");
        }
    }
    let diff = folder.shown(&[&["report", "x.rec", "--diff", "x.parquet", "-j"]]);
    assert!(diff.lines().count() > 1 && diff.lines().all(|line| line.contains("\"change\":0.0")), "{diff}");
    let piped = folder.shell(r#"cat x.parquet | "$P" report - -j"#);
    assert_eq!(String::from_utf8_lossy(&piped.stdout), folder.shown(&[&["report", "x.rec", "-j"]]));
}

/// SIGKILL in the middle: the table is whole, and has all but what was not written yet. What was broken off behind it
/// is left out.
#[test]
fn what_kills_the_run_leaves_a_whole_table() {
    let folder = Folder::new();
    let endless =
        ["record", "-o", "x.parquet", "--machine", "e5-2600", "--workload", "random:requests=1G,footprint=64M"];
    let mut run = folder.command(&[&endless]).stderr(Stdio::null()).spawn().expect("the program starts");
    let file = folder.file("x.parquet");
    let patience = Instant::now() + Duration::from_secs(120);
    while fs::metadata(&file).map_or(0, |known| known.len()) < 40_000 && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(10));
    }
    run.kill().expect("it runs");
    run.wait().expect("it ended");
    let output = folder.run(&[&["report", "x.parquet", "-j"]]);
    assert!(output.status.success() && !output.stdout.is_empty(), "{}", stderr_of(&output));
    assert!(
        stderr_of(&output).contains("x.parquet: cut after") && stderr_of(&output).contains("how it ended is missing"),
        "{}",
        stderr_of(&output)
    );
    let mut table = fs::read(&file).expect("a table");
    table.extend_from_slice(b"a part of a row group");
    fs::write(&file, &table).expect("written");
    let half = folder.run(&[&["report", "x.parquet", "-j"]]);
    assert_eq!(half.stdout, output.stdout);
    // It may have been killed in the middle of a write, too.
    let behind = |output: &Output| {
        let words = stderr_of(output);
        let number = words.split_once("the last ").and_then(|(_, rest)| rest.split_once(" bytes are incomplete"));
        number.map_or(0, |(number, _)| number.parse::<u64>().expect("a number"))
    };
    assert_eq!(behind(&half), behind(&output) + 21, "{}", stderr_of(&half));
    let mended = folder.run(&[&["report", "x.parquet", "--to", "parquet", "-o", "mended.parquet"]]);
    assert!(mended.status.success(), "{}", stderr_of(&mended));
    let again = folder.run(&[&["report", "mended.parquet", "-j"]]);
    assert!(again.stdout == output.stdout && behind(&again) == 0, "{}", stderr_of(&again));
}

/// The limit on a file's size stands for a disk that is full.
#[test]
fn a_full_disk_leaves_a_whole_table() {
    let folder = Folder::new();
    let run = "record -o x.parquet --machine e5-2600 --workload random:requests=400k,footprint=64M";
    let output = folder.shell(&format!(r#"trap '' XFSZ; ulimit -f 64; "$P" {run}"#));
    assert_eq!(output.status.code(), Some(255), "{}", stderr_of(&output));
    assert!(
        stderr_of(&output).contains("cannot write x.parquet")
            && stderr_of(&output).contains("samples before it are in"),
        "{}",
        stderr_of(&output)
    );
    let report = folder.run(&[&["report", "x.parquet", "-j"]]);
    assert!(report.status.success() && !report.stdout.is_empty(), "{}", stderr_of(&report));
    assert!(fs::read(folder.file("x.parquet")).expect("a table").ends_with(b"PAR1"));
}

/// From one form into the other and back: the same bytes. The table that `record` writes has all that is in it, too.
#[test]
fn conversions_come_back_to_the_byte() {
    let folder = Folder::new();
    let run = [&E5[..], &["-M", "LLC_DRD_MISS_PCT", "-e", "cbo/LLC_LOOKUP.WRITE/", "--truth"]].concat();
    folder.shown(&[&["record", "-o", "x.rec"], &run]);
    folder.shown(&[&["record", "-o", "x.parquet"], &run]);
    folder.shown(&[&["report", "x.rec", "--to", "parquet", "-o", "y.parquet"]]);
    let lines = fs::read_to_string(folder.file("x.rec")).expect("a recording");
    for table in ["x.parquet", "y.parquet"] {
        assert_eq!(folder.shown(&[&["report", table, "--to", "jsonl"]]), lines, "{table}");
    }
    assert_eq!(folder.shown(&[&["report", "x.rec", "--to", "jsonl"]]), lines);
    let cut = folder.shell(r#"head -n 3 x.rec >cut.rec; "$P" report cut.rec --to parquet | "$P" report - --to jsonl"#);
    assert_eq!(cut.stdout, fs::read(folder.file("cut.rec")).expect("a recording"), "{}", stderr_of(&cut));

    let counts = |text: &str| -> Vec<Option<u64>> {
        let value: serde_json::Value = serde_json::from_str(text).expect("JSON");
        value["counts"].as_array().into_iter().flatten().map(serde_json::Value::as_u64).collect()
    };
    let counts: Vec<Option<u64>> = lines.lines().skip(1).flat_map(counts).collect();
    let csv = folder.shown(&[&["report", "x.parquet", "--to", "csv"]]);
    // The numbers stand behind the event, which is in quotation marks if it has a comma inside.
    let number = |line: &str| {
        let end = line.rsplit_once("/\",").or_else(|| line.rsplit_once("/,"))?.1;
        end.split(',').next()?.parse().ok()
    };
    let sixth: Vec<Option<u64>> = csv.lines().skip(1).map(number).collect();
    assert!(csv.starts_with("time,host,socket,unit,instance,event,count,"), "{csv}");
    assert_eq!(sixth, counts);

    let trace = folder.shown(&[&["report", "x.parquet", "--to", "trace"]]);
    let trace: serde_json::Value = serde_json::from_str(&trace).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("a list");
    assert_eq!(events.iter().filter(|event| event["ph"] == "C").count(), counts.iter().flatten().count());
    let first = events.iter().find(|event| event["ph"] == "C").expect("a counter");
    assert!(first["args"]["rate"].is_number() && first["ts"] == 0.0 && first["pid"] == 0, "{first}");

    for (arguments, words) in [
        (
            &["--to", "parket"][..],
            "give a number of seconds from the start of the recording, or a form: jsonl, parquet",
        ),
        (&["--to", "csv", "-A"], "leave out what chooses and forms a report"),
        (&["--to", "csv", "--to", "jsonl"], "give one time and one form at the most"),
        (&["--to", "csv", "-o", "x.rec"], "this is the recording x.rec itself"),
    ] {
        let output = folder.run(&[&["report", "x.rec"], arguments]);
        assert!(
            !output.status.success() && stderr_of(&output).contains(words),
            "{arguments:?}: {}",
            stderr_of(&output)
        );
    }
    assert_eq!(fs::read_to_string(folder.file("x.rec")).expect("a recording"), lines);
}

/// Parts by time and by size: together they have what the whole has, each can be read alone, and the last is no empty
/// one.
#[test]
fn parts_make_the_whole() {
    let folder = Folder::new();
    folder.shown(&[&["record", "-o", "whole.rec"], &E5]);
    let samples = |file: &str| {
        let lines = folder.shown(&[&["report", file, "--to", "jsonl"]]);
        lines.lines().filter(|line| line.starts_with("{\"end\"")).map(str::to_owned).collect::<Vec<_>>()
    };
    let whole = samples("whole.rec");
    assert_eq!(whole.len(), 4);
    for (part, form) in [("--part-time", "rec"), ("--part-time", "parquet"), ("--part-size", "rec")] {
        // Two samples of 0.01 virtual milliseconds; a first line and a sample have more than 1 kB.
        let most = if part == "--part-time" { "0.02" } else { "0.001" };
        let file = format!("{form}{part}.{form}");
        let output = folder.run(&[&["record", "-o", &file, part, most], &E5]);
        let names: Vec<String> =
            folder.names().into_iter().filter(|name| name.starts_with(&format!("{form}{part}-"))).collect();
        let parts = if part == "--part-time" { 2 } else { 4 };
        assert_eq!(names.len(), parts, "{names:?} {}", stderr_of(&output));
        assert!(
            stderr_of(&output).contains(&format!("4 samples in {parts} parts, {} to ", names[0])),
            "{}",
            stderr_of(&output)
        );
        let all: Vec<String> = names.iter().flat_map(|name| samples(name)).collect();
        assert_eq!(all, whole, "{names:?}");
    }
    let refused = folder.run(&[&["record", "--part-size", "0"], &E5]);
    assert!(stderr_of(&refused).contains("--part-size: give a number above 0"), "{}", stderr_of(&refused));
}

#[test]
fn what_is_no_recording_is_refused_in_words() {
    let folder = Folder::new();
    for (bytes, words) in [
        (&b"PAR1"[..], "it ends before its first footer does"),
        (&b"PAR1 and what is no table of anybody PAR1"[..], "it ends before its first footer does"),
    ] {
        fs::write(folder.file("x.parquet"), bytes).expect("written");
        let output = folder.run(&[&["report", "x.parquet"]]);
        assert_eq!(output.status.code(), Some(255));
        assert!(stderr_of(&output).contains(&format!("x.parquet: {words}")), "{}", stderr_of(&output));
    }
}
