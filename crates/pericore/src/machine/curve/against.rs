//! A model's curves beside measured ones, point by point.

use std::io::{self, Write};
use std::path::Path;

use pericore_machine::curve::Point;

use crate::failure::Failure;
use crate::input;
use crate::refused_file;

/// Share of a curve's greatest bandwidth up to which latencies are compared: beyond it they rise so steeply that a
/// small difference of bandwidth is a large one of latency.
const COMPARED: f64 = 0.85;
/// Kinds of memory that have curves.
const MEMORIES: [&str; 3] = ["local", "remote", "cxl"];
/// Columns of the file, in this order.
const COLUMNS: &str = "memory,read_pct,bandwidth_gb_s,latency_ns";

/// A measured curve.
#[derive(Debug, PartialEq)]
pub struct SiliconCurve {
    /// Per cent of reads among the transfers.
    pub read: u8,
    /// GB/s and nanoseconds, in rising load.
    pub points: Vec<(f64, f64)>,
}

/// Reads the curves of a kind of memory from a file of lines `memory,read_pct,bandwidth_gb_s,latency_ns`.
///
/// # Errors
/// A file that cannot be read, a line that is not such a line, or no curve of that memory.
pub fn read(file: &Path, memory: &str) -> Result<Vec<SiliconCurve>, Failure> {
    let text =
        input::text(file, input::SNAPSHOT).map_err(|error| Failure::failed(refused_file::reading(file, &error)))?;
    parse(&text, memory).map_err(|why| Failure::usage(format!("{}: {why}", file.display())))
}

fn parse(text: &str, memory: &str) -> Result<Vec<SiliconCurve>, String> {
    let mut curves: Vec<SiliconCurve> = Vec::new();
    let lines = text.lines().enumerate().filter(|(_, line)| !line.starts_with('#') && *line != COLUMNS);
    for (number, line) in lines {
        let wrong =
            || format!("line {}: {line:?}: give {COLUMNS}: 0 to 100, a number from 0 on, and one above 0", number + 1);
        let [of, read, bandwidth, latency] = line.split(',').collect::<Vec<_>>()[..] else { return Err(wrong()) };
        let value = |text: &str| text.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
        let place = value(bandwidth).zip(value(latency).filter(|&latency| latency > 0.0)).ok_or_else(wrong)?;
        let read = read.parse().ok().filter(|read| *read <= 100).ok_or_else(wrong)?;
        if !MEMORIES.contains(&of) {
            return Err(format!("line {}: no memory {of:?}: {}", number + 1, MEMORIES.join(", ")));
        }
        if of != memory {
            continue;
        }
        match curves.iter_mut().find(|curve| curve.read == read) {
            Some(curve) => curve.points.push(place),
            None => curves.push(SiliconCurve { read, points: vec![place] }),
        }
    }
    if curves.is_empty() {
        Err(format!("no curve of {memory} memory: --memory says which is compared"))
    } else {
        Ok(curves)
    }
}

/// Prints a measured curve beside the model's as a table in Markdown.
///
/// # Errors
/// An output that cannot be written.
pub fn print(out: &mut impl Write, memory: &str, measured: &SiliconCurve, model: &[Point]) -> io::Result<()> {
    let curve: Vec<(f64, f64)> = model.iter().map(|point| (point.bandwidth / 1e9, point.latency)).collect();
    let greatest = |points: &[(f64, f64)]| points.iter().map(|point| point.0).fold(0.0, f64::max);
    let (most, models) = (greatest(&measured.points), greatest(&curve));
    let error = |model: f64, silicon: f64| (model / silicon - 1.0) * 100.0;
    writeln!(out, "{memory}, {} % reads:\n", measured.read)?;
    writeln!(out, "| GB/s | silicon | model | error |\n|---|---|---|---|")?;
    for &(bandwidth, latency) in measured.points.iter().filter(|point| point.0 <= COMPARED * most) {
        match at(&curve, bandwidth) {
            Some(found) => {
                writeln!(out, "| {bandwidth:.1} | {latency:.1} ns | {found:.1} ns | {:+.1} % |", error(found, latency))?
            }
            None => writeln!(out, "| {bandwidth:.1} | {latency:.1} ns | beyond its greatest | |")?,
        }
    }
    writeln!(out, "| greatest | {most:.1} GB/s | {models:.1} GB/s | {:+.1} % |\n", error(models, most))
}

/// The latency of a curve at a bandwidth, between its nearest points; below its first point, that of the first.
fn at(curve: &[(f64, f64)], bandwidth: f64) -> Option<f64> {
    let &(least, alone) = curve.first()?;
    if bandwidth <= least {
        return Some(alone);
    }
    let between = curve.windows(2).find(|pair| (pair[0].0..=pair[1].0).contains(&bandwidth))?;
    let ((x0, y0), (x1, y1)) = (between[0], between[1]);
    Some(if x1 > x0 { y0 + (y1 - y0) * (bandwidth - x0) / (x1 - x0) } else { y0 })
}

#[cfg(test)]
mod tests {
    use super::{Point, SiliconCurve, parse, print};

    const FILE: &str = "# a comment\nmemory,read_pct,bandwidth_gb_s,latency_ns\nlocal,100,0.0,100\nlocal,100,50,110\n\
                        remote,100,5,200\nlocal,100,100.0,400\nlocal,60,1,101\n";

    #[test]
    fn curves_differ_by_memory_and_reads() {
        let curves = parse(FILE, "local").unwrap();
        let reads = vec![(0.0, 100.0), (50.0, 110.0), (100.0, 400.0)];
        assert_eq!(
            curves,
            [SiliconCurve { read: 100, points: reads }, SiliconCurve { read: 60, points: vec![(1.0, 101.0)] }]
        );
        assert_eq!(parse(FILE, "cxl").unwrap_err(), "no curve of cxl memory: --memory says which is compared");
        assert_eq!(parse("lokal,100,1,1", "local").unwrap_err(), "line 1: no memory \"lokal\": local, remote, cxl");
        for line in ["local,100,1", "local,101,1,1", "local,100,x,1", "local,100,1,0", "local,100,1,inf"] {
            assert!(parse(line, "local").unwrap_err().starts_with("line 1: "), "{line}");
        }
    }

    #[test]
    fn errors_are_those_at_the_same_bandwidth() {
        let point = |bandwidth: f64, latency| Point { bandwidth: bandwidth * 1e9, latency, read: 100.0, settled: true };
        let model = [point(1.0, 110.0), point(40.0, 110.0), point(60.0, 132.0), point(90.0, 500.0)];
        let mut out = Vec::new();
        print(&mut out, "local", &parse(FILE, "local").unwrap()[0], &model).unwrap();
        let text = String::from_utf8(out).unwrap();
        // Half way between 110 and 132 ns; 400 ns at the greatest bandwidth are not compared.
        assert!(text.contains("| 0.0 | 100.0 ns | 110.0 ns | +10.0 % |\n| 50.0 | 110.0 ns | 121.0 ns | +10.0 % |\n"));
        assert!(text.contains("| greatest | 100.0 GB/s | 90.0 GB/s | -10.0 % |"), "{text}");
        assert!(!text.contains("400.0 ns"), "{text}");
    }
}
