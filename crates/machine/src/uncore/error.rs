//! Why a model cannot be built.

use pericore_engine::ClockError;
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

/// A parameter outside what the model can represent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("parameter {name} is {value}: it must lie between {least} and {most}")]
pub struct ParameterError {
    /// Name of the parameter.
    pub name: &'static str,
    /// The value given.
    pub value: u64,
    /// Least accepted value.
    pub least: u64,
    /// Greatest accepted value.
    pub most: u64,
}

impl ParameterError {
    /// Says so if a value is out of its range, both ends of which are in it.
    ///
    /// # Errors
    /// Itself.
    pub const fn unless_within(name: &'static str, value: u64, least: u64, most: u64) -> Result<(), Self> {
        if least <= value && value <= most { Ok(()) } else { Err(Self { name, value, least, most }) }
    }
}
