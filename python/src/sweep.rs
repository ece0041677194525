//! Sweeps: their runs as JSON, which any process can carry out, and the data set.

use std::path::{Path, PathBuf};

use pericore_sweep::{DataSet, PartitionState, RunError, RunTable, Sweep, SweepRun};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors;

/// Carries out a run; the digest of its table, and the table.
#[pyfunction]
pub fn carry_out<'py>(py: Python<'py>, run_json: &str) -> PyResult<Bound<'py, PyBytes>> {
    let run: SweepRun = serde_json::from_str(run_json).map_err(errors::value)?;
    let table = py.detach(|| run.carry_out()).map_err(|error| match error {
        RunError::Experiment(_) | RunError::OtherVersion { .. } => errors::value(error),
        RunError::Table(_) => errors::failed(error),
    })?;
    let message = [table.digest.as_bytes(), &table.bytes].concat();
    Ok(PyBytes::new(py, &message))
}

/// A sweep's file, with all of its runs checked.
#[pyclass(frozen, name = "Plan", module = "pericore._pericore")]
#[derive(Debug)]
pub struct SweepPlan(Sweep);

#[pymethods]
impl SweepPlan {
    /// Reads the file.
    #[new]
    fn new(path: PathBuf) -> PyResult<Self> {
        Sweep::read(&path).map(Self).map_err(errors::value)
    }

    /// The folder that the file names.
    #[getter]
    fn output(&self) -> &Path {
        self.0.output()
    }

    /// The partition of each run.
    #[getter]
    fn partitions(&self) -> Vec<&str> {
        self.0.runs().iter().map(|run| &*run.partition).collect()
    }

    /// A run as JSON.
    fn run(&self, index: usize) -> PyResult<String> {
        serde_json::to_string(self.get(index)?).map_err(errors::failed)
    }

    /// What a run reported when it failed, with the line of the file.
    fn error(&self, index: usize, message: &str) -> String {
        self.0.run_error(index, message).to_string()
    }
}

impl SweepPlan {
    fn get(&self, index: usize) -> PyResult<&SweepRun> {
        let runs = self.0.runs();
        runs.get(index).ok_or_else(|| errors::value(format!("no run {index}: there are {}", runs.len())))
    }
}

/// The folder of the tables, which this process alone writes to.
#[pyclass(frozen, name = "Output", module = "pericore._pericore")]
#[derive(Debug)]
pub struct SweepOutput(DataSet);

#[pymethods]
impl SweepOutput {
    /// Opens or makes the folder.
    #[new]
    fn new(path: PathBuf) -> PyResult<Self> {
        DataSet::open(&path).map(Self).map_err(errors::file)
    }

    /// What there is of a run: `whole`, `missing`, `stale` or `damaged`.
    fn state(&self, plan: &SweepPlan, index: usize) -> PyResult<&'static str> {
        Ok(match self.0.state(plan.get(index)?).map_err(errors::file)? {
            PartitionState::Whole => "whole",
            PartitionState::Missing => "missing",
            PartitionState::Stale(_) => "stale",
            PartitionState::Damaged(_) => "damaged",
        })
    }

    /// Puts a run's table in its place. False if digest and table do not fit each other: the result was lost.
    fn put(&self, plan: &SweepPlan, index: usize, message: &[u8]) -> PyResult<bool> {
        let Some(table) = RunTable::received(message) else { return Ok(false) };
        self.0.put(plan.get(index)?, &table).map_err(|error| errors::file(plan.0.data_set_error(&error)))?;
        Ok(true)
    }

    /// Tables that are of no run of the file.
    fn others(&self, plan: &SweepPlan) -> PyResult<Vec<PathBuf>> {
        self.0.others(plan.0.runs()).map_err(errors::file)
    }
}
