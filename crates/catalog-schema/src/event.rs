//! Events: what a selection counts and which settings it needs.

use pericore_registers::BitRange;
use serde::{Deserialize, Serialize};

use crate::{DecodeRow, embedded};

/// What hardware feeds to counters.
#[derive(Debug, Serialize, Deserialize)]
pub struct Signal<'c> {
    /// Name; the implicit signal of an event has the event's name.
    pub name: &'c str,
    /// Pulses or level.
    pub kind: SignalKind,
    /// Attributes that each pulse or level change carries, packed from bit 0 up.
    #[serde(deserialize_with = "embedded::list")]
    pub attributes: &'c [Attribute<'c>],
    /// What it is.
    pub description: &'c str,
}

/// How a signal behaves in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SignalKind {
    /// Increments at a cycle.
    Pulses,
    /// A number of entries that holds between changes; an entry's arrival is also a pulse.
    Level,
}

/// A named property of a signal's pulses.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Attribute<'c> {
    /// Name.
    pub name: &'c str,
    /// Bits in the packed tag.
    #[serde(with = "embedded::Bits")]
    pub bits: BitRange,
}

/// What a counter takes from a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// Pulses, or a level's arrivals.
    Arrivals,
    /// The level, added up each cycle.
    Occupancy,
    /// Cycles in which the level is not zero.
    NonEmpty,
    /// One each cycle of the unit's clock.
    Clock,
    /// The increment that counter 0 of the same instance sees in this cycle.
    Counter0,
    /// One each second cycle of the unit's clock: a clock at half its rate.
    HalfClock,
}

/// An event and how it is selected.
#[derive(Debug, Serialize, Deserialize)]
pub struct Event<'c> {
    /// Name in the guide, without unit prefix.
    pub name: &'c str,
    /// Event select.
    pub code: u16,
    /// Value of the control register that selects the event without subevent: no enable, threshold, edge or invert bits.
    pub config: u64,
    /// Counters that can take it, as a bit mask.
    pub counters: u16,
    /// Largest increment in one cycle, where the guide says.
    pub max_increment: Option<u16>,
    /// What it counts.
    pub description: &'c str,
    /// Section or table.
    pub source: &'c str,
    /// Things a user must know.
    #[serde(deserialize_with = "embedded::list")]
    pub caveats: &'c [&'c str],
    /// Filter fields that apply to the event.
    #[serde(deserialize_with = "embedded::list")]
    pub filters: &'c [FilterUse<'c>],
    /// Index into [`crate::Unit::field_sets`] of the fields that the event lays over the control register.
    pub field_set: Option<u8>,
    /// Index into [`crate::Unit::signals`]; none for clocks and [`Measure::Counter0`].
    pub signal: Option<u16>,
    /// What is taken from the signal.
    pub measure: Measure,
    /// How umask and filters choose among the signal's pulses.
    #[serde(deserialize_with = "embedded::list")]
    pub decode: &'c [DecodeRow<'c>],
    /// Subevents; empty if the event has none.
    #[serde(deserialize_with = "embedded::list")]
    pub subevents: &'c [Subevent<'c>],
    /// True if it counts by itself, beside its subevents, with none of their bits.
    pub is_whole: bool,
    /// Category in the guide.
    pub category: &'c str,
    /// True if a later document than the guide added it.
    pub later: bool,
}

/// A subevent of an event.
#[derive(Debug, Serialize, Deserialize)]
pub struct Subevent<'c> {
    /// Name, without the event's.
    pub name: &'c str,
    /// Unit mask, bits 15:8 of the control register.
    pub umask: Option<u8>,
    /// Value of the control register that selects it; see [`Event::config`].
    pub config: u64,
    /// Counters that can take it.
    pub counters: u16,
    /// Largest increment in one cycle.
    pub max_increment: Option<u16>,
    /// What it counts.
    pub description: &'c str,
    /// Section or table, where it differs from the event's.
    pub source: &'c str,
    /// Things a user must know.
    #[serde(deserialize_with = "embedded::list")]
    pub caveats: &'c [&'c str],
    /// Filter fields that apply.
    #[serde(deserialize_with = "embedded::list")]
    pub filters: &'c [FilterUse<'c>],
    /// True if a later document than the guide added it.
    pub later: bool,
}

/// A filter field that an event can use.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct FilterUse<'c> {
    /// Field name, found in a filter register, in the control register or in the event's field set.
    pub field: &'c str,
    /// What happens if the user does not set it.
    pub need: FilterNeed,
}

/// Whether a filter must be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FilterNeed {
    /// The event counts nothing useful without it: the user must choose.
    Required,
    /// It narrows the count; without it everything counts.
    Optional,
    /// It must be set, and this value counts everything.
    Default(u64),
}
