//! Checks: whether counts stand for what they say. Others may have changed a control, frozen a unit, or taken an
//! enable away.

mod clocks;
mod gates;
mod looks;
mod stuck;
mod turns;
mod watch;
mod withdrawn;

pub(super) use clocks::mark as mark_clocks;
pub(super) use gates::Gates;
pub(crate) use stuck::mark as mark_stuck;
pub(super) use turns::reads as reads_for_turns;
pub(super) use watch::{Watch, When};
pub use withdrawn::{Doubt, Withdrawn};
