//! Taking a register's value apart. Pure: no I/O, nothing allocated until a caller asks for lists.
//!
//! [`register`] gives a [`Decoded`], whose fields are read on demand; [`find_address`] and [`parse_name`] say which register
//! an address or a name stands for; [`Decoded::counts`] says what a counter with this control value would count.

mod address;
mod counted;
mod name;

pub use address::{AddressError, AddressQuery, Place, find_address};
pub use counted::{Counted, FilterValue, Shape, selecting_bits};
pub use name::{NameError, guide_name_fits, parse_name, parse_unit};

use crate::model::{Family, Field, FieldAccess, NamedValue, Register, Unit};

/// A register's value, taken apart.
#[derive(Debug, Clone, Copy)]
pub struct Decoded {
    /// The family.
    pub family: &'static Family,
    /// The unit that has the register.
    pub unit: &'static Unit,
    /// The register.
    pub register: &'static Register,
    /// Member of a register array; 0 for a single register.
    pub member: u8,
    /// The value.
    pub value: u64,
}

/// A field and what it holds.
#[derive(Debug, Clone, Copy)]
pub struct FieldValue {
    /// The field.
    pub field: &'static Field,
    /// What it holds.
    pub value: u64,
}

/// A value that a register cannot hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// More bits than the register has.
    #[error("{value:#x} does not fit {unit}.{register}, which has {width} bits; give at most {max:#x}")]
    TooWide {
        /// Unit.
        unit: &'static str,
        /// Register.
        register: &'static str,
        /// The value.
        value: u64,
        /// Bits of the register.
        width: u8,
        /// The largest value.
        max: u64,
    },
    /// The array has no such member.
    #[error("{unit}.{register} has {count} members, numbered from 0; {member} is too high")]
    NoMember {
        /// Unit.
        unit: &'static str,
        /// Register.
        register: &'static str,
        /// Members.
        count: u8,
        /// The number asked for.
        member: u8,
    },
}

/// Takes `value` of a register apart.
///
/// # Errors
/// A value wider than the register, or a member that the array does not have.
pub fn register(
    family: &'static Family,
    unit: &'static Unit,
    register: &'static Register,
    member: u8,
    value: u64,
) -> Result<Decoded, DecodeError> {
    if member >= register.count {
        let (unit, register, count) = (unit.name, register.name, register.count);
        return Err(DecodeError::NoMember { unit, register, count, member });
    }
    let max = largest(register);
    if value > max {
        let (unit, register, width) = (unit.name, register.name, register.width);
        return Err(DecodeError::TooWide { unit, register, value, width, max });
    }
    Ok(Decoded { family, unit, register, member, value })
}

/// The largest value that fits a register's width.
pub const fn largest(register: &Register) -> u64 {
    if register.width >= 64 { u64::MAX } else { (1 << register.width) - 1 }
}

impl Decoded {
    /// All fields from the highest bit down, reserved and ignored ones included.
    pub fn fields(&self) -> impl Iterator<Item = FieldValue> + use<> {
        let value = self.value;
        self.register.fields.iter().map(move |field| FieldValue { field, value: field.bits.get(value) })
    }

    /// What a field holds.
    pub fn field(&self, name: &str) -> Option<u64> {
        self.register.field(name).map(|field| field.bits.get(self.value))
    }

    /// Reserved bits that differ from what they are after a reset: software must not set them.
    pub fn reserved_bits(&self) -> u64 {
        self.bits_of(FieldAccess::Reserved) & (self.value ^ self.register.reset)
    }

    /// Bits that are set and that the hardware ignores.
    pub fn ignored_bits(&self) -> u64 {
        self.bits_of(FieldAccess::Ignored) & self.value
    }

    fn bits_of(&self, access: FieldAccess) -> u64 {
        let fields = self.register.fields.iter().filter(|field| field.access == access);
        fields.fold(0, |mask, field| mask | field.bits.mask())
    }
}

impl FieldValue {
    /// True for fields that say something: neither reserved nor ignored.
    pub const fn is_meaningful(&self) -> bool {
        self.field.is_meaningful()
    }

    /// The names of the value: its own, or for a bit mask those of its bits.
    pub fn names(&self) -> Vec<&'static NamedValue> {
        names_of(self.field.values, self.value)
    }
}

/// The names of `value` among `values`: its own, or for a bit mask those of its bits. Empty if a part has no name.
pub fn names_of(values: &'static [NamedValue], value: u64) -> Vec<&'static NamedValue> {
    if let Some(exact) = values.iter().find(|named| named.value == value) {
        return vec![exact];
    }
    let bits: Vec<&NamedValue> =
        values.iter().filter(|named| named.value.is_power_of_two() && named.value & value != 0).collect();
    // One bit with a name is an enumeration as likely as a mask: only where larger values are sums is this right.
    let is_mask = values.iter().filter(|named| named.value.is_power_of_two()).count() > 1
        && values.iter().all(|named| named.value.is_power_of_two() || is_sum(values, named.value));
    let covered = bits.iter().fold(0, |mask, named| mask | named.value);
    if is_mask && covered == value { bits } else { Vec::new() }
}

/// True if every bit of `value` has a name of its own.
fn is_sum(values: &[NamedValue], value: u64) -> bool {
    let bits = values.iter().filter(|named| named.value.is_power_of_two()).fold(0, |mask, named| mask | named.value);
    value & !bits == 0
}
