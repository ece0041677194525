//! What limits the machine, as far as its metrics tell.

use std::io::{self, Write};

use pericore_metrics::Grade;
use pericore_text::{WIDTH, wrapped};

use crate::figures;
use crate::row::{Report, Row};

/// The rows of a metric that tells a limit.
struct LimitRows<'a> {
    rows: Vec<&'a Row>,
}

impl<'a> LimitRows<'a> {
    /// By metric, in the order of the report.
    fn of(report: &'a Report) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for row in report.rows.iter().filter(|row| row.limit.is_some()) {
            match all.iter_mut().find(|limit| limit.rows[0].name == row.name) {
                Some(limit) => limit.rows.push(row),
                None => all.push(Self { rows: vec![row] }),
            }
        }
        all
    }

    fn reached(&self) -> Vec<&'a Row> {
        self.rows.iter().copied().filter(|row| row.reaches_limit() == Some(true)).collect()
    }

    /// True if a part of the machine has no number.
    fn is_open(&self) -> bool {
        self.reached().is_empty() && self.rows.iter().any(|row| row.reaches_limit().is_none())
    }

    /// What is reached, where most, and what it means.
    fn words(&self) -> Option<String> {
        let reached = self.reached();
        let number = |row: &&Row| row.value.number().unwrap_or(0.0);
        let most = reached.iter().copied().max_by(|one, other| number(one).total_cmp(&number(other)))?;
        let limit = most.limit?;
        let mut words = format!("{} {} (limit {} %", most.name, figures::value(most), limit.above);
        // The reason stands above.
        let grade = most.value.validity().grade();
        if grade != Grade::Measured {
            words += &format!("; {}", grade.name());
        }
        if let Some(place) = &most.place {
            words += &format!("; {} of {} above, most {place}", reached.len(), self.rows.len());
        }
        words += &format!("): {}", limit.means);
        if !limit.see.is_empty() {
            words += &format!(" See {}.", limit.see.join(", "));
        }
        Some(words)
    }
}

/// What is reached, where most, and what it means, of each metric.
pub fn words(report: &Report) -> Vec<String> {
    LimitRows::of(report).iter().filter_map(LimitRows::words).collect()
}

/// Says which limits are reached, if any metric tells one.
///
/// # Errors
/// An output that cannot be written.
pub fn print(out: &mut impl Write, report: &Report) -> io::Result<()> {
    let all = LimitRows::of(report);
    if all.is_empty() {
        return Ok(());
    }
    let reached: Vec<String> = all.iter().filter_map(LimitRows::words).collect();
    let open = all.iter().filter(|limit| limit.is_open()).count();
    let count = if reached.is_empty() { "none".to_owned() } else { reached.len().to_string() };
    let unknown = if open > 0 { format!(", {open} not known") } else { String::new() };
    writeln!(out, " limits: {count} of {} reached{unknown}", all.len())?;
    reached.iter().try_for_each(|words| item(out, words))
}

/// An item below a line that says how many there are: further lines of it stand further to the right.
///
/// # Errors
/// An output that cannot be written.
pub fn item(out: &mut impl Write, words: &str) -> io::Result<()> {
    // A line does not begin with a sign of per cent.
    let words = words.replace(" %", "\u{a0}%");
    for (line, text) in wrapped(&words, WIDTH - 5).iter().enumerate() {
        writeln!(out, "{}{}", if line == 0 { "   " } else { "     " }, text.replace('\u{a0}', " "))?;
    }
    Ok(())
}
