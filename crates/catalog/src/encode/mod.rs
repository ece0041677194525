//! Putting a register's value together from its fields: the inverse of [`decode`](crate::decode). Pure.
//!
//! [`register`] sets fields by name; [`event_text`] writes an event in the event syntax, with everything that it needs to count.

mod example;
mod number;

pub use example::{event_text, fixed_text, metric_event_texts, metric_settings};
pub use number::parse_number;

use crate::decode::largest;
use crate::model::{Field, FieldAccess, NamedValue, Register};
use crate::search::hint;

/// A setting that a register cannot take.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// No such field.
    #[error("{register} has no field {key:?}{hint}; its fields are {fields}")]
    UnknownField {
        /// Register.
        register: &'static str,
        /// Name as given.
        key: String,
        /// `; did you mean …?`, or nothing.
        hint: String,
        /// All fields.
        fields: String,
    },
    /// A reserved or ignored part.
    #[error("{register}.{key} is no field to set: its bits are reserved or ignored; leave it out")]
    Reserved {
        /// Register.
        register: &'static str,
        /// Name as given.
        key: String,
    },
    /// Neither a number nor a name that the field knows.
    #[error("{register}.{field} has no value {value:?}{hint}; write a number up to {max:#x}{names}")]
    UnknownValue {
        /// Register.
        register: &'static str,
        /// Field.
        field: &'static str,
        /// Value as given.
        value: String,
        /// `; did you mean …?`, or nothing.
        hint: String,
        /// The largest number.
        max: u64,
        /// Examples of names, or nothing.
        names: String,
    },
    /// More bits than the field has.
    #[error("{value:#x} does not fit {register}.{field}, bits {bits}, which holds at most {max:#x}")]
    TooLarge {
        /// Register.
        register: &'static str,
        /// Field.
        field: &'static str,
        /// Value.
        value: u64,
        /// Bits of the field.
        bits: String,
        /// The largest value.
        max: u64,
    },
    /// Two settings of the same bits.
    #[error("{register}.{field} is set twice, or shares bits with another field that is set; keep one")]
    Twice {
        /// Register.
        register: &'static str,
        /// Field.
        field: &'static str,
    },
}

/// The value of `register` with its fields set; what is not set stays as after a reset. `overlaid` are the fields that an
/// event lays over a control register, empty without one.
///
/// # Errors
/// [`EncodeError`]: unknown or reserved fields, values that do not fit or are not known, bits set twice.
pub fn register<'s>(
    register: &'static Register,
    overlaid: &'static [Field],
    settings: impl IntoIterator<Item = (&'s str, &'s str)>,
) -> Result<u64, EncodeError> {
    let mut value = register.reset & largest(register);
    let mut set = 0;
    for (key, given) in settings {
        let field = field(register, overlaid, key)?;
        if set & field.bits.mask() != 0 {
            return Err(EncodeError::Twice { register: register.name, field: field.name });
        }
        set |= field.bits.mask();
        value = field.bits.set(value, field_value(register, field, given)?);
    }
    Ok(value)
}

fn field(register: &'static Register, overlaid: &'static [Field], key: &str) -> Result<&'static Field, EncodeError> {
    let mut all = overlaid.iter().chain(register.fields);
    let is_meant = |field: &&Field| field.name.eq_ignore_ascii_case(key);
    let Some(found) = all.find(is_meant) else {
        let mut names: Vec<&str> =
            overlaid.iter().chain(register.fields).filter(|f| is_settable(f)).map(|f| f.name).collect();
        names.dedup();
        let hint = hint(key, names.iter().copied());
        return Err(EncodeError::UnknownField {
            register: register.name,
            key: key.to_owned(),
            hint,
            fields: names.join(" "),
        });
    };
    if is_settable(found) {
        Ok(found)
    } else {
        Err(EncodeError::Reserved { register: register.name, key: key.to_owned() })
    }
}

const fn is_settable(field: &Field) -> bool {
    !matches!(field.access, FieldAccess::Reserved | FieldAccess::Ignored)
}

/// The value that a text gives a field: a number, a named value, or names of single bits joined by `+`.
fn field_value(register: &'static Register, field: &'static Field, given: &str) -> Result<u64, EncodeError> {
    let value = parse_number(given).or_else(|| named_value(field.values, given));
    let Some(value) = value else {
        let names: Vec<&str> = field.values.iter().map(|value| value.name).collect();
        let examples = names.iter().take(8).copied().collect::<Vec<_>>().join(" ");
        return Err(EncodeError::UnknownValue {
            register: register.name,
            field: field.name,
            value: given.to_owned(),
            hint: hint(given, names.iter().copied()),
            max: field.bits.max(),
            names: if names.is_empty() { String::new() } else { format!(", or a name such as {examples}") },
        });
    };
    if value > field.bits.max() {
        let (bits, max) = (field.bits.to_string(), field.bits.max());
        return Err(EncodeError::TooLarge { register: register.name, field: field.name, value, bits, max });
    }
    Ok(value)
}

fn named_value(values: &[NamedValue], given: &str) -> Option<u64> {
    let one = |name: &str| values.iter().find(|value| value.name.eq_ignore_ascii_case(name)).map(|value| value.value);
    // Whole names first: some have a "+" in them.
    one(given).or_else(|| given.split('+').map(|name| one(name.trim())).try_fold(0, |sum, part| Some(sum | part?)))
}
