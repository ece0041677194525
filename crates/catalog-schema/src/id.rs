//! What tells a family's rows apart: ids, typed, so that no row is taken for one of another kind.
//!
//! Rows are equal if their ids are, wherever they lie: a unit to which a file has added events is the same unit.

use serde::{Deserialize, Serialize};

/// A unit: its number in the family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct UnitId(pub u16);

/// A register, or an array of like registers: its unit, and its number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RegisterId(pub UnitId, pub u16);

/// A field of a register, or of a set that events lay over one: its unit, and its number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FieldId(pub UnitId, pub u16);

/// Gives the rows of a unit their ids.
#[derive(Debug)]
pub struct Numbering {
    unit: UnitId,
    registers: u16,
    fields: u16,
}

impl Numbering {
    /// Of the unit of this number in its family.
    pub fn of(unit: usize) -> Self {
        Self { unit: UnitId(unit as u16), registers: 0, fields: 0 }
    }

    /// The unit's.
    pub const fn unit(&self) -> UnitId {
        self.unit
    }

    /// The next register's.
    pub const fn register(&mut self) -> RegisterId {
        self.registers += 1;
        RegisterId(self.unit, self.registers - 1)
    }

    /// The next field's.
    pub const fn field(&mut self) -> FieldId {
        self.fields += 1;
        FieldId(self.unit, self.fields - 1)
    }
}
