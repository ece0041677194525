//! How curves are printed, whatever they are of.

use std::io::{self, Write};

use pericore_machine::MachineSpec;

use super::plot;
use crate::terminal;

/// How points are printed, and of what they are.
#[derive(Debug)]
pub struct Printed<'a> {
    /// As lines of JSON.
    pub json: bool,
    /// Which memory.
    pub memory: &'a str,
    /// The machine.
    pub spec: &'a MachineSpec,
}

/// Draws points below their table.
///
/// # Errors
/// An output that cannot be written.
pub fn draw(out: &mut impl Write, places: &[(f64, f64)], units: (&str, &str)) -> io::Result<()> {
    writeln!(out)?;
    let width = terminal::width_of(io::stdout()).unwrap_or(pericore_text::WIDTH).min(pericore_text::WIDTH);
    plot::rows(places, units, width).iter().try_for_each(|row| writeln!(out, "{row}"))
}

/// A number with so many decimal places.
pub fn rounded(value: f64, places: i32) -> f64 {
    let power = 10_f64.powi(places);
    (value * power).round() / power
}

/// What a row notes of rates that had not settled.
pub const fn note(settled: bool) -> &'static str {
    if settled { "" } else { "  not settled" }
}

/// Bytes, in KiB or MiB.
pub fn bytes(bytes: u64) -> String {
    match bytes {
        0..0x10_0000 => format!("{} KiB", bytes >> 10),
        _ if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ => format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20)),
    }
}

#[cfg(test)]
mod tests {
    use super::{bytes, note};

    /// A row whose rates had not settled says so, behind its figures.
    #[test]
    fn what_had_not_settled_is_marked() {
        assert_eq!((note(true), note(false)), ("", "  not settled"));
    }

    #[test]
    fn sizes_have_a_unit_that_fits() {
        let all = [16 << 10, 1 << 20, 20 << 20, (3 << 19) + 4096].map(bytes);
        assert_eq!(all, ["16 KiB", "1 MiB", "20 MiB", "1.5 MiB"]);
    }
}
