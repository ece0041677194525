//! Emulated PMON hardware: counters, their controls and filters, unit by unit, driven by the catalogue.
//!
//! [`Bank`] holds every PMON instance of a machine. The model feeds it signals; software reads and writes its registers
//! through the chassis. A control write compiles to a selection: which signal the counter listens to and which of its pulses
//! it takes.

mod bank;
mod clock;
mod compiled;
mod counter;
mod fault;
mod instance;
mod layout;
mod overflow;
mod predicate;
mod repeat;
mod rules;
mod selection;
mod state;
mod tags;

pub use bank::Bank;
pub use compiled::{Compiled, compile_event};
pub use counter::{Conditioning, Counter, GateCondition};
pub use layout::{RegisterRef, SlotRef};
pub use overflow::Interrupt;
pub use repeat::Entries;
pub use rules::RuleBroken;
pub(crate) use selection::free_running;
pub use selection::{Selection, compile};
pub use state::{CounterState, InstanceState};
