//! What stands between a user and the counters, and what to do about it.
//!
//! Each look gives a [`Finding`]: [`system`] examines the ways to registers that the system offers, [`units`] which
//! units answer and whether discovery tables are sound, [`iomem`] what else has the addresses of registers,
//! [`sessions`] what other sessions have left. Nothing is changed.

mod about;
mod finding;
pub mod iomem;
pub mod selfcheck;
pub mod sessions;
pub mod system;
pub mod units;

pub use about::about;
pub use finding::{Finding, FindingState};
