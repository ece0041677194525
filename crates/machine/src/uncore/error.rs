//! Why a model cannot be built.

use pericore_engine::{ClockError, ParameterError};
use pericore_hardware::signal::WiringError;
use pericore_models::e5_2600::E5ModelError;

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

impl From<E5ModelError> for ModelError {
    fn from(error: E5ModelError) -> Self {
        match error {
            E5ModelError::Parameter(error) => Self::Parameter(error),
            E5ModelError::Clock(error) => Self::Clock(error),
        }
    }
}
