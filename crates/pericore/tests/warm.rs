//! `--warm`: the steady phase of a live machine is kept, and taken back for the same machine and workload only.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::ours::{PERICORE, command};

/// Counts lines that a channel of an E5-2600 reads, by hand (guide 2.5: CAS_COUNT 0x04, reads 0x03).
const PROGRAM: &str = "setpci -s ff:10.4 d8.l=400304; sleep 0.2; setpci -s ff:10.4 a0.l";

fn run(folder: &Path, machine: &str, workload: &str) -> Output {
    let program = if machine.starts_with("e5") { PROGRAM } else { "true" };
    let warm = format!("--warm={}", folder.display());
    let words = ["machine", "run", "--machine", machine, "--workload", workload, &warm, "--", "sh", "-c", program];
    let output = command(PERICORE).args(words).output().expect("it starts");
    assert!(output.status.success(), "{output:?}");
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn windows(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).expect("a folder").map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn a_window_is_kept_once_for_each_machine_and_workload() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().join("made/for/it");
    for (machine, workload, kept) in [
        ("e5-2600", "stream", 1),
        ("e5-2600", "stream", 1),
        ("e5-2600", "stream:seed=2", 2),
        ("e5-2600:sockets=2", "stream", 3),
        ("e5-2600:ddio=4", "stream", 4),
    ] {
        let output = run(&folder, machine, workload);
        assert_eq!(text(&output.stderr), "", "{machine} {workload}");
        assert_eq!(windows(&folder).len(), kept, "{machine} {workload}");
        let counted = u64::from_str_radix(text(&output.stdout).trim(), 16).expect("a count");
        // A fifth of a second of a channel of a machine that loads 44 GB/s: some 34 million lines.
        assert!(counted > 10_000_000, "{machine} {workload}: {counted}");
    }
}

/// What is not whole, or is something else, is named, never used, and replaced.
#[test]
fn what_cannot_be_used_is_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    run(folder.path(), "nehalem", "random");
    let [file] = &windows(folder.path())[..] else { panic!("one window") };
    let whole = fs::read(file).expect("the window");
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 1;
    let mut newer = whole.clone();
    newer[16] += 1;
    for (bytes, words) in [
        (&whole[..whole.len() / 2], "damaged"),
        (&changed, "damaged: its checksum is another"),
        (&newer, "format 2"),
        (b"something else", "no window that pericore has saved"),
        (b"", "no window that pericore has saved"),
    ] {
        fs::write(file, bytes).expect("it is written");
        let output = run(folder.path(), "nehalem", "random");
        let printed = text(&output.stderr);
        assert!(printed.contains(words) && printed.contains("warmed up anew"), "{words}: {printed}");
        assert!(fs::read(file).expect("the window") == whole, "{words}: another window");
    }
    let output = run(folder.path(), "nehalem", "random");
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn a_scenario_has_no_steady_phase() {
    let output = command(PERICORE).args(["top", "-b", "--machine", "e5-2600", "--cold", "--warm"]).output();
    let output = output.expect("it starts");
    assert_eq!(output.status.code(), Some(129));
    assert!(text(&output.stderr).contains("--warm: only the steady phase"), "{}", text(&output.stderr));
}
