//! The modules of a crate, and which file uses what of which other.
//!
//! A name is followed through `pub use` to the file that defines it, so that a module's face is not in the way. A method is not seen.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::facts::{Mention, Module};
use crate::path::folder_of;
use crate::sources::Source;

/// An arrow from a file to one that it needs: the line that says so, of the first file.
pub type Arrows<'a> = BTreeMap<(&'a str, &'a str), usize>;

struct Node<'a> {
    file: &'a str,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    facts: &'a Module,
}

/// The tree of one crate.
#[derive(Default)]
struct Tree<'a> {
    nodes: Vec<Node<'a>>,
}

/// Where a path leads: into a module, or to something that it defines.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Module(usize),
    Item(usize),
}

impl<'a> Tree<'a> {
    fn add(
        &mut self,
        files: &HashMap<&str, &'a Source>,
        path: &str,
        parent: Option<usize>,
        owner: bool,
    ) -> Option<usize> {
        let source = *files.get(path)?;
        let facts = source.facts.as_ref()?;
        let folder = folder_of(path);
        let stem = path[folder.len()..].trim_matches('/').trim_end_matches(".rs");
        // Modules of `a/b.rs` lie in `a/b/`, those of a root or of `mod.rs` beside it.
        let home = if owner || stem == "mod" { folder.to_owned() } else { format!("{folder}/{stem}") };
        let first = self.nodes.len();
        for module in &facts.modules {
            let above = self.nodes[first..].iter().position(|node| {
                module
                    .inside
                    .split_last()
                    .is_some_and(|(_, above)| node.facts.inside == above && node.file == source.path)
            });
            let above = above.map_or(parent, |above| Some(first + above));
            self.nodes.push(Node { file: &source.path, parent: above, children: BTreeMap::new(), facts: module });
            let number = self.nodes.len() - 1;
            if let (Some(name), Some(above)) = (module.inside.last(), above) {
                self.nodes[above].children.insert(name.clone(), number);
            }
        }
        for (number, module) in (first..).zip(&facts.modules) {
            for (name, at) in &module.files {
                let inside: String = module.inside.iter().map(|name| format!("/{name}")).collect();
                let candidates = match at {
                    Some(at) => vec![plain(&format!("{folder}/{at}"))],
                    None => vec![format!("{home}{inside}/{name}.rs"), format!("{home}{inside}/{name}/mod.rs")],
                };
                let child = candidates.iter().find_map(|path| self.add(files, path, Some(number), false));
                if let Some(child) = child {
                    self.nodes[number].children.insert(name.clone(), child);
                }
            }
        }
        Some(first)
    }

    /// Where a path leads that stands in module `from`; none for other crates' names.
    fn follow(&self, from: usize, path: &[String], depth: usize) -> Option<End> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" | "$crate" => self.walk(0, rest, depth),
            "self" => self.walk(from, rest, depth),
            "super" => self.follow_from_parent(from, rest, depth),
            _ => self.find(from, first, rest, depth),
        }
    }

    fn follow_from_parent(&self, from: usize, rest: &[String], depth: usize) -> Option<End> {
        let parent = self.nodes[from].parent?;
        match rest.split_first() {
            Some((next, rest)) if next == "super" => self.follow_from_parent(parent, rest, depth),
            _ => self.walk(parent, rest, depth),
        }
    }

    fn walk(&self, module: usize, path: &[String], depth: usize) -> Option<End> {
        let Some((first, rest)) = path.split_first() else { return Some(End::Module(module)) };
        // A name that is not seen, such as what a macro makes, is the module's own.
        Some(self.find(module, first, rest, depth).unwrap_or(End::Item(module)))
    }

    fn find(&self, module: usize, name: &str, rest: &[String], depth: usize) -> Option<End> {
        let node = &self.nodes[module];
        if let Some(child) = node.children.get(name) {
            return self.walk(*child, rest, depth);
        }
        if node.facts.items.contains_key(name) {
            return Some(End::Item(module));
        }
        let depth = depth.checked_sub(1)?;
        let import = node.facts.imports.iter().find(|import| import.name.as_deref() == Some(name));
        if let Some(import) = import {
            let path: Vec<_> = import.from.path.iter().chain(rest).cloned().collect();
            return self.follow(module, &path, depth);
        }
        let globs = node.facts.imports.iter().filter(|import| import.name.is_none());
        let modules = globs.filter_map(|glob| match self.follow(module, &glob.from.path, depth)? {
            End::Module(other) if other != module => Some(other),
            _ => None,
        });
        modules.filter_map(|other| self.find(other, name, rest, depth)).next()
    }

    /// Where a path leads into another crate of `trees`, by the crate's folder.
    fn follow_abroad(trees: &[(&str, Self)], path: &[String]) -> Option<&'a str> {
        let (name, rest) = path.split_first()?;
        let folder = name.strip_prefix("pericore_")?.replace('_', "-");
        let (_, tree) = trees.iter().find(|(other, _)| *other == folder)?;
        match tree.walk(0, rest, 8)? {
            End::Item(module) | End::Module(module) => Some(tree.nodes[module].file),
        }
    }

    fn arrows(&self, trees: &[(&str, Self)], arrows: &mut Arrows<'a>) {
        for (number, node) in self.nodes.iter().enumerate() {
            let mut note = |mention: &Mention, modules_too: bool| {
                let to = match self.follow(number, &mention.path, 8) {
                    Some(End::Item(module)) => self.nodes[module].file,
                    Some(End::Module(module)) if modules_too => self.nodes[module].file,
                    Some(End::Module(_)) => return,
                    None => match Self::follow_abroad(trees, &mention.path) {
                        Some(file) => file,
                        None => return,
                    },
                };
                if to != node.file {
                    let line = arrows.entry((node.file, to)).or_insert(mention.line);
                    *line = mention.line.min(*line);
                }
            };
            // What is passed on is not used here, and a module that is imported is used where its name stands.
            for import in node.facts.imports.iter().filter(|import| !import.passed_on) {
                note(&import.from, import.name.is_none());
            }
            node.facts.mentions.iter().for_each(|mention| note(mention, false));
        }
    }
}

/// `a/b/../c` is `a/c`.
fn plain(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            ".." => parts.truncate(parts.len().saturating_sub(1)),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// The arrows between files, of all crates.
pub fn arrows(sources: &[Source]) -> Arrows<'_> {
    let mut arrows = Arrows::new();
    let trees = trees(sources);
    for (_, tree) in &trees {
        tree.arrows(&trees, &mut arrows);
    }
    arrows
}

/// The files that a crate is built of without its tests.
pub fn product(sources: &[Source]) -> BTreeSet<&str> {
    trees(sources).iter().flat_map(|(_, tree)| tree.nodes.iter().map(|node| node.file)).collect()
}

/// The tree of each crate, by its folder.
fn trees(sources: &[Source]) -> Vec<(&str, Tree<'_>)> {
    let files: HashMap<_, _> = sources.iter().map(|source| (source.path.as_str(), source)).collect();
    let roots: BTreeSet<_> = sources.iter().map(|source| source.path.as_str()).filter(|path| is_root(path)).collect();
    let trees = roots.into_iter().map(|root| {
        let mut tree = Tree::default();
        tree.add(&files, root, None, true);
        (root.split('/').nth(1).unwrap_or_default(), tree)
    });
    trees.collect()
}

fn is_root(path: &str) -> bool {
    let Some((_, rest)) = path.strip_prefix("crates/").and_then(|rest| rest.split_once('/')) else { return false };
    ["src/lib.rs", "src/main.rs", "plugin/plugin.rs"].contains(&rest)
}

#[test]
fn a_name_is_followed_to_the_file_that_defines_it() {
    let sources = [
        Source::new("crates/x/src/lib.rs", "mod a;\nmod b;\npub mod c;\npub use a::Thing;"),
        Source::new("crates/x/src/a.rs", "pub struct Thing;\npub(crate) fn help() {}"),
        Source::new(
            "crates/x/src/b.rs",
            "//\nuse crate::Thing;\nuse std::fmt;\nfn f() -> fmt::Result { super::a::help() }",
        ),
        Source::new("crates/x/src/c/mod.rs", "mod d;\nuse crate::b;\npub use d::Deep;\nfn g() { b::f() }"),
        Source::new("crates/x/src/c/d.rs", "use crate::*;\npub struct Deep;\nfn h(t: Thing, d: c::Deep) {}"),
    ];
    let arrows = arrows(&sources);
    let rows: Vec<_> = arrows.keys().map(|(from, to)| format!("{} -> {}", &from[13..], &to[13..])).collect();
    assert_eq!(rows, ["b.rs -> a.rs", "c/d.rs -> a.rs", "c/d.rs -> lib.rs", "c/mod.rs -> b.rs"]);
    assert_eq!(arrows[&("crates/x/src/b.rs", "crates/x/src/a.rs")], 2);
}

#[test]
fn a_name_is_followed_into_another_crate() {
    let sources = [
        Source::new("crates/x-y/src/lib.rs", "pub mod a;\nmod b;\npub use b::Thing;"),
        Source::new("crates/x-y/src/a.rs", "pub fn f() {}"),
        Source::new("crates/x-y/src/b.rs", "pub struct Thing;"),
        Source::new("crates/z/src/lib.rs", "use pericore_x_y::Thing;\nuse pericore_x_y::a;\nfn g() { a::f() }"),
    ];
    let arrows = arrows(&sources);
    let rows: Vec<_> = arrows.iter().map(|((from, to), line)| format!("{from}:{line} -> {to}")).collect();
    assert_eq!(rows, ["crates/z/src/lib.rs:2 -> crates/x-y/src/a.rs", "crates/z/src/lib.rs:1 -> crates/x-y/src/b.rs"]);
}

#[test]
fn a_module_may_lie_elsewhere() {
    let sources = [
        Source::new("crates/x/src/lib.rs", "#[path = \"../plugin/p.rs\"]\nmod p;\nfn f() { p::g() }"),
        Source::new("crates/x/plugin/p.rs", "pub fn g() {}"),
    ];
    assert_eq!(arrows(&sources).keys().collect::<Vec<_>>(), [&("crates/x/src/lib.rs", "crates/x/plugin/p.rs")]);
}

#[test]
fn a_file_of_tests_is_no_product() {
    let sources = [
        Source::new("crates/x/src/lib.rs", "mod a;\n#[cfg(test)]\nmod tests;"),
        Source::new("crates/x/src/a.rs", ""),
        Source::new("crates/x/src/tests.rs", ""),
    ];
    assert_eq!(product(&sources), BTreeSet::from(["crates/x/src/a.rs", "crates/x/src/lib.rs"]));
}
