//! Real programs on a software machine: counts against the ledger, replay, and what the program itself gets to see.

mod kernels;
mod sampled;
mod sampled_workloads;

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use crate::ours::PERICORE;

const EVENTS: &str = "cbo/LLC_LOOKUP.DATA_READ,state=0x1F/,cbo/LLC_VICTIMS.M_STATE/,\
                      ha/REQUESTS.READS/,ha/REQUESTS.WRITES/,imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/";

fn pericore(arguments: &[&str]) -> Command {
    let mut command = crate::ours::command(PERICORE);
    command.args(["stat", "--machine", "e5-2600"]).args(arguments);
    command
}

fn run(arguments: &[&str]) -> Output {
    pericore(arguments).output().expect("it starts")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

/// Counts by event, each the same as the ledger's, from JSON lines.
fn counts(output: &Output) -> Vec<u64> {
    let lines = text(&output.stderr).lines();
    let rows = lines.map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap_or_else(|_| panic!("{line}")));
    rows.map(|row| {
        let value: f64 = row["counter-value"].as_str().expect("a count").parse().expect("a number");
        assert_eq!(Some(value), row["truth"].as_f64(), "{row}");
        value as u64
    })
    .collect()
}

#[test]
fn a_program_above_the_llc_and_one_within_it() {
    let python = "print((b'x' * (64 << 20)).count(b'y'))";
    let output = run(&["-j", "--truth", "-e", EVENTS, "--", "python3", "-c", python]);
    assert_eq!(text(&output.stdout), "0\n", "{}", text(&output.stderr));
    let [_, victims, reads, writes, ..] = counts(&output)[..] else { panic!("six events") };
    // 1048576 lines are written and read again, and the LLC keeps 327680 of them at most.
    assert!(reads > 2 * 720_896 && writes >= 720_896 && victims > 0, "{reads} reads, {writes} writes");

    let words = tempfile::NamedTempFile::new().expect("a file");
    let numbers = (0..20_000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_string() + "\n");
    fs::write(&words, numbers.collect::<String>()).expect("a file");
    let path = words.path().to_str().expect("text");
    let output = run(&["-j", "--truth", "-e", EVENTS, "--", "sort", path]);
    assert!(output.status.success());
    assert_eq!(text(&output.stdout).lines().count(), 20_000);
    let [lookups, victims, reads, writes, ..] = counts(&output)[..] else { panic!("six events") };
    // A few MiB: they come in once, and are found in the LLC from then on.
    assert!(
        victims == 0 && writes == 0 && reads < 327_680 && lookups > reads,
        "{lookups}, {reads}, {victims}, {writes}"
    );
}

/// Seconds of virtual time that a way of `tests/programs/chain.c` takes on a Xeon 5500, over 16 MiB: twice its LLC.
fn chain_seconds(way: &str, passes: &str) -> f64 {
    let folder = tempfile::tempdir().expect("a folder");
    let chain = folder.path().join("chain");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/programs/chain.c");
    let compiled = Command::new("cc").args(["-O2", "-o"]).arg(&chain).arg(source).status().expect("cc runs");
    assert!(compiled.success(), "cc: {compiled}");
    let mut command = crate::ours::command(PERICORE);
    // A prefetched neighbour would come from the LLC later on.
    let options = ["--core", "prefetch=off", "-e", "uncore/UNC_QMC_NORMAL_READS.ANY/", "--"];
    command.args(["stat", "--machine", "x5570"]).args(options);
    let output = command.arg(&chain).args([way, "262144", passes]).output().expect("it starts");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let words = text(&output.stderr).rsplit_once("virtual time: ").expect("a time").1;
    words.split_once(" s;").expect("seconds").0.parse().expect("a number")
}

/// Levinthal's guide to the Xeon 5500: a read of memory takes about 60 ns. That is what a hop takes, since the pointer
/// is loaded, or a little less: the LLC still has some lines. Computed addresses take what ten fill buffers let them.
#[test]
fn a_pointer_chase_takes_a_read_for_each_hop() {
    let [hop, load] =
        ["follow", "array"].map(|way| (chain_seconds(way, "2") - chain_seconds(way, "1")) * 1e9 / 262_144.0);
    assert!((50.0..66.0).contains(&hop), "{hop:.1} ns a hop");
    assert!((4.0..12.0).contains(&load), "{load:.1} ns a load");
}

#[test]
fn a_saved_trace_replays_to_the_same_table() {
    let folder = tempfile::tempdir().expect("a folder");
    let (trace, words) = (folder.path().join("trace"), folder.path().join("words"));
    fs::write(&words, (0..3000).rev().map(|n| format!("{n}\n")).collect::<String>()).expect("a file");
    let (path, words) = (trace.to_str().expect("text"), words.to_str().expect("text"));
    let script = format!("sort {words} | sort -n > /dev/null & sort -r {words} > /dev/null; wait");
    let figures = |output: &Output| {
        let table = text(&output.stderr).to_owned();
        assert!(output.status.success(), "{table}");
        // The title names the trace, and may take two lines.
        let lines = table.lines().skip_while(|line| !line.contains("measured"));
        let lines = lines.filter(|line| !line.contains("real time"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    for settings in ["", "cpi=2,prefetch=off,pages=2M,misses=4"] {
        let events = format!("{EVENTS},imc/RPQ_OCCUPANCY/,cbo/CLOCKTICKS/");
        let common = ["--core", settings, "--truth", "-e", &events];
        let live = run(&[&common[..], &["--save-trace", path, "--", "sh", "-c", &script]].concat());
        let replay = run(&[&common[..], &["--trace", path]].concat());
        assert!(text(&replay.stderr).contains("(trace "), "{}", text(&replay.stderr));
        assert_eq!(figures(&live), figures(&replay));
        // A file that ends too early is refused, with its place, and no table.
        let whole = fs::read(&trace).expect("the trace");
        fs::write(&trace, &whole[..whole.len() / 2]).expect("half of it");
        let refused = run(&["--trace", path, "-e", EVENTS]);
        assert_eq!(refused.status.code(), Some(255));
        assert!(text(&refused.stderr).contains(&format!("{path}): byte ")), "{}", text(&refused.stderr));
        assert!(!text(&refused.stderr).contains("LLC_VICTIMS"), "{}", text(&refused.stderr));
    }
}

#[test]
fn streams_status_and_signals_are_the_programs_own() {
    let mut child = pericore(&["-e", "imc/CAS_COUNT.RD/", "--", "sh", "-c", "cat; echo aside >&2; exit 7"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    child.stdin.take().expect("a pipe").write_all(b"through\n").expect("written");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(7), "through\n"));
    let printed = text(&output.stderr);
    for words in ["aside\n", "EMULATED", "sh -c cat", "the kernel", "instructions and sleep do"] {
        assert!(printed.contains(words), "no {words:?} in {printed}");
    }
    let killed = run(&["-e", "imc/CAS_COUNT.RD/", "--", "sh", "-c", "kill -TERM $$"]);
    assert_eq!(killed.status.code(), Some(128 + 15));
}

/// `perf stat -- sleep 1` counts a second.
#[test]
fn a_program_that_sleeps_takes_that_time() {
    for (machine, words) in [
        ("e5-2680", &["sleep", "0.05"][..]),
        ("x5570", &["python3", "-c", "import time; time.sleep(0.05)"]),
        ("8592+", &["sleep", "0.05"]),
    ] {
        let mut command = crate::ours::command(PERICORE);
        command.args(["stat", "--machine", machine, "-j", "-M", "MEM_READ_BANDWIDTH", "--"]).args(words);
        let output = command.output().expect("it starts");
        let printed = text(&output.stderr);
        let row = printed.lines().find(|line| line.starts_with('{')).unwrap_or_else(|| panic!("{printed}"));
        let row: serde_json::Value = serde_json::from_str(row).expect("JSON");
        let seconds = row["event-runtime"].as_f64().expect("a time") / 1e9;
        // Besides, a program starts and ends: Python takes some thirty milliseconds for that.
        assert!((0.05..0.12).contains(&seconds), "{machine} {words:?}: {seconds} s");
    }
}

#[test]
fn what_cannot_run_is_refused_with_its_cause() {
    let refused = |command: &mut Command, status: i32, words: &str| {
        let output = command.output().expect("it starts");
        let printed = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{printed}");
        assert!(printed.contains(words), "no {words:?} in {printed}");
        assert!(!printed.contains("EMULATED"), "{printed}");
    };
    refused(&mut pericore(&["--", "no-such-program"]), 127, "there is no such program in the PATH");
    refused(&mut pericore(&["--", "/no/such/program"]), 127, "/no/such/program: No such file");
    refused(&mut pericore(&["--", "/tmp"]), 126, "/tmp is not a file that can be run");
    refused(&mut pericore(&["--trace", "/proc/self/maps"]), 255, "no pericore trace");
    refused(&mut pericore(&["--core", "cpi=0", "--", "true"]), 129, "cpi=0: give 0.05 to 100");
    refused(&mut pericore(&["--core", "cpi=1"]), 129, "name one after --");
    refused(&mut pericore(&["--save-trace", "/no/such/place", "--", "true"]), 255, "/no/such/place");
    // A PATH without QEMU: the package that has it is named. The program itself is given by its path.
    refused(pericore(&["--", "/bin/true"]).env("PATH", "/nowhere"), 255, "apt install qemu-user");
}

#[test]
fn a_dry_run_starts_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let mark = folder.path().join("mark");
    let output = run(&["--dry-run", "--", "touch", mark.to_str().expect("text")]);
    assert!(output.status.success() && !mark.exists());
}

#[test]
fn an_instruction_that_qemu_lacks_is_named() {
    let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs/pattern.c");
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("pattern");
    let status =
        Command::new("cc").args(["-O2", "-pthread", "-o"]).arg(&program).arg(source).status().expect("cc runs");
    assert!(status.success());
    let output = run(&["-j", "-e", "imc/CAS_COUNT.RD/", "--", program.to_str().expect("text"), "evex"]);
    assert_eq!(output.status.code(), Some(128 + 4));
    assert!(text(&output.stderr).contains("AVX-512"), "{}", text(&output.stderr));
}

#[test]
fn a_measurement_that_ends_first_ends_the_program() {
    let output =
        run(&["--timeout", "0.05", "-e", "imc/CAS_COUNT.RD/", "--", "sh", "-c", "while :; do ls > /dev/null; done"]);
    assert!(output.status.success());
    assert!(text(&output.stderr).contains("ended before the program"), "{}", text(&output.stderr));
    // A program that never leaves its first-level cache.
    let output = run(&["--timeout", "0.05", "-e", "imc/CAS_COUNT.RD/", "--", "sh", "-c", "while :; do :; done"]);
    assert!(text(&output.stderr).contains("ended before the program"), "{}", text(&output.stderr));
}
