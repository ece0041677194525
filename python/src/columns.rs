//! PyColumns of a table on their way to Python: a dict of lists.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// A table by columns.
#[derive(Debug)]
pub struct PyColumns<'py>(Bound<'py, PyDict>);

impl<'py> PyColumns<'py> {
    /// A table without columns.
    pub fn new(py: Python<'py>) -> Self {
        Self(PyDict::new(py))
    }

    /// Adds a column: a value of each row.
    ///
    /// # Errors
    /// Python has no memory for it.
    pub fn add<R, V: IntoPyObject<'py>>(self, name: &str, rows: &[R], value: impl Fn(&R) -> V) -> PyResult<Self> {
        let list = PyList::empty(self.0.py());
        for row in rows {
            list.append(value(row))?;
        }
        self.0.set_item(name, list)?;
        Ok(self)
    }

    /// The dict.
    pub fn finish(self) -> Bound<'py, PyDict> {
        self.0
    }
}
