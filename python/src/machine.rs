//! Software machines: measurements and curves.

use pericore_emulation::{Experiment, ExperimentError, FaultyPart};
use pericore_machine::curve::{Curve, CurveError, Loaded, Point};
use pericore_observe::record::{Ending, Writer};
use pericore_observe::session::SessionError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::columns::PyColumns;
use crate::errors;
use crate::recording::LoadedRecording;

/// An experiment from its JSON.
fn experiment(text: &str) -> PyResult<Experiment> {
    serde_json::from_str(text).map_err(errors::value)
}

/// What came of an experiment, as an exception.
fn refused(error: &ExperimentError) -> PyErr {
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

/// Latency against bandwidth of a machine's memory, as columns, in rising load.
#[pyfunction]
pub fn curve<'py>(py: Python<'py>, experiment_json: &str, memory: &str, read: u8) -> PyResult<Bound<'py, PyDict>> {
    let spec = experiment(experiment_json)?.spec().map_err(|error| refused(&error))?;
    let memory = match memory {
        "local" => Loaded::Local,
        "remote" => Loaded::Remote,
        "cxl" => Loaded::Cxl,
        other => return Err(errors::value(format!("memory={other:?}: give local, remote or cxl"))),
    };
    let points = py.detach(|| Curve::new(&spec, memory, read).and_then(|curve| curve.measure()));
    let points = points.map_err(|error| match error {
        CurveError::Stuck { .. } => errors::failed(error),
        _ => errors::value(error),
    })?;
    let rounded = |value: f64, places: f64| (value * places).round() / places;
    let columns = PyColumns::new(py)
        .add("read_pct", &points, |_| read)?
        .add("bandwidth_gb_s", &points, |point: &Point| rounded(point.bandwidth / 1e9, 1e3))?
        .add("latency_ns", &points, |point| rounded(point.latency, 10.0))?
        .add("measured_read_pct", &points, |point| rounded(point.read, 10.0))?
        .add("settled", &points, |point| point.settled)?;
    Ok(columns.finish())
}
