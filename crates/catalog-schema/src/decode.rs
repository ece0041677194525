//! Rows of the decode tables: from a signal's tag to a register's bits.

use serde::{Deserialize, Serialize};

use crate::embedded;

/// What a bit of the control value means for the signal's pulses.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'c"))]
pub struct DecodeRow<'c> {
    /// What brings the row into force.
    pub selector: Selector<'c>,
    /// How the row combines with others.
    pub role: DecodeRole,
    /// `Any` and `Some` rows are alternatives within their group; each group must hold.
    pub group: u8,
    /// All must hold.
    #[serde(deserialize_with = "embedded::list")]
    pub terms: &'c [Term<'c>],
}

/// What brings a decode row into force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Selector<'c> {
    /// It always is.
    Always,
    /// A bit of the umask, 0 to 7, or of its extension, 8 to 39.
    Umask(u8),
    /// A bit of a field of the control register, the event's field set or a filter register.
    Field(&'c str, u8),
}

/// How a decode row combines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DecodeRole {
    /// A pulse counts if any of the selected rows of the group holds, or none is selected.
    Any,
    /// A pulse counts if any of the selected rows of the group holds; with none selected nothing counts.
    Some,
    /// A pulse counts only if all of the selected `All` rows hold.
    All,
    /// Nothing counts unless the row is selected; the terms must hold too.
    Required,
}

/// A test of one of a pulse's attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'c"))]
pub struct Term<'c> {
    /// Index into [`crate::Signal::attributes`].
    pub attribute: u8,
    /// What is asked of the attribute.
    pub relation: Relation,
    /// What it is compared with.
    pub operand: Operand<'c>,
    /// The bits of both that [`Relation::Equals`] compares.
    pub mask: Operand<'c>,
}

/// What a term asks of an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Relation {
    /// It equals the operand in the bits of the mask.
    Equals,
    /// It differs from the operand.
    Differs,
    /// The operand, a bit mask, has the bit that the attribute numbers.
    In,
    /// The attribute, a bit mask, shares a bit with the operand.
    Has,
    /// It is at least as large as the operand.
    AtLeast,
}

/// What an attribute is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operand<'c> {
    /// A number.
    Value(u64),
    /// A field of the event's field set, a filter register or the control register, whichever has it first.
    Field(&'c str),
}
