//! The files that git knows, read once for all rules.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use crate::facts::{self, Facts};

/// A text file of the repository.
pub struct Source {
    /// From the repository's root, with `/`.
    pub path: String,
    /// All of it.
    pub text: String,
    /// What the parser saw; none for what is not Rust.
    pub facts: Option<Facts>,
}

impl Source {
    /// A file that need not exist.
    pub fn new(path: &str, text: &str) -> Self {
        let facts = path.ends_with(".rs").then(|| {
            facts::read(text)
                .unwrap_or_else(|error| panic!("{path} does not parse as Rust, so no rule can read it: {error}"))
        });
        Self { path: path.to_owned(), text: text.to_owned(), facts }
    }
}

fn read_all() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // New files count before they are added, too.
    let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let output = Command::new("git").arg("-C").arg(&root).args(arguments).output();
    let output = output.expect("git lists the sources: install it");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git cannot list the sources, run this in a checkout: {errors}");
    let listed = String::from_utf8(output.stdout).expect("file names are UTF-8");
    let mut paths: Vec<&str> = listed.split_terminator('\0').collect();
    paths.sort_unstable();
    paths.dedup();
    // Removed and not yet committed, or no text: nothing to read.
    let sources =
        paths.into_iter().filter_map(|path| Some(Source::new(path, &fs::read_to_string(root.join(path)).ok()?)));
    sources.collect()
}

/// All files, by path.
pub static ALL: LazyLock<Vec<Source>> = LazyLock::new(|| {
    let sources = read_all();
    assert!(sources.iter().filter(|source| source.facts.is_some()).count() > 500, "most sources are missing");
    sources
});
