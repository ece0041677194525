//! A self-check beside stock perf on Nehalem, in a boot of another test: what the long form does on all families
//! (`beside/selfcheck`) in some seconds. Addresses: SDM 18.8.2.

use std::ops::Range;

/// Reads a second of channel 0, which perf counts on counter 0.
pub const INJECTED: &str = "uncore/QMC_NORMAL_READS.CH0=1000000";

/// The notes before and after the check are in the register that has an event's addresses and opcodes.
pub const SCRIPT: &str = "cd /tmp
    perf stat -a -x, -I 100 --summary -o perf -e uncore/event=0x2c,umask=0x1/ -- \
        sh -c 'touch on; until [ -e off ]; do sleep 0.05; done' & perf=$!
    until [ -e on ]; do sleep 0.05; done
    wrmsr 0x396 1; pericore doctor --selfcheck --json >check; checked=$?; wrmsr 0x396 2
    touch off; wait $perf
    echo \"@@ check $checked\"; cat check; echo '@@ perf'; grep summary perf; echo '@@ end'";

/// What the script printed, and the log of the machine's accesses.
pub fn check_and_perf_are_right(output: &str, log: &str) {
    let after = |head: &str| output.split_once(head).unwrap_or_else(|| panic!("{head}: {output}")).1;
    let findings = after("@@ check 0\n").split("@@ ").next().unwrap();
    assert!(!findings.contains("\"state\":\"problem\""), "{findings}");
    for words in [
        "agrees: 8 counters of 1 instance are where the documents have them",
        "could not tell: counters 0 of uncore in socket 0 are in use by others",
    ] {
        assert!(findings.contains(words), "{words}: {findings}");
    }
    // Counter 0 and its control are perf's; bit 0 of the register that enables all is, too.
    let mut enables = Vec::new();
    for line in during(log, "wrmsr cpu0 0x396 <- 0x1 ".."wrmsr cpu0 0x396 <- 0x2 ") {
        assert!(!["0x3b0 <- ", "0x3c0 <- "].iter().any(|write| line.contains(write)), "{line}");
        if let Some((_, value)) = line.split_once("0x391 <- 0x") {
            let digits = value.split_whitespace().next().unwrap();
            enables.push(u64::from_str_radix(digits, 16).unwrap());
        }
    }
    assert!(!enables.is_empty() && enables.iter().all(|value| value & 1 == 1), "{enables:x?}");
    // "summary", count, unit of measure, event with a comma in it, nanoseconds, per cent of the time.
    let cells: Vec<&str> = after("@@ perf\n").lines().next().unwrap().split(',').collect();
    let (count, nanoseconds): (f64, f64) = (cells[1].parse().unwrap(), cells[5].parse().unwrap());
    assert_eq!(cells[6], "100.00", "{cells:?}");
    assert!((count / nanoseconds / 1e-3 - 1.0).abs() < 0.05, "a million a second: {cells:?}");
}

/// The lines of a log from one to another.
fn during<'a>(log: &'a str, lines: Range<&str>) -> impl Iterator<Item = &'a str> {
    let from = log.find(lines.start).unwrap_or_else(|| panic!("{}: {log}", lines.start));
    let to = log.find(lines.end).unwrap_or_else(|| panic!("{}: {log}", lines.end));
    log[from..to].lines()
}
