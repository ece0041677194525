//! Names as the program itself prints them, and files that are named twice.

use std::fs;

use super::{pericore, refused, stderr, stdout};

/// What a command prints that succeeds, on both streams.
fn printed(arguments: &[&str]) -> (String, String) {
    let output = pericore(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    (stdout(&output), stderr(&output))
}

fn stat<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [&["stat", "-e", "cbo/CLOCKTICKS/"], arguments].concat()
}

/// A file that is read is not written over: whatever it was, it is as before.
#[test]
fn results_do_not_replace_what_was_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let (scenario, snapshot) = (path("day.scenario"), path("my.snap"));
    fs::write(&scenario, "phase work\n  workload stream:requests=500\n").expect("the scenario is written");
    printed(&["machine", "dump", "--machine", "e5-2600", "-o", &snapshot]);
    let before = [&scenario, &snapshot].map(|path| fs::read(path).expect("it is there"));
    let words = ["itself, which would be overwritten; name another file"];
    refused(&stat(&["--machine", "e5-2600", "--workload", &scenario, "-o", &scenario]), 129, &words);
    refused(&stat(&["--machine", &snapshot, "--workload", "stream:requests=500", "-o", &snapshot]), 129, &words);
    assert_eq!([&scenario, &snapshot].map(|path| fs::read(path).expect("it is there")), before);
    let to = ["--machine", "e5-2600", "--workload", &scenario, "-e", "cbo/CLOCKTICKS/", "-o", &scenario];
    refused(&[&["record"], &to[..]].concat(), 129, &words);
    let other = path("results");
    printed(&stat(&["--machine", "e5-2600", "--workload", &scenario, "-o", &other]));
    assert!(fs::read_to_string(&other).expect("results").contains("cbo/CLOCKTICKS"));
}

/// `list` finds what it prints, and what is behind a name that `explain` takes is not dropped without a word.
#[test]
fn names_are_found_as_they_are_printed() {
    for name in ["imc/CAS_COUNT.RD", "imc/CAS_COUNT.RD/", "imc/MEM_BANDWIDTH"] {
        let (rows, _) = printed(&["list", "--machine", "e5-2600", name]);
        let last = name.trim_end_matches('/').rsplit(['/', '.']).next().expect("a name");
        assert!(rows.contains(last), "{name}: {rows}");
    }
    let (rows, _) = printed(&["list", "--machine", "e5-2600", "--metrics", "--json", "imc/MEM_BANDWIDTH"]);
    assert!(rows.contains("\"metric\":\"MEM_BANDWIDTH\""), "{rows}");
    let (_, notice) = printed(&["explain", "--machine", "e5-2600", "imc/CAS_COUNT.RD,thresh=3/"]);
    assert!(notice.contains("imc/CAS_COUNT.RD is explained without \"thresh=3\""), "{notice}");
    let (_, notice) = printed(&["explain", "--machine", "e5-2600", "imc/CAS_COUNT.RD/"]);
    assert_eq!(notice, "");
    // Intel's name, without a slash: iMC, event 0x05, umask 0xCF (Intel's event file).
    let (control, _) = printed(&["encode", "--machine", "emr", "UNC_M_CAS_COUNT.RD"]);
    assert!(control.contains("0xcf05"), "{control}");
}

/// Programs that have code and umask select what the whole control value selects.
#[test]
fn an_event_without_subevents_has_its_umask() {
    // Intel's event file: UNC_M_CLOCKTICKS has code 0x01 and umask 0x01.
    let (row, _) = printed(&["list", "--machine", "emr", "--unit", "imc", "--json", "CLOCKTICKS"]);
    let first = row.lines().find(|line| line.contains("\"event\":\"CLOCKTICKS\"")).expect("the event");
    assert!(first.contains("\"code\":\"0x01\",\"umask\":\"0x01\""), "{first}");
}

/// Of events that only the kernel's driver counts, nothing says whether they count occurrences or cycles.
#[test]
fn nothing_is_printed_of_a_number_that_is_not_known() {
    let (of_kernel, _) = printed(&["explain", "--machine", "gnr", "imc/RPQ_OCCUPANCY_SCH0_PCH0"]);
    assert!(!of_kernel.contains("A count of occurrences"), "{of_kernel}");
    let (of_registers, _) = printed(&["explain", "--machine", "e5-2600", "imc/ACT_COUNT"]);
    assert!(of_registers.contains("A count of occurrences"), "{of_registers}");
}

/// In what is shorter than a nanosecond nothing can be measured.
#[test]
fn a_time_below_a_nanosecond_is_refused() {
    let words = ["--timeout: give a number of milliseconds above 0: from 0.000001"];
    refused(&["stat", "--machine", "e5-2600", "--timeout", "1e-12", "-M", "memory"], 129, &words);
    refused(&["stat", "--machine", "e5-2600", "--dry-run", "-j"], 129, &["--dry-run"]);
}

/// Words behind a program are the program's; a recording is none, and takes nothing.
#[test]
fn options_behind_a_recording_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.rec").to_str().expect("UTF-8").to_owned();
    let run = ["--machine", "e5-2600", "--workload", "stream:requests=2000", "-e", "cbo/CLOCKTICKS/", "-o", &path];
    printed(&[&["record"], &run[..]].concat());
    refused(&["top", &path, "-b"], 129, &["is a recording: options go in front of it"]);
    let (frames, _) = printed(&["top", "-b", "-n", "1", &path]);
    assert!(frames.contains("CLOCKTICKS"), "{frames}");
    fs::remove_file(&path).expect("it is there");
    for absent in [path.as_str(), "a.rec", "no-such-program"] {
        let why = format!("cannot read {absent}: there is no such file, and no such program");
        refused(&["top", "-b", absent], 255, &[&why]);
    }
}

/// What is put in its place when it is whole is a file: `-` would become one of that name, and `report -` waits.
#[test]
fn a_recording_and_a_page_have_names() {
    let of =
        ["record", "--machine", "e5-2600", "--workload", "stream:requests=500", "-e", "cbo/CLOCKTICKS/", "-o", "-"];
    refused(&of, 129, &["-o -: this is written to a file; name one"]);
    assert!(!std::path::Path::new("-").exists());
}

/// A file that is named is meant: without it the defaults would be others.
#[test]
fn a_named_configuration_must_be_there() {
    let mut command = crate::ours::command(crate::ours::PERICORE);
    let output = command.args(["list", "--machine", "e5-2600"]).env("PERICORE_CONFIG", "/no/such.toml").output();
    let output = output.expect("it starts");
    assert_eq!((output.status.code(), stdout(&output)), (Some(129), String::new()));
    assert!(stderr(&output).contains("cannot read /no/such.toml"), "{}", stderr(&output));
}

/// Settings that would do nothing, or of which one would win.
#[test]
fn settings_of_a_program_that_cannot_be_meant_are_refused() {
    let program = |settings: &[&'static str]| [&["--machine", "e5-2600"], settings, &["--", "true"]].concat();
    refused(&stat(&program(&["--numa", "remote"])), 129, &["e5-2680 has one socket", "--machine e5-2680:sockets=2"]);
    refused(&stat(&program(&["--core", "numa=interleave"])), 129, &["e5-2680 has one socket"]);
    refused(&stat(&program(&["--core", "cpi=0.5,cpi=2"])), 129, &["--core: cpi stands there twice"]);
    refused(&stat(&program(&["--core", "cpi=0.5,,misses=2"])), 129, &["cores have no setting \"\""]);
}
