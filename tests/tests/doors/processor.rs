//! What the preloaded library does for programs: CPUID, the time-stamp counter, mapped registers.

use std::process::Command;

use tempfile::{NamedTempFile, TempPath};

use super::rig::{Rig, require};

/// Compiles a client of ours. The program is there as long as what is returned.
pub fn compile(source: &str) -> TempPath {
    require("cc", "gcc");
    let program = NamedTempFile::new().unwrap().into_temp_path();
    let file = format!("{}/clients/{source}.c", env!("CARGO_MANIFEST_DIR"));
    let arguments = ["-O2", "-Wall", "-Wextra", "-Wno-unused-result", "-pthread", "-o"];
    let status = Command::new("cc").args(arguments).arg(&program).arg(&file).status().expect("cc runs");
    assert!(status.success(), "{file} does not compile");
    program
}

#[test]
fn programs_see_the_machines_processor_on_every_cpu() {
    let program = compile("processor");
    let run = Rig { sockets: 2, ..Rig::default() }.succeed(program.to_str().unwrap(), &[]);
    let line = |start: &str| {
        run.stdout.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start}: {}", run.stdout))
    };
    assert_eq!(line("brand"), "brand Intel(R) Xeon(R) CPU E5-2680 0 @ 2.70GHz");
    // An APIC ID has 5 bits for threads and cores; the first half of the CPUs is socket 0.
    assert_eq!(line("cpu 0"), "cpu 0 apic 0 initial 0 signature 206d7 wrong 0");
    let last = run.stdout.lines().rfind(|line| line.starts_with("cpu ")).unwrap();
    let apic: u32 = last.split_whitespace().nth(3).unwrap().parse().unwrap();
    assert!(run.stdout.lines().any(|line| line.contains("apic 32 ")), "socket 1 has a CPU: {}", run.stdout);
    assert!(
        apic < 64 && run.stdout.matches("wrong 0").count() == run.stdout.matches("wrong").count(),
        "{}",
        run.stdout
    );
    assert_eq!(line("own handler"), "own handler 1", "the program's SIGSEGV handler gets what is its own");
    assert_eq!(line("time stamps"), "time stamps in order 1", "RDTSC and MSR 0x10 are one clock");
    let megahertz: f64 = line("MHz").split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!((megahertz / 2700.0 - 1.0).abs() < 0.02, "{megahertz}");
}

/// LIKWID starts its daemon so.
#[test]
fn a_program_without_an_environment_sees_the_machines_processor() {
    let program = compile("processor");
    let run = Rig::default().succeed("/usr/bin/env", &["-i", program.to_str().unwrap()]);
    assert!(run.stdout.contains("brand Intel(R) Xeon(R) CPU E5-2680 0 @ 2.70GHz\n"), "{}", run.stdout);
}

#[test]
fn without_the_library_the_program_sees_the_host() {
    let program = compile("processor");
    let mut rig = Rig::default();
    rig.options.preload = false;
    let run = rig.run(program.to_str().unwrap(), &[]);
    assert!(!run.stdout.contains("E5-2680 0 @ 2.70GHz"), "{}", run.stdout);
}
