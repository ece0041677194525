//! A family with a file's events next to its own.
//!
//! Everything that looks events up takes a family. So the overlay is one: new units with longer lists of events around the
//! same registers. What is new lies in an arena of the caller's, and goes with it.

use std::collections::BTreeMap;

use pericore_metrics::{Expression, Reference};

use super::Problem;
use super::{Converted, EventFile, FileEvent, FileMetric, RowProblem, printable};
use crate::rows::{Arena, Event, Family, Field, FilterNeed, FilterUse, Measure, Metric, Role, Subevent, Unit};

/// A family with a file's events, and what became of each row.
#[derive(Debug)]
pub struct Overlay<'c> {
    /// The family to look things up in.
    pub family: &'c Family<'c>,
    /// Events and subevents that the family did not have.
    pub added: usize,
    /// Rows that say what the family says.
    pub same: usize,
    /// Rows that took the place of a built-in row: the file is the user's word.
    pub replaced: Vec<Replaced>,
    /// Rows that have no place.
    pub problems: Vec<RowProblem>,
}

/// A row that took the place of a built-in one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced {
    /// Line of the file.
    pub line: usize,
    /// `unit/EVENT.SUBEVENT`.
    pub name: String,
    /// The built-in control value and counters.
    pub built_in: (u64, u16),
    /// The file's.
    pub file: (u64, u16),
}

/// A family that has the file's events too. `source` is what they give as their source, such as the file's name. What is
/// new goes into the arena; nothing of it refers to the file's text.
pub fn overlay<'c>(to: &'c Arena, family: &'c Family<'c>, file: &EventFile<'_>, source: &str) -> Overlay<'c> {
    let source = to.text(source);
    let mut result = Overlay { family, added: 0, same: 0, replaced: Vec::new(), problems: Vec::new() };
    let mut units: Vec<&'c Unit<'c>> = family.units.to_vec();
    for unit in &mut units {
        // By event name, in file order within one.
        let mut rows: BTreeMap<String, Vec<&FileEvent<'_>>> = BTreeMap::new();
        for row in file.events.iter().filter(|row| row.unit.name == unit.name) {
            rows.entry(row.event.to_ascii_uppercase()).or_default().push(row);
        }
        if !rows.is_empty() {
            let events = merge(to, unit, rows, source, &mut result);
            *unit = to.row(Unit { events, ..**unit });
        }
    }
    result.problems.sort_by_key(|problem| problem.line);
    result.family = to.row(Family { units: to.list(units), ..*family });
    result
}

/// A family with a file's metrics, and what became of each row.
#[derive(Debug)]
pub struct MetricOverlay<'c> {
    /// The family to look things up in.
    pub family: &'c Family<'c>,
    /// Metrics that were added, or that took the place of a built-in one of the same name.
    pub added: usize,
    /// Rows that cannot be used.
    pub problems: Vec<RowProblem>,
}

/// A family that has the metrics too. Their events must be in it already. What is new goes into the arena.
pub fn with_metrics<'c>(
    to: &'c Arena,
    family: &'c Family<'c>,
    metrics: &[FileMetric<'_>],
    source: &str,
) -> MetricOverlay<'c> {
    let source = to.text(source);
    let mut result = MetricOverlay { family, added: 0, problems: Vec::new() };
    let mut units: Vec<&'c Unit<'c>> = family.units.to_vec();
    for row in metrics {
        let converted = match row.convert(family) {
            Ok(converted) => converted,
            Err(problem) => {
                result.problems.push(RowProblem { line: row.line, name: printable(&row.name), problem });
                continue;
            }
        };
        let Some(unit) = units.iter_mut().find(|unit| unit.name == converted.unit.name) else { continue };
        let kept = unit.metrics.iter().filter(|known| !known.name.eq_ignore_ascii_case(&row.name));
        let mut metrics: Vec<Metric<'c>> = kept.map(|metric| Metric { ..*metric }).collect();
        metrics.push(Metric {
            name: to.text(&row.name),
            expression: to.text(&written(&converted)),
            printed: Some(to.text(&row.formula)),
            unit_of_measure: converted.unit_of_measure.symbol(),
            quantity: converted.quantity(),
            side: None,
            description: to.text(&row.description),
            source,
            caveats: &[],
            limit: None,
        });
        *unit = to.row(Unit { metrics: to.list(metrics), ..**unit });
        result.added += 1;
    }
    result.family = to.row(Family { units: to.list(units), ..*family });
    result
}

/// The expression as text. The language takes a name with an underscore in front of a stroke for a number: what is the
/// metric's own unit goes without saying there.
fn written(metric: &Converted<'_>) -> String {
    let unit = metric.unit.name;
    let bare = metric.expression.try_map(&mut |reference| {
        let is_own = unit.contains('_') && reference.unit.as_deref() == Some(unit);
        let unit = if is_own { None } else { reference.unit.clone() };
        Ok::<_, std::convert::Infallible>(Expression::Reference(Reference { unit, ..reference.clone() }))
    });
    match bare {
        Ok(expression) => expression.to_string(),
        Err(never) => match never {},
    }
}

fn merge<'c>(
    to: &'c Arena,
    unit: &Unit<'c>,
    mut rows: BTreeMap<String, Vec<&FileEvent<'_>>>,
    source: &'c str,
    result: &mut Overlay<'c>,
) -> &'c [Event<'c>] {
    let mut events = Vec::with_capacity(unit.events.len() + rows.len());
    for event in unit.events {
        let mut draft = Draft::of(to, event);
        for row in rows.remove(&event.name.to_ascii_uppercase()).unwrap_or_default() {
            draft.take(row, unit, source, result);
        }
        events.push(draft.finish());
    }
    for rows in rows.values() {
        let first = rows[0];
        let event = new_event(to, unit, first, rows.len() > 1, source);
        let mut draft = Draft { to, event, is_new: true, subevents: Vec::new() };
        for row in rows {
            draft.take(row, unit, source, result);
        }
        events.push(draft.finish());
    }
    to.list(events)
}

/// An event whose subevents may still grow.
struct Draft<'c> {
    to: &'c Arena,
    event: Event<'c>,
    /// The family does not have it: nothing of it is replaced.
    is_new: bool,
    subevents: Vec<Subevent<'c>>,
}

impl<'c> Draft<'c> {
    fn of(to: &'c Arena, event: &Event<'c>) -> Self {
        Self {
            to,
            event: Event { ..*event },
            is_new: false,
            subevents: event.subevents.iter().map(|subevent| Subevent { ..*subevent }).collect(),
        }
    }

    fn finish(self) -> Event<'c> {
        Event { subevents: self.to.list(self.subevents), ..self.event }
    }

    fn take(&mut self, row: &FileEvent<'_>, unit: &Unit<'c>, source: &'c str, result: &mut Overlay<'c>) {
        let (has, event, full) = (self.event.code, self.event.name.to_owned(), row.full_name());
        let mut refuse = |problem| {
            let name = printable(&full);
            result.problems.push(RowProblem { line: row.line, name, problem });
        };
        let Some(name) = row.subevent.as_deref() else {
            // An event with subevents is chosen by one of them: the bare name would be ambiguous.
            if self.event.subevents.is_empty() && self.subevents.is_empty() {
                return self.take_plain(row, unit, source, result);
            }
            let is_known =
                self.subevents.iter().any(|subevent| subevent.config == row.config) || self.event.config == row.config;
            return if is_known {
                result.same += 1
            } else {
                refuse(Problem::BesideSubevents { event, umask: row.umask })
            };
        };
        if row.code != has {
            return refuse(Problem::OtherCode { event, code: row.code, known: has });
        }
        match self.subevents.iter_mut().find(|subevent| subevent.name.eq_ignore_ascii_case(name)) {
            Some(known) if known.config == row.config && known.counters == row.counters => result.same += 1,
            Some(known) => {
                let name = format!("{}/{full}", unit.name);
                let (built_in, file) = ((known.config, known.counters), (row.config, row.counters));
                result.replaced.push(Replaced { line: row.line, name, built_in, file });
                *known = subevent(self.to, row, &self.event, known.name, source);
            }
            None => {
                result.added += 1;
                let name = self.to.text(name);
                self.event.counters |= row.counters;
                self.subevents.push(subevent(self.to, row, &self.event, name, source));
            }
        }
    }

    fn take_plain(&mut self, row: &FileEvent<'_>, unit: &Unit<'c>, source: &'c str, result: &mut Overlay<'c>) {
        let is_new = self.is_new;
        if is_new {
            result.added += 1;
        } else if self.event.config == row.config && self.event.counters == row.counters {
            result.same += 1;
        } else {
            let name = format!("{}/{}", unit.name, self.event.name);
            let (built_in, file) = ((self.event.config, self.event.counters), (row.config, row.counters));
            result.replaced.push(Replaced { line: row.line, name, built_in, file });
            self.event = Event {
                name: self.event.name,
                is_whole: self.event.is_whole,
                ..new_event(self.to, unit, row, false, source)
            };
        }
    }
}

fn subevent<'c>(to: &'c Arena, row: &FileEvent<'_>, event: &Event<'c>, name: &'c str, source: &'c str) -> Subevent<'c> {
    // A built-in row with the same encoding knows the filters better than the file's column does.
    let alike = event.subevents.iter().find(|known| known.config == row.config);
    Subevent {
        name,
        umask: Some(row.umask),
        config: row.config,
        counters: row.counters,
        max_increment: alike.and_then(|known| known.max_increment).or(event.max_increment),
        description: to.text(&printable(&row.description)),
        source,
        caveats: caveats(row),
        filters: alike.map_or_else(|| filters(to, row), |known| known.filters),
        later: true,
    }
}

/// An event that the family does not have. One with the same code tells which signal it is and which filters it takes.
fn new_event<'c>(
    to: &'c Arena,
    unit: &Unit<'c>,
    row: &FileEvent<'_>,
    has_subevents: bool,
    source: &'c str,
) -> Event<'c> {
    let plain = row.subevent.is_none() && !has_subevents;
    let code_bits = unit.register(Role::Control).map_or(0, |register| {
        ["ev_sel", "ev_sel_ext"]
            .iter()
            .filter_map(|name| register.field(name))
            .fold(0, |mask, field| mask | field.bits.mask())
    });
    let alike = unit.events.iter().find(|known| known.config & code_bits == row.config & code_bits);
    let template = alike.map(|known| Event { ..*known });
    Event {
        name: to.text(&row.event),
        code: row.code,
        config: if plain { row.config } else { row.config & code_bits },
        counters: row.counters,
        max_increment: template.as_ref().and_then(|known| known.max_increment),
        description: if plain {
            to.text(&printable(&row.description))
        } else {
            "An event of the file, chosen by its subevents."
        },
        source,
        caveats: if plain { caveats(row) } else { &[] },
        filters: if plain && alike.is_none() {
            filters(to, row)
        } else {
            template.as_ref().map_or(&[], |known| known.filters)
        },
        field_set: template.as_ref().and_then(|known| known.field_set),
        signal: template.as_ref().and_then(|known| known.signal),
        measure: template.as_ref().map_or(Measure::Arrivals, |known| known.measure),
        decode: template.as_ref().map_or(&[], |known| known.decode),
        subevents: &[],
        category: template.as_ref().map_or("", |known| known.category),
        is_whole: false,
        later: true,
    }
}

fn filters<'c>(to: &'c Arena, row: &FileEvent<'_>) -> &'c [FilterUse<'c>] {
    // The file says that the filter matters; only the user can say to which value.
    let required = |field: &&Field<'_>| FilterUse { field: to.text(field.name), need: FilterNeed::Required };
    to.list(row.filters.iter().map(required))
}

const fn caveats(row: &FileEvent<'_>) -> &'static [&'static str] {
    if row.deprecated { &["Deprecated by Intel."] } else { &[] }
}
