//! The start of a software machine's measurement: from reset, or after a warm-up.

use pericore_emulation::start;
use pericore_machine::workload::Scenario;
use pericore_machine::{Machine, MachineSpec, WarmUp};

use super::WaitLine;
use crate::failure::Failure;

/// A machine about to do what is measured of a scenario, with its truth if that is wanted, and its warm-up if it had
/// one.
///
/// # Errors
/// A machine that cannot be.
pub fn begin(spec: &MachineSpec, scenario: &Scenario, truth: bool) -> Result<(Machine, Option<WarmUp>), Failure> {
    let _line = WaitLine::new("warming up…");
    start::begin(spec, scenario, truth).map_err(Failure::usage)
}

/// A live machine repeats a steady window.
///
/// # Errors
/// Its workload is to begin cold.
pub fn must_be_steady(is_cold: bool) -> Result<(), Failure> {
    if !is_cold {
        return Ok(());
    }
    Err(Failure::usage(
        "--cold: a live machine repeats a window of its steady workload; leave it out, or measure the start with \
         `pericore stat` or `record`",
    ))
}
