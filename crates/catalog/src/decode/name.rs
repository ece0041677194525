//! Names of units and registers: `cbo3.ctl0`, `cbo[3].ctl0`, and the guides' `C3_MSR_PMON_CTL0`.

use super::Place;
use crate::model::{Family, Register, Unit};
use crate::search::hint;

/// A name that stands for no register.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// No such unit.
    #[error("{family} has no unit {name:?}{hint}; its units are {units}")]
    NoUnit {
        /// Family.
        family: &'static str,
        /// Name as given.
        name: String,
        /// `; did you mean …?`, or nothing.
        hint: String,
        /// All units.
        units: String,
    },
    /// No such instance in a socket.
    #[error("{unit} has {count} instances in a socket, numbered from 0; {number} is too high")]
    NoInstance {
        /// Unit.
        unit: &'static str,
        /// Instances.
        count: u16,
        /// Number as given.
        number: String,
    },
    /// The unit has no such register.
    #[error("{unit} has no register {name:?}{hint}; its registers are {registers}")]
    NoRegister {
        /// Unit.
        unit: &'static str,
        /// Name as given.
        name: String,
        /// `; did you mean …?`, or nothing.
        hint: String,
        /// All registers.
        registers: String,
    },
    /// An array, without the number of a member.
    #[error("{unit}.{register} is an array; name one of {register}0 to {register}{last}")]
    WhichMember {
        /// Unit.
        unit: &'static str,
        /// Register.
        register: &'static str,
        /// Number of the last member.
        last: u8,
    },
    /// Not of the form at all.
    #[error("{family} has no register {name:?}; write UNIT.REGISTER, such as {example}")]
    NoForm {
        /// Family.
        family: &'static str,
        /// Name as given.
        name: String,
        /// A name that the family has.
        example: String,
    },
}

/// The register that a name stands for.
///
/// # Errors
/// [`NameError`], with the nearest names.
pub fn parse_name(family: &'static Family, text: &str) -> Result<Place, NameError> {
    let Some((unit_text, register_text)) = text.split_once('.') else { return by_guide_name(family, text) };
    let (unit, instance) = parse_unit(family, unit_text)?;
    let (register, member) = register_of(unit, register_text)?;
    Ok(Place { unit, instance, register, member, byte: 0 })
}

/// A unit and the instance, if a number follows: `cbo`, `cbo3`, `cbo[3]`.
///
/// # Errors
/// No such unit, or a number that no instance of a socket has.
pub fn parse_unit(family: &'static Family, text: &str) -> Result<(&'static Unit, Option<u16>), NameError> {
    if let Some(unit) = family.unit(text) {
        return Ok((unit, None));
    }
    let bare = text.strip_suffix(']').unwrap_or(text);
    let stem = bare.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = &bare[stem.len()..];
    let stem = stem.strip_suffix('[').unwrap_or(stem);
    let Some(unit) = family.unit(stem).filter(|_| !number.is_empty()) else {
        let units: Vec<&str> = family.units.iter().map(|unit| unit.name).collect();
        let hint = hint(stem, units.iter().copied());
        return Err(NameError::NoUnit { family: family.name, name: text.to_owned(), hint, units: units.join(" ") });
    };
    match number.parse::<u16>() {
        // A unit that only discovery finds has no number of instances to check against.
        Ok(instance) if instance < unit.instances || unit.instances == 0 => Ok((unit, Some(instance))),
        _ => Err(NameError::NoInstance { unit: unit.name, count: unit.instances, number: number.to_owned() }),
    }
}

fn register_of(unit: &'static Unit, text: &str) -> Result<(&'static Register, u8), NameError> {
    for register in unit.registers {
        let is_member = |member: &u8| register.member_name(*member).eq_ignore_ascii_case(text);
        if let Some(member) = (0..register.count).find(is_member) {
            return Ok((register, member));
        }
        if let Some((_, member)) = guide_name_fits(register, text) {
            return Ok((register, member));
        }
    }
    if let Some(register) = unit.register_named(text) {
        return Err(NameError::WhichMember { unit: unit.name, register: register.name, last: register.count - 1 });
    }
    let names: Vec<&str> = unit.registers.iter().map(|register| register.name).collect();
    let hint = hint(text.trim_end_matches(|c: char| c.is_ascii_digit()), names.iter().copied());
    Err(NameError::NoRegister { unit: unit.name, name: text.to_owned(), hint, registers: names.join(" ") })
}

fn by_guide_name(family: &'static Family, text: &str) -> Result<Place, NameError> {
    for unit in family.units.iter().copied() {
        for register in unit.registers {
            let Some((instance, member)) = guide_name_fits(register, text) else { continue };
            let instance = instance.filter(|instance| *instance < unit.instances);
            return Ok(Place { unit, instance, register, member, byte: 0 });
        }
    }
    let first = family.units.iter().find_map(|unit| Some((unit.name, unit.registers.first()?)));
    let example =
        first.map_or_else(|| "unit.ctl0".to_owned(), |(unit, register)| format!("{unit}.{}", register.member_name(0)));
    Err(NameError::NoForm { family: family.name, name: text.to_owned(), example })
}

/// The instance and array member, if `text` is the register's name in the guide. There `Cn_…` stands for `C0_…`, `C1_…`
/// and `…{3-0}` for a digit; the text may also have the placeholder itself. An array needs its member's number.
pub fn guide_name_fits(register: &Register, text: &str) -> Option<(Option<u16>, u8)> {
    let (front, array) = match register.guide_name.split_once('{') {
        Some((front, rest)) => (front, Some(rest.split_once('}')?.1)),
        None => (register.guide_name, None),
    };
    let (instance, rest) = fit_front(front, text)?;
    let Some(behind) = array else {
        return (rest.is_empty() && register.count == 1).then_some((instance, 0));
    };
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let member: u8 = rest[..digits].parse().ok()?;
    (member < register.count && rest[digits..].eq_ignore_ascii_case(behind)).then_some((instance, member))
}

/// Fits the start of `text` to a pattern; gives the instance that stands at its placeholder, and what is left.
fn fit_front<'t>(pattern: &str, text: &'t str) -> Option<(Option<u16>, &'t str)> {
    let mut rest = text;
    let mut instance = None;
    let mut placeholders = 0;
    for sign in pattern.chars() {
        let next = rest.chars().next();
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        // The guides' names are in capitals: a small letter is a placeholder.
        if sign.is_ascii_lowercase() && digits > 0 {
            instance = rest[..digits].parse().ok();
            placeholders += 1;
            rest = &rest[digits..];
        } else if next.is_some_and(|next| next.eq_ignore_ascii_case(&sign)) {
            rest = &rest[sign.len_utf8()..];
        } else {
            return None;
        }
    }
    // Two placeholders, a controller and its channel, make no instance number by themselves.
    Some((if placeholders == 1 { instance } else { None }, rest))
}
