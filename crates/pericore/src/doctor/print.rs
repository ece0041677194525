//! Findings in lines.

use std::io::{self, Write};

use pericore_doctor::Finding;
use pericore_text::{Paint, WIDTH, printable, wrapped};
use serde_json::json;

/// Columns before the text.
const INDENT: usize = 18;
/// Columns of the text.
const TEXT: usize = WIDTH - INDENT;

/// A line for programs.
pub fn json(finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    let state = finding.state().name();
    let line = json!({ "check": finding.check(), "state": state, "message": finding.message(),
        "remedy": finding.remedy() });
    writeln!(out, "{line}")
}

/// Lines for people.
pub fn print(finding: &Finding, out: &mut dyn Write, paint: Paint) -> io::Result<()> {
    let mark = format!("{:<8}", finding.state().name());
    let mark = if finding.is_problem() { paint.alarm(&mark) } else { paint.faint(&mark) };
    for (number, line) in wrapped(&printable(finding.message()), TEXT).iter().enumerate() {
        match number {
            0 => writeln!(out, "{mark}{:<9} {line}", finding.check())?,
            _ => writeln!(out, "{:INDENT$}{line}", "")?,
        }
    }
    for (number, line) in finding.remedy().iter().flat_map(|text| wrapped(&printable(text), TEXT - 3)).enumerate() {
        writeln!(out, "{:INDENT$}{} {line}", "", if number == 0 { "=>" } else { "  " })?;
    }
    Ok(())
}
