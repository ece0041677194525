//! What the guides call undefined, or leave open, in a write: the strict machine refuses it.

use pericore_catalog::Role;

use super::bank::Bank;
use super::layout::SlotRef;
use super::selection::{self, Selection};

/// Why a write is undefined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RuleBroken {
    /// Reserved bits written as 1: "software must write 0, else behaviour is undefined".
    #[error("reserved bits {0:#x} written as 1")]
    ReservedBits(u64),
    /// No event of the unit has the event select.
    #[error("no event is selected by control value {0:#x}, or not on this counter")]
    NoSuchEvent(u64),
    /// The threshold stands before both in series: 0 makes them meaningless.
    #[error("edge detection or inversion without a threshold")]
    NoThreshold,
}

impl Bank {
    /// The rule that a write breaks, if it does.
    pub fn breaks_rule(&self, number: u16, at: SlotRef, value: u64, written: u64) -> Option<RuleBroken> {
        let instance = &self.instances[usize::from(number)];
        let slot = &instance.layout.slots[usize::from(at.0)];
        let beyond = if slot.register.width < 64 { u64::MAX << slot.register.width } else { 0 };
        let reserved = value & written & (slot.reserved | beyond);
        if reserved != 0 {
            return Some(RuleBroken::ReservedBits(reserved));
        }
        if slot.register.role != Role::Control {
            return None;
        }
        let control = (instance.stored(at.0) & !written) | (value & written);
        let bits = instance.layout.counters[usize::from(slot.member)].bits;
        if control & bits.enable == 0 {
            return None;
        }
        let shaped = control & (bits.invert | bits.edge) != 0;
        if shaped && bits.thresh.is_some_and(|thresh| thresh.get(control) == 0) {
            return Some(RuleBroken::NoThreshold);
        }
        let selection = selection::compile(instance.layout.unit, slot.member, control, false, |_| None);
        // An enabled control may wait for its event (E5-2600 2.1.1 c).
        let waits = slot.register.field("ev_sel").is_none_or(|field| field.bits.get(control) == 0);
        (selection == Selection::Nothing && !waits).then_some(RuleBroken::NoSuchEvent(control))
    }
}
