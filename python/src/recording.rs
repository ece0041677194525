//! Recordings: of a file, or of a measurement in this process.

use std::fs::File;
use std::io::{BufRead, Cursor, Read};
use std::path::PathBuf;

use pericore_observe::record::{Header, Reader, View, selection_of};
use pericore_observe::results::Scope;
use pericore_observe::session::Sample;
use pericore_recordings::{Conversion, Converter, Input};
use pericore_report::{Row, rows};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::columns::PyColumns;
use crate::errors;

/// A recording, as its JSON lines.
#[pyclass(frozen, name = "Recorded", module = "pericore._pericore")]
#[derive(Debug)]
pub struct LoadedRecording {
    lines: Vec<u8>,
}

impl LoadedRecording {
    /// Takes lines if they are those of a recording.
    ///
    /// # Errors
    /// `ValueError` if they are not.
    pub fn of(lines: Vec<u8>) -> PyResult<Self> {
        let recorded = Self { lines };
        recorded.reader().map(drop)?;
        Ok(recorded)
    }

    fn reader(&self) -> PyResult<Reader<Cursor<&[u8]>>> {
        Reader::open(Cursor::new(&*self.lines)).map_err(errors::value)
    }

    /// What was selected when it was recorded.
    fn view(header: &Header) -> PyResult<View> {
        let family = pericore_catalog::family(&header.family)
            .ok_or_else(|| errors::value(format!("the family {} is not known", header.family)))?;
        let selection = selection_of(header, family).map_err(errors::value)?;
        View::new(header, selection).map_err(errors::value)
    }
}

#[pymethods]
impl LoadedRecording {
    /// Reads a file: JSON lines or a table.
    #[staticmethod]
    fn read(path: PathBuf) -> PyResult<Self> {
        let named = |error: std::io::Error| errors::file(format!("cannot read {}: {error}", path.display()));
        let mut lines = Vec::new();
        let mut input = Input::of(File::open(&path).map_err(named)?).map_err(named)?;
        input.fill_buf().map_err(named)?;
        input.read_to_end(&mut lines).map_err(named)?;
        Self::of(lines)
    }

    /// The recording whose JSON lines these are.
    #[staticmethod]
    fn from_lines(lines: Vec<u8>) -> PyResult<Self> {
        Self::of(lines)
    }

    /// The JSON lines.
    fn lines<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.lines)
    }

    /// The whole as a Parquet file.
    fn parquet<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut reader = self.reader()?;
        let mut bytes = Vec::new();
        let begun = Converter::begin(Conversion::Parquet, &mut bytes, reader.header());
        let mut converter = begun.map_err(errors::failed)?;
        for recorded in reader.by_ref() {
            converter.sample(&recorded.map_err(errors::value)?).map_err(errors::failed)?;
        }
        let ending = reader.ending().cloned().ok_or_else(|| errors::value("the recording has no end"))?;
        converter.end(&ending).map_err(errors::failed)?;
        drop(converter);
        Ok(PyBytes::new(py, &bytes))
    }

    /// The events and metrics that were selected, over all samples, as columns. `scope` is `system`, `socket` or
    /// `instance`.
    fn report<'py>(&self, py: Python<'py>, scope: &str) -> PyResult<Bound<'py, PyDict>> {
        let scope = match scope {
            "system" => Scope::System,
            "socket" => Scope::Socket,
            "instance" => Scope::Instance,
            other => return Err(errors::value(format!("per={other:?}: give system, socket or instance"))),
        };
        let mut reader = self.reader()?;
        let view = Self::view(reader.header())?;
        let (mut whole, mut truth) = (Sample::default(), None::<Sample>);
        for recorded in reader.by_ref() {
            let recorded = recorded.map_err(errors::value)?;
            whole.add(&view.of(&recorded.sample));
            if let Some(sample) = &recorded.truth {
                truth.get_or_insert_default().add(&view.of(sample));
            }
        }
        let report = rows::report(&view.layout(), &whole, truth.as_ref(), scope, None);
        let place = |row: &Row| row.place.clone();
        let columns = PyColumns::new(py)
            .add("name", &report.rows, |row| row.name.clone())?
            .add("socket", &report.rows, |row| place(row).map(|place| place.socket))?
            .add("instance", &report.rows, |row| place(row).and_then(|place| place.instance))?
            .add("value", &report.rows, |row| row.value.number().map(|number| in_unit(row, number)))?
            .add("unit_of_measure", &report.rows, |row| row.unit_of_measure.map(|unit| unit.symbol()))?
            .add("validity", &report.rows, |row| row.value.validity().grade().name())?
            .add("seconds", &report.rows, |row| row.seconds)?
            .add("standard_error", &report.rows, |row| row.standard_error.map(|number| in_unit(row, number)))?
            .add("truth", &report.rows, |row| row.truth.map(|number| in_unit(row, number)))?;
        Ok(columns.finish())
    }
}

/// A number of a row in the unit of measure that the row names: a share of 0.5 is 50 %.
fn in_unit(row: &Row, number: f64) -> f64 {
    row.unit_of_measure.map_or(number, |unit| unit.in_symbol(number))
}
