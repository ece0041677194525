//! The traffic models, one for each family: [`e5_2600`], [`nehalem`] and [`emerald_rapids`].
//!
//! A model emits its signals when things happen, and tells its ledger. Nothing is ticked: every part sleeps until its next possible action.
//! Beside the models lie the parts that two or more of them are made of.

mod cache;
mod channel_conditions;
mod core;
pub mod e5_2600;
pub mod emerald_rapids;
mod error;
mod levels;
mod line;
mod llc;
pub mod nehalem;
mod program;
mod recurring;
mod seats;
mod settings;
#[cfg(test)]
mod tests;
mod warming;
mod work;

pub use error::ModelError;
pub use pericore_engine::ParameterError;
pub use program::ProgramCounts;
pub use settings::{CORES, SLICES, Settable, Setting, UnknownSetting, set};
pub use work::{DependentLoads, Progress};

/// A request by its number in its model's pool.
type RequestId = u16;
/// No request.
const NO_REQUEST: RequestId = RequestId::MAX;
