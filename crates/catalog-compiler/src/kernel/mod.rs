//! The tables of `catalog/kernel`: PMUs as Linux's driver has them, and Intel's events. The README there is the format.

mod aliases;
mod events;
mod family;
mod layout;
mod lines;
mod metrics;
mod names;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use pericore_catalog_schema::{Arena, Document, KernelFamily, KernelUnit, PmuEvent, PmuField, PmuRow};

use crate::{Diagnostics, Place};
use events::{EventFact, EventTable, Facts, UnitFacts};
use family::{FamilyHeader, UnitKind, UnitLine};
use layout::LayoutField;
use lines::TableLines;
use metrics::{Groups, MetricTable, ViewLine};
use names::Names;

/// The source of metrics that Intel has no file for.
const OWN: &str = "this project";

/// The compiled tables.
#[derive(Debug, Default)]
pub struct KernelTables<'c> {
    /// Families, by code.
    pub families: Vec<KernelFamily<'c>>,
    /// Names of events and subevents, and lists of filters, that rows refer to by index.
    pub names: Vec<String>,
}

/// Reads the tables under `root`; reports what is wrong. A catalogue without the folder has none.
pub fn read<'c>(to: &'c Arena, root: &Path, diagnostics: &mut Diagnostics) -> KernelTables<'c> {
    let folder = root.join("kernel");
    if !folder.is_dir() {
        return KernelTables::default();
    }
    let mut reader = Reader { folder: &folder, diagnostics };
    let layouts = reader.file("layouts", layout::read);
    if !layouts.contains_key(family::CONTROL) {
        let place = reader.diagnostics.file(folder.join("layouts").display().to_string());
        let fix = "write where control registers have event and umask: `layout control`";
        reader.diagnostics.report(Place { file: place, line: 0 }, "there is no layout control", fix);
    }
    let aliases = reader.file("aliases", aliases::read);
    let kinds = reader.file("units", family::units);
    let groups = reader.optional("own-metrics", |lines, d| metrics::groups(to, lines, d));
    let views = reader.optional("views", metrics::views);
    let (mut headers, mut tables) = (Vec::new(), BTreeMap::new());
    for code in codes(&folder) {
        headers.push((
            code.clone(),
            reader.file(&format!("families/{code}.family"), |lines, d| family::read(lines, &layouts, &aliases, d)),
        ));
        // A family without a table has PMUs, and its events elsewhere.
        if folder.join(format!("events/{code}.events")).is_file() {
            tables.insert(code.clone(), reader.file(&format!("events/{code}.events"), events::read));
        }
    }
    let mut metrics = BTreeMap::new();
    for (code, _) in headers.iter().filter(|(code, _)| folder.join(format!("metrics/{code}.metrics")).is_file()) {
        metrics.insert(
            code.clone(),
            reader.file(&format!("metrics/{code}.metrics"), |lines, d| metrics::read(to, lines, d)),
        );
    }
    let mut names = Names::default();
    let mut families = Vec::new();
    for (code, header) in &headers {
        let facts = events::merged(code, &tables, reader.diagnostics);
        let own = metrics.remove(code).unwrap_or_default();
        let family = compiled(to, code, header, tables.get(code), &facts, &kinds, &mut names, reader.diagnostics);
        families.push(with_metrics(to, family, header, own, (&groups, &views), reader.diagnostics));
    }
    KernelTables { families, names: names.all }
}

/// The codes of the families that the folder has, sorted.
fn codes(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder.join("families")).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut codes: Vec<String> = names.filter_map(|name| Some(name.strip_suffix(".family")?.to_owned())).collect();
    codes.sort();
    codes
}

struct Reader<'a> {
    folder: &'a Path,
    diagnostics: &'a mut Diagnostics,
}

impl Reader<'_> {
    /// The same of a file that a catalogue may be without.
    fn optional<T: Default>(&mut self, name: &str, parse: impl FnOnce(&TableLines, &mut Diagnostics) -> T) -> T {
        if self.folder.join(name).is_file() { self.file(name, parse) } else { T::default() }
    }

    /// What `parse` makes of a file's lines.
    fn file<T>(&mut self, name: &str, parse: impl FnOnce(&TableLines, &mut Diagnostics) -> T) -> T {
        let path = self.folder.join(name);
        let file = self.diagnostics.file(path.display().to_string());
        let text = fs::read_to_string(&path).unwrap_or_else(|error| {
            let fix = "create the file, or make it readable UTF-8";
            self.diagnostics.report(Place { file, line: 0 }, format!("cannot be read: {error}"), fix);
            String::new()
        });
        parse(&TableLines { file, text }, self.diagnostics)
    }
}

#[expect(clippy::too_many_arguments, reason = "what a family is made of")]
fn compiled<'c>(
    to: &'c Arena,
    code: &str,
    header: &FamilyHeader,
    table: Option<&EventTable>,
    facts: &Facts,
    kinds: &BTreeMap<String, UnitKind>,
    names: &mut Names,
    diagnostics: &mut Diagnostics,
) -> KernelFamily<'c> {
    for unit in facts.units.keys().filter(|unit| header.units.iter().all(|line| line.name != **unit)) {
        let fix = format!("add a line `unit {unit} LAYOUT PMU` to {code}.family");
        diagnostics.report(header.place, format!("{code}.events has events of {unit}, which the family has not"), fix);
    }
    let units: Vec<KernelUnit<'c>> = header
        .units
        .iter()
        .filter_map(|line| {
            let Some(kind) = kinds.get(&line.name) else {
                let fix = format!("add a line `unit {} TITLE` to the file units", line.name);
                diagnostics.report(line.place, format!("no kind of unit is called {:?}", line.name), fix);
                return None;
            };
            Some(unit(to, line, kind, facts, names))
        })
        .collect();
    KernelFamily {
        name: to.text(&header.name),
        code: to.text(code),
        aliases: to.list(header.aliases.iter().map(|alias| to.text(alias))),
        title: to.text(&header.title),
        header: to.text(&header.header),
        documents: table.map_or(&[], |table| documents(to, table)),
        cpus: to.list(header.cpus.iter().copied()),
        default_metrics: &[],
        metrics: &[],
        views: &[],
        metrics_source: OWN,
        units: to.list(units),
    }
}

/// The family with its metrics.
fn with_metrics<'c>(
    to: &'c Arena,
    family: KernelFamily<'c>,
    header: &FamilyHeader,
    mut table: MetricTable<'c>,
    (groups, views): (&Groups<'c>, &[ViewLine]),
    diagnostics: &mut Diagnostics,
) -> KernelFamily<'c> {
    for group in &header.own {
        match groups.get(group) {
            Some(metrics) => table.metrics.extend(metrics.iter().copied()),
            None => diagnostics.report(header.place, format!("no metrics {group:?}"), "add them to own-metrics"),
        }
    }
    for name in header.default_metrics.iter().filter(|name| table.metrics.iter().all(|metric| metric.name != **name)) {
        let fix = "take it out of the line `default`, or add it to the family's metrics";
        diagnostics.report(header.place, format!("the family has no metric {name:?}"), fix);
    }
    let source = table.file.map_or_else(|| OWN.to_owned(), |file| format!("Intel perfmon metric file {file}"));
    KernelFamily {
        default_metrics: to.list(header.default_metrics.iter().map(|name| to.text(name))),
        views: to.list(views.iter().filter_map(|view| view.of(to, &table.metrics))),
        metrics: to.list(table.metrics),
        metrics_source: to.text(&source),
        ..family
    }
}

/// Intel's files.
fn documents<'c>(to: &'c Arena, table: &EventTable) -> &'c [Document<'c>] {
    let title = |(name, version): &(String, String)| format!("Intel perfmon event file {name}, {version}");
    to.list(table.files.iter().map(|file| Document { cite: "intel", title: to.text(&title(file)) }))
}

fn unit<'c>(to: &'c Arena, line: &UnitLine, kind: &UnitKind, facts: &Facts, names: &mut Names) -> KernelUnit<'c> {
    let mut events = Vec::new();
    let rows: Option<&UnitFacts> = facts.units.get(&line.name);
    for (name, rows) in rows.into_iter().flatten() {
        let bare = name.strip_prefix('*');
        let row = |(subevent, fact): &(Option<String>, EventFact)| PmuRow {
            subevent: subevent.as_ref().map(|name| names.index(name)),
            umask: fact.umask,
            ports: fact.ports,
            flow_classes: fact.flow_classes,
            filter_value: fact.filter_value,
            filters: fact.filters.as_ref().map(|list| names.index(list)),
            settings: to.list(fact.settings.iter().map(|(field, value)| (to.text(field), *value))),
            counters: fact.counters,
            deprecated: fact.deprecated,
            offered: fact.offered,
        };
        let code = rows.first().map_or(0, |(_, fact)| fact.code);
        let rows = to.list(rows.iter().map(row));
        let event = PmuEvent { name: names.index(bare.unwrap_or(name)), prefixed: bare.is_none(), code, rows };
        events.push(event);
    }
    KernelUnit {
        name: to.text(&line.name),
        title: to.text(&kind.title),
        intel_unit: to.text(&kind.intel),
        prefix: facts.prefixes.get(&line.name).map_or("", |prefix| to.text(prefix)),
        pmus: to.list(line.pmus.iter().map(|pmu| to.text(pmu))),
        aliases: to.list(line.aliases.iter().map(|(name, terms)| (to.text(name), to.text(terms)))),
        control: fields(to, &line.control),
        fields: fields(to, &line.layout),
        events: to.list(events),
    }
}

fn fields<'c>(to: &'c Arena, layout: &[LayoutField]) -> &'c [PmuField<'c>] {
    let field = |field: &LayoutField| PmuField {
        name: to.text(&field.name),
        word: field.word,
        bits: to.list(field.bits.iter().copied()),
    };
    to.list(layout.iter().map(field))
}
