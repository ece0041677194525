//! A memory channel: pending queues, an FR-FCFS scheduler with open pages, write major mode, refresh and power states.
//!
//! One controller for all generations: ranks, bank groups, banks and times are data ([`Timing`]), and a DDR5 subchannel is a channel
//! with a bus of its own. What happens goes to a [`Witness`]; what it means for a family of machines is not known here.
//!
//! The channel works in its own clock's cycles and sleeps until its next possible action; a wake-up looks only at the banks whose place
//! in the order of commands may have changed.

mod arrivals;
mod banks;
mod candidates;
mod channel;
#[cfg(test)]
pub(crate) mod checker;
mod commands;
mod grades;
mod idle;
mod layout;
mod plan;
mod power;
mod queue;
mod refresh;
#[cfg(test)]
mod tests;
mod timing;
mod witness;

pub use channel::{Arrival, Channel, Outcome};
pub use layout::Layout;
pub use plan::Lane;
pub use power::{Conditions, PowerDown, Throttle};
pub use timing::Timing;
pub use witness::{Sent, Witness};
