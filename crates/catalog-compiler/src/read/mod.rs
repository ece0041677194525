//! From TOML files to schema rows.

mod block;
mod event;
mod family;
mod judgement;
mod metric;
mod number;
mod row;
mod unit;
mod values;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::diagnostics::nearest;
use crate::schema::{Block, Catalogue};
use crate::{Diagnostics, Place};
use row::Row;

/// Reads every file under `root`; what cannot be read is reported and left out.
pub fn catalogue(root: &Path, diagnostics: &mut Diagnostics) -> Catalogue {
    let mut reader = Reader { root, diagnostics, blocks: HashMap::new() };
    let mut catalogue = Catalogue::default();
    for path in reader.toml_files("families") {
        let mut read = None;
        reader.table(&path, |row| read = Some(family::read(row)));
        let Some((mut family, units)) = read else { continue };
        for unit in units {
            catalogue.deviations.extend(family::add(&mut reader, &mut family, unit));
        }
        family.value_sets.sort_by(|a, b| a.name.cmp(&b.name));
        catalogue.families.push(family);
    }
    if catalogue.families.is_empty() {
        let file = reader.diagnostics.file("families");
        let fix = format!("add {}/families/NAME.toml", root.display());
        reader.diagnostics.report(Place { file, line: 0 }, "the catalogue has no family", fix);
    }
    reader.unused_blocks();
    reader.table("undefined.toml", |row| catalogue.choices = judgement::choices(row));
    catalogue
}

struct Reader<'a> {
    root: &'a Path,
    diagnostics: &'a mut Diagnostics,
    /// Each block is read once. One that is being read is `None`, as is one that is not there.
    blocks: HashMap<String, Option<Rc<Block>>>,
}

impl Reader<'_> {
    /// The block of that name; reports at `place` if there is none.
    fn block(&mut self, name: &str, place: Place) -> Option<Rc<Block>> {
        if !self.blocks.contains_key(name) {
            self.blocks.insert(name.to_owned(), None);
            if !name.is_empty() && self.root.join("blocks").join(name).is_dir() {
                let block = Rc::new(block::read(self, name));
                self.blocks.insert(name.to_owned(), Some(block));
            }
        }
        let found = self.blocks[name].clone();
        if found.is_none() {
            let known = self.block_names();
            let fix = match nearest(name, known.iter().map(String::as_str)) {
                Some(near) if near != name => format!("did you mean {near:?}?"),
                Some(_) => "a block cannot have parts of itself".to_owned(),
                None => format!("add the folder blocks/{name}, or correct the name"),
            };
            self.diagnostics.report(place, format!("no block {name:?}"), fix);
        }
        found
    }

    /// Reports blocks that no family has.
    fn unused_blocks(&mut self) {
        for name in self.block_names().into_iter().filter(|name| !self.blocks.contains_key(name)) {
            let file = self.diagnostics.file(format!("blocks/{name}"));
            let fix = format!("add a [[unit]] with block = {name:?} to a family, or remove the folder");
            self.diagnostics.report(Place { file, line: 0 }, format!("no family has the block {name:?}"), fix);
        }
    }

    fn block_names(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.root.join("blocks")) else { return Vec::new() };
        let folders = entries.flatten().filter(|entry| entry.path().is_dir());
        let mut names: Vec<String> = folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Parses one file and hands its top table to `use_row`; reports syntax errors, and keys that nobody asked for.
    fn table(&mut self, path: &str, use_row: impl FnOnce(&mut Row<'_, '_>)) -> Option<()> {
        let file = self.diagnostics.file(path);
        let text = match fs::read_to_string(self.root.join(path)) {
            Ok(text) => text,
            Err(error) => {
                let fix = "create the file, or make it readable UTF-8";
                self.diagnostics.report(Place { file, line: 0 }, format!("cannot be read: {error}"), fix);
                return None;
            }
        };
        let (table, errors) = toml::de::DeTable::parse_recoverable(&text);
        for error in &errors {
            let line = error.span().map_or(0, |span| row::line_of(&text, span.start));
            self.diagnostics.report(Place { file, line }, error.message().to_owned(), "correct the TOML syntax");
        }
        if !errors.is_empty() {
            return None;
        }
        let mut row = Row::top(file, &text, table.get_ref(), self.diagnostics);
        use_row(&mut row);
        row.finish();
        Some(())
    }

    /// The TOML files of a folder, sorted, as paths relative to the root. A missing folder has none.
    fn toml_files(&self, folder: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.root.join(folder)) else { return Vec::new() };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
        paths.sort();
        paths.iter().filter_map(|p| p.file_name()).map(|name| format!("{folder}/{}", name.to_string_lossy())).collect()
    }
}

fn stem(path: &str) -> String {
    Path::new(path).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}
