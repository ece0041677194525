//! Circles: files that need each other, straight or through others, are one file in many, and none of them can be read first.

use std::collections::BTreeMap;

use crate::list::{self, Finding};
use crate::modules::{self, Arrows};
use crate::sources::{self, Source};

/// For each file in a circle, the number of its circle.
fn circles<'a>(arrows: &Arrows<'a>) -> BTreeMap<&'a str, usize> {
    let mut next: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (from, to) in arrows.keys() {
        next.entry(from).or_default().push(to);
        next.entry(to).or_default();
    }
    let mut search =
        Search { next: &next, found: BTreeMap::new(), low: BTreeMap::new(), open: Vec::new(), circles: Vec::new() };
    for file in next.keys() {
        if !search.found.contains_key(file) {
            search.visit(file);
        }
    }
    let circles = search.circles.into_iter().filter(|circle| circle.len() > 1).enumerate();
    circles.flat_map(|(number, circle)| circle.into_iter().map(move |file| (file, number))).collect()
}

/// Tarjan's search for strongly connected components.
struct Search<'a, 'b> {
    next: &'b BTreeMap<&'a str, Vec<&'a str>>,
    found: BTreeMap<&'a str, usize>,
    low: BTreeMap<&'a str, usize>,
    open: Vec<&'a str>,
    circles: Vec<Vec<&'a str>>,
}

impl<'a> Search<'a, '_> {
    fn visit(&mut self, file: &'a str) {
        let number = self.found.len();
        self.found.insert(file, number);
        self.low.insert(file, number);
        self.open.push(file);
        for next in &self.next[file] {
            let reached = match self.found.get(next) {
                None => {
                    self.visit(next);
                    self.low[next]
                }
                Some(number) if self.open.contains(next) => *number,
                Some(_) => continue,
            };
            self.low.insert(file, self.low[file].min(reached));
        }
        if self.low[file] == number {
            let start = self.open.iter().position(|open| *open == file).expect("it was opened above");
            self.circles.push(self.open.split_off(start));
        }
    }
}

fn findings(sources: &[Source]) -> Vec<Finding> {
    let arrows = modules::arrows(sources);
    let circles = circles(&arrows);
    let inside =
        arrows.iter().filter(|((from, to), _)| circles.get(from).is_some_and(|circle| circles.get(to) == Some(circle)));
    let findings = inside.map(|((from, to), line)| {
        let size = circles.values().filter(|circle| circles[from] == **circle).count();
        let advice = format!(
            "needs {to}, which needs this file again (a circle of {size} files): \
                              move what both need into a file of its own"
        );
        Finding::new(format!("{from} -> {to}"), from, *line, advice)
    });
    findings.collect()
}

#[test]
fn no_files_need_each_other() {
    list::check("circles", &findings(&sources::ALL));
}

#[test]
fn a_circle_of_three_is_found_and_what_hangs_on_it_is_not() {
    let sources = [
        Source::new("crates/x/src/lib.rs", "mod a;\nmod b;\nmod c;\nmod d;\nmod e;"),
        Source::new("crates/x/src/a.rs", "use crate::b::B;\npub struct A;"),
        Source::new("crates/x/src/b.rs", "use crate::c::C;\npub struct B;"),
        Source::new("crates/x/src/c.rs", "use crate::e::E;\npub struct C;\nfn f(a: crate::a::A) {}"),
        Source::new("crates/x/src/d.rs", "use crate::a::A;"),
        Source::new("crates/x/src/e.rs", "pub struct E;"),
    ];
    let found = findings(&sources);
    let places: Vec<_> = found.iter().map(|found| (&found.key[13..17], found.place.as_str())).collect();
    let expected = [("a.rs", "crates/x/src/a.rs:1"), ("b.rs", "crates/x/src/b.rs:1"), ("c.rs", "crates/x/src/c.rs:3")];
    assert_eq!(places, expected);
}

#[test]
fn a_parent_that_only_passes_names_on_makes_no_circle() {
    let sources = |parent| {
        [
            Source::new("crates/x/src/lib.rs", parent),
            Source::new("crates/x/src/a.rs", "use super::Shared;\npub struct A(Shared);"),
        ]
    };
    assert!(findings(&sources("mod a;\npub use a::A;\npub struct Shared;")).is_empty());
    assert_eq!(findings(&sources("mod a;\nuse a::A;\npub struct Shared;\nfn f(a: A) {}")).len(), 2);
}
