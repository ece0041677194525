//! Events and subevents.

use pericore_catalog::encode::event_text;
use pericore_catalog::kernel::IntelNames;
use pericore_catalog::search::related;
use pericore_catalog::{Event, Family, Field, FilterNeed, FilterUse, Measure, Register, Role, Subevent, Unit};
use pericore_machine::MachineSpec;
use serde_json::json;

use super::{Sheet, judgements, stat_command};
use crate::terminal::counter_list;

/// Related events that are shown.
const RELATED: usize = 8;

/// All about an event, or one of its subevents.
pub fn event_sheet(
    family: &'static Family,
    unit: &'static Unit,
    event: &'static Event,
    subevent: Option<&'static Subevent>,
) -> Sheet {
    let full = subevent.map_or_else(|| event.name.to_owned(), |subevent| format!("{}.{}", event.name, subevent.name));
    let kind = if subevent.is_some() { "subevent" } else { "event" };
    let mut sheet = Sheet::new(&format!("{}/{full}", unit.name), kind, family.name);
    sheet.json("unit", unit.name);
    sheet.json("event", event.name);
    sheet.json("subevent", subevent.map(|subevent| subevent.name));
    match subevent {
        Some(subevent) => {
            sheet.json("description", subevent.description);
            if !subevent.description.is_empty() {
                sheet.note("", format!("{} ({}: {})", subevent.description, event.name, event.description));
            }
        }
        None => sheet.text("", "description", event.description),
    }
    // Of events that only the kernel's driver counts, no document here has what kind of number they are.
    if !pericore_catalog::kernel::counts_alone(family) {
        sheet.text("Use", "use", usage(unit, event));
    }
    selection(&mut sheet, unit, event, subevent);
    other_names(&mut sheet, family, unit, event, subevent);
    filters(&mut sheet, unit, event, subevent);
    let own = subevent.map_or(&[][..], |subevent| subevent.caveats);
    sheet.list("Caveats", "caveats", own.iter().chain(event.caveats).chain(unit.caveats).copied());
    if subevent.is_none() {
        let row = |subevent: &Subevent| (subevent.name.to_owned(), subevent.description.to_owned());
        sheet.table("Subevents", "subevents", event.subevents.iter().map(row).collect());
    }
    relatives(&mut sheet, family, unit, event, subevent);
    let is_modelled = modelled(family, unit, event, subevent);
    sheet.json("modelled", is_modelled);
    let checked = pericore_machine::checked(family.name, unit.name, event.name, subevent.map(|subevent| subevent.name));
    sheet.json("model_only", is_modelled && checked.is_none());
    sheet.note(
        "Modelled",
        match (is_modelled, checked) {
            (false, _) if !MachineSpec::of(family).has_model() => {
                format!("no: there is no software {} yet", family.name)
            }
            (false, _) => "no: the software machine does not count it".to_owned(),
            (true, None) => "yes, by the model only: no published silicon measurement covers it".to_owned(),
            (true, Some(what)) => format!("yes, and compared with a published measurement: {what}"),
        },
    );
    let source = subevent
        .map_or(event.source, |subevent| if subevent.source.is_empty() { event.source } else { subevent.source });
    sheet.json("later", subevent.map_or(event.later, |subevent| subevent.later));
    sheet.text("Source", "source", source);
    judgements(&mut sheet, family, unit.name, &[&full]);
    sheet.command("Try", "command", stat_command(family, &event_text(unit, event, subevent)));
    sheet
}

/// When to use it: what its kind of number is good for, in terms of its neighbours.
fn usage(unit: &Unit, event: &Event) -> String {
    let of_signal = |measure| {
        let same = |other: &&Event| other.signal.is_some() && other.signal == event.signal && other.measure == measure;
        unit.events.iter().find(same).filter(|other| other.name != event.name).map(|other| other.name)
    };
    let clock = unit
        .events
        .iter()
        .find(|other| other.measure == Measure::Clock)
        .map_or("the unit's clocks", |other| other.name);
    match event.measure {
        Measure::Arrivals => match of_signal(Measure::Occupancy) {
            Some(occupancy) => format!(
                "A count of things that happen: divide by the seconds for a rate. {occupancy} divided by it is the mean time, in \
                 clocks, that one takes."
            ),
            None => "A count of occurrences: divide by seconds for a rate, or by another count for a share.".to_owned(),
        },
        Measure::Occupancy => {
            let arrivals = of_signal(Measure::Arrivals);
            let latency = arrivals.map_or_else(String::new, |name| format!(" divided by {name}: mean clocks that one stays;"));
            format!(
                "A number that stands at each clock, added up:{latency} divided by {clock}: the mean number; with thresh=1: clocks in \
                 which there is any, and with edge_det too: how often that begins."
            )
        }
        Measure::NonEmpty => format!("Clocks in which there is any: divide by {clock} for the share of time."),
        Measure::Clock => "The unit's time base: other events of the unit divided by it are per clock, or shares of time.".to_owned(),
        Measure::HalfClock => {
            format!("A clock at half the rate of the unit's: twice as many are {clock}.")
        }
        Measure::Counter0 => {
            "Sees each clock's increment of counter 0: with thresh, invert and edge_det it counts clocks in which the number on counter \
             0 is that large, while counter 0 adds it up."
                .to_owned()
        }
    }
}

fn selection(sheet: &mut Sheet, unit: &Unit, event: &Event, subevent: Option<&Subevent>) {
    let config = subevent.map_or(event.config, |subevent| subevent.config);
    let counters = subevent.map_or(event.counters, |subevent| subevent.counters);
    let most = subevent.and_then(|subevent| subevent.max_increment).or(event.max_increment);
    let umask = subevent.and_then(|subevent| subevent.umask);
    sheet.json("code", format!("{:#04x}", event.code));
    sheet.json("umask", umask.map(|umask| format!("{umask:#04x}")));
    sheet.json("config", format!("{config:#x}"));
    sheet.json("counters", (0..16).filter(|counter| counters >> counter & 1 == 1).collect::<Vec<u8>>());
    sheet.json("max_increment", most);
    let umask = umask.map_or_else(String::new, |umask| format!(", umask {umask:#04x}"));
    sheet.note("Select", format!("code {:#04x}{umask}; control register {config:#x}", event.code));
    let most = most.map_or_else(String::new, |most| format!("; at most {most} a clock"));
    sheet.note("Counters", format!("{} of {}{most}", counter_list(counters), unit.counters));
}

/// What Intel and perf call it.
fn other_names(
    sheet: &mut Sheet,
    family: &'static Family,
    unit: &'static Unit,
    event: &Event,
    subevent: Option<&Subevent>,
) {
    let names = IntelNames::new(family, unit.name);
    let intel = names.of(event, subevent);
    sheet.json("intel_name", intel.as_deref());
    if let Some(name) = intel {
        sheet.note("Intel", name);
    }
    let perf = names.perf(family, unit.name, event, subevent);
    sheet.json("perf", perf.as_ref().ok().map(ToString::to_string));
    sheet.note("perf", perf.map_or_else(|reason| format!("none: {reason}"), |perf| perf.to_string()));
}

/// Where a filter field stands.
fn place(unit: &'static Unit, event: &Event, name: &str) -> Option<(&'static Register, &'static Field)> {
    let control = unit.register(Role::Control)?;
    let own = event.field_set.and_then(|index| unit.field_sets.get(usize::from(index)));
    let overlaid = own.and_then(|set| set.fields.iter().find(|field| field.name == name));
    let in_control = overlaid.or_else(|| control.field(name)).map(|field| (control, field));
    unit.filter_field(name).or(in_control)
}

fn filters(sheet: &mut Sheet, unit: &'static Unit, event: &Event, subevent: Option<&Subevent>) {
    let mut uses: Vec<FilterUse> = subevent.map_or_else(Vec::new, |subevent| subevent.filters.to_vec());
    for used in event.filters {
        if !uses.iter().any(|known| known.field == used.field) {
            uses.push(*used);
        }
    }
    let mut rows = Vec::new();
    let mut rows_json = Vec::new();
    for used in uses {
        let Some((register, field)) = place(unit, event, used.field) else { continue };
        let (need, default) = match used.need {
            FilterNeed::Required => ("required", None),
            FilterNeed::Optional => ("optional", None),
            FilterNeed::Default(value) => ("default", Some(format!("{value:#x}"))),
        };
        let preset = default.as_ref().map_or_else(String::new, |value| format!(" {value}"));
        rows.push((
            used.field.to_owned(),
            format!("{need}{preset}; {} {}. {}{}", register.name, field.bits, field.description, values(field)),
        ));
        rows_json.push(json!({
            "name": used.field, "register": register.name, "bits": field.bits.to_string(), "need": need, "default": default,
            "description": field.description,
            "values": field.values.iter().map(|value| json!({"name": value.name, "value": format!("{:#x}", value.value)})).collect::<Vec<_>>(),
        }));
    }
    sheet.json("filters", rows_json);
    sheet.table_note("Filters", rows);
}

/// A field's named values in a sentence, long lists cut.
pub fn values(field: &Field) -> String {
    const SHOWN: usize = 24;
    if field.values.is_empty() {
        return String::new();
    }
    let all: Vec<String> =
        field.values.iter().take(SHOWN).map(|value| format!("{} {:#x}", value.name, value.value)).collect();
    let more = if field.values.len() > SHOWN { ", …" } else { "" };
    format!(" Values: {}{more}.", all.join(", "))
}

fn relatives(
    sheet: &mut Sheet,
    family: &'static Family,
    unit: &'static Unit,
    event: &'static Event,
    subevent: Option<&'static Subevent>,
) {
    let metrics = related::metrics(family, unit, event, subevent);
    let rows =
        metrics.iter().map(|(home, metric)| (format!("{}/{}", home.name, metric.name), metric.description.to_owned()));
    sheet.table("Metrics", "metrics", rows.collect());
    let events = related::events(unit, event, RELATED);
    let rows = events.iter().map(|other| (format!("{}/{}", unit.name, other.name), other.description.to_owned()));
    sheet.table("Related", "related", rows.collect());
}

fn modelled(family: &'static Family, unit: &Unit, event: &'static Event, subevent: Option<&Subevent>) -> bool {
    let (wiring, index) = (pericore_machine::modelled(family), family.unit_index(unit.name));
    wiring.zip(index).is_some_and(|(wiring, index)| wiring.is_modelled(index, event, subevent))
}
