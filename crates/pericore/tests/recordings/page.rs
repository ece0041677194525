//! `report --html`: the page, in a browser and as a file.

use std::fs;
use std::process::Command;

use super::folder::{Folder, stderr_of};

const PAGE_TEST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/browser/page.mjs");

/// Ends the script it is in, unless it is escaped.
const HOSTILE: &str = "</script><img src=x onerror=alert(1)>\"q\" & 'b";

/// A recording whose title and event names would be elements if they were taken for HTML.
fn record(folder: &Folder, file: &str, workload: &str) {
    let wanted = ["-e", "imc/CAS_COUNT.RD,name=<b>/", "-M", "memory,llc,latency,limits", "-I", "0.005"];
    folder.shown(&[&["record", "-o", file, "--machine", "e5-2600", "--workload", workload], &wanted]);
    let lines = fs::read_to_string(folder.file(file)).expect("a recording");
    let (first, rest) = lines.split_once('\n').expect("lines");
    let mut header: serde_json::Value = serde_json::from_str(first).expect("JSON");
    header["title"] = format!("{} {HOSTILE}", header["title"].as_str().expect("a title")).into();
    // The version comes first, which this order of keys leaves as it is.
    let named = first.split_once("\"title\":").expect("a title").0;
    let behind = first.split_once(",\"emulated\"").expect("what follows").1;
    let first = format!("{named}\"title\":{},\"emulated\"{behind}", header["title"]);
    fs::write(folder.file(file), format!("{first}\n{rest}")).expect("written");
}

/// Charts, brush, slider, keys, dark colours, two recordings, hostile names, nothing loaded, and nothing that axe-core
/// finds.
#[test]
fn a_browser_shows_the_page() {
    let folder = Folder::new();
    record(&folder, "one.rec", "stream:requests=54k,footprint=64M");
    record(&folder, "two.rec", "random:requests=27k,footprint=64M");
    folder.shown(&[&["report", "one.rec", "--html", "one.html"]]);
    folder.shown(&[&["report", "one.rec", "--diff", "two.rec", "--html", "diff.html"]]);
    let (one, diff) = (folder.file("one.html"), folder.file("diff.html"));
    let output = Command::new("node").arg(PAGE_TEST).args([&one, &diff]).arg(HOSTILE).output();
    let output = output.expect("node is installed: tests/run installs it");
    assert!(
        output.status.success(),
        "tests/run installs Chromium and its driver, if they are what is missing\n{}",
        stderr_of(&output)
    );
}

/// An hour at a sample a second stays below 1 MB, six of them below 5 MB; each number of the summary is that of
/// `report`.
#[test]
fn long_recordings_become_short_pages() {
    let folder = Folder::new();
    let wanted = ["-M", "memory", "-I", "0.005"];
    let machine = ["--machine", "e5-2600:sockets=2", "--workload", "mixed:requests=20k,footprint=64M"];
    folder.shown(&[&["record", "-o", "short.rec"], &machine, &wanted]);
    let short = fs::read_to_string(folder.file("short.rec")).expect("a recording");
    let lines: Vec<&str> = short.lines().collect();
    for (hours, most) in [(1, 1_000_000), (6, 5_000_000)] {
        let mut long = format!("{}\n", lines[0]);
        for second in 0..hours * 3600 {
            let mut sample: serde_json::Value =
                serde_json::from_str(lines[1 + second % (lines.len() - 2)]).expect("a sample");
            sample["end"] = (second as f64 + 1.0).into();
            sample["seconds"] = 1.0.into();
            sample.as_object_mut().expect("an object").remove("sockets");
            for count in sample["counts"].as_array_mut().expect("counts") {
                // No two samples are alike: numbers with all their digits are the longest.
                *count = (count.as_u64().unwrap_or(0) * (100_000 + (second as u64 * 7919) % 90_001)).into();
            }
            long += &format!("{sample}\n");
        }
        fs::write(folder.file("long.rec"), long).expect("written");
        folder.run(&[&["report", "long.rec", "--html", "long.html"]]);
        let page = fs::read_to_string(folder.file("long.html")).expect("a page");
        assert!(page.len() < most, "{hours} h: {} bytes", page.len());
        assert!(page.len() > 200_000, "{hours} h: {} bytes: what has room is there", page.len());
        let report = folder.run(&[&["report", "long.rec"]]);
        let report = String::from_utf8(report.stdout).expect("UTF-8");
        let figures = report.lines().find(|line| line.contains("reads ")).expect("figures");
        for figure in figures.split('|') {
            assert!(page.contains(&format!("\"words\":\"{}\"", figure.trim())), "{figure}");
        }
    }
}

/// A page is whole or not there, and an older one stays beside it; the recording is not replaced.
#[test]
fn a_page_takes_its_place_when_it_is_whole() {
    let folder = Folder::new();
    folder.shown(&[&["record", "-o", "x.rec", "--machine", "e5-2600", "--workload", "random:requests=4k"]]);
    let recording = fs::read(folder.file("x.rec")).expect("a recording");
    fs::write(folder.file("x.html"), "older").expect("written");
    folder.shown(&[&["report", "x.rec", "--html", "x.html"]]);
    assert_eq!(folder.names(), ["x.html", "x.html.old", "x.rec"]);
    assert_eq!(fs::read(folder.file("x.html.old")).expect("a file"), b"older");
    let page = fs::read_to_string(folder.file("x.html")).expect("a page");
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    let text = String::from_utf8(recording.clone()).expect("UTF-8");
    let damaged = text.replacen("\n{\"end\"", "\n{\"end", 1);
    assert_ne!(damaged, text, "a sample lacks a quotation mark");
    fs::write(folder.file("bad.rec"), damaged).expect("written");
    for (arguments, status, why) in [
        (&["bad.rec", "--html", "y.html"][..], 255, "bad.rec"),
        (&["x.rec", "--html", "x.rec"], 129, "this is the recording x.rec itself"),
        (&["x.rec", "--html", "none/x.html"], 255, "cannot write none/x.html"),
        (&["x.rec", "--html", "y.html", "-j"], 129, "cannot be used with"),
        (&["x.rec", "--html", "y.html", "--over-time"], 129, "cannot be used with"),
        (&["x.rec", "--html", "y.html", "--to", "csv"], 129, "--to FORM writes all"),
    ] {
        let output = folder.run(&[&["report"], arguments]);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {}", stderr_of(&output));
        assert!(stderr_of(&output).contains(why), "{arguments:?}: {}", stderr_of(&output));
    }
    assert_eq!(folder.names(), ["bad.rec", "x.html", "x.html.old", "x.rec"]);
    assert_eq!(fs::read(folder.file("x.rec")).expect("a recording"), recording);
}
