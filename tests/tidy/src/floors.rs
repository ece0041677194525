//! Floors: which part may know which. `tests/tidy/lists/arrows.txt` has the arrows that are allowed between crates, and those that are
//! forbidden inside a crate.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::list::{self, Finding};
use crate::modules;
use crate::path::lies_in;
use crate::sources::{self, Source};

/// What the file has.
#[derive(Debug, Default)]
struct Floors {
    /// `crate A: B C`: for each folder of `crates/`, those whose crates it may depend on.
    crates: BTreeMap<String, BTreeSet<String>>,
    /// In the order of the file.
    floors: Vec<Floor>,
}

/// What lies in `of` uses nothing of what lies in `never`.
#[derive(Debug, Default)]
struct Floor {
    of: String,
    never: Vec<String>,
    except: Vec<String>,
    why: String,
}

/// Lines `crate A: B C`; and `floor PATH`, followed by `never PATH…`, `except PATH…` and `why TEXT`.
fn parse(text: &str) -> Result<Floors, String> {
    let mut read = Floors::default();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let (key, rest) = line.trim().split_once(' ').unwrap_or((line, ""));
        let words = || rest.split_whitespace().map(str::to_owned);
        match (key, read.floors.last_mut()) {
            ("crate", _) => {
                let (name, others) =
                    rest.split_once(':').ok_or(format!("line {number}: `crate NAME: NAMES` is wanted"))?;
                read.crates.insert(name.to_owned(), others.split_whitespace().map(str::to_owned).collect());
            }
            ("floor", _) => read.floors.push(Floor { of: rest.to_owned(), ..Floor::default() }),
            ("never", Some(floor)) => floor.never.extend(words()),
            ("except", Some(floor)) => floor.except.extend(words()),
            ("why", Some(floor)) => rest.clone_into(&mut floor.why),
            _ => return Err(format!("line {number}: `{key}` is not crate, floor, never, except or why")),
        }
    }
    let unfinished = read.floors.iter().find(|floor| floor.never.is_empty() || floor.why.is_empty());
    unfinished.map_or(Ok(()), |floor| Err(format!("floor {} has no `never` or no `why`", floor.of)))?;
    Ok(read)
}

fn read() -> Floors {
    let text = fs::read_to_string(list::folder().join("arrows.txt")).expect("tests/tidy/lists/arrows.txt is there");
    parse(&text).unwrap_or_else(|error| panic!("tests/tidy/lists/arrows.txt: {error}"))
}

/// Names of `pericore-…` in a manifest: tables of their own, and packages behind another name, too.
fn dependencies(manifest: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(manifest.lines()).flat_map(|(number, line)| {
        line.split("pericore-").skip(1).map(move |rest| {
            (number, rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next().unwrap_or_default())
        })
    })
}

fn between_crates(sources: &[Source], allowed: &BTreeMap<String, BTreeSet<String>>) -> Vec<Finding> {
    let mut found = Vec::new();
    for source in sources {
        let Some(rest) = source.path.strip_prefix("crates/") else { continue };
        let Some((owner, file)) = rest.split_once('/') else { continue };
        let Some(may) = allowed.get(owner) else {
            let advice = format!("crate {owner} has no row in tests/tidy/lists/arrows.txt: say what it may depend on");
            found.push(Finding::new(owner, &source.path, 1, advice));
            continue;
        };
        let mut forbid = |name: &str, line: usize| {
            if name != owner && allowed.contains_key(name) && !may.contains(name) {
                let advice = format!("{owner} must not know {name}: see the floors in docs/ARCHITECTURE.md");
                found.push(Finding::new(format!("{owner} -> {name}"), &source.path, line, advice));
            }
        };
        if file == "Cargo.toml" {
            dependencies(&source.text).for_each(|(line, name)| forbid(name, line));
        }
        // A crate could still be reached by path.
        for (name, line) in source.facts.iter().flat_map(|facts| &facts.identifiers) {
            if let Some(name) = name.strip_prefix("pericore_") {
                forbid(&name.replace('_', "-"), *line);
            }
        }
    }
    found
}

fn inside_crates(sources: &[Source], floors: &[Floor]) -> Vec<Finding> {
    let mut found = Vec::new();
    for ((from, to), line) in modules::arrows(sources) {
        for floor in floors.iter().filter(|floor| lies_in(from, &floor.of)) {
            let any = |prefixes: &[String]| prefixes.iter().any(|prefix| lies_in(to, prefix));
            if any(&floor.never) && !any(&floor.except) {
                let advice = format!("needs {to}, which {} must not: {}", floor.of, floor.why);
                found.push(Finding::new(format!("{from} -> {to}"), from, line, advice));
            }
        }
    }
    found
}

#[test]
fn crates_know_only_what_lies_below_them() {
    let floors = read();
    let crates: BTreeSet<_> =
        sources::ALL.iter().filter_map(|source| source.path.strip_prefix("crates/")?.split('/').next()).collect();
    for name in floors.crates.keys() {
        assert!(
            crates.contains(name.as_str()),
            "tests/tidy/lists/arrows.txt names crate {name}, which is gone: remove its row"
        );
    }
    list::check("crates", &between_crates(&sources::ALL, &floors.crates));
}

#[test]
fn parts_of_a_crate_know_only_what_lies_below_them() {
    let floors = read();
    for path in floors.floors.iter().flat_map(|floor| floor.never.iter().chain(&floor.except).chain([&floor.of])) {
        let is_there = sources::ALL.iter().any(|source| lies_in(&source.path, path));
        assert!(is_there, "tests/tidy/lists/arrows.txt names {path}, where no file lies: correct the row");
    }
    list::check("floors", &inside_crates(&sources::ALL, &floors.floors));
}

#[test]
fn a_crate_that_knows_too_much_is_found() {
    let allowed = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    let table = BTreeMap::from([("low".to_owned(), allowed(&[])), ("high".to_owned(), allowed(&["low"]))]);
    let sources = [
        Source::new("crates/high/Cargo.toml", "pericore-low = 1\nserde = 1\n"),
        Source::new(
            "crates/low/Cargo.toml",
            "[package]\nname = \"pericore-low\"\nx = { package = \"pericore-high\" }\n",
        ),
        Source::new("crates/low/src/lib.rs", "\nuse pericore_high::Thing;\n"),
        Source::new("crates/new/src/lib.rs", ""),
    ];
    let found = between_crates(&sources, &table);
    let places: Vec<_> = found.iter().map(|found| (found.key.as_str(), found.place.as_str())).collect();
    let expected = [
        ("low -> high", "crates/low/Cargo.toml:3"),
        ("low -> high", "crates/low/src/lib.rs:2"),
        ("new", "crates/new/src/lib.rs:1"),
    ];
    assert_eq!(places, expected);
}

#[test]
fn a_part_that_reaches_up_is_found() {
    let sources = [
        Source::new("crates/x/src/lib.rs", "mod low;\nmod high;"),
        Source::new("crates/x/src/low/mod.rs", "mod a;\nmod b;"),
        Source::new("crates/x/src/low/a.rs", "use crate::high::One;"),
        Source::new("crates/x/src/low/b.rs", "use crate::high::spoken::Two;"),
        Source::new("crates/x/src/high/mod.rs", "pub mod spoken;\npub struct One;"),
        Source::new("crates/x/src/high/spoken.rs", "pub struct Two;"),
    ];
    let path = |end: &str| format!("crates/x/src/{end}");
    let floor =
        Floor { of: path("low"), never: vec![path("high")], except: vec![path("high/spoken")], why: "why".to_owned() };
    let found = inside_crates(&sources, &[floor]);
    let places: Vec<_> = found.iter().map(|found| found.place.as_str()).collect();
    assert_eq!(places, ["crates/x/src/low/a.rs:1"]);
}

#[test]
fn a_damaged_table_names_its_line() {
    let error = |text| parse(text).unwrap_err();
    assert_eq!(error("# x\ncrate a b\n"), "line 2: `crate NAME: NAMES` is wanted");
    assert_eq!(error("never a\n"), "line 1: `never` is not crate, floor, never, except or why");
    assert_eq!(error("floor a\n  never b\n"), "floor a has no `never` or no `why`");
    let read = parse("crate a: b c\nfloor x/y\n  never p q\n  except p/r\n  why it is\n").expect("a table");
    assert_eq!((read.crates["a"].len(), read.floors[0].never.len(), read.floors[0].why.as_str()), (2, 2, "it is"));
}
