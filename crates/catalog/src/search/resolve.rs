//! What a name stands for: a unit, event, subevent, metric, register, field or named value.

use crate::decode::{guide_name_fits, parse_unit};
use crate::encode::parse_number;
use crate::model::{Event, Family, Field, Metric, NamedValue, Register, Subevent, Unit, ValueSet};

/// Something that has a name.
#[derive(Debug, Clone, Copy)]
pub struct Found {
    /// The family.
    pub family: &'static Family,
    /// The unit; none for named values, which several units may share.
    pub unit: Option<&'static Unit>,
    /// What it is.
    pub topic: Topic,
}

/// What a name can stand for, the more important first.
#[derive(Debug, Clone, Copy)]
pub enum Topic {
    /// A unit.
    Unit,
    /// An event.
    Event(&'static Event),
    /// A subevent.
    Subevent(&'static Event, &'static Subevent),
    /// A derived metric.
    Metric(&'static Metric),
    /// A register, and the member if one of an array is meant.
    Register(&'static Register, Option<u8>),
    /// A field.
    Field(FieldHome, &'static Field),
    /// A named value.
    Value(&'static ValueSet, &'static NamedValue),
}

/// Where a field stands.
#[derive(Debug, Clone, Copy)]
pub enum FieldHome {
    /// In a register.
    Register(&'static Register),
    /// Laid over the control register by some events: the set's name and source.
    Set(&'static str, &'static str),
}

impl FieldHome {
    /// Name of the register or set.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Register(register) => register.name,
            Self::Set(name, _) => name,
        }
    }
}

impl Found {
    /// The name under which [`resolve`] finds this and nothing else in the family.
    pub fn name(&self) -> String {
        let unit = self.unit.map_or("", |unit| unit.name);
        match self.topic {
            Topic::Unit => unit.to_owned(),
            Topic::Event(event) => format!("{unit}/{}", event.name),
            Topic::Subevent(event, subevent) => format!("{unit}/{}.{}", event.name, subevent.name),
            Topic::Metric(metric) => format!("{unit}/{}", metric.name),
            Topic::Register(register, Some(member)) => format!("{unit}.{}", register.member_name(member)),
            Topic::Register(register, None) => format!("{unit}.{}", register.name),
            Topic::Field(home, field) => format!("{unit}.{}.{}", home.name(), field.name),
            Topic::Value(set, value) => format!("{}.{}", set.name, value.name),
        }
    }

    /// What it is, in a word.
    pub const fn kind(&self) -> &'static str {
        match self.topic {
            Topic::Unit => "unit",
            Topic::Event(_) => "event",
            Topic::Subevent(..) => "subevent",
            Topic::Metric(_) => "metric",
            Topic::Register(..) => "register",
            Topic::Field(..) => "field",
            Topic::Value(..) => "value",
        }
    }

    /// True if another family has the very same thing: of the same block, under the same name.
    pub fn is_same_as(&self, other: &Self) -> bool {
        let block = |found: &Self| found.unit.map(|unit| unit.block);
        let value = |found: &Self| match found.topic {
            Topic::Value(set, value) => Some((set.source, value.value)),
            _ => None,
        };
        block(self) == block(other)
            && value(self) == value(other)
            && self.kind() == other.kind()
            && self.name() == other.name()
    }

    const fn order(&self) -> u8 {
        match self.topic {
            Topic::Unit => 0,
            Topic::Event(_) | Topic::Subevent(..) => 1,
            Topic::Metric(_) => 2,
            Topic::Register(..) => 3,
            Topic::Field(..) => 4,
            Topic::Value(..) => 5,
        }
    }
}

/// All that a name may stand for in `families`, the more important first. Names are `EVENT`, `EVENT.SUBEVENT`, Intel's
/// `UNC_…`, a metric, a register or field, a unit, a named value; each may have its unit in front (`cbo/…`, `cbo.…`), and an
/// event may come with settings, which are not looked at.
pub fn resolve(families: &[&'static Family], text: &str) -> Vec<Found> {
    let text = text.trim();
    // Braces around a group; those of the guide's `…_CTL{3-0}` stay.
    let text = text.strip_prefix('{').map_or(text, |group| group.trim_end_matches('}'));
    let mut found = Vec::new();
    for family in families.iter().copied() {
        in_family(family, text, &mut found);
    }
    found.sort_by_key(Found::order);
    found
}

fn in_family(family: &'static Family, text: &str, found: &mut Vec<Found>) {
    if let Ok((unit, _)) = parse_unit(family, text) {
        found.push(Found { family, unit: Some(unit), topic: Topic::Unit });
    }
    let slashed = text.split_once('/').and_then(|(front, rest)| Some((unit_or_pmu(family, front)?, rest)));
    if let Some((unit, rest)) = slashed {
        let name = rest.split([',', '/']).next().unwrap_or("");
        return in_unit(family, unit, name, found);
    }
    let dotted = text.split_once('.').and_then(|(front, rest)| Some((parse_unit(family, front).ok()?.0, rest)));
    if let Some((unit, rest)) = dotted {
        in_unit(family, unit, rest, found);
    }
    for unit in family.units.iter().copied() {
        in_unit(family, unit, text, found);
    }
    values(family, text, found);
}

/// A unit by its name or perf's, with or without an instance's number.
fn unit_or_pmu(family: &'static Family, text: &str) -> Option<&'static Unit> {
    let stem = text.trim_end_matches(|c: char| c.is_ascii_digit() || c == '*').trim_end_matches('_');
    let stem = stem.strip_suffix("_free_running").unwrap_or(stem);
    let is_pmu = |unit: &&Unit| {
        unit.perf_pmu.is_some_and(|pmu| pmu.eq_ignore_ascii_case(text) || pmu.eq_ignore_ascii_case(stem))
    };
    parse_unit(family, text).ok().map(|(unit, _)| unit).or_else(|| family.units.iter().copied().find(is_pmu))
}

fn in_unit(family: &'static Family, unit: &'static Unit, name: &str, found: &mut Vec<Found>) {
    // Linux perf's name for an event stands for that event; settings behind it are not looked at.
    let alias = unit.perf_events.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name));
    let name = alias.map_or(name, |(_, means)| means.split(',').next().unwrap_or(means));
    let mut push = |topic| found.push(Found { family, unit: Some(unit), topic });
    let event_name = strip_intel_prefix(unit, name);
    for event in unit.events {
        if event.name.eq_ignore_ascii_case(event_name) {
            push(Topic::Event(event));
        } else if let Some(subevent) = behind(event_name, event.name).and_then(|name| event.subevent(name)) {
            push(Topic::Subevent(event, subevent));
        }
    }
    for metric in unit.metrics.iter().filter(|metric| metric.name.eq_ignore_ascii_case(event_name)) {
        push(Topic::Metric(metric));
    }
    for register in unit.registers {
        if let Some(member) = register_fits(register, name) {
            push(Topic::Register(register, member));
        }
        let wanted = field_of_register(register, name).unwrap_or(name);
        for field in register.fields.iter().filter(|field| is_named(field, wanted)) {
            push(Topic::Field(FieldHome::Register(register), field));
        }
    }
    for set in unit.field_sets {
        let wanted = behind(name, set.name).unwrap_or(name);
        for field in set.fields.iter().filter(|field| is_named(field, wanted)) {
            push(Topic::Field(FieldHome::Set(set.name, set.source), field));
        }
    }
}

/// What follows `front` and a dot.
fn behind<'n>(name: &'n str, front: &str) -> Option<&'n str> {
    let start = name.get(..front.len())?;
    let rest = &name[front.len()..];
    if start.eq_ignore_ascii_case(front) { rest.strip_prefix('.') } else { None }
}

fn is_named(field: &Field, name: &str) -> bool {
    field.name.eq_ignore_ascii_case(name) && !matches!(field.name, "rsv" | "ig")
}

/// `Some(member)` if the name is the register's, its member's, its event's or the guide's.
fn register_fits(register: &'static Register, name: &str) -> Option<Option<u8>> {
    let is_event = register.event.is_some_and(|event| event.eq_ignore_ascii_case(name));
    if is_event || register.name.eq_ignore_ascii_case(name) || register.guide_name.eq_ignore_ascii_case(name) {
        return Some(None);
    }
    let by_guide = guide_name_fits(register, name).map(|(_, member)| member);
    let member = by_guide.or_else(|| register.member_counted_as(name))?;
    Some(Some(member).filter(|_| register.count > 1))
}

/// `thresh` of `ctl.thresh` or `ctl0.thresh`.
fn field_of_register<'n>(register: &'static Register, name: &'n str) -> Option<&'n str> {
    let (front, field) = name.split_once('.')?;
    register_fits(register, front).map(|_| field)
}

fn strip_intel_prefix<'n>(unit: &Unit, name: &'n str) -> &'n str {
    let Some(prefix) = unit.intel_prefix else { return name };
    match (name.get(..prefix.len()), name.get(prefix.len()..)) {
        (Some(start), Some(rest)) if start.eq_ignore_ascii_case(prefix) => rest,
        _ => name,
    }
}

/// Named values: `DRd`, `idi-opcodes.DRd`, or `opc=0x182` by a field that takes them.
fn values(family: &'static Family, text: &str, found: &mut Vec<Found>) {
    let (field, wanted) = match text.split_once('=') {
        Some((field, value)) => (Some(field), value),
        None => (None, text),
    };
    let number = field.and_then(|_| parse_number(wanted));
    for set in family.value_sets {
        if field.is_some_and(|field| !takes(family, field, set)) {
            continue;
        }
        let name = behind(wanted, set.name).unwrap_or(wanted);
        let is_meant = |value: &&NamedValue| value.name.eq_ignore_ascii_case(name) || number == Some(value.value);
        for value in set.values.iter().filter(is_meant) {
            found.push(Found { family, unit: None, topic: Topic::Value(set, value) });
        }
    }
}

/// True if a field of that name takes the set's values.
fn takes(family: &'static Family, name: &str, set: &ValueSet) -> bool {
    super::related::fields_with_values(family, set).iter().any(|(_, _, field)| field.name.eq_ignore_ascii_case(name))
}

/// All names that can be asked for, to suggest from: units, events, subevents, metrics, registers, fields and values.
/// Subevents come with their event's name, and only if `wanted` has a dot in it: else they would drown the rest.
pub fn known_names(families: &[&'static Family], wanted: &str) -> Vec<String> {
    let with_subevents = wanted.contains('.');
    let mut names = Vec::new();
    for family in families {
        for unit in family.units {
            names.push(unit.name.to_owned());
            names.extend(unit.perf_events.iter().map(|(alias, _)| (*alias).to_owned()));
            for event in unit.events {
                names.push(event.name.to_owned());
                if with_subevents {
                    names.extend(event.subevents.iter().map(|subevent| format!("{}.{}", event.name, subevent.name)));
                }
            }
            names.extend(unit.metrics.iter().map(|metric| metric.name.to_owned()));
            names.extend(unit.registers.iter().map(|register| register.name.to_owned()));
            names.extend(unit.registers.iter().filter_map(|register| register.event.map(str::to_owned)));
            let fields = unit.registers.iter().flat_map(|register| register.fields);
            let fields = fields.chain(unit.field_sets.iter().flat_map(|set| set.fields));
            names.extend(fields.filter(|field| !matches!(field.name, "rsv" | "ig")).map(|field| field.name.to_owned()));
        }
        names.extend(family.value_sets.iter().flat_map(|set| set.values).map(|value| value.name.to_owned()));
    }
    names.sort_unstable();
    names.dedup();
    names
}
