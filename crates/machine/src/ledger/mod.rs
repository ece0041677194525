//! The truth: what really happened in a model, kept apart from the signals that counters see.
//!
//! Each family's model tells its own ledger of requests, messages, DRAM commands and what its units did. Nothing here reads a signal, a
//! wire or a tag, so that an emission that is lost or doubled shows as a difference. What all are asked, and what they are told of the
//! parts that models share, lies here.

pub mod e5_2600;
pub mod emerald_rapids;
mod line_state;
pub mod nehalem;
mod question;
mod shaped;

pub use line_state::LineState;
pub use pericore_dram::{Command, CommandLog, CommandRecord, MajorMode, MemoryState, Pending};
pub use question::Question;
pub use shaped::Shaped;
