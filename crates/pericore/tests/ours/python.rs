//! Python with the packages of `tests/tiers/python.txt`, which `tests/run` installs.

use std::path::PathBuf;
use std::process::Command;

/// The interpreter that has the packages.
pub fn python() -> Command {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
    let interpreter = cache.unwrap_or_default().join("pericore/python/bin/python");
    let installed = interpreter.with_file_name("../installed.txt");
    let found = std::fs::read_to_string(&installed).unwrap_or_default();
    let wanted = include_str!("../../../../tests/tiers/python.txt");
    assert_eq!(found, wanted, "{} is not as it should be: run tests/run, which installs it", installed.display());
    Command::new(interpreter)
}

/// What a script prints, as JSON.
pub fn python_json(script: &str, arguments: &[&str]) -> serde_json::Value {
    let output = python().args(["-c", script]).args(arguments).output().expect("it starts");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}
