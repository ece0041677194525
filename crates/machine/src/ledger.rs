//! The truth: what really happened in a machine, and what to ask of it.

pub use pericore_facts::{Command, CommandRecord, LineState, MajorMode, MemoryState, Pending};
pub use pericore_truth::{Latencies, Question, Shaped, e5_2600};
