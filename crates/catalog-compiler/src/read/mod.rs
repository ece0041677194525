//! From TOML files to schema rows.

mod event;
mod family;
mod judgement;
mod metric;
mod number;
mod row;
mod unit;

use std::fs;
use std::path::{Path, PathBuf};

use crate::schema::{Catalogue, Family, Unit};
use crate::{Diagnostics, Place};
use row::Row;

/// Reads every file under `root`; what cannot be read is reported and left out.
pub fn catalogue(root: &Path, diagnostics: &mut Diagnostics) -> Catalogue {
    let mut reader = Reader { root, diagnostics };
    let mut catalogue = Catalogue::default();
    for path in reader.toml_files("families") {
        if let Some(family) = reader.family(&path) {
            catalogue.families.push(family);
        }
    }
    if catalogue.families.is_empty() {
        let file = reader.diagnostics.file("families");
        let fix = format!("add {}/families/NAME.toml", root.display());
        reader.diagnostics.report(Place { file, line: 0 }, "the catalogue has no family", fix);
    }
    reader.table("deviations.toml", |row| catalogue.deviations = judgement::deviations(row));
    reader.table("undefined.toml", |row| catalogue.choices = judgement::choices(row));
    catalogue
}

struct Reader<'a> {
    root: &'a Path,
    diagnostics: &'a mut Diagnostics,
}

impl Reader<'_> {
    fn family(&mut self, path: &str) -> Option<Family> {
        let mut family = Family::default();
        let mut units = Vec::new();
        self.table(path, |row| (family, units) = family::read(row))?;
        for path in self.toml_files(&format!("values/{}", family.name)) {
            let name = stem(&path);
            self.table(&path, |row| family.value_sets.push(family::value_set(row, name)));
        }
        for name in units {
            let path = format!("units/{}/{name}.toml", family.name);
            let mut unit = Unit::default();
            if self.table(&path, |row| unit = unit::read(row)).is_some() {
                family.units.push(unit);
            }
        }
        self.events(&mut family);
        self.metrics(&mut family);
        Some(family)
    }

    fn events(&mut self, family: &mut Family) {
        for path in self.toml_files(&format!("events/{}", family.name)) {
            let mut file = event::EventFile::default();
            if self.table(&path, |row| file = event::read(row)).is_none() {
                continue;
            }
            for (name, place) in &file.units {
                if let Some(unit) = family.units.iter_mut().find(|unit| unit.name == *name) {
                    unit.events.extend(file.events_for(name));
                } else {
                    let fix =
                        format!("correct the name, or add {name:?} to the units of families/{}.toml", family.name);
                    self.diagnostics.report(*place, format!("{} has no unit {name:?}", family.name), fix);
                }
            }
        }
        for unit in &mut family.units {
            unit.events.sort_by_key(|event| event.code);
        }
    }

    fn metrics(&mut self, family: &mut Family) {
        for path in self.toml_files(&format!("metrics/{}", family.name)) {
            let mut read = None;
            self.table(&path, |row| read = Some(metric::read(row)));
            let Some((name, place, metrics)) = read else { continue };
            if let Some(unit) = family.units.iter_mut().find(|unit| unit.name == name) {
                unit.metrics.extend(metrics);
            } else {
                self.diagnostics.report(place, format!("{} has no unit {name:?}", family.name), "correct the name");
            }
        }
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
