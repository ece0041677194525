//! What stands between a user and the counters, and what to do about it.
//!
//! Each look gives a [`Finding`]: [`system`] examines the ways to registers that the system offers, [`units`] which
//! units answer and whether discovery tables are sound, [`sessions`] what other sessions have left. Nothing is changed.

mod about;
mod finding;
pub mod selfcheck;
pub mod sessions;
pub mod system;
pub mod units;

pub use about::about;
pub use finding::{Finding, FindingState};
