//! `pericore sweep` as a user meets it: data sets that come out the same whatever happened on the way.

mod disturbed;
mod mistakes;
mod tables;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::recordings::folder::Folder;

/// The files of a data set with their bytes, by path.
fn files(folder: &Folder, root: &str) -> BTreeMap<String, Vec<u8>> {
    let (root, mut files) = (folder.file(root), BTreeMap::new());
    let mut folders = vec![root.clone()];
    while let Some(current) = folders.pop() {
        for entry in fs::read_dir(current).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(&root).expect("below it").to_str().expect("UTF-8").to_owned();
                files.insert(name, fs::read(&path).expect("a file"));
            }
        }
    }
    files
}

fn tables(files: &BTreeMap<String, Vec<u8>>) -> Vec<&str> {
    files
        .keys()
        .map(String::as_str)
        .filter(|name| Path::new(name).extension().is_some_and(|end| end == "parquet"))
        .collect()
}

fn write(folder: &Folder, name: &str, text: &str) {
    fs::write(folder.file(name), text).expect("written");
}
