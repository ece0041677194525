//! `pericore record` and `pericore report` as a user meets them, on software machines.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const E5: [&str; 4] = ["--machine", "e5-2600", "--workload", "random:requests=20k,footprint=64M"];

/// A folder of a test's own, which is the current one of its programs.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("pericore-recordings-{}-{test}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    fn command(&self, arguments: &[&[&str]]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pericore"));
        command.args(arguments.concat()).current_dir(&self.0).env("XDG_STATE_HOME", &self.0);
        command
    }

    fn run(&self, arguments: &[&[&str]]) -> Output {
        self.command(arguments).output().expect("the program starts")
    }

    /// Standard output of a run that ends well.
    fn shown(&self, arguments: &[&[&str]]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// A shell's run; `$P` is the program.
    fn shell(&self, script: &str) -> Output {
        let mut command = Command::new("sh");
        command.args(["-c", script]).env("P", env!("CARGO_BIN_EXE_pericore")).current_dir(&self.0);
        command.output().expect("sh runs")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("a folder").map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<String> = entries.map(|name| name.into_string().expect("UTF-8")).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn lines(path: &Path) -> usize {
    fs::read(path).map_or(0, |bytes| bytes.iter().filter(|byte| **byte == b'\n').count())
}

/// `stat` and, of the same run, `record` and `report`: equal lines in all forms and scopes. Under a table `stat` says more.
#[test]
fn a_report_is_what_stat_would_have_printed() {
    let folder = Folder::new("same");
    let events = ["-e", "imc/CAS_COUNT.RD/,cbo1/CLOCKTICKS/,{imc/ACT_COUNT,name=opened/,imc/CAS_COUNT.WR/}"];
    let asked = [&events[..], &["-M", "MEM_READ_BANDWIDTH,AVG_TOR_DRD_MISS_LATENCY"]].concat();
    let turns = ["-M", "LLC_DRD_MISS_PCT", "-e", "cbo/LLC_LOOKUP.WRITE/"];
    let sockets = ["--machine", "e5-2600:sockets=2", "--workload", "copy:requests=20k,footprint=16M"];
    let emr = ["--machine", "8592+", "--workload", "random:requests=4k,footprint=64M"];
    // The same span, as a whole and by intervals; where events take turns, one interval, since one that cuts a turn in two tells more of the
    // standard error.
    for (case, machine, asked, when, by_interval) in [
        ("spans", &E5[..], &asked[..], &["--timeout", "0.025"][..], false),
        ("intervals", &E5[..], &asked[..], &[][..], true),
        ("two sockets", &sockets[..], &asked[..], &["--timeout", "0.02", "-D", "0.004"][..], false),
        ("turns", &E5[..], &turns[..], &["-I", "1000"][..], false),
        ("turns by intervals", &E5[..], &turns[..], &[][..], true),
        ("mesh", &emr[..], &[][..], &["--timeout", "0.01"][..], false),
    ] {
        folder.shown(&[&["record", "--truth"], machine, asked, when]);
        for scope in [&[][..], &["--per-socket"], &["-A"]] {
            for form in [&[][..], &["-j"], &["-x", ";"]] {
                for truth in [&[][..], &["--truth"]] {
                    let how = [scope, form, truth, if by_interval { &["-I"] } else { &[][..] }].concat();
                    let report = folder.shown(&[&["report"], &how]);
                    let how = [scope, form, truth, if by_interval { &["-I", "0.01"] } else { &[][..] }].concat();
                    let when = if case == "turns" { &[][..] } else { when };
                    let stat = folder.shown(&[&["stat", "-o", "/dev/stdout"], machine, asked, when, &how]);
                    assert!(report.lines().count() > 1, "{case} {how:?}: {report}");
                    if form.is_empty() {
                        let behind =
                            stat.strip_prefix(&report).unwrap_or_else(|| panic!("{case} {how:?}:\n{stat}\n{report}"));
                        assert!(behind.starts_with(" accesses: "), "{case} {how:?}: {behind}");
                    } else {
                        assert_eq!(stat, report, "{case} {how:?}");
                    }
                }
            }
        }
    }
}

/// Where events take turns, the sum of the intervals is scaled up from the parts of all of them, also from those of an interval that was too
/// short for a turn: the numbers of a single long interval.
#[test]
fn turns_are_scaled_up_over_the_whole() {
    let folder = Folder::new("turns");
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
        assert_eq!(said(&run).contains("take turns"), interval == "0.0015", "{}", said(&run));
        assert_eq!(rows(folder.shown(&[&["report", "-j"]])), stat, "{interval}");
    }
}

#[test]
fn the_same_seed_gives_the_same_file() {
    let folder = Folder::new("seed");
    folder.shown(&[&["record"], &E5]);
    folder.shown(&[&["record", "-o", "again.rec"], &E5]);
    let first = fs::read(folder.file("pericore.rec")).expect("a recording");
    assert_eq!(first, fs::read(folder.file("again.rec")).expect("a recording"));
    let text = String::from_utf8(first).expect("UTF-8");
    assert!(text.lines().count() > 4 && text.lines().last() == Some("{\"ended\":\"whole\",\"samples\":4}"), "{text}");
}

/// What was recorded serves for more than was asked for; what was not is named.
#[test]
fn other_events_and_metrics_are_found_in_what_was_recorded() {
    let folder = Folder::new("other");
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
        assert!(!output.status.success() && said(&output).contains(words), "{asked:?}: {}", said(&output));
    }
    let output = folder.run(&[&["report", "--truth"]]);
    assert!(said(&output).contains("recorded without --truth"), "{}", said(&output));
}

/// The parts before and behind a time make the whole, and every row of a course lies between its least and most.
#[test]
fn a_recording_is_shown_in_parts_and_over_time() {
    let folder = Folder::new("parts");
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
    let folder = Folder::new("diff");
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
    for (arguments, words) in [
        (&["three.rec"][..], "three.rec: imc/CAS_COUNT.WR/ was not recorded"),
        (&["four.rec"], "four.rec: it was recorded on nehalem"),
        (&["five.rec"], "cannot read five.rec"),
        (&["two.rec", "--over-time"], "cannot be used with"),
    ] {
        let output = diff(arguments);
        assert!(!output.status.success() && said(&output).contains(words), "{arguments:?}: {}", said(&output));
    }
    let sockets = diff(&["three.rec", "-e", "imc/CAS_COUNT.RD/", "-A"]);
    assert!(String::from_utf8_lossy(&sockets.stdout).contains("left out: 0 rows of the first alone, 4 of the second"));
}

/// SIGKILL in the middle: what was measured until then is there, and that it was cut is said.
#[test]
fn what_kills_the_run_leaves_what_was_measured() {
    let folder = Folder::new("killed");
    let endless = ["record", "--machine", "e5-2600", "--workload", "random:requests=1G,footprint=64M"];
    let mut run = folder.command(&[&endless]).stderr(Stdio::null()).spawn().expect("the program starts");
    let file = folder.file("pericore.rec");
    let patience = Instant::now() + Duration::from_secs(120);
    while lines(&file) < 4 && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(10));
    }
    run.kill().expect("it runs");
    run.wait().expect("it ended");
    let output = folder.run(&[&["report", "-j"]]);
    assert!(output.status.success() && !output.stdout.is_empty(), "{}", said(&output));
    assert!(said(&output).contains("the line that says how it ended is missing"), "{}", said(&output));
    let mut text = fs::read(&file).expect("a recording");
    text.extend_from_slice(b"{\"end\":0.1,\"seco");
    fs::write(&file, &text).expect("written");
    let half = folder.run(&[&["report", "-j"]]);
    assert_eq!(half.stdout, output.stdout);
    assert!(said(&half).contains("was written in part only, and is left out"), "{}", said(&half));
    text.extend_from_slice(b"\n");
    fs::write(&file, &text).expect("written");
    let damaged = folder.run(&[&["report", "-j"]]);
    let number = lines(&file);
    assert_eq!(damaged.status.code(), Some(255));
    assert!(said(&damaged).contains(&format!("pericore.rec: line {number}: it is no JSON")), "{}", said(&damaged));
}

/// Ctrl-C is an end like another.
#[test]
fn a_signal_ends_a_recording_in_order() {
    let folder = Folder::new("signal");
    let script = r#""$P" record --machine e5-2600 --workload random:requests=1G,footprint=64M & pid=$!
        until [ "$(wc -l <pericore.rec 2>/dev/null || echo 0)" -gt 3 ]; do sleep 0.01; done
        kill -TERM $pid; wait $pid; echo status $?; tail -n 1 pericore.rec; "$P" report -j"#;
    let output = folder.shell(script);
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(shown.contains("status 143") && shown.contains("\"ended\":\"interrupted\""), "{shown}");
    assert!(shown.contains("\"signal\":15}") && shown.contains("MEM_READ_BANDWIDTH"), "{shown}");
    let ours = said(&output).lines().filter(|line| line.starts_with("pericore: ")).count();
    assert_eq!(ours, 1, "the summary, and nothing of the report: {}", said(&output));
}

/// The limit on a file's size stands for a disk that is full: with the signal ignored, a write goes as far as it can.
#[test]
fn a_full_disk_leaves_whole_lines() {
    let folder = Folder::new("full");
    let run = "record --machine e5-2600 --workload random:requests=200k,footprint=64M";
    let script = format!(r#"trap '' XFSZ; ulimit -f 8; "$P" {run}"#);
    let output = folder.shell(&script);
    assert_eq!(output.status.code(), Some(255), "{}", said(&output));
    assert!(
        said(&output).contains("cannot write pericore.rec") && said(&output).contains("samples before that are in")
    );
    let file = folder.file("pericore.rec");
    assert!(fs::read(&file).expect("a recording").ends_with(b"}\n"), "no half line");
    let report = folder.run(&[&["report", "-j"]]);
    assert!(report.status.success() && !report.stdout.is_empty(), "{}", said(&report));
    assert!(said(&report).contains("failed after") || said(&report).contains("missing"), "{}", said(&report));

    let output = folder.run(&[&["record", "-o", "/dev/full"], &E5]);
    assert_eq!(output.status.code(), Some(255));
    assert!(said(&output).contains("cannot write /dev/full"), "{}", said(&output));
}

#[test]
fn an_older_recording_is_kept_until_there_is_a_new_one() {
    let folder = Folder::new("old");
    let place = |arguments: &[&str]| folder.run(&[&["record"], &E5[..2], arguments]);
    folder.shown(&[&["record"], &E5]);
    let first = fs::read(folder.file("pericore.rec")).expect("a recording");
    let refused = place(&["--workload", "random:requests=2k", "-e", "imc/NO_SUCH/"]);
    assert!(!refused.status.success());
    assert_eq!(
        (folder.names(), fs::read(folder.file("pericore.rec")).ok()),
        (vec!["pericore.rec".to_owned()], Some(first.clone()))
    );
    assert!(place(&["--workload", "random:requests=2k"]).status.success());
    assert_eq!(folder.names(), ["pericore.rec", "pericore.rec.old"]);
    assert_eq!(fs::read(folder.file("pericore.rec.old")).expect("the old one"), first);
    for (file, words) in [
        ("/", "/ is a folder; name a file, such as -o /pericore.rec"),
        ("/no/such/folder/x.rec", "cannot write /no/such/folder/x.rec"),
        ("/proc/x.rec", "cannot write /proc/x.rec"),
    ] {
        let output = place(&["-o", file]);
        assert_eq!(output.status.code(), Some(255), "{file}");
        assert!(said(&output).contains(words), "{file}: {}", said(&output));
    }
    for (file, words) in [
        ("none.rec", "cannot read none.rec"),
        ("/dev/null", "nothing was recorded"),
        ("/proc/self/exe", "it is no recording"),
    ] {
        let output = folder.run(&[&["report", file]]);
        assert_eq!(output.status.code(), Some(255), "{file}");
        assert!(said(&output).contains(words), "{file}: {}", said(&output));
    }
}

/// What yields no sample, or not even a whole one, leaves all files as they are, however often it is tried.
#[test]
fn only_a_sample_takes_the_place_of_an_older_recording() {
    let folder = Folder::new("failed");
    folder.shown(&[&["record"], &E5]);
    let first = fs::read(folder.file("pericore.rec")).expect("a recording");
    let is_kept = |what: &str, output: &Output| {
        assert_eq!(folder.names(), ["pericore.rec"], "{what}: {}", said(output));
        assert_eq!(fs::read(folder.file("pericore.rec")).expect("a recording"), first, "{what}");
    };
    for _ in 0..2 {
        let output = folder.run(&[&["record", "-D", "1000"], &E5]);
        assert!(output.status.success() && said(&output).contains("nothing was measured"), "{}", said(&output));
        assert!(said(&output).contains("no sample: pericore.rec was not written"), "{}", said(&output));
        is_kept("delay", &output);
        let output = folder.run(&[&["record"], &E5[..2], &["--", "/no/such/program"]]);
        assert!(!output.status.success() && said(&output).contains("/no/such/program"), "{}", said(&output));
        is_kept("no program", &output);
        // Room for the first line, whose length the name decides, and for a part of the first sample.
        let named = format!("imc/CAS_COUNT.RD,name={}/", "x".repeat(460));
        let script = format!(r#"trap '' XFSZ; ulimit -f 2; "$P" record {} -e {named}"#, E5.join(" "));
        let output = folder.shell(&script);
        assert!(said(&output).contains("cannot write pericore.rec"), "{}", said(&output));
        assert!(!said(&output).contains("samples before that"), "{}", said(&output));
        is_kept("full disk", &output);
    }
    let inner = [env!("CARGO_BIN_EXE_pericore"), "record", "-e", "imc/CAS_COUNT.RD/", "--", "/no/such/program"];
    let output = folder.run(&[&["machine", "run", "--machine", "e5-2600", "--"], &inner]);
    assert!(!output.status.success() && said(&output).contains("/no/such/program"), "{}", said(&output));
    assert_eq!(fs::read(folder.file("pericore.rec")).expect("a recording"), first, "in real time");
    assert!(!folder.names().iter().any(|name| name.ends_with(".part") || name.ends_with(".old")));
}

/// What a shell has opened is written to; it is no name to move other files to.
#[test]
fn a_recording_follows_links() {
    let folder = Folder::new("links");
    let run = E5.join(" ");
    let output = folder.shell(&format!(
        r#"echo before >out; "$P" record {run} -o /dev/stdout >>out; ls -l /dev/stdout | cut -c1; tail -n +2 out >x.rec; "$P" report x.rec -j"#
    ));
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(shown.starts_with("l\n{") && shown.contains("MEM_READ_BANDWIDTH"), "{shown}{}", said(&output));
    assert!(fs::read(folder.file("out")).expect("a file").starts_with(b"before\n{\"pericore-recording\""));
    assert_eq!(folder.names(), ["out", "x.rec"]);
    std::os::unix::fs::symlink("x.rec", folder.file("link")).expect("a link");
    folder.shown(&[&["record", "-o", "link"], &E5]);
    assert_eq!(folder.names(), ["link", "out", "x.rec", "x.rec.old"]);
    assert!(folder.file("link").is_symlink() && !folder.file("x.rec").is_symlink());
}

/// The workload is over within the delay.
#[test]
fn a_recording_without_samples_says_so() {
    let folder = Folder::new("empty");
    let output = folder.shell(&format!(r#""$P" record -D 1000 {} -o /dev/stdout >pericore.rec"#, E5.join(" ")));
    assert!(said(&output).contains("no sample: /dev/stdout has nothing but"), "{}", said(&output));
    for how in [&[][..], &["-I"], &["--over-time"], &["--diff", "pericore.rec"]] {
        let output = folder.run(&[&["report"], how]);
        assert_eq!(output.status.code(), Some(255), "{how:?}");
        assert!(said(&output).contains("no sample in it"), "{how:?}: {}", said(&output));
    }
}

/// A pipe is no file to rename; and nobody who stops reading is told so.
#[test]
fn recordings_go_through_pipes() {
    let folder = Folder::new("pipes");
    let run = E5.join(" ");
    let output = folder.shell(&format!(r#""$P" record {run} -o /dev/stdout 2>/dev/null | "$P" report /dev/stdin -j"#));
    assert!(String::from_utf8_lossy(&output.stdout).contains("MEM_READ_BANDWIDTH"), "{}", said(&output));
    let output = folder.shell(&format!(r#""$P" record {run} -I 0.0001 2>/dev/null; "$P" report -I | head -n 1"#));
    assert!(output.stderr.is_empty(), "{}", said(&output));
}

#[test]
fn a_report_never_overwrites_what_it_reads() {
    let folder = Folder::new("itself");
    folder.shown(&[&["record", "-o", "x.rec"], &E5]);
    folder.shown(&[&["record", "-o", "y.rec"], &E5]);
    let recorded = fs::read(folder.file("x.rec")).expect("a recording");
    std::os::unix::fs::symlink("x.rec", folder.file("soft")).expect("a link");
    fs::hard_link(folder.file("x.rec"), folder.file("hard")).expect("a link");
    for output in ["x.rec", "soft", "hard", "./x.rec"] {
        for read in [&["x.rec"][..], &["y.rec", "--diff", "x.rec"], &["x.rec", "--diff", "y.rec"], &["-I", "soft"]] {
            let refused = folder.run(&[&["report", "-o", output], read]);
            assert!(!refused.status.success(), "{output} {read:?}");
            assert!(said(&refused).contains("which would be lost; name another file"), "{}", said(&refused));
            assert_eq!(fs::read(folder.file("x.rec")).expect("a recording"), recorded, "{output} {read:?}");
        }
    }
    folder.shown(&[&["report", "x.rec", "-o", "out"]]);
    folder.shown(&[&["report", "x.rec", "-o", "out"]]);
    assert!(fs::read_to_string(folder.file("out")).expect("a table").contains("MEM_READ_BANDWIDTH"));
}

#[test]
fn standard_input_is_a_recording_like_another() {
    let folder = Folder::new("input");
    folder.shown(&[&["record", "-o", "x.rec"], &E5]);
    let named = folder.shown(&[&["report", "x.rec"]]);
    for script in [r#"cat x.rec | "$P" report -"#, r#""$P" report - <x.rec"#] {
        assert_eq!(String::from_utf8_lossy(&folder.shell(script).stdout), named, "{script}");
    }
    let output = folder.shell(r#"cat x.rec | "$P" report x.rec --diff -"#);
    assert!(String::from_utf8_lossy(&output.stdout).contains("second: standard input"), "{}", said(&output));
    for (script, words) in [
        (r#""$P" report - </dev/null"#, "standard input: it ends before its first line does"),
        (r#""$P" report - --diff - <x.rec"#, "standard input has one recording only"),
        (r#""$P" report - -o x.rec <x.rec"#, "that is the recording standard input itself"),
    ] {
        let output = folder.shell(script);
        assert!(!output.status.success() && said(&output).contains(words), "{script}: {}", said(&output));
    }
}

/// On a machine that stands in for a Xeon: wall time, which is told, and EMULATED all the same. The program's status is ours.
#[test]
fn our_own_recorder_runs_on_a_machine_that_stands_in() {
    let folder = Folder::new("stand-in");
    let inner = [
        env!("CARGO_BIN_EXE_pericore"),
        "record",
        "-I",
        "20",
        "-e",
        "imc/CAS_COUNT.RD/",
        "--",
        "sh",
        "-c",
        "sleep 0.1; exit 5",
    ];
    let output = folder
        .run(&[&["machine", "run", "--machine", "e5-2600", "--inject", "imc/CAS_COUNT.RD_REG=1000000", "--"], &inner]);
    assert_eq!(output.status.code(), Some(5), "{}", said(&output));
    assert!(said(&output).contains("bytes, in pericore.rec"), "{}", said(&output));
    let header = fs::read_to_string(folder.file("pericore.rec")).expect("a recording");
    let header: serde_json::Value = serde_json::from_str(header.lines().next().expect("a line")).expect("JSON");
    assert_eq!(header["emulated"], "e5-2680");
    assert!(header["started"].as_str().is_some_and(|time| time.len() == 24 && time.ends_with('Z')), "{header}");
    let table = folder.shown(&[&["report"]]);
    assert!(table.contains("EMULATED e5-2680") && table.contains("imc/CAS_COUNT.RD/"), "{table}");
}
