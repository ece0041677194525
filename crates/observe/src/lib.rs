//! Uncore counting: from a request to numbers with their validity, on any [`RegisterSpace`](pericore_registers::RegisterSpace).
//!
//! The way of a count:
//!
//! 1. [`discover`] finds the sockets and the unit instances that answer: a [`Topology`](discover::Topology).
//! 2. [`selection`] turns what the user wrote into events with complete control values: a [`Selection`](selection::Selection).
//! 3. [`plan`] gives each event a counter and lists every register access: a [`Plan`](plan::Plan), plain data.
//! 4. [`session`] carries the plan out, and puts everything back: a [`Session`](session::Session).
//! 5. [`results`] adds counts up and evaluates metrics.
//!
//! [`record`] keeps samples in a file, to be evaluated later.
//!
//! No event code, mask or address stands in this crate: all come from the catalogue, by the field names and roles that
//! it fixes.

pub mod discover;
#[cfg(target_os = "linux")]
pub mod linux;
pub mod plan;
pub mod record;
pub mod results;
pub mod selection;
pub mod session;

#[cfg(test)]
mod testing;
