//! Instructions for each request: the difference of two runs under callgrind, so that start-up does not count.

use std::process::Command;

/// Argument that makes the program run one case once.
pub const ONE: &str = "--one";

/// Requests of the two runs.
const FEWER: u64 = 150_000;
const MORE: u64 = 250_000;

/// Instructions for each request of a case; `None` if callgrind cannot be run.
pub fn each(case: &str) -> Option<u64> {
    let (fewer, more) = (total(case, FEWER)?, total(case, MORE)?);
    Some((more - fewer) / (MORE - FEWER))
}

fn total(case: &str, requests: u64) -> Option<u64> {
    let program = std::env::current_exe().ok()?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args([ONE, case, &requests.to_string()])
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stderr);
    text.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok())
}
