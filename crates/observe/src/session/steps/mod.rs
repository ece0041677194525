//! The steps of a session: which, in what order, what they read, and what is remembered of it.

mod lists;
mod reading;
mod results;
mod sequence;
mod state;

pub(super) use lists::{List, Placed, only_looks_for_a_freeze};
pub(super) use reading::{Unreadable, readable};
pub(super) use results::{note_doubts, read, record, set_baselines};
pub(super) use sequence::{Sequence, Sequences};
pub(super) use state::{CounterState, InstanceState, State};
