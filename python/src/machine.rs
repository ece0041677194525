//! Software machines: measurements.

use pericore_emulation::{Experiment, ExperimentError, FaultyPart};
use pericore_observe::record::{Ending, Writer};
use pericore_observe::session::SessionError;
use pyo3::prelude::*;

use crate::errors;
use crate::recording::LoadedRecording;

/// An experiment from its JSON.
pub fn experiment(text: &str) -> PyResult<Experiment> {
    serde_json::from_str(text).map_err(errors::value)
}

/// What came of an experiment, as an exception.
pub fn refused(error: &ExperimentError) -> PyErr {
    if error.fault == FaultyPart::Run { errors::failed(error) } else { errors::value(error) }
}

/// Finds what is wrong with an experiment, without running it.
#[pyfunction]
pub fn check(experiment_json: &str) -> PyResult<()> {
    experiment(experiment_json)?.check().map_err(|error| refused(&error))
}

/// Why there is no recording of an experiment.
enum Trouble {
    Experiment(ExperimentError),
    Memory(std::io::Error),
}

impl From<ExperimentError> for Trouble {
    fn from(error: ExperimentError) -> Self {
        Self::Experiment(error)
    }
}

impl From<SessionError> for Trouble {
    fn from(error: SessionError) -> Self {
        Self::Experiment(error.into())
    }
}

impl From<std::io::Error> for Trouble {
    fn from(error: std::io::Error) -> Self {
        Self::Memory(error)
    }
}

/// Carries out an experiment; its recording.
#[pyfunction]
pub fn measure(py: Python<'_>, experiment_json: &str) -> PyResult<LoadedRecording> {
    let experiment = experiment(experiment_json)?;
    let outcome = py.detach(|| {
        let started = experiment.start()?;
        let mut writer = Writer::begin(Vec::new(), &started.header())?;
        started.run(|end, sample, truth| Ok::<_, Trouble>(writer.sample(end, sample, truth)?))?;
        writer.end(&Ending::Whole)?;
        Ok(std::mem::take(writer.output_mut()))
    });
    match outcome {
        Ok(lines) => LoadedRecording::of(lines),
        Err(Trouble::Experiment(error)) => Err(refused(&error)),
        Err(Trouble::Memory(error)) => Err(errors::failed(error)),
    }
}
