//! Intel's names of events, and what selects these.

use std::collections::{HashMap, HashSet};

use super::families::{ShippedKernel, families, of, unit};
use super::perf::{NotOffered, PerfEvent, of_unit, perf_event};
use super::pool::name;
use crate::model::{Event, Family, KernelUnit, PmuEvent, PmuRow, Subevent};

/// An event of Intel's files.
#[derive(Debug, Clone)]
pub struct IntelEvent {
    /// Name, for example `UNC_CHA_TOR_INSERTS.IA_MISS`.
    pub name: String,
    /// The unit.
    pub unit: &'static KernelUnit,
    /// How Linux's driver selects it.
    pub perf: Result<PerfEvent, NotOffered>,
}

/// All events that Intel's files have for a family, by unit and name.
pub fn intel_events(family: &'static ShippedKernel) -> impl Iterator<Item = IntelEvent> {
    let units = family.tables().units.iter();
    let rows = units.flat_map(|unit| unit.events.iter().map(move |event| (unit, event)));
    rows.flat_map(move |(unit, event)| {
        event.rows.iter().map(move |row| IntelEvent {
            name: full_name(unit, event, row),
            unit,
            perf: row_perf(family.name, unit, event, row),
        })
    })
}

/// Another family must know so many more of a file's names than the one in question, in hundredths: siblings share
/// nearly all of theirs.
const CLEARLY: usize = 5;

/// The family that a list of Intel's names is from, if it is clearly another than `own`: one that knows half of them at
/// least, and more than `own` does.
pub fn family_of_names(own: &Family, names: &HashSet<String>) -> Option<&'static ShippedKernel> {
    let known = |family: &'static ShippedKernel| {
        let units = family.tables().units.iter();
        let rows = units.flat_map(|unit| unit.events.iter().map(move |event| (unit, event)));
        let all = rows.flat_map(|(unit, event)| event.rows.iter().map(move |row| full_name(unit, event, row)));
        all.filter(|name| names.contains(name)).count()
    };
    let own = of(own).map_or(0, known);
    let (best, family) = families().iter().map(|family| (known(family), family)).max_by_key(|(count, _)| *count)?;
    let is_clear = best * 2 >= names.len() && (best - own.min(best)) * 100 > names.len() * CLEARLY;
    is_clear.then_some(family)
}

fn row_perf(
    family: &'static str,
    unit: &'static KernelUnit,
    event: &PmuEvent,
    row: &PmuRow,
) -> Result<PerfEvent, NotOffered> {
    let Some(pmu) = unit.pmus.first() else { return Err(NotOffered::NoPmu { family, unit: unit.name }) };
    if !row.offered {
        return Err(NotOffered::NoCounter { pmu });
    }
    of_unit(unit, unit.control(event, row), &unit.filters(row))
}

fn full_name(unit: &KernelUnit, event: &PmuEvent, row: &PmuRow) -> String {
    let prefix = if event.prefixed { unit.prefix } else { "" };
    match row.subevent {
        Some(index) => [prefix, name(event.name), ".", name(index)].concat(),
        None => [prefix, name(event.name)].concat(),
    }
}

/// Intel's names for the events of a unit.
#[derive(Debug)]
pub struct IntelNames {
    unit: Option<&'static KernelUnit>,
    by_name: HashMap<&'static str, &'static PmuEvent>,
    by_control: HashMap<u64, (&'static PmuEvent, &'static PmuRow)>,
}

impl IntelNames {
    /// Of a family's unit.
    pub fn new(family: &Family, unit_name: &str) -> Self {
        let unit = unit(family, unit_name);
        let (mut by_name, mut by_control) = (HashMap::new(), HashMap::new());
        for (unit, event) in unit.into_iter().flat_map(|unit| unit.events.iter().map(move |event| (unit, event))) {
            by_name.insert(name(event.name), event);
            for row in event.rows {
                // A deprecated name gives way to the one that took its place.
                let known = by_control.entry(unit.control(event, row)).or_insert((event, row));
                if known.1.deprecated && !row.deprecated {
                    *known = (event, row);
                }
            }
        }
        Self { unit, by_name, by_control }
    }

    /// Intel's name of an event: the same name, or the name of what has the same control value.
    pub fn of(&self, event: &Event, subevent: Option<&Subevent>) -> Option<String> {
        let (event, row) = self.row(event, subevent)?;
        Some(full_name(self.unit?, event, row))
    }

    /// How Linux's driver selects an event.
    ///
    /// # Errors
    /// [`NotOffered`]: the driver cannot do it.
    pub fn perf(
        &self,
        family: &'static Family,
        unit_name: &'static str,
        event: &Event,
        subevent: Option<&Subevent>,
    ) -> Result<PerfEvent, NotOffered> {
        self.name_and_perf(family, unit_name, event, subevent).1
    }

    /// Both [`IntelNames::of`] and [`IntelNames::perf`], in one look-up.
    pub fn name_and_perf(
        &self,
        family: &'static Family,
        unit_name: &'static str,
        event: &Event,
        subevent: Option<&Subevent>,
    ) -> (Option<String>, Result<PerfEvent, NotOffered>) {
        let control = subevent.map_or(event.config, |subevent| subevent.config);
        let known = self.unit.and_then(|unit| Some((unit, self.row(event, subevent)?)));
        let perf = match known {
            Some((unit, (event, row))) if unit.control(event, row) == control => {
                row_perf(family.name, unit, event, row)
            }
            _ => perf_event(family, unit_name, control, &[]),
        };
        (known.map(|(unit, (event, row))| full_name(unit, event, row)), perf)
    }

    fn row(&self, event: &Event, subevent: Option<&Subevent>) -> Option<(&'static PmuEvent, &'static PmuRow)> {
        let named = self.by_name.get(event.name).and_then(|known| {
            let wanted = subevent.map(|subevent| subevent.name);
            let row = known.rows.iter().find(|row| row.subevent.map(name) == wanted)?;
            Some((*known, row))
        });
        let control = subevent.map_or(event.config, |subevent| subevent.config);
        let is_plain = subevent.is_some() || event.subevents.is_empty();
        named.or_else(|| self.by_control.get(&control).copied().filter(|_| is_plain))
    }
}
