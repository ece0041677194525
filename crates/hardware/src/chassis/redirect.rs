//! Registers that do not answer where the documents have them, but at the addresses of others of their unit.

use crate::pmon::SlotRef;

/// A register of the machine: its instance, machine-wide, and its slot.
pub type At = (u16, SlotRef);

/// Which registers answer at whose addresses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Redirects {
    /// Instances that answer at each other's addresses.
    pub swapped: Vec<(u16, u16)>,
    /// Instances whose addresses lead to another one.
    pub misplaced: Vec<(u16, u16)>,
    /// Counters whose addresses lead to another one: each with its instance.
    pub counters: Vec<((u16, u8), (u16, u8))>,
    /// The same by their slots.
    slots: Vec<(At, At)>,
}

impl Redirects {
    /// True if all answer where they should.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.swapped.is_empty() && self.misplaced.is_empty() && self.slots.is_empty()
    }

    /// Leads the address of a counter to another one.
    pub fn add_counter(&mut self, from: (u16, u8), to: (u16, u8), slot: impl Fn((u16, u8)) -> Option<SlotRef>) -> bool {
        let (Some(at), Some(other)) = (slot(from), slot(to)) else { return false };
        self.counters.push((from, to));
        self.slots.push(((from.0, at), (to.0, other)));
        true
    }

    /// The register that answers at the address of another.
    #[cold]
    pub fn behind(&self, at: At) -> At {
        if let Some((_, other)) = self.slots.iter().find(|(from, _)| *from == at) {
            return *other;
        }
        let (number, slot) = at;
        if let Some((_, other)) = self.misplaced.iter().find(|(from, _)| *from == number) {
            return (*other, slot);
        }
        let pair = self.swapped.iter().find(|(one, other)| *one == number || *other == number);
        (pair.map_or(number, |(one, other)| if *one == number { *other } else { *one }), slot)
    }
}
