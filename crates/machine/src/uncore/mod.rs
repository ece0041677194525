//! The traffic model of the family that is not in `pericore-models` yet: [`emerald_rapids`].
//!
//! It reports facts when things happen, and knows neither signals nor counts. Nothing is ticked: every part sleeps
//! until its next possible action. Parts of no family are in `pericore-parts`.

pub mod emerald_rapids;
mod error;
#[cfg(test)]
pub(crate) mod tests;

pub use error::ModelError;
pub use pericore_engine::ParameterError;
pub use pericore_parts::program::ProgramCounts;
pub use pericore_parts::settings::{CORES, SLICES, Settable, Setting, UnknownSetting, set};
pub use pericore_parts::work::{DependentLoads, Progress};

use pericore_parts::{NO_REQUEST, RequestId};
