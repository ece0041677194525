//! Folders: what has more files than a person keeps in mind wants an order.

use std::collections::BTreeMap;

use crate::list::{self, Finding};
use crate::path::folder_of;
use crate::sources;

/// Files of a folder, not of those in it.
const FILES: usize = 20;

fn overfull<'a>(paths: impl Iterator<Item = &'a str>) -> Vec<Finding> {
    let mut folders: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for path in paths {
        folders.entry(folder_of(path)).or_default().push(path);
    }
    let findings = folders.into_iter().flat_map(|(folder, files)| {
        let advice =
            format!("folder {folder} has {} files, and {FILES} are allowed: group them in folders", files.len());
        let key = if folder.is_empty() { "." } else { folder }.to_owned();
        files.into_iter().skip(FILES).map(move |file| Finding::new(&key, file, 1, &advice))
    });
    findings.collect()
}

#[test]
fn no_folder_is_overfull() {
    list::check("folders", &overfull(sources::ALL.iter().map(|source| source.path.as_str())));
}

#[test]
fn the_21st_file_is_found() {
    let paths: Vec<_> = (10..31).map(|number| format!("a/{number}.rs")).chain(["a/b/c.rs".to_owned()]).collect();
    let found = overfull(paths.iter().map(String::as_str));
    assert_eq!(found.len(), 1, "files of folders inside do not count: {found:?}");
    assert_eq!((found[0].key.as_str(), found[0].place.as_str()), ("a", "a/30.rs:1"));
    assert!(overfull(paths[1..].iter().map(String::as_str)).is_empty());
}
