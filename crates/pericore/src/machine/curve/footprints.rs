//! Latency by footprint, printed.

use std::io::{self, Write};
use std::process::ExitCode;

use pericore_machine::curve::{FootprintPoint, Footprints};
use pericore_machine::workload::PageSize;

use super::output::{Printed, bytes, draw, note, rounded};
use crate::failure::Failure;
use crate::measure::WaitLine;

/// Measures and prints all footprints.
///
/// # Errors
/// A machine that cannot be built, or an output that cannot be written.
pub fn run(footprints: &Footprints<'_>, size: PageSize, printed: &Printed<'_>) -> Result<ExitCode, Failure> {
    let points = {
        let _line = WaitLine::new("measuring footprints…");
        let sizes = footprints.sizes().into_iter();
        sizes.map(|bytes| footprints.measure(bytes)).collect::<Result<Vec<_>, _>>().map_err(Failure::usage)?
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
        "EMULATED {}, {} memory: dependent loads of one core of socket 0;\n\
         pages of {}, each anywhere in memory, whose look-up takes no time;\n\
         caches warmed by function, rates settled\n",
        printed.spec.preset(),
        printed.memory,
        bytes(1 << size.bits()),
    )?;
    writeln!(out, "{:>12} {:>10} {:>14}", "footprint", "latency ns", "from memory %")?;
    for point in &points {
        let FootprintPoint { footprint, latency, from_memory, settled } = *point;
        writeln!(out, "{:>12} {latency:>10.1} {from_memory:>14.1}{}", bytes(footprint), note(settled))?;
    }
    let least = points.first().map_or(1.0, |point| point.footprint as f64);
    let places: Vec<(f64, f64)> =
        points.iter().map(|point| ((point.footprint as f64 / least).log2(), point.latency)).collect();
    draw(&mut out, &places, ("doublings", "ns"))?;
    Ok(ExitCode::SUCCESS)
}

fn json(point: &FootprintPoint) -> serde_json::Value {
    serde_json::json!({
        "footprint_bytes": point.footprint,
        "latency_ns": rounded(point.latency, 1),
        "from_memory_pct": rounded(point.from_memory, 2),
        "settled": point.settled,
    })
}
