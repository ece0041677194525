//! A decoded value, for people and for machines.

use std::io::{self, Write};

use pericore_catalog::decode::{Counted, Decoded, FieldValue, FilterValue, Shape};
use pericore_catalog::{FilterNeed, NamedValue, Register, Role};
use pericore_text::{Paint, WIDTH, wrapped};
use serde_json::{Value, json};

use super::{Located, place_name, show_place};
use crate::list::letters;
use crate::terminal::counter_list;

/// A decoded value and what it would count.
pub struct Report<'a> {
    decoded: &'a Decoded,
    located: &'a Located,
    counted: Option<Counted>,
}

impl<'a> Report<'a> {
    /// `filter` gives the content of a filter register, where it is known.
    pub fn new(decoded: &'a Decoded, located: &'a Located, filter: impl Fn(&Register) -> Option<u64>) -> Self {
        // Half of a control register does not say what it counts.
        let counted = if located.place.byte == 0 { decoded.counts(filter) } else { None };
        Self { decoded, located, counted }
    }

    /// Fields that the access covers, from the highest bit down.
    fn fields(&self) -> impl Iterator<Item = FieldValue> + use<'_> {
        let first = self.located.place.byte * 8;
        self.decoded.fields().filter(move |field| field.field.bits.msb() >= first)
    }

    /// Writes the report for people.
    pub fn write(&self, out: &mut impl Write, paint: Paint) -> io::Result<()> {
        let (decoded, place) = (self.decoded, &self.located.place);
        let name = place_name(place);
        let family = decoded.family.name;
        let middle = show_place(place);
        let used = name.chars().count() + 2 + middle.chars().count() + family.len();
        writeln!(
            out,
            "{}  {middle}{:3$}{}",
            paint.strong(&name),
            "",
            paint.faint(family),
            WIDTH.saturating_sub(used).max(2)
        )?;
        let what =
            format!("{}: {} ({})", decoded.register.guide_name, decoded.register.description, decoded.register.source);
        for text in wrapped(&what, WIDTH) {
            writeln!(out, "{text}")?;
        }
        if place.byte > 0 {
            writeln!(out, "The address is {} bytes into the register: higher bits only.", place.byte)?;
        }
        writeln!(out, "{}", paint.strong(&format!("{:#x}", decoded.value)))?;
        let reserved = decoded.reserved_bits();
        for field in self.fields() {
            // Reserved parts are worth a line only if something is wrong with them.
            let wrong = field.field.bits.get(reserved);
            if field.is_meaningful() || wrong != 0 || field.value != 0 {
                write_field(out, &field, wrong != 0, paint)?;
            }
        }
        self.write_counted(out, paint)
    }

    fn write_counted(&self, out: &mut impl Write, paint: Paint) -> io::Result<()> {
        if self.decoded.register.role != Role::Control || self.located.place.byte > 0 {
            return Ok(());
        }
        let Some(counted) = &self.counted else {
            let text = "Counts no known event: no event of the unit has this code.";
            return writeln!(out, "{}", paint.alarm(text));
        };
        if counted.overlaid.iter().any(|field| field.value != 0) {
            writeln!(out, "{}", paint.faint("The event's own fields over the same bits:"))?;
        }
        for field in counted.overlaid.iter().filter(|field| field.value != 0) {
            write_field(out, field, false, paint)?;
        }
        for text in self.sentences(counted) {
            for text in wrapped(&text, WIDTH) {
                writeln!(out, "{text}")?;
            }
        }
        Ok(())
    }

    /// What is counted, in sentences.
    fn sentences(&self, counted: &Counted) -> Vec<String> {
        let mut all = Vec::new();
        let name = names(counted);
        let about = match (counted.is_exact, counted.subevents.first()) {
            (true, Some(subevent)) => format!("{} ({})", subevent.description, counted.event.description),
            _ => counted.event.description.to_owned(),
        };
        let unit = self.decoded.unit.name;
        all.push(format!("Counts {unit}/{name}: {about}"));
        if !counted.is_exact {
            for subevent in &counted.subevents {
                all.push(format!("  .{}: {}", subevent.name, subevent.description));
            }
            if counted.subevents.is_empty() && !counted.event.subevents.is_empty() {
                all.push("No subevent is selected.".to_owned());
            }
        }
        if let Some(condition) = counted.condition {
            all.push(format!("Only in clocks with {unit}/{}: {}", condition.name, condition.description));
        }
        if counted.unnamed != 0 {
            all.push(format!("Bits {:#x} select more, for which the catalogue has no name.", counted.unnamed));
        }
        all.extend(counted.filters.iter().filter_map(filter_sentence));
        all.push(shape_sentence(self.decoded.shape()));
        if counted.counters >> self.decoded.member & 1 == 0 {
            let counters = counter_list(counted.counters);
            all.push(format!(
                "But counter {} cannot take this event: it needs one of {counters}.",
                self.decoded.member
            ));
        }
        all
    }

    /// Writes one JSON line.
    pub fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        let (decoded, place) = (self.decoded, &self.located.place);
        let fields: Vec<Value> = self.fields().map(|field| field_json(&field)).collect();
        let line = json!({
            "family": decoded.family.name, "unit": decoded.unit.name, "instance": place.instance,
            "register": decoded.register.member_name(decoded.member), "guide_name": decoded.register.guide_name,
            "address": show_place(place), "byte": place.byte, "width": decoded.register.width,
            "value": format!("{:#x}", decoded.value), "fields": fields,
            "reserved_bits_set": format!("{:#x}", decoded.reserved_bits()),
            "ignored_bits_set": format!("{:#x}", decoded.ignored_bits()),
            "counts": self.counted.as_ref().map(|counted| self.counted_json(counted)),
        });
        serde_json::to_writer(&mut *out, &line)?;
        out.write_all(b"\n")
    }

    fn counted_json(&self, counted: &Counted) -> Value {
        let shape = self.decoded.shape();
        let filter = |filter: &FilterValue| {
            json!({
                "field": filter.field.name, "register": filter.register.name, "value": filter.value.map(|value| format!("{value:#x}")),
                "names": filter.value.map(|value| value_names(&FieldValue { field: filter.field, value })),
                "required": filter.used.need == FilterNeed::Required,
            })
        };
        json!({
            "event": counted.event.name,
            "subevents": counted.subevents.iter().map(|subevent| subevent.name).collect::<Vec<_>>(),
            "exact": counted.is_exact,
            "condition": counted.condition.map(|condition| condition.name),
            "unnamed_bits": format!("{:#x}", counted.unnamed),
            "counters": (0..16).filter(|counter| counted.counters >> counter & 1 == 1).collect::<Vec<u8>>(),
            "counter_fits": counted.counters >> self.decoded.member & 1 == 1,
            "enabled": shape.enabled, "threshold": shape.threshold, "invert": shape.invert, "edge": shape.edge,
            "filters": counted.filters.iter().map(filter).collect::<Vec<_>>(),
            "fields": counted.overlaid.iter().filter(|field| field.value != 0).map(field_json).collect::<Vec<_>>(),
        })
    }
}

fn write_field(out: &mut impl Write, field: &FieldValue, is_wrong: bool, paint: Paint) -> io::Result<()> {
    let named = value_names(field).join("+");
    let named = if named.is_empty() { named } else { format!(" {named}") };
    let front = format!(
        "  {:>7}  {:<14} {:<8}",
        field.field.bits.to_string(),
        field.field.name,
        format!("{:#x}{named}", field.value)
    );
    let indent = front.chars().count() + 1;
    let text = if is_wrong { "Reserved: must be left as it is." } else { field.field.description };
    // A long value takes the line for itself.
    let (first, indent) = if indent > WIDTH / 2 { (true, 26) } else { (false, indent) };
    for (index, text) in wrapped(text, WIDTH - indent).iter().enumerate() {
        let text = if is_wrong { paint.alarm(text) } else { text.clone() };
        match (index, first) {
            (0, true) => writeln!(out, "{front}\n{:indent$}{text}", "")?,
            (0, false) => writeln!(out, "{front} {text}")?,
            _ => writeln!(out, "{:indent$}{text}", "")?,
        }
    }
    Ok(())
}

fn value_names(field: &FieldValue) -> Vec<&'static str> {
    field.names().iter().map(|value: &&NamedValue| value.name).collect()
}

fn field_json(field: &FieldValue) -> Value {
    json!({
        "name": field.field.name, "bits": field.field.bits.to_string(), "value": format!("{:#x}", field.value),
        "names": value_names(field), "access": letters(field.field.access),
    })
}

/// `EVENT.SUBEVENT`, or `EVENT` with all that are selected.
pub fn names(counted: &Counted) -> String {
    let subevents: Vec<&str> = counted.subevents.iter().map(|subevent| subevent.name).collect();
    if subevents.is_empty() {
        counted.event.name.to_owned()
    } else {
        format!("{}.{}", counted.event.name, subevents.join("|"))
    }
}

/// The filter in words; nothing for one that lets everything pass.
fn filter_sentence(filter: &FilterValue) -> Option<String> {
    let (name, register) = (filter.field.name, filter.register.name);
    match (filter.value, filter.used.need) {
        (Some(0), FilterNeed::Optional) => None,
        (Some(value), _) => {
            let named = value_names(&FieldValue { field: filter.field, value }).join("+");
            let named = if named.is_empty() { named } else { format!(" ({named})") };
            Some(format!("Only where {name} fits {value:#x}{named}."))
        }
        (None, FilterNeed::Required) => {
            Some(format!("Only what fits {name} of {register}: give its value with --filter."))
        }
        (None, _) => Some(format!("Narrowed by {name} of {register}: --filter takes its value.")),
    }
}

fn shape_sentence(shape: Shape) -> String {
    let condition = match (shape.threshold, shape.invert) {
        (0, _) => None,
        (least, false) => Some(format!("an increment of at least {least}")),
        (least, true) => Some(format!("an increment below {least}")),
    };
    let what = match (condition, shape.edge) {
        (None, false) => "Adds its increments up".to_owned(),
        (None, true) => "Counts how often increments begin".to_owned(),
        (Some(condition), false) => format!("Counts clocks with {condition}"),
        (Some(condition), true) => format!("Counts how often clocks with {condition} begin"),
    };
    let thread = if shape.one_thread { ", of one thread only" } else { "" };
    let end = if shape.enabled { "." } else { "; but the counter is not enabled." };
    format!("{what}{thread}{end}")
}
