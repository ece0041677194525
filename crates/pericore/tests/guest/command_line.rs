//! Output, errors and exit status come through; wrong command lines and missing programs are told.

use std::fs;

use super::scratch::Scratch;
use super::{beside_perf, boot, switched_off};

/// What it says, without the note that a first boot prepares the guest.
fn said(output: &std::process::Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.lines().filter(|line| !line.starts_with("pericore: preparing")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn output_errors_and_status_are_the_commands() {
    if switched_off() {
        return;
    }
    let scratch = Scratch::new();
    let log = scratch.path().join("log");
    // MSR 0x395 is the fixed counter of this family's uncore.
    let script = "echo out; echo $PERICORE_EMULATED; tail -c 16 /proc/cmdline; echo 'two  words' >&2; rdmsr 0x395; perf stat -a -x, -e uncore/clockticks/ -- true";
    let script = &format!("{script}\n{}\nexit 7", beside_perf::SCRIPT);
    let log_to = log.to_str().unwrap();
    let run = ["--machine", "nehalem", "--log", log_to, "--append", "msr.allow=on x=y", "--timeout", "900"];
    let run = [&run[..], &["--inject", beside_perf::INJECTED, "--", "sh", "-c", script]].concat();
    let output = boot(&run).output().unwrap();
    assert_eq!(output.status.code(), Some(7), "{}", said(&output));
    let printed = String::from_utf8(output.stdout.clone()).unwrap();
    let lines: Vec<&str> = printed.lines().take_while(|line| !line.starts_with("@@ ")).collect();
    let expected = ["out", "x5570", "sr.allow=on x=y"];
    assert_eq!((&lines[..3], lines.len()), (&expected[..], 4), "{lines:?}");
    let errors = said(&output);
    let errors: Vec<&str> = errors.lines().collect();
    assert_eq!(errors[0], "two  words");
    let count: u64 = errors[1].split(',').next().unwrap().parse().unwrap_or_else(|_| panic!("{errors:?}"));
    assert!(count > 0);
    let log = fs::read_to_string(log).unwrap();
    assert!(log.contains("rdmsr cpu0 0x395 -> "), "{log}");
    beside_perf::check_and_perf_are_right(&printed, &log);
}

#[test]
fn a_command_that_takes_too_long_has_timeouts_status() {
    if switched_off() {
        return;
    }
    let output = boot(&["--machine", "nehalem", "--timeout", "2", "--", "sleep", "1000"]).output().unwrap();
    assert_eq!(output.status.code(), Some(124), "{}", said(&output));
    assert!(said(&output).contains("--timeout"), "{}", said(&output));
}

/// Before anything is fetched or written.
#[test]
fn without_qemu_the_package_is_named() {
    let scratch = Scratch::new();
    let mut command = boot(&["--machine", "e5-2600", "--qemu", "qemu-system-none", "--", "true"]);
    let output = command.env("XDG_CACHE_HOME", scratch.path().join("cache")).output().unwrap();
    assert_eq!(output.status.code(), Some(255));
    assert!(
        said(&output).contains("qemu-system-none") && said(&output).contains("apt-get install"),
        "{}",
        said(&output)
    );
    assert!(!scratch.path().join("cache").exists());
}

#[test]
fn wrong_command_lines_are_refused() {
    for (arguments, word) in [
        (["--machine", "e5-2601", "--sockets", "1"], "e5-2600"),
        (["--machine", "e5-2600", "--inject", "imc"], "PER_SECOND"),
        (["--machine", "e5-2600", "--sockets", "100"], "sockets"),
    ] {
        let output = boot(&arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(129), "{arguments:?}: {}", said(&output));
        assert!(said(&output).contains(word), "{arguments:?}: {}", said(&output));
    }
}
