//! The files of a catalogue: those of a folder, or shipped ones with users' folders laid over them.

mod walk;

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use walk::{Trust, WalkedFile, walk};

use crate::{Diagnostics, Place};

/// Folders that a catalogue has.
const FOLDERS: [&str; 4] = ["families/", "blocks/", "core-msrs/", "views/"];

/// A file, by its path relative to the root.
#[derive(Debug)]
struct File {
    /// The path that messages show.
    shown: String,
    /// What it holds, or why it cannot be read.
    text: Result<String, String>,
    is_shipped: bool,
}

/// All files of a catalogue.
#[derive(Debug, Default)]
pub struct Files {
    root: String,
    files: BTreeMap<String, File>,
    /// Folders of `blocks`, empty ones too.
    blocks: Vec<String>,
}

impl Files {
    /// The files under a folder.
    pub fn of(root: &Path) -> Self {
        let mut files = Self { root: root.display().to_string(), ..Self::default() };
        for WalkedFile { path, text } in walk(root, Trust::Anybody) {
            files.insert(path.clone(), path, text, false);
        }
        let folders = fs::read_dir(root.join("blocks")).into_iter().flatten().flatten();
        let folders = folders.filter(|entry| entry.path().is_dir());
        files.blocks.extend(folders.map(|entry| entry.file_name().to_string_lossy().into_owned()));
        files.blocks.sort();
        files.blocks.dedup();
        files
    }

    /// The files that a program brings along: paths and texts.
    pub fn shipped<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut shipped = Self { root: "the shipped catalogue".to_owned(), ..Self::default() };
        for (path, text) in files {
            shipped.insert(path.to_owned(), format!("{path} (shipped)"), Ok(text.to_owned()), true);
        }
        shipped
    }

    /// Adds a user's folder. Its files stand beside those that are there; none can replace another. They decide which
    /// registers are written, so nobody but the user (a user ID) and root may own or write them.
    pub fn lay_over(&mut self, folder: &Path, user: u32, diagnostics: &mut Diagnostics) {
        for WalkedFile { path, text } in walk(folder, Trust::RootAnd(user)) {
            let shown = folder.join(&path).display().to_string();
            if let Err(refusal) = text {
                let file = diagnostics.file(shown);
                let fix =
                    "own it or let root own it, take from others the right to write it (chmod go-w), or leave it out";
                diagnostics.report(Place { file, line: 0 }, refusal, fix);
                continue;
            }
            if !FOLDERS.iter().any(|start| path.starts_with(start)) {
                let file = diagnostics.file(shown);
                let fix = "move it to families/FAMILY.toml or blocks/BLOCK/events-NAME.toml, metrics-NAME.toml, …";
                diagnostics.report(Place { file, line: 0 }, "no file of a catalogue", fix);
                continue;
            }
            if let Some(other) = self.files.get(&path) {
                let (other, stem) = (other.shown.clone(), path.trim_end_matches(".toml"));
                let file = diagnostics.file(shown);
                let fix = format!("give it another name, such as {stem}-mine.toml: its rows are added to the others");
                diagnostics.report(Place { file, line: 0 }, format!("{other} is there already"), fix);
                continue;
            }
            self.insert(path, shown, text, false);
        }
    }

    fn insert(&mut self, path: String, shown: String, text: Result<String, String>, is_shipped: bool) {
        if let Some((block, _)) = path.strip_prefix("blocks/").and_then(|rest| rest.split_once('/'))
            && !self.blocks.iter().any(|known| known == block)
        {
            self.blocks.push(block.to_owned());
            self.blocks.sort();
        }
        self.files.insert(path, File { shown, text, is_shipped });
    }

    /// Where the files are, for messages.
    pub fn root(&self) -> &str {
        &self.root
    }

    /// The path of a file that messages show.
    pub fn shown(&self, path: &str) -> String {
        self.files.get(path).map_or_else(|| path.to_owned(), |file| file.shown.clone())
    }

    /// The text of a file.
    ///
    /// # Errors
    /// Why there is none.
    pub fn text(&self, path: &str) -> Result<&str, String> {
        match self.files.get(path) {
            Some(file) => file.text.as_deref().map_err(Clone::clone),
            None => Err(io::Error::from(io::ErrorKind::NotFound).to_string()),
        }
    }

    /// The TOML files of a folder, sorted. A missing folder has none.
    pub fn of_folder(&self, folder: &str) -> Vec<String> {
        let is_in = |path: &&String| {
            let rest = path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'));
            rest.is_some_and(|name| !name.contains('/'))
        };
        self.files.keys().filter(is_in).cloned().collect()
    }

    /// The names of all blocks, sorted.
    pub fn blocks(&self) -> &[String] {
        &self.blocks
    }

    /// True if a user's folder has a file below `start`.
    pub fn has_own(&self, start: &str) -> bool {
        self.files.iter().any(|(path, file)| !file.is_shipped && path.starts_with(start))
    }

    /// Paths and texts of the files that can be read.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(path, file)| Some((path.as_str(), file.text.as_deref().ok()?)))
    }
}
