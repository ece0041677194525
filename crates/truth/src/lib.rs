//! What really happened in a software Xeon: counts by the guides' event texts, worked out from facts alone.
//!
//! Nothing here sees a signal, a wire or a tag, so that an emission that is lost or doubled shows as a difference.

mod census;
mod channel;
pub mod e5_2600;
pub mod emerald_rapids;
mod latencies;
pub mod nehalem;
mod question;
mod shaped;

pub use census::Census;
pub use channel::ChannelCells;
pub use latencies::Latencies;
pub use question::Question;
pub use shaped::Shaped;
