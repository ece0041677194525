//! Reports, printed in any of their forms.

use std::io::{self, Write};

use crate::row::Report;
use crate::style::{Form, Style};
use crate::{lines, table};

/// Prints a report in a form.
///
/// # Errors
/// An output that cannot be written.
pub fn print(out: &mut impl Write, report: &Report, form: Form<'_>, style: Style<'_>) -> io::Result<()> {
    match form {
        Form::Separated(separator) => lines::separated(out, report, separator, style.truth),
        Form::Json => lines::json(out, report, style.emulated),
        Form::Table => table::print(out, report, style),
    }
}
