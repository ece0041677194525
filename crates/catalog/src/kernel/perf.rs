//! How Linux's driver selects what a control register selects: a PMU and the terms that perf takes.

use std::fmt;

use super::families::unit;
use crate::model::{AttributeWord, Family, KernelUnit};

/// What perf calls a selection: a PMU, and what to put into which of its fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PerfEvent {
    /// Names that drivers have for the PMU, without an instance's number, the newest first; at least one.
    pub pmus: &'static [&'static str],
    /// Fields of the PMU's `format` folder and their values, those that are 0 left out.
    pub terms: Vec<(&'static str, u64)>,
}

impl PerfEvent {
    /// The PMU's name in the newest drivers.
    pub fn pmu(&self) -> &'static str {
        self.pmus.first().copied().unwrap_or_default()
    }

    /// As perf takes it: `uncore_cha/event=0x35,umask=0xc817fe01/`.
    pub fn text(&self) -> String {
        let mut text = String::with_capacity(96);
        text.push_str(self.pmu());
        text.push('/');
        for (index, (name, value)) in self.terms.iter().enumerate() {
            text.push_str(if index > 0 { "," } else { "" });
            text.push_str(name);
            text.push_str("=0x");
            text.push_str(hexadecimal(*value, &mut [0; 16]));
        }
        text.push('/');
        text
    }
}

impl fmt::Display for PerfEvent {
    /// The same as [`PerfEvent::text`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

/// A number's hexadecimal digits. By hand: a list of a family has thousands, and `{:x}` pads each.
fn hexadecimal(value: u64, digits: &mut [u8; 16]) -> &str {
    let count = value.checked_ilog2().map_or(1, |highest| highest as usize / 4 + 1);
    for (place, digit) in digits[..count].iter_mut().rev().enumerate() {
        *digit = b"0123456789abcdef"[(value >> (4 * place) & 0xf) as usize];
    }
    str::from_utf8(&digits[..count]).unwrap_or_default()
}

/// Why Linux's driver cannot select something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotOffered {
    /// The driver has no PMU for the unit.
    #[error("Linux's driver has no PMU for {unit} of {family}")]
    NoPmu {
        /// Family.
        family: &'static str,
        /// Unit.
        unit: &'static str,
    },
    /// The driver does not let these bits through.
    #[error("{pmu} has no field for bits {bits:#x} of the control register")]
    NoField {
        /// PMU.
        pmu: &'static str,
        /// Bits of the control register.
        bits: u64,
    },
    /// The driver has no such filter.
    #[error("{pmu} has no filter {filter}")]
    NoFilter {
        /// PMU.
        pmu: &'static str,
        /// Field of a filter register.
        filter: String,
    },
    /// The driver does not have this free-running counter.
    #[error("{pmu} does not have this counter")]
    NoCounter {
        /// PMU.
        pmu: &'static str,
    },
}

/// How the driver selects what `control` selects in the unit's control register, with the filters' fields set to
/// these values. `control` is without the bits of a session: enable, reset, interrupt.
///
/// # Errors
/// [`NotOffered`]: the driver cannot do it.
pub fn perf_event(
    family: &Family,
    unit_name: &'static str,
    control: u64,
    filters: &[(&str, u64)],
) -> Result<PerfEvent, NotOffered> {
    let known = unit(family, unit_name).filter(|unit| !unit.pmus.is_empty());
    of_unit(known.ok_or(NotOffered::NoPmu { family: family.name, unit: unit_name })?, control, filters)
}

/// As [`perf_event`], of this unit.
pub(super) fn of_unit(unit: &KernelUnit, control: u64, filters: &[(&str, u64)]) -> Result<PerfEvent, NotOffered> {
    let pmu = unit.pmus.first().copied().unwrap_or(unit.name);
    let mut terms = Vec::new();
    let mut left = control;
    for field in unit.fields.iter().filter(|field| field.word == AttributeWord::Config) {
        let value = field.value(control);
        left &= !field.mask();
        // perf needs the event, even if it is 0.
        if value != 0 || field.name == "event" {
            terms.push((field.name, value));
        }
    }
    if left != 0 {
        return Err(NotOffered::NoField { pmu, bits: left });
    }
    for &(filter, value) in filters {
        let field = unit.filter(filter);
        let field = field.ok_or_else(|| NotOffered::NoFilter { pmu, filter: filter.to_owned() })?;
        if value != 0 {
            terms.push((field.name, value));
        }
    }
    Ok(PerfEvent { pmus: unit.pmus, terms })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_of_the_formatter() {
        for value in [0, 1, 9, 0xa, 0xf, 0x10, 0xc817_fe01, u64::MAX, 1 << 63] {
            assert_eq!(hexadecimal(value, &mut [0; 16]), format!("{value:x}"));
        }
    }
}
