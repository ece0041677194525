//! Bandwidth by cores, printed.

use std::io::{self, Write};
use std::process::ExitCode;

use pericore_machine::curve::{ByCores, CoresPoint};

use super::output::{Printed, draw, note, rounded};
use crate::failure::Failure;
use crate::measure::WaitLine;

/// Measures and prints all numbers of cores.
///
/// # Errors
/// A machine that cannot be built, or an output that cannot be written.
pub fn run(by_cores: &ByCores<'_>, read: u8, printed: &Printed<'_>) -> Result<ExitCode, Failure> {
    let points = {
        let _line = WaitLine::new("measuring cores…");
        let numbers = by_cores.numbers().into_iter();
        numbers.map(|cores| by_cores.measure(cores)).collect::<Result<Vec<_>, _>>().map_err(Failure::usage)?
    };
    let mut out = io::stdout().lock();
    if printed.json {
        for point in &points {
            writeln!(out, "{}", json(point))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(
        out,
        "EMULATED {}, {} memory, {read} % reads: cores of socket 0 that walk\n\
         through {} MiB in all without a pause; caches warmed by function,\n\
         rates settled\n",
        printed.spec.preset(),
        printed.memory,
        by_cores.footprint() >> 20,
    )?;
    writeln!(out, "{:>6} {:>10} {:>8}", "cores", "GB/s", "reads %")?;
    for point in &points {
        let CoresPoint { cores, bandwidth, read, settled } = *point;
        writeln!(out, "{cores:>6} {:>10.1} {read:>8.1}{}", bandwidth / 1e9, note(settled))?;
    }
    let places: Vec<(f64, f64)> = points.iter().map(|point| (f64::from(point.cores), point.bandwidth / 1e9)).collect();
    draw(&mut out, &places, ("cores", "GB/s"))?;
    Ok(ExitCode::SUCCESS)
}

fn json(point: &CoresPoint) -> serde_json::Value {
    serde_json::json!({
        "cores": point.cores,
        "bandwidth_gb_s": rounded(point.bandwidth / 1e9, 3),
        "measured_read_pct": rounded(point.read, 1),
        "settled": point.settled,
    })
}
