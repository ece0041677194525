//! What was measured, as a table with a plot, or as lines of JSON.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::own::OwnMachine;
use super::threads::OwnRates;
use super::uncore::Uncore;
use crate::failure::Failure;
use crate::machine::curve::output::{bytes, draw, rounded};

/// A window with the uncore's view, if it has one.
type Seen = (OwnRates, Option<f64>);

/// A point of the latency against the bandwidth, by footprint, or by cores.
#[derive(Debug, Clone, Copy)]
pub enum OwnPoint {
    Load(Seen),
    Footprint(usize, Seen),
    Cores(u16, Seen),
}

impl OwnPoint {
    const fn seen(&self) -> &Seen {
        match self {
            Self::Load(seen) | Self::Footprint(_, seen) | Self::Cores(_, seen) => seen,
        }
    }

    fn json(&self, read: u8) -> Value {
        let (OwnRates { bandwidth, read: measured, latency }, uncore) = *self.seen();
        let gigabytes = |bandwidth: f64| rounded(bandwidth / 1e9, 3);
        let (latency, uncore) = (latency.map(|latency| rounded(latency, 1)), uncore.map(gigabytes));
        let (bandwidth, measured) = (gigabytes(bandwidth), rounded(measured, 1));
        match self {
            Self::Load(_) => json!({
                "read_pct": read, "bandwidth_gb_s": bandwidth, "latency_ns": latency, "measured_read_pct": measured,
                "uncore_gb_s": uncore,
            }),
            Self::Footprint(bytes, _) => {
                json!({ "footprint_bytes": bytes, "latency_ns": latency, "uncore_gb_s": uncore })
            }
            Self::Cores(cores, _) => json!({
                "cores": cores, "bandwidth_gb_s": bandwidth, "measured_read_pct": measured, "uncore_gb_s": uncore,
            }),
        }
    }

    /// A line of the table, and the place in the plot.
    fn row(&self) -> (String, (f64, f64)) {
        let (window, uncore) = self.seen();
        let (gigabytes, latency) = (window.bandwidth / 1e9, window.latency.unwrap_or(f64::NAN));
        let uncore = uncore.map_or_else(|| "-".to_owned(), |bandwidth| format!("{:.1}", bandwidth / 1e9));
        let (begin, place) = match *self {
            Self::Load(_) => (format!("{gigabytes:>10.1} {latency:>10.1} {:>8.1}", window.read), (gigabytes, latency)),
            Self::Footprint(footprint, _) => {
                (format!("{:>12} {latency:>10.1}", bytes(footprint as u64)), ((footprint as f64).log2(), latency))
            }
            Self::Cores(cores, _) => {
                (format!("{cores:>6} {gigabytes:>10.1} {:>8.1}", window.read), (f64::from(cores), gigabytes))
            }
        };
        (format!("{begin} {uncore:>12}"), place)
    }
}

/// Prints points of one kind.
///
/// # Errors
/// An output that cannot be written.
pub fn print(own: &OwnMachine, points: &[OwnPoint], uncore: &Uncore) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    if own.wanted.json {
        for point in points {
            let mut line = point.json(own.wanted.read);
            if let Some(machine) = &uncore.emulated {
                line["emulated"] = machine.as_str().into();
            }
            writeln!(out, "{line}")?;
        }
        return Ok(());
    }
    let memory = if own.wanted.remote { "memory of the next socket" } else { "local memory" };
    writeln!(
        out,
        "{}\n{memory}, socket {}: own threads on {} CPUs;",
        own.name,
        own.cpus.socket,
        own.cpus.threads.len()
    )?;
    let counters = uncore.emulated.as_ref().map_or_else(String::new, |machine| format!(" EMULATED {machine}:"));
    writeln!(out, "{} MiB in all; uncore:{counters} what its counters say meanwhile\n", own.bytes >> 20)?;
    let units = match points.first() {
        Some(OwnPoint::Footprint(..)) => {
            writeln!(out, "{:>12} {:>10} {:>12}", "footprint", "latency ns", "uncore GB/s")?;
            ("doublings", "ns")
        }
        Some(OwnPoint::Cores(..)) => {
            writeln!(out, "{:>6} {:>10} {:>8} {:>12}", "cores", "GB/s", "reads %", "uncore GB/s")?;
            ("cores", "GB/s")
        }
        _ => {
            writeln!(out, "{:>10} {:>10} {:>8} {:>12}", "GB/s", "latency ns", "reads %", "uncore GB/s")?;
            ("GB/s", "ns")
        }
    };
    let (rows, mut places): (Vec<String>, Vec<(f64, f64)>) = points.iter().map(OwnPoint::row).unzip();
    rows.iter().try_for_each(|row| writeln!(out, "{row}"))?;
    if let (Some(OwnPoint::Footprint(..)), Some(&(least, _))) = (points.first(), places.first()) {
        places.iter_mut().for_each(|place| place.0 -= least);
    }
    draw(&mut out, &places, units)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{OwnPoint, OwnRates};

    /// 2 lines of 64 bytes in a nanosecond are 128 GB/s.
    #[test]
    fn a_number_that_is_not_there_is_null_and_a_dash() {
        let window = OwnRates { bandwidth: 128e9, read: 75.04, latency: Some(98.76) };
        let seen = OwnPoint::Load((window, Some(130.5e9)));
        let expected =
            r#"{"bandwidth_gb_s":128.0,"latency_ns":98.8,"measured_read_pct":75.0,"read_pct":75,"uncore_gb_s":130.5}"#;
        assert_eq!(seen.json(75).to_string(), expected);
        assert_eq!(seen.row(), ("     128.0       98.8     75.0        130.5".to_owned(), (128.0, 98.76)));
        let blind = OwnPoint::Cores(3, (OwnRates { latency: None, ..window }, None));
        let expected = r#"{"bandwidth_gb_s":128.0,"cores":3,"measured_read_pct":75.0,"uncore_gb_s":null}"#;
        assert_eq!(blind.json(75).to_string(), expected);
        assert_eq!(blind.row(), ("     3      128.0     75.0            -".to_owned(), (3.0, 128.0)));
    }
}
