//! Where and why an expression is refused.

use crate::Spot;

/// An expression that does not parse: the spot, what was expected there and what was found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("column {}: expected {expected}, found {found}", self.spot.column())]
pub struct ParseError {
    /// The place in the expression.
    pub spot: Spot,
    /// What would have been right.
    pub expected: String,
    /// What stands there.
    pub found: String,
}

impl ParseError {
    pub(crate) fn new(
        source: &str,
        offset: usize,
        length: usize,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self { spot: Spot::new(source, offset, length), expected: expected.into(), found: found.into() }
    }

    /// The expression, and below it carets under the spot.
    pub fn caret(&self) -> String {
        self.spot.caret()
    }
}
