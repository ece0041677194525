//! What documents say of the project itself: files that they name, and figures that stand in two places.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(document: &str) -> String {
    fs::read_to_string(root().join(document)).unwrap_or_else(|error| panic!("{document}: {error}"))
}

/// Every file and folder of the project, by its path from the root.
fn paths() -> BTreeSet<String> {
    fn walk(folder: &Path, below: &str, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let built = ["target", ".git", "corpus", "artifacts"].contains(&name.as_str());
            let path = format!("{below}/{name}");
            if entry.path().is_dir() && !built {
                walk(&entry.path(), &path, found);
            }
            found.insert(path);
        }
    }
    let mut found = BTreeSet::new();
    walk(&root(), "", &mut found);
    found
}

/// Words in backticks that look like files of ours: a path, or the name of a source.
fn named(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split('`').skip(1).step_by(2).filter(|word| !word.contains(char::is_whitespace));
    let plain = |word: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c));
    let ours = |word: &str| {
        let ends = [".rs", ".md", ".toml", ".sh", ".c", ".scenario"].iter().any(|end| word.ends_with(end));
        ends && !word.starts_with(['/', '.'])
            || ["crates/", "tests/", "docs/"].iter().any(|start| word.starts_with(start))
    };
    words.filter(move |word| plain(word) && ours(word))
}

#[test]
fn files_that_documents_name_are_there() {
    let paths = paths();
    let of_docs = paths.iter().filter(|path| path.ends_with(".md")).map(|path| &path[1..]);
    let mut checked = 0;
    for document in of_docs {
        for name in named(&read(document)) {
            // A document may leave out where a file lies, and a crate's `src`.
            let ends = format!("/{}", name.trim_end_matches('/'));
            let there = paths.iter().any(|path| path.ends_with(&ends) || path.replace("/src/", "/").ends_with(&ends));
            assert!(there, "{document} names {name}, which is not there");
            checked += 1;
        }
    }
    assert!(checked > 50, "only {checked} names were found");
}

/// The text between two others.
fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let rest = text.split_once(before).unwrap_or_else(|| panic!("{before:?} is not there")).1;
    rest.split_once(after).unwrap_or_else(|| panic!("{after:?} is not there")).0
}

/// The shares are counted where the models are tested, which writes their documents: the README repeats them.
#[test]
fn the_shares_in_the_readme_are_those_of_the_models() {
    let readme = read("README.md");
    let [e5, nehalem, emerald_rapids] =
        ["e5-2600", "nehalem", "emerald-rapids"].map(|family| read(&format!("docs/{family}-model.md")));
    let pairs = [
        (between(&readme, "devices, power unit | [", " % of"), between(&e5, "of the 2012 guide's events' ", " %")),
        (between(&readme, "links, devices | [", " % of"), between(&nehalem, "events and subevents, ", " %")),
        (between(&readme, "links, I/O stacks | [", " % of events"), between(&emerald_rapids, "events count: ", " %")),
    ];
    for (written, counted) in pairs {
        let counted = counted.rsplit(' ').next().unwrap_or(counted);
        assert_eq!(written, counted, "the README's share is not the model's");
    }
    let number = |text: &str| text.parse::<f64>().unwrap_or_else(|_| panic!("{text:?} is no number"));
    let written = number(between(&readme, " % of events, ", " % of selections](docs/emerald-rapids-model.md)"));
    let counted = number(between(&emerald_rapids, "selections do: ", " %"));
    assert!((written - counted).abs() < 0.01, "{written} is not {counted} per cent of Emerald Rapids' selections");
}

/// How many of a tool's cases the league found wrong, and how many it played: as the README's table has them.
#[test]
fn the_league_in_the_readme_is_that_of_the_league() {
    let league = read("docs/league.md");
    let numbers = between(&league, "## In numbers", "## Cases");
    let wrong_of_all = |tool: &str| {
        let row = numbers.lines().find(|line| line.starts_with(&format!("| {tool} ("))).expect("a row for the tool");
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        format!("{} of {}", cells[7], cells[3])
    };
    let [registers, kernel] = ["Pericore, registers", "Pericore, kernel"].map(wrong_of_all);
    let ours = format!("{registers} (registers), {kernel} (kernel)");
    let [pcm, likwid, perf] = ["PCM", "LIKWID", "perf"].map(wrong_of_all);
    let row = format!("without a word | {ours} | {pcm} | {likwid} | {perf} | not played | not played |");
    assert!(read("README.md").contains(&row), "the README's table lacks: {row}");
}
