//! Parameters out of range.

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
