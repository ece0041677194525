//! A folder for a test, and runs in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::ours::{PERICORE, command};

/// A folder of a test's own, which is the current one of its programs.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    pub fn command(&self, arguments: &[&[&str]]) -> Command {
        let mut command = command(PERICORE);
        command.args(arguments.concat()).current_dir(&self.0).env("XDG_STATE_HOME", self.0.path());
        command
    }

    pub fn run(&self, arguments: &[&[&str]]) -> Output {
        self.command(arguments).output().expect("the program starts")
    }

    /// Standard output of a run that ends well.
    pub fn shown(&self, arguments: &[&[&str]]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", stderr_of(&output));
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// A shell's run; `$P` is the program.
    pub fn shell(&self, script: &str) -> Output {
        let mut command = command("sh");
        command.args(["-c", script]).current_dir(&self.0);
        command.output().expect("sh runs")
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("a folder").map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<String> = entries.map(|name| name.into_string().expect("UTF-8")).collect();
        names.sort();
        names
    }
}

pub fn stderr_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub fn lines(path: &Path) -> usize {
    fs::read(path).map_or(0, |bytes| bytes.iter().filter(|byte| **byte == b'\n').count())
}
