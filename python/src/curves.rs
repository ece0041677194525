//! Curves of software machines: latency against bandwidth, latency by footprint, bandwidth by cores.

use pericore_machine::MachineSpec;
use pericore_machine::curve::{ByCores, CoresPoint, Curve, CurveError, FootprintPoint, Footprints, Loaded, Point};
use pericore_machine::workload::PageSize;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::columns::PyColumns;
use crate::errors;
use crate::machine::{experiment, refused};

fn spec(experiment_json: &str) -> PyResult<MachineSpec> {
    experiment(experiment_json)?.spec().map_err(|error| refused(&error))
}

fn memory(name: &str) -> PyResult<Loaded> {
    match name {
        "local" => Ok(Loaded::Local),
        "remote" => Ok(Loaded::Remote),
        "cxl" => Ok(Loaded::Cxl),
        other => Err(errors::value(format!("memory={other:?}: give local, remote or cxl"))),
    }
}

fn no_curve(error: CurveError) -> PyErr {
    match error {
        CurveError::Stuck { .. } => errors::failed(error),
        _ => errors::value(error),
    }
}

fn rounded(value: f64, places: f64) -> f64 {
    (value * places).round() / places
}

/// Latency against bandwidth of a machine's memory, as columns, in rising load.
#[pyfunction]
pub fn curve<'py>(py: Python<'py>, experiment_json: &str, name: &str, read: u8) -> PyResult<Bound<'py, PyDict>> {
    let (spec, memory) = (spec(experiment_json)?, memory(name)?);
    let points = py.detach(|| Curve::new(&spec, memory, read).and_then(|curve| curve.measure())).map_err(no_curve)?;
    let columns = PyColumns::new(py)
        .add("read_pct", &points, |_| read)?
        .add("bandwidth_gb_s", &points, |point: &Point| rounded(point.bandwidth / 1e9, 1e3))?
        .add("latency_ns", &points, |point| rounded(point.latency, 10.0))?
        .add("measured_read_pct", &points, |point| rounded(point.read, 10.0))?
        .add("settled", &points, |point| point.settled)?;
    Ok(columns.finish())
}

/// Latency by footprint, as columns.
#[pyfunction]
pub fn footprints<'py>(
    py: Python<'py>,
    experiment_json: &str,
    name: &str,
    pages: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let (spec, memory) = (spec(experiment_json)?, memory(name)?);
    let size = match pages {
        "4K" => PageSize::Small,
        "2M" => PageSize::Large,
        other => return Err(errors::value(format!("pages={other:?}: give 4K or 2M"))),
    };
    let measure = || {
        let footprints = Footprints::new(&spec, memory, size)?;
        footprints.sizes().into_iter().map(|bytes| footprints.measure(bytes)).collect::<Result<Vec<_>, _>>()
    };
    let points = py.detach(measure).map_err(no_curve)?;
    let columns = PyColumns::new(py)
        .add("footprint_bytes", &points, |point: &FootprintPoint| point.footprint)?
        .add("latency_ns", &points, |point| rounded(point.latency, 10.0))?
        .add("from_memory_pct", &points, |point| rounded(point.from_memory, 100.0))?
        .add("settled", &points, |point| point.settled)?;
    Ok(columns.finish())
}

/// Bandwidth by cores, as columns.
#[pyfunction]
pub fn by_cores<'py>(py: Python<'py>, experiment_json: &str, name: &str, read: u8) -> PyResult<Bound<'py, PyDict>> {
    let (spec, memory) = (spec(experiment_json)?, memory(name)?);
    let measure = || {
        let by_cores = ByCores::new(&spec, memory, read)?;
        by_cores.numbers().into_iter().map(|cores| by_cores.measure(cores)).collect::<Result<Vec<_>, _>>()
    };
    let points = py.detach(measure).map_err(no_curve)?;
    let columns = PyColumns::new(py)
        .add("cores", &points, |point: &CoresPoint| point.cores)?
        .add("bandwidth_gb_s", &points, |point| rounded(point.bandwidth / 1e9, 1e3))?
        .add("measured_read_pct", &points, |point| rounded(point.read, 10.0))?
        .add("settled", &points, |point| point.settled)?;
    Ok(columns.finish())
}
