//! Links of documents: each leads to a file or a heading that is there, and the book has every page of `docs` once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::list::Finding;
use crate::path::folder_of;
use crate::sources::{self, Source};

const SUMMARY: &str = "docs/SUMMARY.md";

/// What a document links to, and what can be linked to in it.
#[derive(Debug, Default)]
struct Page {
    /// Targets of links and pictures, with the line of each.
    targets: Vec<(String, usize)>,
    /// Headings as addresses have them: `what-it-is`.
    anchors: BTreeSet<String>,
}

/// The address of a heading, as GitHub and mdBook make it: small letters, `-` for a space, no other sign.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || "-_ ".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).flat_map(char::to_lowercase).collect()
}

fn read(text: &str) -> Page {
    let mut page = Page::default();
    let mut heading: Option<String> = None;
    let mut of_a_name: BTreeMap<String, usize> = BTreeMap::new();
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                let line = text[..range.start].matches('\n').count() + 1;
                page.targets.push((dest_url.into_string(), line));
            }
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(part) | Event::Code(part) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&part);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                let name = anchor(&heading.take().unwrap_or_default());
                let before = of_a_name.entry(name.clone()).or_default();
                page.anchors.insert(if *before == 0 { name } else { format!("{name}-{before}") });
                *before += 1;
            }
            _ => {}
        }
    }
    page
}

/// `docs/book` and `../limits.md` are `docs/limits.md`; none if it leads out of the repository.
fn resolve(folder: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn is_elsewhere(target: &str) -> bool {
    ["http://", "https://", "mailto:"].iter().any(|start| target.starts_with(start))
}

/// Links that lead nowhere. `exists` knows files and folders.
fn broken(pages: &BTreeMap<&str, Page>, exists: impl Fn(&str) -> bool) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, page) in pages {
        for (target, line) in page.targets.iter().filter(|(target, _)| !is_elsewhere(target)) {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let to = if file.is_empty() { Some((*path).to_owned()) } else { resolve(folder_of(path), file) };
            let mut wrong = |advice: String| found.push(Finding::new(format!("{path} {target}"), path, *line, advice));
            match to {
                Some(to) if exists(&to) => {
                    let known = pages.get(to.as_str()).is_none_or(|page| page.anchors.contains(anchor));
                    if !anchor.is_empty() && !known {
                        wrong(format!("{to} has no heading `#{anchor}`: correct the link"));
                    }
                }
                _ => wrong(format!("`{target}` leads to no file: correct the link")),
            }
        }
    }
    found
}

/// Pages of `docs` that the summary has not, or has more than once.
fn out_of_the_book(pages: &BTreeMap<&str, Page>) -> Vec<Finding> {
    let summary = pages.get(SUMMARY).map(|page| page.targets.as_slice()).unwrap_or_default();
    let mut listed: BTreeMap<String, usize> = BTreeMap::new();
    for path in summary.iter().filter_map(|(target, _)| resolve("docs", target)) {
        *listed.entry(path).or_default() += 1;
    }
    let ours = pages.keys().filter(|path| path.starts_with("docs/") && **path != SUMMARY);
    let missing = ours
        .filter(|path| !listed.contains_key(**path))
        .map(|path| Finding::new(*path, path, 1, format!("the book has not this page: add it to {SUMMARY}")));
    let twice = listed.iter().filter(|(_, times)| **times > 1).map(|(path, times)| {
        Finding::new(path, SUMMARY, 1, format!("{path} is there {times} times: a page has one place in the book"))
    });
    missing.chain(twice).collect()
}

fn pages<'a>(sources: impl Iterator<Item = &'a Source>) -> BTreeMap<&'a str, Page> {
    let documents = sources.filter(|source| source.path.ends_with(".md"));
    documents.map(|source| (source.path.as_str(), read(&source.text))).collect()
}

#[test]
fn links_lead_somewhere_and_the_book_has_every_page() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let pages = pages(sources::ALL.iter());
    let links: usize = pages.values().map(|page| page.targets.len()).sum();
    assert!(links > 60, "only {links} links were found");
    let found: Vec<_> =
        broken(&pages, |path| root.join(path).exists()).into_iter().chain(out_of_the_book(&pages)).collect();
    let lines: Vec<_> = found.iter().map(|found| format!("{}: {}", found.place, found.advice)).collect();
    assert!(found.is_empty(), "\n{}\n", lines.join("\n"));
}

/// The places of findings, in their order.
#[cfg(test)]
fn places(found: &[Finding]) -> Vec<&str> {
    found.iter().map(|found| found.place.as_str()).collect()
}

#[test]
fn a_link_to_no_file_or_heading_is_found() {
    let b = "# What it is\n\n## `stat`, and more\n\n## What it is\n";
    let a = "[file](b.md) [heading](b.md#what-it-is)\n[code](b.md#stat-and-more) [second](b.md#what-it-is-1)\n\
             [own](#no)\n[none](c.md)\n[heading](b.md#what-it-was)\n[out](../README.md) [net](https://a.example/b)\n\
             ```sh\n[code](d.md)\n```\n![picture](e.png)\n[too far](../../f.md)\n";
    let sources = [Source::new("docs/a.md", a), Source::new("docs/b.md", b)];
    let exists = |path: &str| ["docs/a.md", "docs/b.md", "README.md"].contains(&path);
    let found = broken(&pages(sources.iter()), exists);
    let expected = ["docs/a.md:3", "docs/a.md:4", "docs/a.md:5", "docs/a.md:10", "docs/a.md:11"];
    assert_eq!(places(&found), expected);
}

#[test]
fn a_page_that_the_summary_lacks_or_has_twice_is_found() {
    let summary = "[A](a.md)\n\n- [B](b/b.md)\n- [B again](b/b.md)\n";
    let sources = [SUMMARY, "docs/a.md", "docs/b/b.md", "docs/c.md", "README.md"]
        .map(|path| Source::new(path, if path == SUMMARY { summary } else { "" }));
    assert_eq!(places(&out_of_the_book(&pages(sources.iter()))), ["docs/c.md:1", "docs/SUMMARY.md:1"]);
}
