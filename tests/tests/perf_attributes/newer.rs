//! The same with perf of Linux 6.12, whose tables have fifteen families, in the long form: `tests/tiers/newer_perf.sh`
//! fetches it.

use std::path::PathBuf;
use std::process::Command;

use super::perf::Program;

/// What the long form has found, as for the installed perf.
const LOG: &str = include_str!("../../logs/kernel/perf_attributes-6.12.log");

/// Where `tests/tiers/newer_perf.sh` puts it.
fn program() -> Program {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map_or_else(|| "/tmp".into(), PathBuf::from);
    let root = cache.unwrap_or_else(|| home().join(".cache")).join("pericore/perf-6.12");
    Program { path: root.join("usr/bin/perf"), libraries: Some(root.join("usr/lib/x86_64-linux-gnu")) }
}

/// With `--nocapture` it prints what the log should be.
#[test]
#[ignore = "two minutes, and a program from Debian's backports"]
fn perf_of_6_12_selects_every_event_of_intels_files_alike() {
    let program = program();
    let mut command = Command::new(&program.path);
    command.arg("--version").envs(program.libraries.iter().map(|folder| ("LD_LIBRARY_PATH", folder)));
    let output = command.output().unwrap_or_else(|error| {
        panic!("{}: {error}: `. tests/tiers/newer_perf.sh` fetches perf of Linux 6.12", program.path.display())
    });
    let version = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(version.starts_with("perf version 6.12."), "{version}, {output:?}");
    super::every_event_is_selected_alike(&program, LOG);
}

/// What it found holds for this perf, too.
#[test]
fn perf_of_6_12_selects_at_most_one_row_of_a_hundred_in_another_way() {
    super::at_most_one_of_a_hundred_differs(LOG);
}
