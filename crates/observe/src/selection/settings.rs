//! `key=value`: fields of the control register, filters, and perf's words for them.

use pericore_catalog::{Event, Field, FieldAccess, FieldSet, Register, Role, Unit};

use super::FilterSetting;
use super::error::Problem;
use super::names::nearest;

/// Control fields that the session sets, and users must not.
const SESSION_FIELDS: [&str; 5] = ["en", "rst", "frz_ovf", "pmi_en", "occ_ctr_rst"];

/// What a setting is set to, as written.
#[derive(Debug, Clone, Copy)]
pub(super) enum Given<'s> {
    Number(u64),
    /// A number in text, or a named value of the field.
    Text(&'s str),
}

/// A control value and filters in the making.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) unit: &'static Unit,
    register: &'static Register,
    pub(super) control: u64,
    /// Bits of `control` that the user has set.
    set: u64,
    pub(super) filters: Vec<FilterSetting>,
}

impl Draft {
    /// Starts from the control value of an event, or from 0.
    pub(super) fn new(unit: &'static Unit, config: u64) -> Option<Self> {
        let register = unit.register(Role::Control)?;
        Some(Self { unit, register, control: config, set: 0, filters: Vec::new() })
    }

    /// True if the user has set a field of this name.
    pub(super) fn has(&self, name: &str, event: Option<&Event>) -> bool {
        let control =
            self.control_field(name, event).is_some_and(|field| self.set & field.bits.mask() == field.bits.mask());
        control || self.filters.iter().any(|filter| filter.field.name == name)
    }

    /// True if the user has set any of these control bits.
    pub(super) const fn has_any(&self, bits: u64) -> bool {
        self.set & bits != 0
    }

    /// True if a bit of the control register switches this filter on.
    pub(super) fn has_switch(&self, filter: &Field) -> bool {
        self.switch(filter).is_some()
    }

    fn switch(&self, filter: &Field) -> Option<&'static Field> {
        self.register.field(&format!("{}_en", filter.name))
    }

    /// Sets a key. `event` is the event it applies to, where that is known.
    pub(super) fn set(&mut self, key: &str, given: Given<'_>, event: Option<&Event>) -> Result<(), Problem> {
        // perf's and Linux's words for the same things.
        let name = match key {
            "edge" => "edge_det",
            "inv" => "invert",
            "cmask" => "thresh",
            other => other.strip_prefix("filter_").unwrap_or(other),
        };
        match name {
            "config" => return self.set_config(given),
            "event" => return self.set_wide(key, given, "ev_sel", "ev_sel_ext"),
            "umask" => return self.set_wide(key, given, "umask", "umask_ext"),
            _ => {}
        }
        if SESSION_FIELDS.contains(&name) {
            return Err(Problem::SessionKey { key: key.to_owned() });
        }
        if let Some(field) = self.control_field(name, event) {
            let value = value_of(field, given)?;
            return self.set_control(field, value);
        }
        if let Some((register, field)) = self.unit.filter_field(name) {
            let value = value_of(field, given)?;
            return self.set_filter(register, field, value);
        }
        let keys = self.keys(event);
        Err(Problem::UnknownKey {
            unit: self.unit.name,
            key: key.to_owned(),
            nearest: nearest(key, keys.iter().copied()),
            keys: keys.join(" "),
        })
    }

    /// Sets a filter field, and the control bit that switches the filter on, where there is one (`tid` and `tid_en`).
    pub(super) fn set_filter(
        &mut self,
        register: &'static Register,
        field: &'static Field,
        value: u64,
    ) -> Result<(), Problem> {
        if let Some(known) = self.filters.iter().find(|known| known.field.id == field.id) {
            return contradiction(field.name, known.value, value);
        }
        self.filters.push(FilterSetting { register, field, value });
        match self.switch(field) {
            Some(enable) => self.set_control(enable, 1),
            None => Ok(()),
        }
    }

    fn set_control(&mut self, field: &Field, value: u64) -> Result<(), Problem> {
        let mask = field.bits.mask();
        if self.set & mask != 0 {
            return contradiction(field.name, field.bits.get(self.control), value);
        }
        self.set |= mask;
        self.control = field.bits.set(self.control, value);
        Ok(())
    }

    fn set_config(&mut self, given: Given<'_>) -> Result<(), Problem> {
        let value = number(given).ok_or_else(|| unknown_value("config", given, &[]))?;
        let allowed =
            self.register.fields.iter().filter(|field| is_users(field)).fold(0, |mask, field| mask | field.bits.mask());
        let enable = self.register.field("en").map_or(0, |field| field.bits.mask());
        let bits = value & !(allowed | enable);
        if bits != 0 {
            return Err(Problem::ForbiddenBits { unit: self.unit.name, value, bits });
        }
        self.control |= value & allowed;
        self.set |= value & allowed;
        Ok(())
    }

    /// perf's `event` and `umask` may be wider than the field: the rest goes into its extension.
    fn set_wide(&mut self, key: &str, given: Given<'_>, name: &str, extension: &str) -> Result<(), Problem> {
        let value = number(given).ok_or_else(|| unknown_value(key, given, &[]))?;
        let Some(field) = self.register.field(name) else {
            return Err(Problem::UnknownKey {
                unit: self.unit.name,
                key: key.to_owned(),
                nearest: Vec::new(),
                keys: self.keys(None).join(" "),
            });
        };
        let high = if field.bits.width >= 64 { 0 } else { value >> field.bits.width };
        self.control = field.bits.set(self.control, value);
        self.set |= field.bits.mask();
        match self.register.field(extension) {
            _ if high == 0 => Ok(()),
            Some(extension) if high <= extension.bits.max() => {
                self.control = extension.bits.set(self.control, high);
                self.set |= extension.bits.mask();
                Ok(())
            }
            _ => Err(Problem::TooLarge { field: key.to_owned(), value, max: field.bits.max() }),
        }
    }

    /// A field of the control register by name; the event's own fields come first.
    fn control_field(&self, name: &str, event: Option<&Event>) -> Option<&'static Field> {
        let own = self.field_set(event).and_then(|set| set.fields.iter().find(|field| field.name == name));
        own.or_else(|| self.register.field(name)).filter(|field| is_users(field))
    }

    fn field_set(&self, event: Option<&Event>) -> Option<&'static FieldSet> {
        self.unit.field_sets.get(usize::from(event?.field_set?))
    }

    /// All keys that apply.
    fn keys(&self, event: Option<&Event>) -> Vec<&'static str> {
        let own = self.field_set(event).map_or(&[][..], |set| set.fields);
        let filters = self.unit.with_role(Role::Filter).flat_map(|register| register.fields);
        let mut keys = Vec::new();
        for field in own.iter().chain(self.register.fields).chain(filters) {
            if is_users(field) && !keys.contains(&field.name) {
                keys.push(field.name);
            }
        }
        keys
    }
}

fn is_users(field: &Field) -> bool {
    let reserved = matches!(field.access, FieldAccess::Reserved | FieldAccess::Ignored | FieldAccess::WriteOnly);
    !reserved && !SESSION_FIELDS.contains(&field.name)
}

fn contradiction(field: &str, first: u64, second: u64) -> Result<(), Problem> {
    if first == second { Ok(()) } else { Err(Problem::Contradiction { field: field.to_owned(), first, second }) }
}

/// The number that a text stands for: decimal, or hexadecimal after `0x`.
pub(super) fn parse_number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn number(given: Given<'_>) -> Option<u64> {
    match given {
        Given::Number(number) => Some(number),
        Given::Text(text) => parse_number(text),
    }
}

fn value_of(field: &'static Field, given: Given<'_>) -> Result<u64, Problem> {
    let named = match given {
        Given::Text(text) => field.named(text).map(|named| named.value),
        Given::Number(_) => None,
    };
    let names: Vec<&str> = field.values.iter().map(|named| named.name).collect();
    let value = named.or_else(|| number(given)).ok_or_else(|| unknown_value(field.name, given, &names))?;
    if value > field.bits.max() {
        return Err(Problem::TooLarge { field: field.name.to_owned(), value, max: field.bits.max() });
    }
    Ok(value)
}

fn unknown_value(field: &str, given: Given<'_>, names: &[&str]) -> Problem {
    let value = match given {
        Given::Text(text) => text.to_owned(),
        Given::Number(number) => number.to_string(),
    };
    let examples = names.iter().take(8).copied().collect::<Vec<_>>().join(" ");
    let names_text = if names.is_empty() { String::new() } else { format!(" or a name, such as {examples}") };
    Problem::UnknownValue {
        field: field.to_owned(),
        nearest: nearest(&value, names.iter().copied()),
        value,
        names: names_text,
    }
}
