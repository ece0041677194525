//! The part of the Python package that is Rust: `pericore._pericore`.
//!
//! It gives columns and bytes; the modules beside it (`python/pericore`) make tables and classes of them. Nothing here
//! holds Python's lock while a machine runs.

mod catalogue;
mod columns;
mod curves;
mod errors;
mod machine;
mod recording;
mod sweep;

use pyo3::prelude::*;

/// The functions and classes that the package's modules use.
#[pymodule]
fn _pericore(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(catalogue::families, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::presets, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::events, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::metrics, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::registers, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::floorplan, module)?)?;
    module.add_function(wrap_pyfunction!(machine::check, module)?)?;
    module.add_function(wrap_pyfunction!(machine::measure, module)?)?;
    module.add_function(wrap_pyfunction!(curves::curve, module)?)?;
    module.add_function(wrap_pyfunction!(curves::footprints, module)?)?;
    module.add_function(wrap_pyfunction!(curves::by_cores, module)?)?;
    module.add_class::<recording::LoadedRecording>()?;
    module.add_function(wrap_pyfunction!(sweep::carry_out, module)?)?;
    module.add_class::<sweep::SweepPlan>()?;
    module.add_class::<sweep::SweepOutput>()?;
    Ok(())
}
