//! A DDR5 subchannel, which the guide calls a pseudo channel: pending queues, an FR-FCFS scheduler with open pages, write major mode,
//! refresh and power down.
//!
//! It works in the DRAM clock's cycles and sleeps until its next possible action. Beside the DDR3 channel of the E5-2600 model it has
//! bank groups, 64 banks and queues of twice the size; what it tells goes to the Emerald Rapids ledger.

mod banks;
#[cfg(test)]
pub mod checker;
mod commands;
mod queue;
mod subchannel;
mod timing;

pub use subchannel::{Arrival, Outcome, Subchannel};
pub use timing::{BANKS, BANKS_PER_RANK, LINES_PER_ROW, RANKS, Timing};
