//! Folders of a test's own, and patience.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A folder that goes with this value.
pub struct Scratch(TempDir);

impl Scratch {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// A program in the folder `bin`, which is to come first in the search path.
    pub fn program(&self, name: &str, script: &str) {
        let folder = self.path().join("bin");
        fs::create_dir_all(&folder).unwrap();
        let draft = self.path().join("draft");
        fs::write(&draft, format!("#!/bin/sh\n{script}\n")).unwrap();
        // Written by another process: a child that this one forks at the same time would hold the file open for writing, and nobody could run it.
        let written = Command::new("install").args(["-m", "755"]).arg(&draft).arg(folder.join(name)).status().unwrap();
        assert!(written.success());
    }

    /// The search path with `bin` in front.
    pub fn search_path(&self) -> String {
        format!("{}:{}", self.path().join("bin").display(), std::env::var("PATH").unwrap_or_default())
    }

    /// Names of everything below a folder of it, at any depth; nothing if there is no such folder.
    pub fn content(&self, folder: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.path().join(folder)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                if entry.path().is_dir() {
                    folders.push(entry.path());
                } else {
                    found.push(entry.path());
                }
            }
        }
        found
    }
}

/// Waits until something holds; the limit is for a host that is very busy.
pub fn eventually(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(180);
    while !holds() {
        assert!(Instant::now() < deadline, "still not so: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// True if a process runs: it is there, and no longer than its parent needs to hear of its end.
pub fn is_running(process: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    status.lines().any(|line| line.starts_with("State:") && !line.contains('Z') && !line.contains('X'))
}
