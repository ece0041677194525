//! Stock perf on a tree of PMUs. `strace` prints the attributes that perf gives the kernel, and answers in its place.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::pmus::{FamilyPmus, Words};

/// So many events are given to perf at a time.
const BATCH: usize = 400;

/// A perf.
#[derive(Debug)]
pub struct Program {
    pub path: PathBuf,
    /// Where it has libraries that the system has not.
    pub libraries: Option<PathBuf>,
}

impl Default for Program {
    /// The installed one.
    fn default() -> Self {
        Self { path: "perf".into(), libraries: None }
    }
}

/// perf, as on a machine of a family.
pub struct Perf<'a> {
    program: &'a Program,
    root: &'a Path,
    cpuid: &'static str,
}

impl<'a> Perf<'a> {
    /// On the family's tree under `root`.
    pub fn of(program: &'a Program, family: &FamilyPmus, root: &'a Path) -> Self {
        family.write(root);
        Self { program, root, cpuid: family.cpuid }
    }

    fn command(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).env("SYSFS_PATH", self.root).env("PERF_CPUID", self.cpuid);
        if let Some(libraries) = &self.program.libraries {
            command.env("LD_LIBRARY_PATH", libraries);
        }
        command
    }

    /// The names of uncore events that perf's own tables have for the family, in lower case.
    pub fn names(&self) -> HashSet<String> {
        let output = self.command(&self.program.path, &["list", "--no-desc"]).output().expect("perf is installed");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let words = text.split_whitespace().filter(|word| word.contains('_') && !word.contains('/'));
        words.map(str::to_lowercase).collect()
    }

    /// What perf gives the kernel for each event: its words, or none if perf refuses the event.
    pub fn words(&self, events: &[String]) -> Vec<Option<Words>> {
        events.chunks(BATCH).flat_map(|batch| self.batch(batch)).collect()
    }

    fn batch(&self, events: &[String]) -> Vec<Option<Words>> {
        let log = tempfile::NamedTempFile::new().expect("a file");
        let path = log.path().to_str().expect("UTF-8");
        let trace = ["-f", "-v", "-e", "trace=perf_event_open", "-e", "inject=perf_event_open:retval=1", "-o", path];
        let mut command = self.command(Path::new("strace"), &trace);
        // Of one CPU: events of the cores are opened once then, and in the order given.
        command.arg(&self.program.path).args(["stat", "-C", "0"]);
        command.args(events.iter().flat_map(|event| ["-e", event])).arg("true").output().expect("strace is installed");
        let text = std::fs::read_to_string(path).expect("written by strace");
        let found: Vec<Words> = text.lines().filter_map(words).collect();
        match events {
            _ if found.len() == events.len() => found.into_iter().map(Some).collect(),
            // One that perf refuses, it refuses with all others: halves show which.
            [_] => vec![None],
            _ => {
                let (first, second) = events.split_at(events.len() / 2);
                [self.batch(first), self.batch(second)].concat()
            }
        }
    }
}

/// The words in a line of strace.
fn words(line: &str) -> Option<Words> {
    let arguments = line.split_once("perf_event_open({")?.1;
    let number = |key: &str| {
        let text = arguments.split_once(key)?.1.split([',', ' ', '}']).next()?;
        text.strip_prefix("0x").map_or_else(|| text.parse().ok(), |digits| u64::from_str_radix(digits, 16).ok())
    };
    Some(Words { config: number(" config=")?, config1: number(" config1=")?, config2: number(" config2=")? })
}
