//! `pericore machine curve`: latency against bandwidth of a software machine's memory, latency by footprint, bandwidth
//! by cores.

mod against;
mod cores;
mod footprints;
mod native;
mod output;
mod plot;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, ValueEnum};
use pericore_machine::MachineSpec;
use pericore_machine::curve::{ByCores, Curve, CurveError, Footprints, Loaded, Point, check_read};
use pericore_machine::workload::PageSize;

use super::opened;
use crate::failure::Failure;
use crate::measure::WaitLine;
use native::OwnCurve;
use output::{Printed, draw, note, rounded};

/// Arguments of `pericore machine curve`.
#[derive(Debug, Args)]
pub struct CurveArgs {
    /// Measure a software machine: family, preset or snapshot file, `NAME[:sockets=N,cores=N,…]`. Without it this
    /// machine is measured, by threads of pericore's own on the cores of its first socket
    #[arg(long, value_name = "MACHINE")]
    machine: Option<String>,
    /// Memory that socket 0 loads: its own, the next socket's, or that behind its CXL links
    #[arg(long, value_enum, default_value = "local")]
    memory: Memory,
    /// Reads among the transfers of memory, per cent: the rest are writes of lines that were read before, so 50 at
    /// least
    #[arg(long, value_name = "PCT", default_value_t = 100)]
    read: u8,
    /// Print each point as a line of JSON: read_pct, bandwidth_gb_s, latency_ns, measured_read_pct, settled. Of this
    /// machine each line has uncore_gb_s instead of settled
    #[arg(long, conflicts_with = "against")]
    json: bool,
    /// Measure the curves of this kind of memory that a file has, and print the model's beside them; lines of the
    /// file: memory,read_pct,bandwidth_gb_s,latency_ns
    #[arg(long, value_name = "FILE", conflicts_with = "read", requires = "machine")]
    against: Option<PathBuf>,
    /// Latency by footprint instead: one core's dependent loads, from what its first cache holds to four times all
    /// caches. With --json: footprint_bytes, latency_ns, from_memory_pct, settled
    #[arg(long, conflicts_with_all = ["against", "read", "cores"])]
    footprints: bool,
    /// Size of the pages that footprints are made of; each lies anywhere in memory
    #[arg(long, value_enum, default_value = "4K", requires = "footprints", requires = "machine")]
    pages: Pages,
    /// Bandwidth by cores instead: so many of socket 0 walk through memory without a pause. With --json: cores,
    /// bandwidth_gb_s, measured_read_pct, settled
    #[arg(long, conflicts_with = "against")]
    cores: bool,
    /// Milliseconds for which each point is measured on this machine
    #[arg(long, value_name = "MS", default_value_t = 500, conflicts_with = "machine",
        value_parser = clap::value_parser!(u64).range(10..=60_000))]
    window: u64,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Pages {
    #[value(name = "4K")]
    Small,
    #[value(name = "2M")]
    Large,
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
    let Some(machine) = &args.machine else { return this_machine(args) };
    let spec = opened::spec(machine)?;
    let memory = match args.memory {
        Memory::Local => Loaded::Local,
        Memory::Remote => Loaded::Remote,
        Memory::Cxl => Loaded::Cxl,
    };
    let name = args.memory.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
    if let Some(file) = &args.against {
        return compare(&spec, memory, &name, file);
    }
    let printed = Printed { json: args.json, memory: &name, spec: &spec };
    if args.footprints {
        let size = match args.pages {
            Pages::Small => PageSize::Small,
            Pages::Large => PageSize::Large,
        };
        let footprints = Footprints::new(&spec, memory, size).map_err(Failure::usage)?;
        return footprints::run(&footprints, size, &printed);
    }
    if args.cores {
        return cores::run(&ByCores::new(&spec, memory, args.read).map_err(Failure::usage)?, args.read, &printed);
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
    let places: Vec<(f64, f64)> = points.iter().map(|point| (point.bandwidth / 1e9, point.latency)).collect();
    draw(&mut out, &places, ("GB/s", "ns"))?;
    Ok(ExitCode::SUCCESS)
}

/// Measures the machine that this runs on.
fn this_machine(args: &CurveArgs) -> Result<ExitCode, Failure> {
    if matches!(args.memory, Memory::Cxl) {
        let why = "no thread of this machine touches CXL memory first: give --memory local or remote, or --machine";
        return Err(Failure::usage(why));
    }
    check_read(args.read).map_err(Failure::usage)?;
    let wanted = OwnCurve {
        remote: matches!(args.memory, Memory::Remote),
        read: args.read,
        window: Duration::from_millis(args.window),
        json: args.json,
    };
    match args {
        CurveArgs { footprints: true, .. } => native::footprints(wanted)?,
        CurveArgs { cores: true, .. } => native::cores(wanted)?,
        _ => native::loads(wanted)?,
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
    serde_json::json!({
        "read_pct": read,
        "bandwidth_gb_s": rounded(point.bandwidth / 1e9, 3),
        "latency_ns": rounded(point.latency, 1),
        "measured_read_pct": rounded(point.read, 1),
        "settled": point.settled,
    })
}

fn table(out: &mut impl Write, points: &[Point]) -> io::Result<()> {
    writeln!(out, "{:>10} {:>10} {:>8}", "GB/s", "latency ns", "reads %")?;
    for point in points {
        let note = note(point.settled);
        writeln!(out, "{:>10.1} {:>10.1} {:>8.1}{note}", point.bandwidth / 1e9, point.latency, point.read)?;
    }
    Ok(())
}
