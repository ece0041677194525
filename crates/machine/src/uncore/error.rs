//! Why a model cannot be built.

use pericore_engine::{ClockError, ParameterError};
use pericore_hardware::signal::WiringError;

/// Why a model cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// A parameter is out of range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// The clocks share no tick grid.
    #[error(transparent)]
    Clock(#[from] ClockError),
    /// The catalogue lacks a name.
    #[error(transparent)]
    Wiring(#[from] WiringError),
}
