//! From TOML files to schema rows.

mod block;
mod core_msrs;
mod event;
mod family;
mod judgement;
mod metric;
mod number;
mod processor;
mod row;
mod unit;
mod values;
mod views;

use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use crate::diagnostics::nearest;
use crate::schema::{Block, Catalogue, CoreMsrRow};
use crate::{Diagnostics, Files, Place};
use row::Row;
use views::ViewSet;

/// Reads every file; what cannot be read is reported and left out.
pub fn catalogue(files: &Files, diagnostics: &mut Diagnostics) -> Catalogue {
    let mut catalogue = Catalogue::default();
    let mut reader = Reader::new(files, diagnostics);
    reader.families(&mut catalogue, |_| true);
    if catalogue.families.is_empty() {
        let file = reader.diagnostics.file("families");
        let fix = format!("add {}/families/NAME.toml", files.root());
        reader.diagnostics.report(Place { file, line: 0 }, "the catalogue has no family", fix);
    }
    reader.unused_blocks(|_| true);
    reader.unused_sets(|_| true);
    reader.table("undefined.toml", |row| catalogue.choices = judgement::choices(row));
    catalogue
}

/// Reads users' own families, and those of `shipped`, by the names of their files: they have a block that users extend.
pub fn own(files: &Files, shipped: &[&str], diagnostics: &mut Diagnostics) -> Catalogue {
    let mut catalogue = Catalogue::default();
    let mut reader = Reader::new(files, diagnostics);
    reader.families(&mut catalogue, |path| files.has_own(path) || shipped.contains(&stem(path).as_str()));
    reader.unused_blocks(|block| files.has_own(&format!("blocks/{block}/")));
    reader.unused_sets(|path| files.has_own(path));
    catalogue
}

struct Reader<'a> {
    files: &'a Files,
    diagnostics: &'a mut Diagnostics,
    /// Each block is read once. One that is being read is `None`, as is one that is not there.
    blocks: HashMap<String, Option<Rc<Block>>>,
    /// Each set of core MSRs is read once, by the path of its file.
    msr_sets: HashMap<String, Vec<Rc<CoreMsrRow>>>,
    /// The same of views.
    view_sets: HashMap<String, Rc<ViewSet>>,
}

impl<'a> Reader<'a> {
    fn new(files: &'a Files, diagnostics: &'a mut Diagnostics) -> Self {
        Self { files, diagnostics, blocks: HashMap::new(), msr_sets: HashMap::new(), view_sets: HashMap::new() }
    }

    /// Reads the families whose files are `wanted`.
    fn families(&mut self, catalogue: &mut Catalogue, wanted: impl Fn(&str) -> bool) {
        for path in self.toml_files("families").into_iter().filter(|path| wanted(path)) {
            let mut read = None;
            self.table(&path, |row| read = Some(family::read(row)));
            let Some((mut family, units)) = read else { continue };
            if let Some(processor) = &mut family.processor {
                for (name, place) in &processor.msr_sets {
                    processor.core_msrs.extend(self.msr_set(name, *place));
                }
            }
            if let Some((name, place)) = family.shared_views.clone()
                && let Some(shared) = self.view_set(&name, place)
            {
                let without: Vec<String> = units.iter().flat_map(family::Listed::without).collect();
                views::add(&mut family, &shared, &without);
            }
            for unit in units {
                catalogue.deviations.extend(family::add(self, &mut family, unit));
            }
            family.value_sets.sort_by(|a, b| a.name.cmp(&b.name));
            catalogue.families.push(family);
        }
    }

    /// The block of that name; reports at `place` if there is none.
    fn block(&mut self, name: &str, place: Place) -> Option<Rc<Block>> {
        if !self.blocks.contains_key(name) {
            self.blocks.insert(name.to_owned(), None);
            if self.files.blocks().iter().any(|known| known == name) {
                let block = Rc::new(block::read(self, name));
                self.blocks.insert(name.to_owned(), Some(block));
            }
        }
        let found = self.blocks[name].clone();
        if found.is_none() {
            let fix = match nearest(name, self.files.blocks().iter().map(String::as_str)) {
                Some(near) if near != name => format!("did you mean {near:?}?"),
                Some(_) => "a block cannot have parts of itself".to_owned(),
                None => format!("add the folder blocks/{name}, or correct the name"),
            };
            self.diagnostics.report(place, format!("no block {name:?}"), fix);
        }
        found
    }

    /// Reports blocks that no family has, of those that are `wanted`.
    fn unused_blocks(&mut self, wanted: impl Fn(&str) -> bool) {
        for name in self.files.blocks().iter().filter(|name| !self.blocks.contains_key(*name) && wanted(name)) {
            let file = self.diagnostics.file(format!("blocks/{name}"));
            let fix = format!("add a [[unit]] with block = {name:?} to a family, or remove the folder");
            self.diagnostics.report(Place { file, line: 0 }, format!("no family has the block {name:?}"), fix);
        }
    }

    /// The core MSRs of a file; reports at `place` if there is none.
    fn msr_set(&mut self, name: &str, place: Place) -> Vec<Rc<CoreMsrRow>> {
        let Some(path) = self.named_file(core_msrs::FOLDER, "set of core MSRs", name, place) else { return Vec::new() };
        if !self.msr_sets.contains_key(&path) {
            let mut rows = Vec::new();
            self.table(&path, |row| rows = core_msrs::read(row));
            self.msr_sets.insert(path.clone(), rows);
        }
        self.msr_sets[&path].clone()
    }

    /// The views of a file; reports at `place` if there is none.
    fn view_set(&mut self, name: &str, place: Place) -> Option<Rc<ViewSet>> {
        let path = self.named_file(views::FOLDER, "set of views", name, place)?;
        if !self.view_sets.contains_key(&path) {
            let mut set = ViewSet::default();
            self.table(&path, |row| set = views::read(row));
            self.view_sets.insert(path.clone(), Rc::new(set));
        }
        Some(self.view_sets[&path].clone())
    }

    /// The path of a folder's file by its name; reports at `place` if there is none.
    fn named_file(&mut self, folder: &str, what: &str, name: &str, place: Place) -> Option<String> {
        let path = format!("{folder}/{name}.toml");
        let known = self.toml_files(folder);
        if known.contains(&path) {
            return Some(path);
        }
        let names: Vec<String> = known.iter().map(|path| stem(path)).collect();
        let fix = match nearest(name, names.iter().map(String::as_str)) {
            Some(near) => format!("did you mean {near:?}?"),
            None => format!("add the file {path}, or correct the name"),
        };
        self.diagnostics.report(place, format!("no {what} {name:?}"), fix);
        None
    }

    /// Reports sets of core MSRs and of views that no family has, of those that are `wanted`.
    fn unused_sets(&mut self, wanted: impl Fn(&str) -> bool) {
        let msrs = self.toml_files(core_msrs::FOLDER).into_iter().filter(|path| !self.msr_sets.contains_key(path));
        let views = self.toml_files(views::FOLDER).into_iter().filter(|path| !self.view_sets.contains_key(path));
        let msrs = msrs.map(|path| (path, "these core MSRs", "`core_msrs` of a family's processor"));
        let views = views.map(|path| (path, "these views", "`views` of a family"));
        let unused: Vec<_> = msrs.chain(views).filter(|(path, _, _)| wanted(path)).collect();
        for (path, what, key) in unused {
            let file = self.diagnostics.file(self.files.shown(&path));
            let fix = format!("add {:?} to {key}, or remove the file", stem(&path));
            self.diagnostics.report(Place { file, line: 0 }, format!("no family has {what}"), fix);
        }
    }

    /// Parses one file and hands its top table to `use_row`; reports syntax errors, and keys that nobody asked for.
    fn table(&mut self, path: &str, use_row: impl FnOnce(&mut Row<'_, '_>)) -> Option<()> {
        let file = self.diagnostics.file(self.files.shown(path));
        let text = match self.files.text(path) {
            Ok(text) => text,
            Err(error) => {
                let fix = "create the file, or make it readable UTF-8";
                self.diagnostics.report(Place { file, line: 0 }, format!("cannot be read: {error}"), fix);
                return None;
            }
        };
        let (table, errors) = toml::de::DeTable::parse_recoverable(text);
        for error in &errors {
            let line = error.span().map_or(0, |span| row::line_of(text, span.start));
            self.diagnostics.report(Place { file, line }, error.message().to_owned(), "correct the TOML syntax");
        }
        if !errors.is_empty() {
            return None;
        }
        let mut row = Row::top(file, text, table.get_ref(), self.diagnostics);
        use_row(&mut row);
        row.finish();
        Some(())
    }

    /// The TOML files of a folder, sorted.
    fn toml_files(&self, folder: &str) -> Vec<String> {
        self.files.of_folder(folder)
    }
}

fn stem(path: &str) -> String {
    Path::new(path).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}
