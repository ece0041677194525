//! `unwrap` in the product: a panic that says nothing of what went wrong. `expect` says why it cannot.

use crate::list::{self, Finding};
use crate::modules;
use crate::sources::{self, Source};

fn unwraps(source: &Source) -> Vec<Finding> {
    let advice = "`.unwrap()` outside tests: return an error, or say with `expect` why it cannot fail";
    source
        .facts
        .iter()
        .flat_map(|facts| &facts.unwraps)
        .map(|line| Finding::new(&source.path, &source.path, *line, advice))
        .collect()
}

#[test]
fn the_product_does_not_unwrap() {
    let product = modules::product(&sources::ALL);
    let sources = sources::ALL.iter().filter(|source| product.contains(source.path.as_str()));
    list::check("unwraps", &sources.flat_map(unwraps).collect::<Vec<_>>());
}

#[test]
fn unwraps_are_found_in_code_and_macros_and_not_in_tests() {
    let text = "fn f(a: Option<u8>) { a\n.unwrap(); println!(\"{}\", a.unwrap()); a.unwrap_or(1); }\n\
                #[cfg(test)]\nmod tests { fn g(a: Option<u8>) { a.unwrap(); } }";
    let found = unwraps(&Source::new("crates/x/src/a.rs", text));
    assert_eq!(found.iter().map(|found| found.place.as_str()).collect::<Vec<_>>(), ["crates/x/src/a.rs:2"; 2]);
}
