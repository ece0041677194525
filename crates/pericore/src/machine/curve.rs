//! `pericore machine curve`: latency against bandwidth of a software machine's memory.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use pericore_machine::MachineSpec;
use pericore_machine::curve::{Curve, CurveError, Loaded, Point};

use super::{against, opened, plot};
use crate::failure::Failure;
use crate::measure::WaitLine;
use crate::terminal;

/// Arguments of `pericore machine curve`.
#[derive(Debug, Args)]
pub struct CurveArgs {
    /// Family, preset or snapshot file, `NAME[:sockets=N,cores=N,…]`
    #[arg(long, value_name = "MACHINE")]
    machine: String,
    /// Memory that socket 0 loads: its own, the next socket's, or that behind its CXL links
    #[arg(long, value_enum, default_value = "local")]
    memory: Memory,
    /// Reads among the transfers of memory, per cent: the rest are writes of lines that were read before, so 50 at
    /// least
    #[arg(long, value_name = "PCT", default_value_t = 100, value_parser = clap::value_parser!(u8).range(0..=100))]
    read: u8,
    /// Print each point as a line of JSON: read_pct, bandwidth_gb_s, latency_ns, measured_read_pct, settled
    #[arg(long, conflicts_with = "against")]
    json: bool,
    /// Measure the curves of this kind of memory that a file has, and print the model's beside them; lines of the
    /// file: memory,read_pct,bandwidth_gb_s,latency_ns
    #[arg(long, value_name = "FILE", conflicts_with = "read")]
    against: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Memory {
    Local,
    Remote,
    Cxl,
}

/// Measures and prints a curve.
///
/// # Errors
/// A machine that there is not, that has no such memory, or cannot be loaded so.
pub fn run(args: &CurveArgs) -> Result<ExitCode, Failure> {
    let spec = opened::spec(&args.machine)?;
    let memory = match args.memory {
        Memory::Local => Loaded::Local,
        Memory::Remote => Loaded::Remote,
        Memory::Cxl => Loaded::Cxl,
    };
    let name = args.memory.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
    if let Some(file) = &args.against {
        return compare(&spec, memory, &name, file);
    }
    let curve = Curve::new(&spec, memory, args.read).map_err(Failure::usage)?;
    let points = measure(&curve)?;
    let mut out = io::stdout().lock();
    if args.json {
        for point in &points {
            writeln!(out, "{}", json(args.read, point))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(
        out,
        "EMULATED {}, {name} memory, {} % reads: {} threads on socket 0,\n\
         one with dependent loads; {} MiB in all; caches warmed by function,\n\
         rates settled\n",
        spec.preset(),
        args.read,
        curve.threads(),
        curve.footprint() >> 20,
    )?;
    table(&mut out, &points)?;
    writeln!(out)?;
    let places: Vec<(f64, f64)> = points.iter().map(|point| (point.bandwidth / 1e9, point.latency)).collect();
    let width = terminal::width_of(io::stdout()).unwrap_or(pericore_text::WIDTH).min(pericore_text::WIDTH);
    for row in plot::rows(&places, ("GB/s", "ns"), width) {
        writeln!(out, "{row}")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn measure(curve: &Curve<'_>) -> Result<Vec<Point>, Failure> {
    let _line = WaitLine::new("measuring the curve…");
    curve.measure().map_err(|error| match error {
        CurveError::Stuck { .. } => Failure::failed(error),
        _ => Failure::usage(error),
    })
}

/// Measures the curves that a file has of a kind of memory.
fn compare(spec: &MachineSpec, memory: Loaded, name: &str, file: &Path) -> Result<ExitCode, Failure> {
    for measured in against::read(file, name)? {
        let curve = Curve::new(spec, memory, measured.read).map_err(Failure::usage)?;
        let points = measure(&curve)?;
        against::print(&mut io::stdout().lock(), name, &measured, &points)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn json(read: u8, point: &Point) -> serde_json::Value {
    let rounded = |value: f64, places: f64| (value * places).round() / places;
    serde_json::json!({
        "read_pct": read,
        "bandwidth_gb_s": rounded(point.bandwidth / 1e9, 1e3),
        "latency_ns": rounded(point.latency, 10.0),
        "measured_read_pct": rounded(point.read, 10.0),
        "settled": point.settled,
    })
}

fn table(out: &mut impl Write, points: &[Point]) -> io::Result<()> {
    writeln!(out, "{:>10} {:>10} {:>8}", "GB/s", "latency ns", "reads %")?;
    for point in points {
        let note = if point.settled { "" } else { "  not settled" };
        writeln!(out, "{:>10.1} {:>10.1} {:>8.1}{note}", point.bandwidth / 1e9, point.latency, point.read)?;
    }
    Ok(())
}
