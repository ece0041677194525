//! A memory channel: pending queues, an FR-FCFS scheduler with open pages, write major mode, refresh and power states.
//!
//! One controller for all generations: ranks, bank groups, banks and times are data ([`Timing`]), and a DDR5 subchannel is
//! a channel with a bus of its own. What happens goes to an [`Observer`]; what it means for a family of machines is not
//! known here. [`checker`] holds a stream of commands against the standards.
//!
//! The channel works in its own clock's cycles and sleeps until its next possible action; a wake-up looks only at the banks
//! whose place in the order of commands may have changed.

mod arrival;
mod arrivals;
mod banks;
mod candidates;
mod channel;
pub mod checker;
mod commands;
mod facts;
mod grades;
mod idle;
mod layout;
mod observer;
mod plan;
mod power;
mod queue;
mod refresh;
mod standard;
#[cfg(test)]
mod tests;
mod timing;

pub use arrival::{Arrival, Outcome};
pub use channel::Channel;
pub use facts::{Command, CommandLog, CommandRecord, MajorMode, MemoryState, Pending};
pub use layout::Layout;
pub use observer::{Observer, Sent};
pub use plan::Lane;
pub use power::{Conditions, PowerDown, Throttle};
pub use timing::Timing;

/// The example of the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
