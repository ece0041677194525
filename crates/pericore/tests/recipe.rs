//! The recipe of docs/counting/ci.md, with the tools that it names. They need /dev/fuse, root or user namespaces, pcm
//! and likwid.

use std::path::Path;
use std::process::{Command, Output};

const PCM: &[&str] = &["pcm-memory", "1", "-i=2"];
const LIKWID: &[&str] = &["likwid-perfctr", "-f", "-M", "0", "-C", "0", "-g", "MEM", "-S", "1s"];

fn check(arguments: &[&str], tool: &[&str], reads_a_second: &str) -> (Option<i32>, String) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/action/check.sh");
    let mut command = Command::new(script);
    command.args(arguments).arg("--").args(tool);
    command
        .env("PERICORE", env!("CARGO_BIN_EXE_pericore"))
        .env("INJECT", format!("imc/CAS_COUNT.RD_REG={reads_a_second}"));
    let Output { status, stdout, stderr } = command.output().expect("bash starts");
    (status.code(), String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned())
}

/// 4 channels x 1,000,000 reads x 64 bytes a second are 256 MB/s; with 900,000 reads the same expectation fails.
#[test]
fn bandwidth_is_held_against_what_is_there() {
    let pcm = ["bandwidth", "e5-2600", r"System Read Throughput\(MB\/s\): *([0-9.]+)"];
    let likwid = ["bandwidth", "e5-2600", r"Memory read bandwidth \[MBytes\/s\] \| *([0-9.]+)"];
    let (status, printed) = check(&pcm, PCM, "1000000");
    assert_eq!(status, Some(0), "{printed}");
    let (status, printed) = check(&likwid, LIKWID, "1000000");
    assert_eq!(status, Some(0), "{printed}");
    let (status, printed) = check(&likwid, LIKWID, "900000");
    assert_eq!(status, Some(1), "{printed}");
}

/// The first run writes the file and fails; the next passes; another group of events has other accesses.
#[test]
fn accesses_are_pinned() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("likwid.accesses");
    let arguments = ["accesses", "e5-2600", file.to_str().unwrap()];
    let run = |group: &'static str| check(&arguments, &[&LIKWID[..7], &[group], &LIKWID[8..]].concat(), "1").0;
    assert_eq!([run("MEM"), run("MEM"), run("L3")], [Some(1), Some(0), Some(1)]);
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(written.lines().any(|line| line.contains("0000:ff:10.0") || line.contains("ff:10.0")), "{written}");
}

/// LIKWID 5.2.2 prints 2^48 - 1 reads of a channel that reads as all ones; nothing else of what is broken shows in
/// either tool.
#[test]
fn broken_machines_show_what_a_tool_makes_of_them() {
    let (status, printed) = check(&["broken", "e5-2600"], PCM, "1");
    assert_eq!((status, printed.contains("cannot be")), (Some(0), false), "{printed}");
    let (status, printed) = check(&["broken", "e5-2600"], LIKWID, "1");
    assert_eq!((status, printed.matches("cannot be").count()), (Some(1), 1), "{printed}");
    assert!(printed.contains("all-ones=imc0: prints a number that cannot be"), "{printed}");
}
