//! The catalogue: families, events, metrics, registers.

use pericore_catalog::kernel::IntelNames;
use pericore_catalog::{Event, Family, Location, Register, Subevent, Unit};
use pericore_machine::{MachineSpec, PRESETS};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::columns::PyColumns;
use crate::errors;

/// The family that a machine's name stands for.
fn family(machine: &str) -> PyResult<&'static Family> {
    Ok(MachineSpec::parse(machine).map_err(errors::value)?.family())
}

/// Names of the families.
#[pyfunction]
pub fn families() -> Vec<&'static str> {
    pericore_catalog::shipped().iter().map(|shipped| shipped.name).collect()
}

/// Names of the machines that can run, each with its family.
#[pyfunction]
pub fn presets() -> Vec<(&'static str, &'static str)> {
    PRESETS.to_vec()
}

/// The die of a machine, row by row: instances between spaces, a dot where nothing is.
#[pyfunction]
pub fn floorplan(machine: &str) -> PyResult<Vec<&'static str>> {
    Ok(family(machine)?.floorplan.to_vec())
}

/// An event, or one of its subevents.
struct EventRow {
    unit: &'static Unit,
    event: &'static Event,
    subevent: Option<&'static Subevent>,
    is_modelled: bool,
    intel_name: Option<String>,
    perf: Option<String>,
}

/// All events and subevents of a family, as columns.
#[pyfunction]
pub fn events<'py>(py: Python<'py>, machine: &str) -> PyResult<Bound<'py, PyDict>> {
    let family = family(machine)?;
    let modelled = pericore_machine::modelled(family);
    let mut rows: Vec<EventRow> = Vec::new();
    for (index, unit) in family.units.iter().enumerate() {
        let intel = IntelNames::new(family, unit.name);
        for event in unit.events {
            let is_modelled =
                |subevent| modelled.as_ref().is_some_and(|wiring| wiring.is_modelled(index, event, subevent));
            let row = |subevent: Option<&'static Subevent>, is_modelled| {
                let (intel_name, perf) = intel.name_and_perf(family, unit.name, event, subevent);
                let perf = perf.ok().map(|perf| perf.text());
                EventRow { unit, event, subevent, is_modelled, intel_name, perf }
            };
            let subevents: Vec<EventRow> =
                event.subevents.iter().map(|subevent| row(Some(subevent), is_modelled(Some(subevent)))).collect();
            let is_any = match subevents.is_empty() {
                true => is_modelled(None),
                false => subevents.iter().any(|row| row.is_modelled),
            };
            rows.push(row(None, is_any));
            rows.extend(subevents);
        }
    }
    let counters = |row: &EventRow| list(row.subevent.map_or(row.event.counters, |subevent| subevent.counters));
    let most = |row: &EventRow| row.subevent.map_or(row.event.max_increment, |subevent| subevent.max_increment);
    let columns = PyColumns::new(py)
        .add("family", &rows, |_| family.name)?
        .add("unit", &rows, |row| row.unit.name)?
        .add("event", &rows, |row| row.event.name)?
        .add("subevent", &rows, |row| row.subevent.map(|subevent| subevent.name))?
        .add("intel_name", &rows, |row| row.intel_name.clone())?
        .add("code", &rows, |row| u64::from(row.event.code))?
        .add("umask", &rows, |row| row.unit.umask(row.event, row.subevent))?
        .add("config", &rows, |row| row.subevent.map_or(row.event.config, |subevent| subevent.config))?
        .add("perf", &rows, |row| row.perf.clone())?
        .add("counters", &rows, counters)?
        .add("max_increment", &rows, most)?
        .add("modelled", &rows, |row| row.is_modelled)?
        .add("source", &rows, |row| row.subevent.map_or(row.event.source, |subevent| subevent.source))?
        .add("description", &rows, |row| row.subevent.map_or(row.event.description, |subevent| subevent.description))?;
    Ok(columns.finish())
}

/// Numbers of the counters that can count an event.
fn list(counters: u16) -> Vec<u8> {
    (0..16).filter(|counter| counters >> counter & 1 == 1).collect()
}

/// All metrics of a family, as columns.
#[pyfunction]
pub fn metrics<'py>(py: Python<'py>, machine: &str) -> PyResult<Bound<'py, PyDict>> {
    let family = family(machine)?;
    let rows: Vec<_> = family.units.iter().flat_map(|unit| unit.metrics.iter().map(move |row| (unit, row))).collect();
    let columns = PyColumns::new(py)
        .add("family", &rows, |_| family.name)?
        .add("unit", &rows, |(unit, _)| unit.name)?
        .add("metric", &rows, |(_, row)| row.name)?
        .add("expression", &rows, |(_, row)| row.expression)?
        .add("unit_of_measure", &rows, |(_, row)| row.unit_of_measure)?
        .add("description", &rows, |(_, row)| row.description)?
        .add("source", &rows, |(_, row)| row.source)?;
    Ok(columns.finish())
}

/// A register of an instance; without a place where only a discovery table has it.
struct RegisterRow {
    unit: &'static Unit,
    register: &'static Register,
    member: u8,
    instance: Option<usize>,
    address: Option<u64>,
    bdf: Option<String>,
}

/// All registers of a socket, as columns.
#[pyfunction]
pub fn registers<'py>(py: Python<'py>, machine: &str) -> PyResult<Bound<'py, PyDict>> {
    let family = family(machine)?;
    let mut rows: Vec<RegisterRow> = Vec::new();
    for unit in family.units {
        for register in unit.registers {
            let row = |member, instance, (address, bdf)| RegisterRow { unit, register, member, instance, address, bdf };
            let instances = unit.placements[usize::from(register.placement)].instances;
            for (number, location) in instances.iter().enumerate() {
                rows.extend(
                    (0..register.count)
                        .map(|member| row(member, Some(number), place(*location, register.member_offset(member)))),
                );
            }
            if instances.is_empty() {
                rows.extend((0..register.count).map(|member| row(member, None, (None, None))));
            }
        }
    }
    let columns = PyColumns::new(py)
        .add("family", &rows, |_| family.name)?
        .add("unit", &rows, |row| row.unit.name)?
        .add("instance", &rows, |row| row.instance)?
        .add("register", &rows, |row| row.register.member_name(row.member))?
        .add("space", &rows, |row| row.unit.placements[usize::from(row.register.placement)].space.name())?
        .add("address", &rows, |row| row.address)?
        .add("bdf", &rows, |row| row.bdf.clone())?
        .add("width", &rows, |row| row.register.width)?
        .add("reset", &rows, |row| row.register.reset)?
        .add("fields", &rows, |row| {
            row.register.fields.iter().map(|field| format!("{} {}", field.name, field.bits)).collect::<Vec<_>>()
        })?
        .add("source", &rows, |row| row.register.source)?;
    Ok(columns.finish())
}

/// Address, and for PCI and MMIO the function or window.
fn place(location: Location, offset: u32) -> (Option<u64>, Option<String>) {
    match location {
        Location::Msr { base } => (Some(u64::from(base + offset)), None),
        Location::Pci { device, function } => (Some(u64::from(offset)), Some(format!("{device:02x}.{function}"))),
        Location::Mmio { bar, index, offset: base } => (Some(base + u64::from(offset)), Some(format!("{bar}{index}"))),
    }
}
