//! Units, registers, fields, metrics and named values.

use pericore_catalog::encode::{event_text, fixed_text, metric_event_texts, metric_settings};
use pericore_catalog::kernel::is_driven_alone;
use pericore_catalog::search::related::{choices_of, fields_with_values};
use pericore_catalog::search::{FieldHome, Found};
use pericore_catalog::{Family, Field, Location, Metric, NamedValue, Quantity, Register, Role, Side, Unit, ValueSet};
use serde_json::json;

use super::event::values;
use super::{Sheet, judgements, stat_command};
use crate::list::letters;

/// All about a unit.
pub fn unit_sheet(family: &'static Family, unit: &'static Unit) -> Sheet {
    let mut sheet = Sheet::new(unit.name, "unit", family.name);
    sheet.json("unit", unit.name);
    sheet.text("", "title", unit.title);
    sheet.json("description", unit.description);
    if unit.description != unit.title {
        sheet.note("", unit.description);
    }
    let most = (!is_driven_alone(unit)).then_some(unit.instances);
    sheet.json("instances", most);
    sheet.note(
        "Instances",
        match most {
            None => "those that Linux's driver shows".to_owned(),
            Some(0) => "found by discovery".to_owned(),
            Some(most) => format!("{most} in a socket at most"),
        },
    );
    sheet.json("counters", unit.counters);
    sheet.json("counter_width", unit.counter_width);
    let clocked = if unit.clock.is_empty() { String::new() } else { format!(", in {}", unit.clock) };
    sheet.note(
        "Counters",
        match unit.counters {
            0 => "free-running only".to_owned(),
            counters => format!("{counters} of {} bits{clocked}", unit.counter_width),
        },
    );
    sheet.json("clock", unit.clock);
    if !unit.clock.is_empty() {
        let clock = family.clocks.iter().find(|clock| clock.name == unit.clock);
        sheet.note(
            "Clock",
            clock.map_or_else(|| unit.clock.to_owned(), |clock| format!("{}: {}", clock.name, clock.description)),
        );
    }
    let names = [("Intel", unit.intel_unit), ("its prefix", unit.intel_prefix), ("perf", unit.perf_pmu)];
    let known: Vec<String> = names.iter().filter_map(|(whose, name)| Some(format!("{whose}: {}", (*name)?))).collect();
    sheet.list("Also called", "other_names", if known.is_empty() { None } else { Some(known.join(", ")) });
    let aliases = unit.perf_events.iter().map(|(alias, means)| ((*alias).to_owned(), (*means).to_owned()));
    sheet.table("In perf", "perf_events", aliases.collect());
    let register = |register: &Register| (array_name(register), register.description.to_owned());
    sheet.table("Registers", "registers", unit.registers.iter().map(register).collect());
    let subevents: usize = unit.events.iter().map(|event| event.subevents.len()).sum();
    sheet.json("events", unit.events.len());
    sheet.json("subevents", subevents);
    sheet.note(
        "Events",
        format!(
            "{} with {subevents} subevents: pericore list --machine {} --unit {}",
            unit.events.len(),
            family.name,
            unit.name
        ),
    );
    sheet.table(
        "Metrics",
        "metrics",
        unit.metrics.iter().map(|m| (m.name.to_owned(), m.description.to_owned())).collect(),
    );
    sheet.list("Caveats", "caveats", unit.caveats.iter().copied());
    sheet.text("Source", "source", unit.source);
    let choices = choices_of(family, unit.name);
    sheet.list("Undefined", "undefined", choices.iter().map(|row| format!("{}: {}", row.subject, row.choice)));
    if let Some(event) = unit.events.first() {
        sheet.command("Try", "command", stat_command(family, &event_text(unit, event, None)));
    }
    sheet
}

/// All about a register.
pub fn register_sheet(
    family: &'static Family,
    unit: &'static Unit,
    register: &'static Register,
    member: Option<u8>,
) -> Sheet {
    let name = member.map_or_else(|| array_name(register), |member| register.member_name(member));
    let mut sheet = Sheet::new(&format!("{}.{name}", unit.name), "register", family.name);
    sheet.json("unit", unit.name);
    sheet.json("register", register.name);
    sheet.text("", "description", register.description);
    sheet.text("Guide name", "guide_name", register.guide_name);
    let placement = &unit.placements[usize::from(register.placement)];
    sheet.json("space", placement.space.name());
    let addresses =
        placement.instances.iter().map(|location| address(*location, register.member_offset(member.unwrap_or(0))));
    let addresses: Vec<String> = addresses.collect();
    sheet.json("addresses", addresses.clone());
    sheet.note("Address", where_it_is(placement.space.name(), &addresses, unit, register, member));
    sheet.json("width", register.width);
    sheet.json("reset", format!("{:#x}", register.reset));
    sheet.note("Width", format!("{} bits, {:#x} after a reset", register.width, register.reset));
    let meaningful = register.fields.iter().filter(|field| !matches!(field.name, "rsv" | "ig"));
    let row = |field: &Field| {
        (
            field.name.to_owned(),
            format!("{} {}. {}{}", field.bits, letters(field.access), field.description, values(field)),
        )
    };
    sheet.table_note("Fields", meaningful.clone().map(row).collect());
    sheet.json("fields", meaningful.map(field_json).collect::<Vec<_>>());
    sheet.list("Caveats", "caveats", register.caveats.iter().copied().chain(register.doubt));
    sheet.text("Source", "source", register.source);
    judgements(&mut sheet, family, unit.name, &[register.name]);
    match register.role {
        // One that no document gives a place cannot be read.
        Role::FixedCounter | Role::FreeRunning if !placement.instances.is_empty() => {
            let text = fixed_text(unit, register, member.unwrap_or(0));
            sheet.command("Try", "command", stat_command(family, &text));
        }
        _ => {
            let member = register.member_name(member.unwrap_or(0));
            let value = sample(unit, register);
            let line = format!("pericore decode --machine {} {}.{member} {value:#x}", family.name, unit.name);
            sheet.command("Try", "command", line);
        }
    }
    sheet
}

/// All about a field.
pub fn field_sheet(found: &Found, unit: &'static Unit, home: FieldHome, field: &'static Field) -> Sheet {
    let family = found.family;
    let mut sheet = Sheet::new(&found.name(), "field", family.name);
    sheet.json("unit", unit.name);
    sheet.text("", "description", field.description);
    sheet.json("bits", field.bits.to_string());
    sheet.json("access", letters(field.access));
    sheet.json("max", format!("{:#x}", field.bits.max()));
    let register = match home {
        FieldHome::Register(register) => register.name,
        FieldHome::Set(..) => unit.register(Role::Control).map_or("ctl", |register| register.name),
    };
    sheet.json("register", register);
    sheet.note(
        "Place",
        format!(
            "{}.{register}, bits {}, {}, at most {:#x}",
            unit.name,
            field.bits,
            letters(field.access),
            field.bits.max()
        ),
    );
    let value = |value: &NamedValue| (format!("{} {:#x}", value.name, value.value), value.description.to_owned());
    sheet.table_note("Values", field.values.iter().map(value).collect());
    sheet.json("values", field.values.iter().map(value_json).collect::<Vec<_>>());
    let takes = |used: &pericore_catalog::FilterUse| used.field == field.name;
    let in_set = |index: Option<u8>| match home {
        FieldHome::Set(name, _) => {
            index.and_then(|index| unit.field_sets.get(usize::from(index))).is_some_and(|set| set.name == name)
        }
        FieldHome::Register(_) => false,
    };
    let users = unit.events.iter().filter(|event| {
        in_set(event.field_set) || event.filters.iter().chain(event.subevents.iter().flat_map(|s| s.filters)).any(takes)
    });
    let users: Vec<&str> = users.map(|event| event.name).collect();
    sheet.json("events", users.clone());
    if !users.is_empty() {
        sheet.note("Events", users.join(", "));
    }
    let (source, caveats) = match home {
        FieldHome::Register(register) => (register.source, register.caveats),
        FieldHome::Set(_, source) => (source, &[][..]),
    };
    sheet.list("Caveats", "caveats", caveats.iter().copied());
    sheet.text("Source", "source", source);
    judgements(&mut sheet, family, unit.name, &[field.name, &format!("{}.{}", home.name(), field.name)]);
    sheet
}

/// All about a metric.
pub fn metric_sheet(family: &'static Family, unit: &'static Unit, metric: &'static Metric) -> Sheet {
    let mut sheet = Sheet::new(&format!("{}/{}", unit.name, metric.name), "metric", family.name);
    sheet.json("unit", unit.name);
    sheet.text("", "description", metric.description);
    sheet.text("Expression", "expression", metric.expression);
    sheet.json("printed", metric.printed);
    if let Some(printed) = metric.printed {
        sheet.note("In print", printed);
    }
    sheet.text("Unit", "unit_of_measure", metric.unit_of_measure);
    sheet.json("quantity", metric.quantity.name());
    sheet.json("side", metric.side.map(Side::name));
    sheet.note("Quantity", quantity(metric));
    sheet.list("Events", "events", metric_event_texts(unit, metric.expression));
    if let Some(limit) = metric.limit {
        sheet.note("Limit", format!("above {} %: {}", limit.above, limit.means));
        sheet.json("limit", limit.above);
        sheet.json("limit_means", limit.means);
        sheet.list("See then", "limit_see", limit.see.iter().copied());
    }
    sheet.list("Caveats", "caveats", metric.caveats.iter().copied());
    sheet.text("Source", "source", metric.source);
    judgements(&mut sheet, family, unit.name, &[metric.name]);
    let settings = metric_settings(unit, metric.expression);
    let text = format!("{}/{}", unit.name, metric.name);
    // Braces mean something to shells.
    let text = if settings.is_empty() { text } else { format!("'{text}{{{}}}'", settings.join(",")) };
    sheet.command("Try", "command", format!("pericore stat --machine {} -M {text} --workload stream", family.name));
    sheet
}

/// What becomes of a metric's numbers of several instances.
fn quantity(metric: &Metric) -> String {
    let together = match metric.quantity {
        Quantity::Extensive => "extensive: over several instances and sockets the sum",
        Quantity::Intensive => "intensive: over several instances and sockets the mean, each by its weight",
    };
    match metric.side {
        None => together.to_owned(),
        Some(side) => format!("{together}; its bytes are counted {}", side.where_counted()),
    }
}

/// All about a named value.
pub fn value_sheet(family: &'static Family, set: &'static ValueSet, value: &'static NamedValue) -> Sheet {
    let mut sheet = Sheet::new(&format!("{}.{}", set.name, value.name), "value", family.name);
    sheet.text("", "description", value.description);
    sheet.text("Value", "value", format!("{:#x}", value.value));
    let fields = fields_with_values(family, set);
    let row = |(unit, home, field): &(&Unit, &str, &Field)| {
        (format!("{}.{home}.{}", unit.name, field.name), field.description.to_owned())
    };
    sheet.table("Fields", "fields", fields.iter().map(row).collect());
    sheet.text("Source", "source", set.source);
    for (unit, _, field) in &fields {
        let takes = |used: &pericore_catalog::FilterUse| used.field == field.name;
        let user = unit.events.iter().find_map(|event| {
            let subevent = event.subevents.iter().find(|subevent| subevent.filters.iter().any(takes));
            (subevent.is_some() || event.filters.iter().any(takes)).then_some((event, subevent))
        });
        if let Some((event, subevent)) = user {
            let text = with_setting(&event_text(unit, event, subevent), field.name, value.name);
            sheet.command("Try", "command", stat_command(family, &text));
            break;
        }
    }
    sheet
}

/// A value worth decoding: for a control register that of an event, enabled.
fn sample(unit: &Unit, register: &Register) -> u64 {
    let event = unit.events.iter().find(|event| !event.subevents.is_empty()).or(unit.events.first());
    match event {
        Some(event) if register.role == Role::Control => {
            let enable = register.field("en").map_or(0, |field| field.bits.mask());
            event.subevents.first().map_or(event.config, |subevent| subevent.config) | enable
        }
        _ => register.reset,
    }
}

/// An event text with a key set to a value, whether it has the key or not.
fn with_setting(text: &str, key: &str, value: &str) -> String {
    let body = text.trim_end_matches('/');
    let kept: Vec<&str> = body.split(',').filter(|term| !term.starts_with(&format!("{key}="))).collect();
    format!("{},{key}={value}/", kept.join(","))
}

fn array_name(register: &Register) -> String {
    match register.count {
        0 | 1 => register.name.to_owned(),
        count => format!("{}0-{}", register.name, count - 1),
    }
}

/// An address as `decode` takes it.
pub fn address(location: Location, offset: u32) -> String {
    match location {
        Location::Msr { base } => format!("msr:{:#x}", base + offset),
        Location::Pci { device, function } => format!("pci:{device:02x}.{function}+{offset:#x}"),
        Location::Mmio { bar, index, offset: base } => format!("mmio:{bar}{index}+{:#x}", base + u64::from(offset)),
    }
}

fn where_it_is(space: &str, addresses: &[String], unit: &Unit, register: &Register, member: Option<u8>) -> String {
    let of_array = if member.is_none() && register.count > 1 {
        let step = if space == "msr" { "MSR" } else { "byte" };
        format!("; members {} {step}{} apart", register.stride, if register.stride == 1 { "" } else { "s" })
    } else {
        String::new()
    };
    match addresses {
        [] => format!(
            "{space}; found by discovery, {:#x} from the block's start{of_array}",
            register.member_offset(member.unwrap_or(0))
        ),
        [only] => format!("{only}{of_array}"),
        [first, .., last] => {
            format!("{first} in {}0, to {last} in {}{}{of_array}", unit.name, unit.name, addresses.len() - 1)
        }
    }
}

fn field_json(field: &Field) -> serde_json::Value {
    json!({
        "name": field.name, "bits": field.bits.to_string(), "access": letters(field.access), "description": field.description,
        "values": field.values.iter().map(value_json).collect::<Vec<_>>(),
    })
}

fn value_json(value: &NamedValue) -> serde_json::Value {
    json!({"name": value.name, "value": format!("{:#x}", value.value), "description": value.description})
}
