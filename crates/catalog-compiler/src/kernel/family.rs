//! The files `units` and `CODE.family`: what a family is, and the PMUs of its units.

use std::collections::BTreeMap;

use pericore_catalog_schema::{CpuModel, KernelCpu};

use super::aliases::Aliases;
use super::layout::{LayoutField, Layouts};
use super::lines::TableLines;
use crate::{Diagnostics, Place};

/// The layout of control registers.
pub const CONTROL: &str = "control";

/// A kind of unit.
#[derive(Debug)]
pub struct UnitKind {
    pub title: String,
    /// Name in Intel's files.
    pub intel: String,
}

/// What a family is.
#[derive(Debug, Default)]
pub struct FamilyHeader {
    pub place: Place,
    pub name: String,
    pub aliases: Vec<String>,
    pub title: String,
    /// What the headers of Intel's files call it.
    pub header: String,
    pub cpus: Vec<KernelCpu>,
    pub default_metrics: Vec<String>,
    /// Groups of this project's metrics.
    pub own: Vec<String>,
    pub units: Vec<UnitLine>,
}

/// A unit of a family.
#[derive(Debug)]
pub struct UnitLine {
    pub place: Place,
    pub name: String,
    pub layout: Vec<LayoutField>,
    /// Where the control register has codes and umasks.
    pub control: Vec<LayoutField>,
    pub pmus: Vec<String>,
    /// Events that drivers have names for, and their terms.
    pub aliases: Vec<(String, String)>,
}

/// Reads `unit NAME TITLE`, and `intel NAME` below it where that is not the same in capitals.
pub fn units(lines: &TableLines, diagnostics: &mut Diagnostics) -> BTreeMap<String, UnitKind> {
    let mut kinds = BTreeMap::new();
    let mut last = None;
    for (place, line) in lines.iter() {
        match line.split_once(' ') {
            Some(("unit", rest)) => {
                let (name, title) = rest.split_once(' ').unwrap_or((rest, ""));
                kinds.insert(name.to_owned(), UnitKind { title: title.to_owned(), intel: name.to_uppercase() });
                last = Some(name.to_owned());
            }
            Some(("intel", name)) if last.is_some() => {
                if let Some(kind) = last.as_ref().and_then(|last| kinds.get_mut(last)) {
                    kind.intel = name.to_owned();
                }
            }
            _ => diagnostics.report(
                place,
                format!("{line:?} is no kind of unit"),
                "write `unit NAME TITLE` or `intel NAME`",
            ),
        }
    }
    kinds
}

/// Reads `family NAME ALIAS…`, `header …`, `title …`, `default METRIC…`, `own GROUP`,
/// `cpu FAMILY MODEL [STEPPING-STEPPING]`, `unit NAME LAYOUT PMU…`, and below a unit `aliases NAME`.
pub fn read(lines: &TableLines, layouts: &Layouts, aliases: &Aliases, diagnostics: &mut Diagnostics) -> FamilyHeader {
    let mut header = FamilyHeader { place: Place { file: lines.file, line: 0 }, ..FamilyHeader::default() };
    for (place, line) in lines.iter() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["family", name, ref aliases @ ..] => {
                name.clone_into(&mut header.name);
                header.aliases = aliases.iter().map(|alias| (*alias).to_owned()).collect();
            }
            ["title", ..] => line["title".len()..].trim().clone_into(&mut header.title),
            ["header", ..] => line["header".len()..].trim().clone_into(&mut header.header),
            ["default", ref names @ ..] => {
                header.default_metrics = names.iter().map(|name| (*name).to_owned()).collect();
            }
            ["own", group] => header.own.push(group.to_owned()),
            ["cpu", family, model, ref steppings @ ..] => match cpu(family, model, steppings) {
                Some(cpu) => header.cpus.push(cpu),
                None => diagnostics.report(place, format!("{line:?} is no processor"), "write `cpu 6 0x55 0-4`"),
            },
            ["unit", name, layout, ref pmus @ ..] => match layouts.get(layout) {
                Some(fields) => header.units.push(UnitLine {
                    place,
                    name: name.to_owned(),
                    layout: fields.clone(),
                    control: layouts.get(CONTROL).cloned().unwrap_or_default(),
                    pmus: pmus.iter().map(|pmu| (*pmu).to_owned()).collect(),
                    aliases: Vec::new(),
                }),
                None => diagnostics.report(place, format!("no layout {layout:?}"), "add it to the file layouts"),
            },
            ["aliases", list] => match (aliases.get(list), header.units.last_mut()) {
                (Some(known), Some(unit)) => unit.aliases.clone_from(known),
                (None, _) => diagnostics.report(place, format!("no aliases {list:?}"), "add them to the file aliases"),
                (_, None) => diagnostics.report(place, "aliases of no unit", "write `unit NAME LAYOUT PMU` above them"),
            },
            _ => {
                let fix = "lines begin with family, header, title, default, own, cpu, unit or aliases; see README.md";
                diagnostics.report(place, format!("{line:?} is no line of a family"), fix);
            }
        }
    }
    if header.name.is_empty() {
        diagnostics.report(header.place, "the family has no name", "add a line `family NAME ALIAS`");
    }
    header
}

fn cpu(family: &str, model: &str, steppings: &[&str]) -> Option<KernelCpu> {
    let steppings = match steppings {
        [] => (0, 15),
        [range] => {
            let (first, last) = range.split_once('-')?;
            (first.parse().ok()?, last.parse().ok()?)
        }
        _ => return None,
    };
    let model = u16::from_str_radix(model.strip_prefix("0x")?, 16).ok()?;
    Some(KernelCpu { model: CpuModel { family: family.parse().ok()?, model }, steppings })
}
