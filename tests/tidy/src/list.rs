//! What a rule found, against the list of what it may still find.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// One place that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// What the list counts: a file, a name, a pair of both. Holds no line number, so that unrelated edits leave it alone.
    pub key: String,
    /// `file:line`.
    pub place: String,
    /// What to do about it.
    pub advice: String,
}

impl Finding {
    /// A finding at a line of a file.
    pub fn new(key: impl Into<String>, path: &str, line: usize, advice: impl Into<String>) -> Self {
        Self { key: key.into(), place: format!("{path}:{line}"), advice: advice.into() }
    }
}

/// How often each key may still be found: lines of `COUNT KEY`, and comments after `#`.
fn parse(text: &str) -> Result<BTreeMap<&str, (usize, usize)>, String> {
    let mut allowed = BTreeMap::new();
    for (line, text) in (1..).zip(text.lines()) {
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let entry = text.split_once(' ').and_then(|(count, key)| Some((count.parse::<usize>().ok()?, key)));
        let Some((count @ 1.., key)) = entry else {
            return Err(format!("line {line}: `{text}` is not `COUNT KEY` with a count of 1 or more"));
        };
        if allowed.insert(key, (line, count)).is_some() {
            return Err(format!("line {line}: `{key}` is listed twice: keep one of them"));
        }
    }
    Ok(allowed)
}

fn by_key(findings: &[Finding]) -> BTreeMap<&str, Vec<&Finding>> {
    let mut found: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    for finding in findings {
        found.entry(&finding.key).or_default().push(finding);
    }
    found
}

/// What is found and not listed, and what is listed and not found. `name` is the list's path, for the messages.
pub fn compare(name: &str, text: &str, findings: &[Finding]) -> Result<(), String> {
    let allowed = parse(text).map_err(|error| format!("{name}: {error}"))?;
    let found = by_key(findings);
    let mut problems = Vec::new();
    for (key, places) in &found {
        let listed = allowed.get(key).map_or(0, |(_, count)| *count);
        if places.len() > listed {
            let known =
                if listed == 0 { String::new() } else { format!(" (one of {}, {listed} are listed)", places.len()) };
            problems.extend(places.iter().map(|found| format!("{}: {}{known}", found.place, found.advice)));
        }
    }
    for (key, (line, count)) in allowed {
        let now = found.get(key).map_or(0, Vec::len);
        if now < count {
            let mend = if now == 0 { "remove the entry".to_owned() } else { format!("write {now}") };
            problems.push(format!("{name}:{line}: `{key}` is listed {count} times and found {now} times: {mend}"));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

/// The list with no more than what is found; comments stay.
fn shrunk(text: &str, findings: &[Finding]) -> String {
    let found = by_key(findings);
    let keep = |line: &str| {
        let Some((count, key)) = line.split_once(' ').filter(|_| !line.starts_with('#')) else {
            return Some(line.to_owned());
        };
        let listed: usize = count.parse().ok()?;
        let now = found.get(key).map_or(0, Vec::len).min(listed);
        (now > 0).then(|| format!("{now} {key}"))
    };
    text.lines().filter_map(keep).map(|line| line + "\n").collect()
}

/// The folder of the lists.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("lists")
}

/// Fails with everything that the rule's list does not allow.
pub fn check(rule: &str, findings: &[Finding]) {
    let name = format!("tests/tidy/lists/{rule}.txt");
    let file = folder().join(format!("{rule}.txt"));
    let mut text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{name} cannot be read: {error}"));
    if std::env::var_os("PERICORE_TIDY_SHRINK").is_some() {
        text = shrunk(&text, findings);
        fs::write(&file, &text).unwrap_or_else(|error| panic!("{name} cannot be written: {error}"));
    }
    if let Err(problems) = compare(&name, &text, findings) {
        panic!(
            "\n{problems}\n\nMend what is new; do not add it to {name}. \
             For entries that are no longer needed: PERICORE_TIDY_SHRINK=1 cargo test -p pericore-tidy\n"
        );
    }
}

#[test]
fn what_is_not_listed_fails_with_its_place_and_advice() {
    let findings = [Finding::new("a.rs", "a.rs", 7, "split it")];
    let error = compare("list", "", &findings).unwrap_err();
    assert_eq!(error, "a.rs:7: split it");
    assert_eq!(compare("list", "# as found\n1 a.rs\n", &findings), Ok(()));
}

#[test]
fn one_more_than_listed_fails_and_shows_all() {
    let findings = [Finding::new("a.rs unwrap", "a.rs", 7, "mend"), Finding::new("a.rs unwrap", "a.rs", 9, "mend")];
    let error = compare("list", "1 a.rs unwrap\n", &findings).unwrap_err();
    assert_eq!(error, "a.rs:7: mend (one of 2, 1 are listed)\na.rs:9: mend (one of 2, 1 are listed)");
}

#[test]
fn an_entry_that_is_no_longer_needed_fails() {
    let findings = [Finding::new("b.rs", "b.rs", 1, "split it")];
    let error = compare("list", "2 a.rs\n3 b.rs\n", &findings).unwrap_err();
    assert_eq!(
        error,
        "list:1: `a.rs` is listed 2 times and found 0 times: remove the entry\n\
         list:2: `b.rs` is listed 3 times and found 1 times: write 1"
    );
}

#[test]
fn a_list_shrinks_and_never_grows() {
    let findings = ["a.rs", "b.rs", "b.rs", "new.rs"].map(|path| Finding::new(path, path, 1, "split it"));
    let list = "# why\n3 a.rs\n1 b.rs\n1 gone.rs\n";
    assert_eq!(shrunk(list, &findings), "# why\n1 a.rs\n1 b.rs\n");
}

#[test]
fn a_damaged_list_names_its_line() {
    let error = |text| compare("list", text, &[]).unwrap_err();
    assert_eq!(error("# x\nmany a.rs\n"), "list: line 2: `many a.rs` is not `COUNT KEY` with a count of 1 or more");
    assert_eq!(error("0 a.rs\n"), "list: line 1: `0 a.rs` is not `COUNT KEY` with a count of 1 or more");
    assert_eq!(error("1 a.rs\n2 a.rs\n"), "list: line 2: `a.rs` is listed twice: keep one of them");
}
