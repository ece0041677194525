//! From a named event and settings to a complete control value and filter values.

use pericore_catalog::{Event, FilterNeed, FilterUse, Subevent, Unit};

use super::error::Problem;
use super::names::{Named, subevent_names};
use super::settings::{Draft, Given};
use super::{EventSource, FilterSetting, Programming, control_register};

/// A key and what it is set to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setting<'s> {
    pub(super) key: &'s str,
    pub(super) given: Given<'s>,
}

/// A problem, and the index of the setting that it concerns.
type Refusal = (Option<usize>, Problem);

/// True if `key` alone, without a value, is a field set to 1 and not an event.
pub(super) fn is_flag(unit: &'static Unit, key: &str) -> bool {
    let name = match key {
        "edge" => "edge_det",
        "inv" => "invert",
        other => other,
    };
    control_register(unit).is_some_and(|register| register.field(name).is_some())
}

/// What a count comes from.
pub(super) fn source(
    unit: &'static Unit,
    named: Option<Named>,
    settings: &[Setting<'_>],
) -> Result<EventSource, Refusal> {
    let first = settings.first().map(|_| 0);
    let no_settings = |source: EventSource| match settings.first() {
        None => Ok(source),
        Some(setting) => {
            let key = setting.key.to_owned();
            Err((
                first,
                Problem::UnknownKey { unit: unit.name, key, nearest: Vec::new(), keys: "none here".to_owned() },
            ))
        }
    };
    match named {
        Some(Named::Fixed(register)) => no_settings(EventSource::Fixed(register)),
        Some(Named::FreeRunning(register, member)) => no_settings(EventSource::FreeRunning { register, member }),
        Some(Named::Event(event, subevent)) => program(unit, event, subevent, settings).map(EventSource::Programmed),
        None => raw(unit, settings).map(EventSource::Programmed),
    }
}

fn program(
    unit: &'static Unit,
    event: &'static Event,
    subevent: Option<&'static Subevent>,
    settings: &[Setting<'_>],
) -> Result<Programming, Refusal> {
    let config = subevent.map_or(event.config, |subevent| subevent.config);
    let unknown = || Problem::UnknownEvent { place: unit.name, name: event.name.to_owned(), nearest: Vec::new() };
    let mut draft = Draft::new(unit, config).ok_or_else(|| (None, unknown()))?;
    let uses = filter_uses(event, subevent);
    for (index, setting) in settings.iter().enumerate() {
        draft.set(setting.key, setting.given, Some(event)).map_err(|problem| (Some(index), problem))?;
        if let Some(filter) =
            draft.filters.iter().find(|filter| !uses.iter().any(|used| used.field == filter.field.name))
        {
            let key = filter.field.name.to_owned();
            return Err((
                Some(index),
                Problem::FilterNotTaken { event: full_name(event, subevent), key, allowed: allowed(&uses) },
            ));
        }
    }
    // Without a subevent's bits nothing is chosen, unless the event's own value has some: then that counts everything.
    let choosing = subevent_bits(event);
    let is_open = subevent.is_none() && !event.is_whole;
    if is_open && choosing != 0 && event.config & choosing == 0 && !draft.has_any(choosing) {
        return Err((None, Problem::NeedsSubevent { event: event.name, subevents: subevent_names(event) }));
    }
    for used in &uses {
        complete(&mut draft, used, event, subevent).map_err(|problem| (None, problem))?;
    }
    let counters = subevent.map_or(event.counters, |subevent| subevent.counters);
    Ok(Programming {
        control: draft.control,
        counters,
        filters: draft.filters,
        event: Some(event),
        subevent,
        companion: None,
    })
}

/// An event given by `event=`, `umask=`, `config=`.
fn raw(unit: &'static Unit, settings: &[Setting<'_>]) -> Result<Programming, Refusal> {
    if !settings.iter().any(|setting| matches!(setting.key, "event" | "config")) {
        return Err((None, Problem::NoEvent));
    }
    let mut draft = Draft::new(unit, 0).ok_or((None, Problem::NoEvent))?;
    for (index, setting) in settings.iter().enumerate() {
        draft.set(setting.key, setting.given, None).map_err(|problem| (Some(index), problem))?;
    }
    let every_counter = u16::try_from((1_u32 << unit.counters.min(16)) - 1).unwrap_or(u16::MAX);
    let known = recognise(unit, draft.control);
    let (event, subevent) = known.map_or((None, None), |(event, subevent)| (Some(event), subevent));
    let counters = match (event, subevent) {
        (_, Some(subevent)) => subevent.counters,
        (Some(event), None) => event.counters,
        (None, None) => every_counter,
    };
    Ok(Programming { control: draft.control, counters, filters: draft.filters, event, subevent, companion: None })
}

/// The catalogue's event behind a control value, for its counter restrictions.
fn recognise(unit: &'static Unit, control: u64) -> Option<(&'static Event, Option<&'static Subevent>)> {
    let bits = |names: &[&str]| {
        let register = control_register(unit)?;
        Some(names.iter().filter_map(|name| register.field(name)).fold(0, |mask, field| mask | field.bits.mask()))
    };
    let code = bits(&["ev_sel", "ev_sel_ext"])?;
    let whole = code | bits(&["umask", "umask_ext", "occ_sel"])?;
    let alike = || unit.events.iter().filter(|event| event.config & code == control & code);
    // Events that share a code differ in what else selects them: one that fits as a whole goes before the first of the code.
    let exact = alike().find_map(|event| {
        let subevent = event.subevents.iter().find(|subevent| subevent.config & whole == control & whole);
        (subevent.is_some() || event.config & whole == control & whole).then_some((event, subevent))
    });
    exact.or_else(|| alike().next().map(|event| (event, None)))
}

/// Filters that apply: the subevent's word goes before the event's.
pub(super) fn filter_uses(event: &Event, subevent: Option<&Subevent>) -> Vec<FilterUse> {
    let mut uses: Vec<FilterUse> = subevent.map_or_else(Vec::new, |subevent| subevent.filters.to_vec());
    for used in event.filters {
        if !uses.iter().any(|known| known.field == used.field) {
            uses.push(*used);
        }
    }
    uses
}

/// Sees to a filter that the user has not set.
fn complete(
    draft: &mut Draft,
    used: &FilterUse,
    event: &'static Event,
    subevent: Option<&Subevent>,
) -> Result<(), Problem> {
    if draft.has(used.field, Some(event)) {
        return Ok(());
    }
    let filter = draft.unit.filter_field(used.field);
    match (used.need, filter) {
        (FilterNeed::Required, _) => {
            let named = filter.and_then(|(_, field)| field.values.first()).map_or("0x1", |value| value.name);
            let example = format!("{}={named}", used.field);
            Err(Problem::NeedsFilter { event: full_name(event, subevent), field: used.field, example })
        }
        (FilterNeed::Default(value), Some((register, field))) => draft.set_filter(register, field, value),
        (FilterNeed::Default(value), None) => draft.set(used.field, Given::Number(value), Some(event)),
        // A filter with a switch of its own in the control register stays off.
        (FilterNeed::Optional, Some((register, field))) if !draft.has_switch(field) => {
            draft.filters.push(FilterSetting { register, field, value: 0 });
            Ok(())
        }
        (FilterNeed::Optional, _) => Ok(()),
    }
}

fn subevent_bits(event: &Event) -> u64 {
    event.subevents.iter().fold(0, |mask, subevent| mask | (subevent.config ^ event.config))
}

fn full_name(event: &Event, subevent: Option<&Subevent>) -> String {
    subevent.map_or_else(|| event.name.to_owned(), |subevent| format!("{}.{}", event.name, subevent.name))
}

fn allowed(uses: &[FilterUse]) -> String {
    let names: Vec<&str> = uses.iter().map(|used| used.field).collect();
    if names.is_empty() { "it takes none".to_owned() } else { format!("it takes {}", names.join(" ")) }
}

/// The count in the event syntax.
pub(super) fn label(unit: &Unit, instance: Option<u16>, source: &EventSource, settings: &[Setting<'_>]) -> String {
    let mut terms = vec![match source {
        EventSource::Fixed(register) => register.member_event(0),
        EventSource::FreeRunning { register, member } => register.member_event(*member),
        EventSource::Programmed(programming) => match programming.event {
            Some(event) => full_name(event, programming.subevent),
            None => String::new(),
        },
    }];
    if terms[0].is_empty() {
        terms.clear();
    }
    // A code that the catalogue has a name for says nothing more.
    let is_said = |key: &str| match (key, source) {
        ("event", _) => !terms.is_empty(),
        ("umask" | "config", EventSource::Programmed(programming)) => programming.is_plain(),
        _ => false,
    };
    let mut said: Vec<String> = Vec::new();
    for setting in settings.iter().filter(|setting| !is_said(setting.key)) {
        said.push(match setting.given {
            Given::Number(number) => format!("{}={number:#x}", setting.key),
            Given::Text(text) => format!("{}={text}", setting.key),
        });
    }
    terms.extend(said);
    let instance = instance.map_or_else(String::new, |instance| instance.to_string());
    format!("{}{instance}/{}/", unit.name, terms.join(","))
}
