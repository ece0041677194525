//! Errors of the library as Python's exceptions.

use std::fmt::Display;

use pyo3::PyErr;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};

/// What the caller gave cannot be carried out: `ValueError`.
pub fn value(error: impl Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A file cannot be read or written: `OSError`.
pub fn file(error: impl Display) -> PyErr {
    PyOSError::new_err(error.to_string())
}

/// A measurement failed: `RuntimeError`.
pub fn failed(error: impl Display) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}
