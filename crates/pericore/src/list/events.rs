//! Events and subevents.

use std::collections::BTreeMap;
use std::io::{self, Write};

use pericore_catalog::kernel::IntelNames;
use pericore_catalog::search::Query;
use pericore_catalog::{Event, Family, FilterNeed, FilterUse, Role, Subevent, Unit};
use pericore_machine::coverage::{Coverage, Label};
use pericore_text::Paint;

use super::event_line::{CoverageInfo, EventLine, FilterInfo, hexadecimal};
use super::{Request, counters, heading, paragraph};
use crate::terminal::counter_list;

/// Prints a family's events; gives the number of rows.
pub fn print(out: &mut impl Write, family: &'static Family, request: &Request<'_>) -> io::Result<usize> {
    let modelled = pericore_machine::modelled(family);
    let coverage = if request.args.json { Coverage::of(family.name) } else { None };
    let labels = coverage.as_ref().map_or(&[] as &[Label], Coverage::labels);
    let labels: Vec<String> = labels.iter().map(|label| CoverageInfo::of(label).keys()).collect();
    let mut rows = 0;
    let mut marked = false;
    for (index, unit, query) in request.units(family) {
        let mut headed = false;
        let intel = request.args.json.then(|| IntelNames::new(family, unit.name));
        for event in unit.events {
            let is_modelled = |subevent: Option<&Subevent>| {
                modelled.as_ref().is_some_and(|wiring| wiring.is_modelled(index, event, subevent))
            };
            let shown = Shown::of(event, &query, request.args.modelled, is_modelled);
            rows += shown.rows();
            if shown.rows() == 0 {
                continue;
            }
            if let Some(intel) = &intel {
                json(out, family, unit, event, &shown, (intel, coverage.as_ref(), &labels))?;
                continue;
            }
            if !headed {
                heading(out, family, unit, request.paint)?;
                if modelled.is_some() {
                    paragraph(out, 2, &model_only(family, unit))?;
                }
                headed = true;
            }
            let has_model = modelled.is_some();
            marked |= human(out, event, &shown, request.paint, has_model)?;
        }
    }
    if marked {
        writeln!(out, "\n- in front: the software machine does not count it")?;
    }
    Ok(rows)
}

/// What of a unit's counts on the emulated machine is more than the model's word.
fn model_only(family: &Family, unit: &Unit) -> String {
    let checked = |event: &&Event| pericore_machine::checked(family.name, unit.name, event.name, None).is_some();
    let names: Vec<&str> = unit.events.iter().filter(checked).map(|event| event.name).collect();
    if names.is_empty() {
        "On the software machine: by the model only, not compared with silicon.".to_owned()
    } else {
        format!("On the software machine: by the model only, not compared with silicon, except {}.", names.join(", "))
    }
}

/// The rows of an event that are asked for.
struct Shown {
    event: bool,
    /// True if the emulated machine models the event: any of its subevents.
    is_modelled: bool,
    /// Subevents, and whether they are modelled.
    subevents: Vec<(&'static Subevent, bool)>,
}

impl Shown {
    fn of(
        event: &'static Event,
        query: &Query,
        only_modelled: bool,
        is_modelled: impl Fn(Option<&Subevent>) -> bool,
    ) -> Self {
        let matches = |subevent: &Subevent| {
            let names = [event.name, subevent.name];
            // Only a pattern can have a dot that joins the two.
            let full = || format!("{}.{}", event.name, subevent.name);
            query.matches(&names, &[event.description, subevent.description])
                || (query.has_dot() && query.matches(&[&full()], &[event.description, subevent.description]))
        };
        // Each is looked at once: there are thousands.
        let rows = event.subevents.iter().map(|subevent| (subevent, is_modelled(Some(subevent))));
        let mut subevents: Vec<_> = rows.collect();
        let is_modelled =
            if subevents.is_empty() { is_modelled(None) } else { subevents.iter().any(|(_, modelled)| *modelled) };
        subevents.retain(|(subevent, modelled)| (*modelled || !only_modelled) && matches(subevent));
        let is_wanted = is_modelled || !only_modelled;
        Self { event: is_wanted && query.matches(&[event.name], &[event.description]), is_modelled, subevents }
    }

    fn rows(&self) -> usize {
        usize::from(self.event) + self.subevents.len()
    }
}

fn json(
    out: &mut impl Write,
    family: &'static Family,
    unit: &'static Unit,
    event: &Event,
    shown: &Shown,
    (intel, coverage, labels): (&IntelNames, Option<&Coverage>, &[String]),
) -> io::Result<()> {
    let numbers = coverage.map_or(&[] as &[u16], |coverage| coverage.numbers(unit.name, event.name));
    // An event with one subevent has its label.
    let label = |place: usize| {
        let number = numbers.get(place).or(numbers.first())?;
        labels.get(usize::from(*number)).map(String::as_str)
    };
    let checked = |subevent| pericore_machine::checked(family.name, unit.name, event.name, subevent).is_some();
    let intel = |subevent| {
        let (name, perf) = intel.name_and_perf(family, unit.name, event, subevent);
        (name, perf.ok().map(|perf| perf.text()))
    };
    if shown.event {
        let modelled = shown.is_modelled;
        let (intel_name, perf) = intel(None);
        let row = EventLine {
            family: family.name,
            unit: unit.name,
            event: event.name,
            subevent: None,
            intel_name,
            code: hexadecimal(event.code.into(), 2),
            umask: unit.umask(event, None).map(|umask| hexadecimal(umask, 2)),
            config: hexadecimal(event.config, 1),
            perf,
            counters: counters(event.counters),
            max_increment: event.max_increment,
            filters: filters(unit, event, event.filters),
            modelled,
            model_only: modelled && !checked(None),
            source: event.source,
            description: event.description,
            caveats: event.caveats,
            later: event.later,
            coverage: label(0),
        };
        row.write(out)?;
    }
    for &(subevent, modelled) in &shown.subevents {
        let place = event.subevents.iter().position(|other| std::ptr::eq(other, subevent)).unwrap_or_default();
        let (intel_name, perf) = intel(Some(subevent));
        let row = EventLine {
            family: family.name,
            unit: unit.name,
            event: event.name,
            subevent: Some(subevent.name),
            intel_name,
            code: hexadecimal(event.code.into(), 2),
            umask: unit.umask(event, Some(subevent)).map(|umask| hexadecimal(umask, 2)),
            config: hexadecimal(subevent.config, 1),
            perf,
            counters: counters(subevent.counters),
            max_increment: subevent.max_increment,
            filters: filters(unit, event, subevent.filters),
            modelled,
            model_only: modelled && !checked(Some(subevent.name)),
            source: subevent.source,
            description: subevent.description,
            caveats: subevent.caveats,
            later: subevent.later,
            coverage: label(place + 1),
        };
        row.write(out)?;
    }
    Ok(())
}

fn filters<'a>(unit: &'a Unit, event: &Event, uses: &'a [FilterUse]) -> BTreeMap<&'a str, FilterInfo<'a>> {
    let place = |field: &str| {
        let in_filter = unit.filter_field(field).map(|(register, field)| (register.name, field.bits));
        let control = unit.register(Role::Control);
        let in_control = || control.and_then(|c| Some((c.name, c.field(field)?.bits)));
        let set = event.field_set.map(|index| &unit.field_sets[usize::from(index)]);
        let in_set = || {
            let found = set?.fields.iter().find(|f| f.name == field)?;
            Some((control?.name, found.bits))
        };
        in_filter.or_else(in_control).or_else(in_set)
    };
    let rows = uses.iter().filter_map(|filter| {
        let (register, bits) = place(filter.field)?;
        let (need, default) = match filter.need {
            FilterNeed::Required => ("required", None),
            FilterNeed::Optional => ("optional", None),
            FilterNeed::Default(value) => ("default", Some(format!("{value:#x}"))),
        };
        Some((filter.field, FilterInfo { register, bits: bits.to_string(), need, default }))
    });
    rows.collect()
}

/// Gives true if a row is marked as not modelled.
fn human(out: &mut impl Write, event: &Event, shown: &Shown, paint: Paint, has_model: bool) -> io::Result<bool> {
    let mut marked = false;
    let mut mark = |is_modelled: bool| {
        let is_marked = has_model && !is_modelled;
        marked |= is_marked;
        if is_marked { '-' } else { ' ' }
    };
    let first = if event.subevents.is_empty() { mark(shown.is_modelled) } else { ' ' };
    let select = format!("code {:#04x}  counters {}", event.code, counter_list(event.counters));
    row(out, first, "", event.name, &select, paint)?;
    paragraph(out, 6, event.description)?;
    for &(subevent, is_modelled) in &shown.subevents {
        let other = subevent.counters != event.counters;
        let counters = if other { format!("  counters {}", counter_list(subevent.counters)) } else { String::new() };
        let select = format!("config {:#x}{counters}", subevent.config);
        row(out, mark(is_modelled), "  .", subevent.name, &select, paint)?;
        paragraph(out, 8, subevent.description)?;
    }
    Ok(marked)
}

/// Name on the left, how it is selected on the right; below it, if there is no room.
fn row(out: &mut impl Write, mark: char, indent: &str, name: &str, select: &str, paint: Paint) -> io::Result<()> {
    const NAMES: usize = 42;
    let shown = paint.strong(name);
    let length = indent.len() + name.chars().count();
    let rest = " ".repeat(NAMES.checked_sub(length).unwrap_or(NAMES));
    if length > NAMES {
        writeln!(out, "{mark} {indent}{shown}")?;
        return writeln!(out, "  {rest} {select}");
    }
    writeln!(out, "{mark} {indent}{shown}{rest} {select}")
}
