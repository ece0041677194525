//! One event of a file: from Intel's keys to the control register of one of the family's units.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};

use super::Problem;
use crate::decode::selecting_bits;
use crate::encode::parse_number;
use crate::rows::{Family, Field, FieldAccess, Register, Role, Unit};

/// An event of a file.
#[derive(Debug, Clone)]
pub struct FileEvent<'t> {
    /// Line of the file, from 1.
    pub line: usize,
    /// The unit.
    pub unit: &'t Unit<'t>,
    /// Event name, without the unit's prefix.
    pub event: Cow<'t, str>,
    /// What follows the first dot of the name.
    pub subevent: Option<Cow<'t, str>>,
    /// Event code.
    pub code: u16,
    /// Unit mask, bits 15:8 of the control register.
    pub umask: u8,
    /// Value of the control register that selects it.
    pub config: u64,
    /// Counters that can take it, as a bit mask.
    pub counters: u16,
    /// Filter fields that it takes.
    pub filters: Vec<&'t Field<'t>>,
    /// What it counts, in the file's words.
    pub description: Cow<'t, str>,
    /// True if Intel advises against it.
    pub deprecated: bool,
}

impl FileEvent<'_> {
    /// Its name: `EVENT` or `EVENT.SUBEVENT`.
    pub fn full_name(&self) -> String {
        self.subevent.as_deref().map_or_else(|| self.event.to_string(), |sub| format!("{}.{sub}", self.event))
    }
}

/// A scalar as it stands: Intel writes numbers as text, Linux and others as numbers.
#[derive(Debug, Clone)]
pub(super) struct Text<'t>(pub(super) Cow<'t, str>);

impl<'de: 't, 't> Deserialize<'de> for Text<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a number")
            }

            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(number.to_string())))
            }

            fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed("")))
            }
        }
        deserializer.deserialize_any(TextVisitor)
    }
}

/// Intel's keys; others are ignored.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Row<'t> {
    #[serde(borrow, default)]
    event_name: Option<Text<'t>>,
    #[serde(borrow, default)]
    unit: Option<Text<'t>>,
    #[serde(borrow, default)]
    event_code: Option<Text<'t>>,
    #[serde(borrow, default, rename = "UMask")]
    umask: Option<Text<'t>>,
    #[serde(borrow, default, rename = "UMaskExt")]
    umask_ext: Option<Text<'t>>,
    #[serde(borrow, default)]
    port_mask: Option<Text<'t>>,
    #[serde(borrow, default, rename = "FCMask")]
    fc_mask: Option<Text<'t>>,
    #[serde(borrow, default)]
    ext_sel: Option<Text<'t>>,
    #[serde(borrow, default)]
    counter_mask: Option<Text<'t>>,
    #[serde(borrow, default)]
    invert: Option<Text<'t>>,
    #[serde(borrow, default)]
    edge_detect: Option<Text<'t>>,
    #[serde(borrow, default)]
    counter: Option<Text<'t>>,
    #[serde(borrow, default)]
    counter_type: Option<Text<'t>>,
    #[serde(borrow, default)]
    filter: Option<Text<'t>>,
    #[serde(borrow, default)]
    brief_description: Option<Text<'t>>,
    #[serde(borrow, default)]
    public_description: Option<Text<'t>>,
    #[serde(borrow, default)]
    deprecated: Option<Text<'t>>,
}

/// Reads a row; a row that cannot be used gives its name and why.
pub(super) fn read<'t>(raw: &'t str, family: &'t Family<'t>) -> Result<FileEvent<'t>, (String, Problem)> {
    let row: Row<'t> = serde_json::from_str(raw).map_err(|error| {
        let text = error.to_string();
        // The line within the row would mislead: the row's own line is told.
        let problem = text.split(" at line ").next().unwrap_or(&text).to_owned();
        (name_in(raw), Problem::Unreadable(problem))
    })?;
    let name = row.event_name.clone().map_or(Cow::Borrowed(""), |text| text.0);
    event(row, family)
        .map_err(|problem| (super::printable(if name.is_empty() { "a row without a name" } else { &name }), problem))
}

/// The name in a row that does not read as a whole, for the message only.
fn name_in(raw: &str) -> String {
    let behind = raw.split_once("\"EventName\"").or_else(|| raw.split_once("\"MetricName\"")).map(|(_, rest)| rest);
    let name = behind.and_then(|rest| rest.split('"').nth(1)).unwrap_or("a row");
    super::printable(name).chars().take(80).collect()
}

fn event<'t>(row: Row<'t>, family: &'t Family<'t>) -> Result<FileEvent<'t>, Problem> {
    let name = row.event_name.filter(|name| !name.0.is_empty()).ok_or(Problem::Missing("EventName"))?.0;
    let unit_name = row.unit.filter(|unit| !unit.0.is_empty()).ok_or(Problem::CoreEvent)?.0;
    let unit = unit_of(family, &unit_name).ok_or_else(|| Problem::UnknownUnit(super::printable(&unit_name)))?;
    if row.counter_type.is_some_and(|kind| kind.0.eq_ignore_ascii_case("FREERUN")) {
        return Err(Problem::NotProgrammable);
    }
    let register = unit.register(Role::Control).ok_or(Problem::NoControl(unit.name.to_owned()))?;
    let code = number("EventCode", Some(&row.event_code.ok_or(Problem::Missing("EventCode"))?))?;
    let umask = number("UMask", row.umask.as_ref())?;
    let mut control = Control { unit, register, value: 0 };
    control.set("EventCode", "ev_sel", code)?;
    control.set_umask(umask, number("UMaskExt", row.umask_ext.as_ref())?)?;
    let further = [
        ("PortMask", "ch_mask", &row.port_mask),
        ("FCMask", "fc_mask", &row.fc_mask),
        ("ExtSel", "ev_sel_ext", &row.ext_sel),
        ("CounterMask", "thresh", &row.counter_mask),
        ("Invert", "invert", &row.invert),
        ("EdgeDetect", "edge_det", &row.edge_detect),
    ];
    for (key, field, given) in further {
        control.set(key, field, number(key, given.as_ref())?)?;
    }
    let (event, subevent) = split_name(name, unit)?;
    let text = |text: Option<Text<'t>>| text.map(|text| text.0).filter(|text| !text.is_empty() && text != "tbd");
    Ok(FileEvent {
        line: 0,
        unit,
        event,
        subevent,
        code: u16::try_from(code).unwrap_or(u16::MAX),
        umask: u8::try_from(umask & 0xff).unwrap_or(0),
        config: control.value,
        counters: counters(unit, row.counter.as_ref())?,
        filters: row.filter.as_ref().map_or_else(Vec::new, |filter| filters(unit, &filter.0)),
        description: text(row.brief_description)
            .or(text(row.public_description))
            .unwrap_or(Cow::Borrowed("No description in the file.")),
        deprecated: row.deprecated.is_some_and(|flag| flag.0 == "1"),
    })
}

/// Intel's name for a unit, ours, or perf's.
fn unit_of<'t>(family: &'t Family<'t>, name: &str) -> Option<&'t Unit<'t>> {
    let is_it = |unit: &&Unit<'_>| {
        let pmu = unit.perf_pmu.and_then(|pmu| pmu.strip_prefix("uncore_"));
        [Some(unit.name), unit.intel_unit, pmu].into_iter().flatten().any(|known| known.eq_ignore_ascii_case(name))
    };
    family.units.iter().copied().find(is_it)
}

/// Event and subevent of a name. Both must be words that the event syntax can take.
fn split_name<'t>(name: Cow<'t, str>, unit: &Unit<'_>) -> Result<(Cow<'t, str>, Option<Cow<'t, str>>), Problem> {
    let prefix = unit
        .intel_prefix
        .filter(|prefix| name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix)));
    let bare = match name {
        Cow::Borrowed(name) => Cow::Borrowed(&name[prefix.map_or(0, str::len)..]),
        Cow::Owned(name) => Cow::Owned(name[prefix.map_or(0, str::len)..].to_owned()),
    };
    let is_word = |text: &str| {
        !text.is_empty() && text.len() <= 128 && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b))
    };
    let (event, subevent) = match bare {
        Cow::Borrowed(bare) => match bare.split_once('.') {
            Some((event, subevent)) => (Cow::Borrowed(event), Some(Cow::Borrowed(subevent))),
            None => (Cow::Borrowed(bare), None),
        },
        Cow::Owned(bare) => match bare.split_once('.') {
            Some((event, subevent)) => (Cow::Owned(event.to_owned()), Some(Cow::Owned(subevent.to_owned()))),
            None => (Cow::Owned(bare), None),
        },
    };
    if is_word(&event) && subevent.as_deref().is_none_or(is_word) {
        Ok((event, subevent))
    } else {
        Err(Problem::BadName)
    }
}

/// The first number of a value: `"0x1F"`, `31`, or the first of a list. A missing one is 0.
fn number(key: &'static str, text: Option<&Text<'_>>) -> Result<u64, Problem> {
    let Some(text) = text else { return Ok(0) };
    // A list gives codes that do the same on different counters: any will do.
    let first = text.0.split(',').next().unwrap_or("").trim();
    if first.is_empty() || matches!(first, "na" | "null") {
        return Ok(0);
    }
    parse_number(first).ok_or_else(|| Problem::NotANumber { key, value: super::printable(&text.0) })
}

fn counters(unit: &Unit<'_>, text: Option<&Text<'_>>) -> Result<u16, Problem> {
    let every = u16::try_from((1_u32 << unit.counters.min(16)) - 1).unwrap_or(u16::MAX);
    let Some(text) = text.filter(|text| !text.0.is_empty()) else { return Ok(every) };
    if text.0.trim().get(..5).is_some_and(|start| start.eq_ignore_ascii_case("fixed")) {
        return Err(Problem::NotProgrammable);
    }
    text.0.split(',').try_fold(0, |mask, counter| {
        let number = parse_number(counter.trim()).filter(|number| *number < u64::from(unit.counters.min(16)));
        number.map(|number| mask | 1 << number).ok_or_else(|| Problem::NoCounter {
            unit: unit.name.to_owned(),
            value: super::printable(counter.trim()),
            count: unit.counters,
        })
    })
}

/// The filter fields of `CBoFilter[31:23], CBoFilter[17:10]`: those with just these bits. Others have no filter register here.
fn filters<'t>(unit: &Unit<'t>, text: &str) -> Vec<&'t Field<'t>> {
    let ranges =
        text.split(',').filter_map(|part| part.trim().strip_suffix(']')?.split_once('[').map(|(_, bits)| bits));
    let fields = || unit.with_role(Role::Filter).flat_map(|register| register.fields);
    ranges.filter_map(|bits| fields().find(|field| field.bits.to_string() == bits && is_selecting(field))).collect()
}

fn is_selecting(field: &Field<'_>) -> bool {
    !matches!(field.access, FieldAccess::Reserved | FieldAccess::Ignored | FieldAccess::WriteOnly)
}

/// A control value in the making.
struct Control<'t> {
    unit: &'t Unit<'t>,
    register: &'t Register<'t>,
    value: u64,
}

impl Control<'_> {
    fn set(&mut self, key: &'static str, field: &str, value: u64) -> Result<(), Problem> {
        match self.register.field(field) {
            _ if value == 0 => Ok(()),
            Some(field) if value <= field.bits.max() => {
                self.value = field.bits.set(self.value, value);
                Ok(())
            }
            Some(field) => Err(self.does_not_fit(
                key,
                value,
                format!("whose {} holds at most {:#x}", field.name, field.bits.max()),
            )),
            None => Err(self.does_not_fit(key, value, format!("whose controls have no {field}"))),
        }
    }

    /// Intel's masks are places in the control register, whatever a unit calls the fields there: UMask is bits 15:8, UMaskExt
    /// bits 63:32. Linux writes one behind the other.
    fn set_umask(&mut self, umask: u64, extension: u64) -> Result<(), Problem> {
        const UMASK: u8 = 8;
        const EXTENSION: u8 = 32;
        let extension = extension | umask >> UMASK;
        if extension > u64::MAX >> EXTENSION {
            return Err(self.does_not_fit("UMaskExt", extension, "as it has more than 32 bits".to_owned()));
        }
        let selecting = selecting_bits(self.register);
        for (key, value, bits) in
            [("UMask", umask, (umask & 0xff) << UMASK), ("UMaskExt", extension, extension << EXTENSION)]
        {
            if bits & !selecting != 0 {
                return Err(self.does_not_fit(
                    key,
                    value,
                    format!("as nothing selects by bits {:#x}", bits & !selecting),
                ));
            }
            self.value |= bits;
        }
        Ok(())
    }

    fn does_not_fit(&self, key: &'static str, value: u64, limit: String) -> Problem {
        Problem::DoesNotFit { key, value, unit: self.unit.name.to_owned(), limit }
    }
}
