//! Events in the event syntax, with everything they need to count: what `explain` proposes.

use pericore_metrics::{Expression, SettingValue};

use crate::model::{Event, Field, FilterNeed, FilterUse, Measure, Register, Role, Subevent, Unit};

/// `unit/EVENT.SUBEVENT,key=value/`, with a value for each filter that the event needs. An event with subevents takes its
/// first one that needs no filter; one that repeats counter 0 comes in a group with an occupancy.
pub fn event_text(unit: &'static Unit, event: &'static Event, subevent: Option<&'static Subevent>) -> String {
    let needs_filter = |subevent: &&Subevent| subevent.filters.iter().any(|used| used.need == FilterNeed::Required);
    let plain = event.subevents.iter().find(|subevent| !needs_filter(subevent));
    let subevent = subevent.or(plain).or(event.subevents.first());
    let mut terms =
        vec![subevent.map_or_else(|| event.name.to_owned(), |subevent| format!("{}.{}", event.name, subevent.name))];
    for used in uses(event, subevent).into_iter().filter(|used| used.need == FilterNeed::Required) {
        let name = terms[0].clone();
        terms.push(format!("{}={}", used.field, value_for(unit, event, &name, used.field)));
    }
    let text = format!("{}/{}/", unit.name, terms.join(","));
    match companion(unit, event) {
        Some(companion) => format!("{{{},{text}}}", event_text(unit, companion, None)),
        None => text,
    }
}

/// The text of a fixed or free-running counter.
pub fn fixed_text(unit: &Unit, register: &Register, member: u8) -> String {
    format!("{}/{}/", unit.name, register.member_event(member))
}

/// The events that a metric's expression names, in the event syntax and in order of appearance. Other metrics that it
/// builds on stay names.
pub fn metric_event_texts(unit: &Unit, expression: &str) -> Vec<String> {
    let Ok(parsed) = Expression::parse(expression) else { return Vec::new() };
    let references = parsed.references().into_iter().filter(|reference| !reference.is_variable());
    let texts = references.map(|reference| {
        let unit = reference.unit.as_deref().unwrap_or(unit.name);
        let settings = reference.settings.iter().map(|(key, value)| format!(",{key}={value}"));
        format!("{unit}/{}{}/", reference.name, settings.collect::<String>())
    });
    texts.collect()
}

/// Settings that a metric's events need and that its expression leaves to the user, as `key=value` with a value that makes sense.
pub fn metric_settings(unit: &Unit, expression: &str) -> Vec<String> {
    let Ok(parsed) = Expression::parse(expression) else { return Vec::new() };
    let mut found: Vec<String> = Vec::new();
    parsed.visit(&mut |reference| {
        let (name, subevent) = reference.name.split_once('.').unwrap_or((&reference.name, ""));
        let Some(event) = unit.event(name).filter(|_| reference.unit.is_none()) else { return };
        let needed = uses(event, event.subevent(subevent)).into_iter().filter(|used| used.need == FilterNeed::Required);
        for used in needed.filter(|used| !reference.settings.iter().any(|(key, _)| key == used.field)) {
            let setting = format!("{}={}", used.field, value_for(unit, event, &reference.name, used.field));
            if !found.contains(&setting) {
                found.push(setting);
            }
        }
    });
    found
}

/// Filters that apply: the subevent's word goes before the event's.
fn uses(event: &Event, subevent: Option<&Subevent>) -> Vec<FilterUse> {
    let mut uses: Vec<FilterUse> = subevent.map_or_else(Vec::new, |subevent| subevent.filters.to_vec());
    for used in event.filters {
        if !uses.iter().any(|known| known.field == used.field) {
            uses.push(*used);
        }
    }
    uses
}

/// The event whose increments counter 0 is to have: of the occupancies that which can be largest, else any event.
fn companion(unit: &'static Unit, event: &Event) -> Option<&'static Event> {
    if event.measure != Measure::Counter0 {
        return None;
    }
    let on_first = unit.events.iter().filter(|other| other.counters & 1 == 1 && other.measure != Measure::Counter0);
    let largest = on_first.clone().filter(|it| it.measure == Measure::Occupancy).max_by_key(|it| it.max_increment);
    largest.or_else(|| on_first.clone().find(|other| other.measure == Measure::Arrivals))
}

/// A value that makes sense: what the unit's metrics set in this event, what they set in any event, the field's first named
/// value, or 1.
fn value_for(unit: &Unit, event: &Event, name: &str, field: &'static str) -> String {
    let settings: Vec<(String, String)> =
        unit.metrics.iter().flat_map(|metric| settings_of(metric.expression, field)).collect();
    let of_this = settings.iter().find(|(used_by, _)| used_by == name);
    if let Some((_, value)) = of_this.or(settings.first()) {
        return value.clone();
    }
    let named = field_of(unit, event, field).and_then(|field| field.values.iter().find(|value| value.value != 0));
    named.map_or_else(|| "0x1".to_owned(), |value| value.name.to_owned())
}

/// Event and value of each reference in a metric's expression that sets the field.
fn settings_of(expression: &str, field: &str) -> Vec<(String, String)> {
    let Ok(parsed) = Expression::parse(expression) else { return Vec::new() };
    let mut found = Vec::new();
    parsed.visit(&mut |reference| {
        for (_, value) in reference.settings.iter().filter(|(key, _)| key == field) {
            let text = match value {
                SettingValue::Number(number) => format!("{number:#x}"),
                SettingValue::Name(name) => name.clone(),
            };
            found.push((reference.name.clone(), text));
        }
    });
    found
}

fn field_of(unit: &Unit, event: &Event, name: &str) -> Option<&'static Field> {
    let own = event.field_set.and_then(|index| unit.field_sets.get(usize::from(index)));
    let overlaid = own.and_then(|set| set.fields.iter().find(|field| field.name == name));
    let control = unit.register(Role::Control).and_then(|register| register.field(name));
    overlaid.or(control).or_else(|| unit.filter_field(name).map(|(_, field)| field))
}
