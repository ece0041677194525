//! An event of the catalogue in a PMU's terms.

use std::fmt;

use pericore_catalog::{Family, Field, Register, Role, Unit};

use super::driver::DriverNames;
use super::error::KernelError;
use super::format::{Attributes, Privilege, TermFormat};
use super::pmu::Pmu;
use crate::selection::{EventSource, Programming, SelectedEvent};

/// The control's field that every event has, whatever its value.
const EVENT_SELECT: &str = "ev_sel";

/// An event as the kernel takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelEvent {
    /// Each term, with where it lies.
    pub terms: Vec<KernelTerm>,
    /// The same where the PMU's format says.
    pub attributes: Attributes,
}

/// A term of an event: `event=0x35`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelTerm {
    /// Name.
    pub name: String,
    /// Value.
    pub value: u64,
    /// Where it lies.
    pub format: TermFormat,
}

impl fmt::Display for KernelEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, KernelTerm { name, value, .. }) in self.terms.iter().enumerate() {
            write!(f, "{}{name}={value:#x}", if number == 0 { "" } else { "," })?;
        }
        // As perf writes it behind the PMU's second stroke.
        match self.attributes.privilege {
            Privilege::All => Ok(()),
            Privilege::User => f.write_str(":u"),
            Privilege::Kernel => f.write_str(":k"),
        }
    }
}

/// A field's value, and the terms that may stand for it.
struct Wanted {
    fields: Vec<&'static str>,
    terms: Vec<String>,
    value: u64,
    is_filter: bool,
}

/// The event in the terms of `pmu`, one of `unit`'s; `stem` is the PMU's name without a number.
///
/// # Errors
/// [`KernelError::Inexpressible`] with the field, the value and the format file that has no room for it.
pub(super) fn express(
    family: &Family,
    stem: &str,
    pmu: &Pmu,
    event: &SelectedEvent,
) -> Result<KernelEvent, KernelError> {
    let names = DriverNames::shipped();
    let refuse = |why: String| KernelError::Inexpressible { label: event.label.clone(), pmu: pmu.name.clone(), why };
    let mut privilege = Privilege::All;
    let terms = match &event.source {
        EventSource::Programmed(programming) => {
            let mut terms = Vec::new();
            let wanted = control_terms(names, event.unit, programming).map_err(refuse)?;
            let (levels, wanted): (Vec<Wanted>, Vec<Wanted>) =
                wanted.into_iter().partition(|wanted| names.is_privilege(wanted.fields[0]));
            privilege = names.privilege_of(levels.iter().map(|wanted| wanted.fields[0]));
            for wanted in wanted {
                terms.push(placed(pmu, &wanted).map_err(refuse)?);
            }
            let config = programming.control;
            for wanted in filter_terms(names, programming) {
                let (term, value) = placed(pmu, &wanted).map_err(refuse)?;
                if !names.takes_filter(family.name, stem, &term, config) {
                    return Err(refuse(format!(
                        "the kernel's driver takes {term} for other events only, and would count this one without it"
                    )));
                }
                terms.push((term, value));
            }
            terms
        }
        EventSource::Fixed(_) => names.fixed.clone(),
        EventSource::FreeRunning { register, member } => named(pmu, event.unit, register, *member).map_err(refuse)?,
    };
    let attributes = pmu.attributes(terms.iter().map(|(term, value)| (term.as_str(), *value)));
    let attributes = Attributes { privilege, ..attributes.map_err(|error| refuse(error.to_string()))? };
    let with_format = |(name, value): (String, u64)| {
        let format = pmu.format(&name)?.clone();
        Some(KernelTerm { name, value, format })
    };
    Ok(KernelEvent { terms: terms.into_iter().filter_map(with_format).collect(), attributes })
}

/// The fields of a control value that are not 0. The event select is always there.
fn control_terms(names: &DriverNames, unit: &'static Unit, programming: &Programming) -> Result<Vec<Wanted>, String> {
    let control = programming.control;
    let register = unit.register(Role::Control).ok_or_else(|| format!("{} has no control register", unit.name))?;
    let (mut wanted, mut covered) = (Vec::new(), 0);
    let is_needed = |field: &&Field| field.name == EVENT_SELECT || field.bits.get(control) != 0;
    for field in register.fields.iter().rev().filter(is_needed) {
        if covered & field.bits.mask() != 0 {
            continue;
        }
        let row = names.of_field(field.name);
        let joint = row.map_or_else(|| vec![field.name.to_owned()], |row| row.fields.clone());
        let (mut value, mut at, mut fields) = (0, 0, Vec::new());
        for field in joint.iter().filter_map(|name| register.field(name)) {
            value |= field.bits.get(control) << at;
            at += field.bits.width;
            covered |= field.bits.mask();
            fields.push(field.name);
        }
        let terms = row.map_or_else(|| vec![field.name.to_owned()], |row| row.terms.clone());
        wanted.push(Wanted { fields, terms, value, is_filter: false });
    }
    Ok(wanted)
}

/// The filters that are not 0: what a filter register is if nobody sets it.
fn filter_terms(names: &DriverNames, programming: &Programming) -> Vec<Wanted> {
    let of = |filter: &crate::selection::FilterSetting| {
        let name = filter.field.name;
        let terms = match names.of_field(name) {
            Some(row) => row.terms.clone(),
            None => vec![name.to_owned(), format!("filter_{name}")],
        };
        Wanted { fields: vec![name], terms, value: filter.value, is_filter: true }
    };
    programming.filters.iter().filter(|filter| filter.value != 0).map(of).collect()
}

/// The first of the terms that the PMU has, if the value fits.
fn placed(pmu: &Pmu, wanted: &Wanted) -> Result<(String, u64), String> {
    let Wanted { fields, terms, value, is_filter } = wanted;
    let fields = fields.join("+");
    let Some((term, format)) = terms.iter().find_map(|term| Some((term, pmu.format(term)?))) else {
        let what = if *is_filter { "filter" } else { "field" };
        return Err(format!(
            "{what} {fields}={value:#x}: there is no {}; it has {}",
            terms.iter().map(|term| format!("format/{term}")).collect::<Vec<_>>().join(" nor "),
            pmu.terms().collect::<Vec<_>>().join(" ")
        ));
    };
    match format.set(Attributes::default(), *value) {
        Some(_) => Ok((term.clone(), *value)),
        None => Err(format!("field {fields}={value:#x}: format/{term} ({format}) has {} bits", format.width())),
    }
}

/// The terms of a free-running counter: only the driver's own names tell which it is.
fn named(pmu: &Pmu, unit: &Unit, register: &Register, member: u8) -> Result<Vec<(String, u64)>, String> {
    let means = register.member_event(member);
    let mut aliases = unit.perf_events.iter().filter(|(_, meant)| *meant == means).map(|(alias, _)| *alias);
    match aliases.find_map(|alias| pmu.event(alias)) {
        Some(event) => Ok(event.terms.clone()),
        None => {
            let known: Vec<&str> = pmu.events.iter().map(|event| event.name.as_str()).collect();
            Err(format!("none of its events is this counter; it has {}", known.join(" ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As perf writes an event between and behind the strokes.
    #[test]
    fn an_event_prints_as_perf_writes_it() {
        let format: TermFormat = "config:0-7".parse().unwrap();
        let term = |name: &str, value| KernelTerm { name: name.to_owned(), value, format: format.clone() };
        for (terms, privilege, text) in [
            (vec![term("event", 0x35)], Privilege::All, "event=0x35"),
            (
                vec![term("event", 0), term("umask", 3), term("edge", 1)],
                Privilege::User,
                "event=0x0,umask=0x3,edge=0x1:u",
            ),
            (vec![term("event", 0x3c)], Privilege::Kernel, "event=0x3c:k"),
            (Vec::new(), Privilege::All, ""),
        ] {
            let attributes = Attributes { privilege, ..Attributes::default() };
            assert_eq!(KernelEvent { terms, attributes }.to_string(), text);
        }
    }
}
