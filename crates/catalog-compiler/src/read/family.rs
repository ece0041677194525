//! `families/FAMILY.toml`: which blocks a family has, how many and where, and what differs.

use super::Reader;
use super::block::events_with;
use super::processor;
use super::row::Row;
use super::unit;
use super::views::{self, ViewSet};
use crate::Place;
use crate::schema::{Block, Deviation, Family, FunctionRow, Include, Placement, Unit};

/// A unit as its family lists it.
#[derive(Debug)]
pub struct Listed {
    place: Place,
    name: String,
    block: String,
    isolated: Vec<u16>,
    without: Vec<(String, Place)>,
    placements: Vec<Placement>,
}

impl Listed {
    /// What the block has and the family does not, as `unit/NAME`.
    pub fn without(&self) -> impl Iterator<Item = String> {
        self.without.iter().map(|(name, _)| format!("{}/{name}", self.name))
    }
}

/// The family without its units, and these as it lists them, in the order of output.
pub fn read(row: &mut Row<'_, '_>) -> (Family, Vec<Listed>) {
    let ViewSet { views, summary } = views::read(row);
    let family = Family {
        place: row.place(),
        name: row.string("family"),
        aliases: row.strings("aliases"),
        title: row.string("title"),
        documents: row.tables("documents", None, |row| (row.string("cite"), row.string("title"))),
        cpus: row.tables("cpus", None, |row| (row.number("family"), row.number("model"))),
        clocks: row.tables("clocks", None, |row| (row.string("name"), row.string("description"))),
        default_metrics: row.strings("default_metrics"),
        shared_views: row.placed_string("views"),
        views,
        summary,
        floorplan: row.placed_strings("floorplan"),
        processor: row.table("processor", processor::read),
        stubs: row.tables("stub", None, function),
        discovery: row.table("discovery", function),
        units: Vec::new(),
        value_sets: Vec::new(),
        blocks: Vec::new(),
    };
    let units = row.tables("unit", None, |row| Listed {
        place: row.place(),
        name: row.string("name"),
        block: row.string("block"),
        isolated: row.numbers("isolated"),
        without: row.placed_strings("without"),
        placements: row.tables("placement", None, unit::placement),
    });
    if units.is_empty() {
        row.report("unit", "the family has no units", "add a [[unit]] for each, in the order of output");
    }
    (family, units)
}

/// A PCI function without PMON registers.
fn function(row: &mut Row<'_, '_>) -> FunctionRow {
    FunctionRow {
        place: row.place(),
        device: row.number("device"),
        function: row.number("function"),
        device_id: row.number("device_id"),
        class: row.number("class"),
        revision: row.optional_number("revision").unwrap_or(0),
        description: row.string("description"),
        source: row.string("source"),
    }
}

/// Adds a unit to its family: what its block has, what that includes, and what the family says. Gives the deviations that come with it.
pub fn add(reader: &mut Reader<'_>, family: &mut Family, listed: Listed) -> Vec<Deviation> {
    let Some(block) = reader.block(&listed.block, listed.place) else { return Vec::new() };
    let Some(of_block) = &block.unit else {
        let message = format!("block {} has no block.toml: it only lends its parts to others", block.name);
        reader.diagnostics.report(listed.place, message, "name the block that includes it");
        return Vec::new();
    };
    let mut unit = Unit {
        listed: listed.place,
        name: listed.name,
        block: listed.block,
        isolated: listed.isolated,
        placements: listed.placements,
        ..of_block.clone()
    };
    let mut deviations = Vec::new();
    let itself = Include { place: listed.place, block: block.name.clone(), ..Include::default() };
    for include in std::iter::once(&itself).chain(&block.includes) {
        let Some(part) = reader.block(&include.block, include.place) else { continue };
        take(reader, &mut unit, &part, include);
        if !family.blocks.contains(&include.block) {
            family.blocks.push(include.block.clone());
        }
        let known = &mut family.value_sets;
        known.extend(
            part.value_sets
                .iter()
                .filter(|set| !known.iter().any(|other| other.place == set.place))
                .cloned()
                .collect::<Vec<_>>(),
        );
        let here = |row: &Deviation| Deviation { family: family.name.clone(), unit: unit.name.clone(), ..row.clone() };
        deviations.extend(part.deviations.iter().map(here));
    }
    leave_out(reader, &mut unit, &listed.without);
    deviations.retain(|row| !listed.without.iter().any(|(name, _)| is_about(row, name)));
    unit.events.sort_by_key(|event| event.code);
    family.units.push(unit);
    deviations
}

/// Takes the parts of a block into a unit.
fn take(reader: &mut Reader<'_>, unit: &mut Unit, block: &Block, include: &Include) {
    let mut part = Unit {
        name: unit.name.clone(),
        registers: block.registers.clone(),
        field_sets: block.field_sets.clone(),
        signals: block.signals.clone(),
        events: events_with(&block.events, &include.select).collect(),
        metrics: block.metrics.clone(),
        ..Unit::default()
    };
    leave_out(reader, &mut part, &include.without);
    unit.registers.append(&mut part.registers);
    unit.field_sets.append(&mut part.field_sets);
    unit.signals.append(&mut part.signals);
    unit.events.append(&mut part.events);
    unit.metrics.append(&mut part.metrics);
}

/// Removes events, subevents, registers and metrics by name.
fn leave_out(reader: &mut Reader<'_>, unit: &mut Unit, without: &[(String, Place)]) {
    for (name, place) in without {
        let before = size(unit);
        if let Some((event, subevent)) = name.split_once('.') {
            for event in unit.events.iter_mut().filter(|row| row.name == event) {
                event.subevents.retain(|row| row.name != subevent);
            }
        } else {
            unit.events.retain(|row| row.name != *name);
            unit.registers.retain(|row| row.name != *name);
            unit.metrics.retain(|row| row.name != *name);
        }
        if size(unit) == before {
            let message = format!("unit {} has no {name:?} to leave out", unit.name);
            reader.diagnostics.report(
                *place,
                message,
                "name an event, EVENT.SUBEVENT, a register or a metric of its block",
            );
        }
    }
}

/// True if a deviation is about what goes by this name, or about a subevent of it.
fn is_about(row: &Deviation, name: &str) -> bool {
    row.event.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn size(unit: &Unit) -> usize {
    let subevents: usize = unit.events.iter().map(|event| event.subevents.len()).sum();
    unit.events.len() + subevents + unit.registers.len() + unit.metrics.len()
}
