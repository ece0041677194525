//! A memory channel: pending queues, an FR-FCFS scheduler with open pages, write major mode and refresh.
//!
//! The channel works in its own clock's cycles and sleeps until its next possible action; each wake-up costs one scan of the
//! banks.

mod banks;
mod channel;
#[cfg(test)]
pub mod checker;
mod commands;
mod plan;
mod power;
mod queue;
mod refresh;
mod timing;

pub use channel::{Arrival, Channel, Outcome};
pub use power::{Conditions, PowerDown, PowerWires, Throttle};
pub use timing::{BANKS, BANKS_PER_RANK, LINES_PER_ROW, RANKS, Timing};
