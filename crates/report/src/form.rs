//! Reports, printed in any of their forms.

use std::io::{self, Write};

use crate::row::Report;
use crate::sheet::Sheet;
use crate::style::{Form, Style};
use crate::{lines, table};

/// Prints a report in a form. An interval that is a line goes on with the sheet of those before.
///
/// # Errors
/// An output that cannot be written.
pub fn print(
    out: &mut impl Write,
    report: &Report,
    form: Form<'_>,
    style: Style<'_>,
    sheet: &mut Sheet,
) -> io::Result<()> {
    match form {
        Form::Table if is_line(report, form, style) => sheet.print(out, report, form, style.emulated),
        Form::Separated(separator) => lines::separated(out, report, separator, style.truth),
        Form::Json => lines::json(out, report, style.emulated),
        Form::Table => table::print(out, report, style),
    }
}

/// True if a report is a line under headings, and no table of its own: an interval, or all of them, where people read
/// sums over the machine or its sockets. Instances are too many, and beside the truth there is no room.
pub fn is_line(report: &Report, form: Form<'_>, style: Style<'_>) -> bool {
    let is_interval = report.interval_end.is_some() || report.is_summary;
    let has_instances = report.rows.iter().any(|row| row.place.as_ref().is_some_and(|place| place.instance.is_some()));
    is_interval && !has_instances && !style.truth && matches!(form, Form::Table)
}
