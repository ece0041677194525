//! The directions that the crates may depend in, checked against the manifests; test programs hold all their files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Workspace crates that each crate may depend on. observe and machine never meet below `pericore` and `tests`.
const ALLOWED: [(&str, &[&str]); 11] = [
    ("registers", &[]),
    ("metrics", &[]),
    ("catalog-schema", &["registers"]),
    ("catalog-compiler", &["registers", "metrics", "catalog-schema"]),
    ("catalog", &["registers", "metrics", "catalog-schema", "catalog-compiler"]),
    ("observe", &["registers", "metrics", "catalog"]),
    ("machine", &["registers", "metrics", "catalog"]),
    ("doors", &["registers", "catalog", "machine"]),
    ("tracer", &[]),
    ("exporter", &[]),
    ("pericore", &["registers", "metrics", "catalog", "observe", "machine", "tracer", "doors", "exporter"]),
];

fn manifests() -> BTreeMap<String, String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let folders = fs::read_dir(crates).expect("crates/ is there").flatten();
    folders
        .filter_map(|folder| {
            let manifest = fs::read_to_string(folder.path().join("Cargo.toml")).ok()?;
            Some((folder.file_name().to_string_lossy().into_owned(), manifest))
        })
        .collect()
}

#[test]
fn crates_depend_only_in_the_allowed_directions() {
    let allowed: BTreeMap<_, _> = ALLOWED.into_iter().collect();
    let manifests = manifests();
    assert!(manifests.len() >= allowed.len(), "crates are missing: {:?}", manifests.keys());
    for (name, manifest) in manifests {
        let allowed =
            allowed.get(name.as_str()).unwrap_or_else(|| panic!("crate {name} has no row in this test: add it"));
        // Wherever the name stands: in a table of its own, or as the package behind another name.
        let used = manifest.split("pericore-").skip(1);
        for dependency in used.filter_map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next()) {
            let is_crate = dependency != name && ALLOWED.iter().any(|(known, _)| *known == dependency);
            assert!(!is_crate || allowed.contains(&dependency), "{name} must not depend on {dependency}");
        }
    }
}

/// A crate could still be reached by path: look at the sources too.
#[test]
fn observe_and_machine_never_import_each_other() {
    fn sources(folder: &Path, found: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push((path.display().to_string(), fs::read_to_string(&path).expect("sources are readable")));
            }
        }
    }
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    for (owner, stranger) in [("observe", "pericore_machine"), ("machine", "pericore_observe")] {
        let mut files = Vec::new();
        sources(&crates.join(owner), &mut files);
        assert!(files.len() > 3, "no sources found in {owner}");
        for (path, text) in files {
            assert!(!text.contains(stranger), "{path} names {stranger}");
        }
    }
}

/// A crate's tests are one program, and a file that no `mod` names would never run.
#[test]
fn every_test_file_is_a_module_of_its_crates_test_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let crates = fs::read_dir(root.join("crates")).expect("crates/ is there").flatten().map(|entry| entry.path());
    let programs: Vec<_> =
        crates.chain([root.join("tests")]).filter(|path| path.join("tests/main.rs").exists()).collect();
    assert!(programs.len() >= 4, "test programs are missing: {programs:?}");
    let text = |path: &Path| fs::read_to_string(path).expect("sources are readable");
    for program in programs {
        let folder = program.join("tests");
        let top = text(&folder.join("main.rs")) + &text(&program.join("Cargo.toml"));
        for (name, path) in modules(&folder) {
            let named = top.contains(&format!("mod {name};\n")) || top.contains(&format!("name = \"{name}\"\n"));
            assert!(named || name == "main", "{}: add `mod {name};` to main.rs beside it", path.display());
        }
        for inner in
            fs::read_dir(&folder).expect("a folder").flatten().map(|entry| entry.path()).filter(|path| path.is_dir())
        {
            let beside = modules(&folder).into_iter().chain(modules(&inner)).filter(|(_, path)| path.is_file());
            let declared: String = beside.map(|(_, path)| text(&path)).collect();
            for (name, path) in modules(&inner).into_iter().filter(|(name, _)| name != "mod") {
                assert!(declared.contains(&format!("mod {name};\n")), "{}: no `mod` names it", path.display());
            }
        }
    }
}

/// Modules that a folder holds, as files or as folders with a `mod.rs`.
fn modules(folder: &Path) -> Vec<(String, PathBuf)> {
    let paths = fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path());
    let is_module = |path: &PathBuf| path.extension().is_some_and(|it| it == "rs") || path.join("mod.rs").exists();
    paths
        .filter(is_module)
        .map(|path| (path.file_stem().expect("a name").to_string_lossy().into_owned(), path.clone()))
        .collect()
}
