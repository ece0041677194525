//! Names: a public type's name means one thing in the workspace.

use std::collections::BTreeMap;

use crate::list::{self, Finding};
use crate::modules;
use crate::sources::{self, Source};

fn shared(sources: &[Source]) -> Vec<Finding> {
    let mut names: BTreeMap<&str, Vec<(&str, usize)>> = BTreeMap::new();
    let product = modules::product(sources);
    for source in sources.iter().filter(|source| product.contains(source.path.as_str())) {
        for (name, line) in source.facts.iter().flat_map(|facts| &facts.public_types) {
            names.entry(name).or_default().push((&source.path, *line));
        }
    }
    let shared = names.into_iter().filter(|(_, places)| places.len() > 1);
    let findings = shared.flat_map(|(name, places)| {
        let advice = format!("`{name}` names {} public types: say of what this one is", places.len());
        places.into_iter().map(move |(path, line)| Finding::new(name, path, line, &advice))
    });
    findings.collect()
}

#[test]
fn a_public_types_name_means_one_thing() {
    list::check("names", &shared(&sources::ALL));
}

#[test]
fn a_name_in_two_crates_is_found_and_private_or_test_types_are_not() {
    let sources = [
        Source::new("crates/x/src/lib.rs", "pub struct Place;\npub(crate) enum Kind {}\nstruct Own;"),
        Source::new("crates/y/src/lib.rs", "//\npub trait Place {}\nstruct Kind;\n#[cfg(test)]\npub struct Own;"),
        Source::new("crates/y/tests/c.rs", "pub struct Place;\npub struct Kind;"),
    ];
    let found = shared(&sources);
    let places: Vec<_> = found.iter().map(|found| (found.key.as_str(), found.place.as_str())).collect();
    assert_eq!(places, [("Place", "crates/x/src/lib.rs:1"), ("Place", "crates/y/src/lib.rs:2")]);
}
