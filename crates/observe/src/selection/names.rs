//! Names of units, events and counters, in the catalogue's words, Intel's and perf's.

use pericore_catalog::search;
use pericore_catalog::{Event, Family, Register, Role, Subevent, Unit};

use super::error::{Problem, Selectable};

/// Known names that look like a mistyped one.
pub(super) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    search::nearest(name, known).into_iter().map(str::to_owned).collect()
}

/// What a name stands for within a unit.
#[derive(Debug, Clone, Copy)]
pub(super) enum Named {
    Event(&'static Event, Option<&'static Subevent>),
    Fixed(&'static Register),
    FreeRunning(&'static Register, u8),
}

/// What Linux's driver puts behind a unit's name for the PMU of its free-running counters.
const FREE_RUNNING: &str = "_free_running";

/// A place in front of a slash.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub unit: &'static Unit,
    pub instance: Option<u16>,
    /// Only free-running counters are meant: perf has a PMU of its own for them.
    pub free_running: bool,
}

/// A unit, an instance of it, or perf's PMU of its free-running counters, such as `uncore_imc_free_running_1`.
pub(super) fn place(family: &'static Family, name: &str) -> Result<Place, Problem> {
    let has_some = |unit: &&Unit| unit.with_role(Role::FreeRunning).next().is_some();
    let of_free_running = || {
        let at = name.rfind(FREE_RUNNING)?;
        let (stem, number) = (&name[..at], &name[at + FREE_RUNNING.len()..]);
        let unit = family.units.iter().copied().filter(has_some).find(|unit| is_pmu(unit, stem))?;
        let number = number.strip_prefix('_').unwrap_or(number);
        Some(instance_of_pmu(unit, number).map(|instance| Place { unit, instance, free_running: true }))
    };
    match of_free_running() {
        Some(place) => place,
        None => unit(family, name).map(|(unit, instance)| Place { unit, instance, free_running: false }),
    }
}

/// The instance that a PMU of free-running counters is of. Where several instances share the counters, there is one PMU for all of them.
fn instance_of_pmu(unit: &'static Unit, number: &str) -> Result<Option<u16>, Problem> {
    if matches!(number, "" | "*") {
        return Ok(None);
    }
    let placed = unit.with_role(Role::FreeRunning).map(|register| unit.places(register));
    let count = placed.max().unwrap_or(unit.instances).max(1);
    let number: u64 = number.parse().unwrap_or(u64::MAX);
    match u16::try_from(number) {
        Ok(pmu) if pmu < count => Ok(Some(pmu * (unit.instances / count))),
        _ => Err(Problem::NoSuchInstance { unit: unit.name, count, number }),
    }
}

fn is_pmu(unit: &Unit, name: &str) -> bool {
    unit.perf_pmu.is_some_and(|pmu| pmu.eq_ignore_ascii_case(name))
}

/// The names of a unit's free-running counters, as Linux has them where it does.
pub(super) fn free_running_names(unit: &Unit) -> String {
    let registers = || unit.with_role(Role::FreeRunning);
    let own = registers().flat_map(|register| (0..register.count).map(|member| register.member_event(member)));
    let names = own.map(|name| {
        let alias = unit.perf_events.iter().find(|(_, means)| *means == name);
        alias.map_or_else(|| name.clone(), |(alias, _)| (*alias).to_owned())
    });
    names.collect::<Vec<_>>().join(" ")
}

/// A unit by its name or perf's, and the instance if a number follows: `cbo`, `cbo3`, `uncore_cbox_3`, `uncore_cbox_*`.
pub(super) fn unit(family: &'static Family, name: &str) -> Result<(&'static Unit, Option<u16>), Problem> {
    let by_name =
        |name: &str| family.unit(name).or_else(|| family.units.iter().copied().find(|unit| is_pmu(unit, name)));
    // perf's patterns for all instances: `uncore_cbox_*`.
    let of_all = name.strip_suffix('*').map(|stem| stem.strip_suffix('_').unwrap_or(stem));
    if let Some(unit) = by_name(of_all.unwrap_or(name)) {
        return Ok((unit, None));
    }
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = &name[stem.len()..];
    let unit = by_name(stem.strip_suffix('_').unwrap_or(stem)).filter(|_| !digits.is_empty());
    let Some(unit) = unit else {
        let units: Vec<&str> = family.units.iter().map(|unit| unit.name).collect();
        return Err(Problem::UnknownUnit {
            family: family.name,
            name: name.to_owned(),
            nearest: nearest(stem, units.iter().copied()),
            units: units.join(" "),
        });
    };
    let number: u64 = digits.parse().unwrap_or(u64::MAX);
    match u16::try_from(number) {
        Ok(instance) if instance < unit.instances => Ok((unit, Some(instance))),
        _ => Err(Problem::NoSuchInstance { unit: unit.name, count: unit.instances, number }),
    }
}

/// The catalogue's name and settings of an event that Linux perf has a name for, or settings alone where the catalogue
/// has no such event; other names as they are.
pub(super) fn without_alias<'n>(
    unit: Option<&'static Unit>,
    name: &'n str,
) -> (Option<&'n str>, impl Iterator<Item = (&'static str, &'static str)>) {
    let aliases = unit.map_or(&[][..], |unit| unit.perf_events);
    let means = aliases.iter().find_map(|(alias, means)| alias.eq_ignore_ascii_case(name).then_some(*means));
    let (meant, settings) = match means {
        None => (Some(name), ""),
        Some(terms) if terms.starts_with("event=") => (None, terms),
        Some(means) => means.split_once(',').map_or((Some(means), ""), |(name, settings)| (Some(name), settings)),
    };
    (meant, settings.split(',').filter_map(|setting| setting.split_once('=')))
}

/// What a name stands for, in `unit` or, without one, in the only unit that has it.
pub(super) fn event(
    family: &'static Family,
    unit: Option<&'static Unit>,
    name: &str,
) -> Result<(&'static Unit, Named), Problem> {
    if let Some(unit) = unit {
        return within(unit, name).map(|named| (unit, named)).map_err(|problem| metric_or(&[unit], name, problem));
    }
    let tried: Vec<_> = family.units.iter().map(|unit| (*unit, within(unit, name))).collect();
    let found: Vec<_> = tried.iter().filter_map(|(unit, named)| Some((*unit, *named.as_ref().ok()?))).collect();
    match found[..] {
        [only] => Ok(only),
        [] => {
            // A unit that knows at least the event has the better message.
            let near_miss = tried.into_iter().find_map(|(_, named)| match named {
                Err(problem @ Problem::UnknownSubevent { .. }) => Some(problem),
                _ => None,
            });
            let all = || family.units.iter().flat_map(|unit| known_names(unit, name));
            let unknown = || metric_or(family.units, name, unknown_event(family.name, name, all()));
            Err(near_miss.unwrap_or_else(unknown))
        }
        [(first, _), ..] => {
            let units: Vec<&str> = found.iter().map(|(unit, _)| unit.name).collect();
            let example = format!("{}/{name}/", first.name);
            Err(Problem::Ambiguous { name: name.to_owned(), kind: Selectable::Event, units: units.join(", "), example })
        }
    }
}

/// What is wrong with a name that is no event: it may be a metric.
fn metric_or(units: &[&'static Unit], name: &str, problem: Problem) -> Problem {
    let is_metric = |unit: &&Unit| unit.metrics.iter().any(|metric| metric.name.eq_ignore_ascii_case(name));
    match units.iter().copied().find(|unit| is_metric(unit)) {
        Some(unit) => {
            let example = format!("-M {}/{name}", unit.name);
            Problem::OtherKind { name: name.to_owned(), kind: Selectable::Metric, example }
        }
        None => problem,
    }
}

fn within(unit: &'static Unit, name: &str) -> Result<Named, Problem> {
    let name = strip_intel_prefix(unit, name);
    if let Some(event) = unit.event(name) {
        return Ok(Named::Event(event, None));
    }
    for (dot, _) in name.match_indices('.') {
        let Some(event) = unit.event(&name[..dot]) else { continue };
        let wanted = &name[dot + 1..];
        if let Some(subevent) = event.subevent(wanted) {
            return Ok(Named::Event(event, Some(subevent)));
        }
        return Err(Problem::UnknownSubevent {
            event: event.name,
            name: wanted.to_owned(),
            nearest: nearest(wanted, event.subevents.iter().map(|subevent| subevent.name)),
            subevents: subevent_names(event),
        });
    }
    for register in unit.with_role(Role::FixedCounter) {
        if register.member_counted_as(name).is_some() {
            return Ok(Named::Fixed(register));
        }
    }
    for register in unit.with_role(Role::FreeRunning) {
        if let Some(member) = register.member_counted_as(name) {
            return Ok(Named::FreeRunning(register, member));
        }
    }
    Err(unknown_event(unit.name, name, known_names(unit, name)))
}

fn unknown_event(place: &'static str, name: &str, known: impl IntoIterator<Item = String>) -> Problem {
    let known: Vec<String> = known.into_iter().collect();
    Problem::UnknownEvent { place, name: name.to_owned(), nearest: nearest(name, known.iter().map(String::as_str)) }
}

fn strip_intel_prefix<'n>(unit: &Unit, name: &'n str) -> &'n str {
    let Some(prefix) = unit.intel_prefix else { return name };
    match (name.get(..prefix.len()), name.get(prefix.len()..)) {
        (Some(start), Some(rest)) if start.eq_ignore_ascii_case(prefix) => rest,
        _ => name,
    }
}

/// Names to suggest from: whole ones if the wanted one has a dot.
fn known_names(unit: &'static Unit, wanted: &str) -> Vec<String> {
    let with_subevents = wanted.contains('.');
    let mut names: Vec<String> = unit.perf_events.iter().map(|(alias, _)| (*alias).to_owned()).collect();
    for event in unit.events {
        names.push(event.name.to_owned());
        if with_subevents {
            names.extend(event.subevents.iter().map(|subevent| format!("{}.{}", event.name, subevent.name)));
        }
    }
    for register in unit.with_role(Role::FixedCounter).chain(unit.with_role(Role::FreeRunning)) {
        names.extend((0..register.count).map(|member| register.member_event(member)));
    }
    names
}

/// All subevents of an event, for messages; long lists are cut.
pub(super) fn subevent_names(event: &Event) -> String {
    const SHOWN: usize = 12;
    let names: Vec<&str> = event.subevents.iter().map(|subevent| subevent.name).collect();
    if names.is_empty() {
        return "none".to_owned();
    }
    let more = if names.len() > SHOWN { format!(" and {} more", names.len() - SHOWN) } else { String::new() };
    format!("{}{more}", names[..names.len().min(SHOWN)].join(" "))
}
