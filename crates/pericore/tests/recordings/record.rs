//! What `pericore record` leaves, however its run ends.

use std::fs;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use super::E5;
use super::folder::{Folder, lines, stderr_of};
use crate::ours::PERICORE;

#[test]
fn the_same_seed_gives_the_same_file() {
    let folder = Folder::new();
    folder.shown(&[&["record"], &E5]);
    folder.shown(&[&["record", "-o", "again.rec"], &E5]);
    let first = fs::read(folder.file("pericore.rec")).expect("a recording");
    assert_eq!(first, fs::read(folder.file("again.rec")).expect("a recording"));
    let text = String::from_utf8(first).expect("UTF-8");
    assert!(text.lines().count() > 4 && text.lines().last() == Some("{\"ended\":\"whole\",\"samples\":4}"), "{text}");
}

/// SIGKILL in the middle: what was measured until then is there, and that it was cut is said.
#[test]
fn what_kills_the_run_leaves_what_was_measured() {
    let folder = Folder::new();
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
    assert!(output.status.success() && !output.stdout.is_empty(), "{}", stderr_of(&output));
    assert!(stderr_of(&output).contains("the line that says how it ended is missing"), "{}", stderr_of(&output));
    let mut text = fs::read(&file).expect("a recording");
    text.extend_from_slice(b"{\"end\":0.1,\"seco");
    fs::write(&file, &text).expect("written");
    let half = folder.run(&[&["report", "-j"]]);
    assert_eq!(half.stdout, output.stdout);
    assert!(stderr_of(&half).contains("is incomplete and ignored"), "{}", stderr_of(&half));
    text.extend_from_slice(b"\n");
    fs::write(&file, &text).expect("written");
    let damaged = folder.run(&[&["report", "-j"]]);
    let number = lines(&file);
    assert_eq!(damaged.status.code(), Some(255));
    assert!(
        stderr_of(&damaged).contains(&format!("pericore.rec: line {number}: it is no JSON")),
        "{}",
        stderr_of(&damaged)
    );
}

/// Ctrl-C is an end like another.
#[test]
fn a_signal_ends_a_recording_in_order() {
    let folder = Folder::new();
    let script = r#""$P" record --machine e5-2600 --workload random:requests=1G,footprint=64M & pid=$!
        until [ "$(wc -l <pericore.rec 2>/dev/null || echo 0)" -gt 3 ]; do sleep 0.01; done
        kill -TERM $pid; wait $pid; echo status $?; tail -n 1 pericore.rec; "$P" report -j"#;
    let output = folder.shell(script);
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(shown.contains("status 143") && shown.contains("\"ended\":\"interrupted\""), "{shown}");
    assert!(shown.contains("\"signal\":15}") && shown.contains("MEM_READ_BANDWIDTH"), "{shown}");
    let ours = stderr_of(&output).lines().filter(|line| line.starts_with("pericore: ")).count();
    assert_eq!(ours, 1, "the summary, and nothing of the report: {}", stderr_of(&output));
}

/// The limit on a file's size stands for a disk that is full: with the signal ignored, a write goes as far as it can.
#[test]
fn a_full_disk_leaves_whole_lines() {
    let folder = Folder::new();
    let run = "record --machine e5-2600 --workload random:requests=200k,footprint=64M";
    let script = format!(r#"trap '' XFSZ; ulimit -f 8; "$P" {run}"#);
    let output = folder.shell(&script);
    assert_eq!(output.status.code(), Some(255), "{}", stderr_of(&output));
    assert!(
        stderr_of(&output).contains("cannot write pericore.rec")
            && stderr_of(&output).contains("samples before it are in")
    );
    let file = folder.file("pericore.rec");
    assert!(fs::read(&file).expect("a recording").ends_with(b"}\n"), "no half line");
    let report = folder.run(&[&["report", "-j"]]);
    assert!(report.status.success() && !report.stdout.is_empty(), "{}", stderr_of(&report));
    assert!(
        stderr_of(&report).contains("failed after") || stderr_of(&report).contains("missing"),
        "{}",
        stderr_of(&report)
    );

    let output = folder.run(&[&["record", "-o", "/dev/full"], &E5]);
    assert_eq!(output.status.code(), Some(255));
    assert!(stderr_of(&output).contains("cannot write /dev/full"), "{}", stderr_of(&output));
}

#[test]
fn an_older_recording_is_kept_until_there_is_a_new_one() {
    let folder = Folder::new();
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
        assert!(stderr_of(&output).contains(words), "{file}: {}", stderr_of(&output));
    }
    for (file, words) in [
        ("none.rec", "cannot read none.rec"),
        ("/dev/null", "nothing was recorded"),
        ("/proc/self/exe", "not a Pericore recording"),
    ] {
        let output = folder.run(&[&["report", file]]);
        assert_eq!(output.status.code(), Some(255), "{file}");
        assert!(stderr_of(&output).contains(words), "{file}: {}", stderr_of(&output));
    }
}

/// What yields no sample, or not even a whole one, leaves all files as they are, however often it is tried.
#[test]
fn only_a_sample_takes_the_place_of_an_older_recording() {
    let folder = Folder::new();
    folder.shown(&[&["record"], &E5]);
    let first = fs::read(folder.file("pericore.rec")).expect("a recording");
    let is_kept = |what: &str, output: &Output| {
        assert_eq!(folder.names(), ["pericore.rec"], "{what}: {}", stderr_of(output));
        assert_eq!(fs::read(folder.file("pericore.rec")).expect("a recording"), first, "{what}");
    };
    for _ in 0..2 {
        let output = folder.run(&[&["record", "-D", "1000"], &E5]);
        assert!(
            output.status.success() && stderr_of(&output).contains("nothing was measured"),
            "{}",
            stderr_of(&output)
        );
        assert!(stderr_of(&output).contains("no sample: pericore.rec was not written"), "{}", stderr_of(&output));
        is_kept("delay", &output);
        let output = folder.run(&[&["record"], &E5[..2], &["--", "/no/such/program"]]);
        assert!(!output.status.success() && stderr_of(&output).contains("/no/such/program"), "{}", stderr_of(&output));
        is_kept("no program", &output);
        // Room for the first line, whose length the name decides, and for a part of the first sample.
        let named = format!("imc/CAS_COUNT.RD,name={}/", "x".repeat(460));
        let script = format!(r#"trap '' XFSZ; ulimit -f 2; "$P" record {} -e {named}"#, E5.join(" "));
        let output = folder.shell(&script);
        assert!(stderr_of(&output).contains("cannot write pericore.rec"), "{}", stderr_of(&output));
        assert!(!stderr_of(&output).contains("samples before it"), "{}", stderr_of(&output));
        is_kept("full disk", &output);
    }
    let inner = [PERICORE, "record", "-e", "imc/CAS_COUNT.RD/", "--", "/no/such/program"];
    let output = folder.run(&[&["machine", "run", "--machine", "e5-2600", "--"], &inner]);
    assert!(!output.status.success() && stderr_of(&output).contains("/no/such/program"), "{}", stderr_of(&output));
    assert_eq!(fs::read(folder.file("pericore.rec")).expect("a recording"), first, "in real time");
    assert!(!folder.names().iter().any(|name| name.ends_with(".part") || name.ends_with(".old")));
}

/// What a shell has opened is written to; it is no name to move other files to.
#[test]
fn a_recording_follows_links() {
    let folder = Folder::new();
    let run = E5.join(" ");
    let output = folder.shell(&format!(
        r#"echo before >out; "$P" record {run} -o /dev/stdout >>out; ls -l /dev/stdout | cut -c1; tail -n +2 out >x.rec; "$P" report x.rec -j"#
    ));
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(shown.starts_with("l\n{") && shown.contains("MEM_READ_BANDWIDTH"), "{shown}{}", stderr_of(&output));
    assert!(fs::read(folder.file("out")).expect("a file").starts_with(b"before\n{\"pericore-recording\""));
    assert_eq!(folder.names(), ["out", "x.rec"]);
    std::os::unix::fs::symlink("x.rec", folder.file("link")).expect("a link");
    folder.shown(&[&["record", "-o", "link"], &E5]);
    assert_eq!(folder.names(), ["link", "out", "x.rec", "x.rec.old"]);
    assert!(folder.file("link").is_symlink() && !folder.file("x.rec").is_symlink());
}

/// On a machine that stands in for a Xeon: wall time, which is told, and EMULATED all the same. The program's status is ours.
#[test]
fn our_own_recorder_runs_on_a_machine_that_stands_in() {
    let folder = Folder::new();
    let inner = [PERICORE, "record", "-I", "20", "-e", "imc/CAS_COUNT.RD/", "--", "sh", "-c", "sleep 0.1; exit 5"];
    let output = folder
        .run(&[&["machine", "run", "--machine", "e5-2600", "--inject", "imc/CAS_COUNT.RD_REG=1000000", "--"], &inner]);
    assert_eq!(output.status.code(), Some(5), "{}", stderr_of(&output));
    assert!(stderr_of(&output).contains("bytes, in pericore.rec"), "{}", stderr_of(&output));
    let header = fs::read_to_string(folder.file("pericore.rec")).expect("a recording");
    let header: serde_json::Value = serde_json::from_str(header.lines().next().expect("a line")).expect("JSON");
    assert_eq!(header["emulated"], "e5-2680");
    assert!(header["started"].as_str().is_some_and(|time| time.len() == 24 && time.ends_with('Z')), "{header}");
    let table = folder.shown(&[&["report"]]);
    assert!(table.contains("EMULATED e5-2680") && table.contains("imc/CAS_COUNT.RD/"), "{table}");
}
