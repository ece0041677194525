//! In what form results are printed, and where to.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use clap::Args;
use pericore_observe::results::{Layout, Scope};
use pericore_report::fewer::Fewer;
use pericore_report::sheet::Sheet;
use pericore_report::{Form, Report, Style, form};

use super::descriptor::Descriptor;
use crate::failure::Failure;
use crate::terminal::width_of;
use crate::{notice, refused_file};

/// The form, the place, and what is added up.
#[derive(Debug, Args)]
pub struct OutputArgs {
    /// Print JSON lines
    #[arg(short = 'j', long = "json-output", conflicts_with = "separator")]
    json: bool,
    /// Print fields separated by this text (`\t` is a tab); fields that contain it are quoted
    #[arg(short = 'x', long = "field-separator", value_name = "SEP", value_parser = separator)]
    separator: Option<String>,
    /// Write to this file; without it `stat` writes to standard error, `report` to standard output
    #[arg(short = 'o', long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Append to the file instead of replacing it
    #[arg(long, requires = "output")]
    append: bool,
    /// Write to this open file descriptor: `--log-fd 3 3>FILE`
    #[arg(long, value_name = "N", value_parser = Descriptor::of, conflicts_with = "output")]
    log_fd: Option<Descriptor>,
    /// A line for each socket
    #[arg(long)]
    per_socket: bool,
    /// A line for each unit instance
    #[arg(short = 'A', long, visible_aliases = ["no-aggr", "no-merge"], conflicts_with = "per_socket")]
    per_unit: bool,
}

/// What stands between fields. As perf has it: shells make a tab a nuisance to type.
fn separator(text: &str) -> Result<String, String> {
    match text {
        "" => Err("give the separator, such as -x,".to_owned()),
        "\\t" => Ok("\t".to_owned()),
        _ => Ok(text.to_owned()),
    }
}

/// Refuses to write over a recording that is read; `option` names the file that is written.
///
/// # Errors
/// They are one file.
pub fn must_not_be(option: &str, path: &Path, name: &str, read: &Metadata) -> Result<(), Failure> {
    refuse_if_one(option, path, &format!("the recording {name}"), read)
}

/// Refuses a name that elsewhere means standard input or output: a file is written, and put in its place when it is
/// whole.
///
/// # Errors
/// It is that name.
pub fn must_be_file(option: &str, path: &Path) -> Result<(), Failure> {
    if path.as_os_str() != "-" {
        return Ok(());
    }
    Err(Failure::usage(format!("{option} -: this is written to a file; name one, or ./- for a file of that name")))
}

/// Refuses to write over any file that is read.
///
/// # Errors
/// They are one file.
pub fn must_not_be_input(output: &Path, input: &Path) -> Result<(), Failure> {
    fs::metadata(input).map_or(Ok(()), |read| refuse_if_one("-o", output, &input.display().to_string(), &read))
}

fn refuse_if_one(option: &str, path: &Path, name: &str, read: &Metadata) -> Result<(), Failure> {
    let is_same = |known: Metadata| (known.dev(), known.ino()) == (read.dev(), read.ino());
    if !read.is_file() || !fs::metadata(path).is_ok_and(is_same) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{option} {}: this is {name} itself, which would be overwritten; name another file",
        path.display()
    )))
}

impl OutputArgs {
    /// The form to print in.
    pub fn form(&self) -> Form<'_> {
        match &self.separator {
            Some(separator) => Form::Separated(separator),
            None if self.json => Form::Json,
            None => Form::Table,
        }
    }

    /// True if neither a form nor what is added up was given.
    pub fn is_plain(&self) -> bool {
        self.is_for_people() && matches!(self.scope(), Scope::System)
    }

    /// True for tables, false for what programs read.
    pub fn is_for_people(&self) -> bool {
        matches!(self.form(), Form::Table)
    }

    /// Where results go: standard error unless a file is named.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn open(&self) -> Result<Box<dyn Write>, Failure> {
        self.open_or(io::stderr())
    }

    /// Where results go: to `otherwise` unless a file is named.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn open_or(&self, otherwise: impl Write + 'static) -> Result<Box<dyn Write>, Failure> {
        let Some(path) = &self.output else {
            return Ok(match &self.log_fd {
                Some(descriptor) => Box::new(descriptor.file()),
                None => Box::new(otherwise),
            });
        };
        let file = match self.append {
            true => OpenOptions::new().append(true).create(true).open(path),
            false => File::create(path),
        };
        Ok(Box::new(file.map_err(|error| Failure::failed(refused_file::writing(path, &error)))?))
    }

    /// Refuses an output that is a file which is read, by this name or another.
    ///
    /// # Errors
    /// It is.
    pub fn must_not_be(&self, name: &str, read: &Metadata) -> Result<(), Failure> {
        self.output.as_ref().map_or(Ok(()), |path| must_not_be("-o", path, name, read))
    }

    /// The same of any file that is read.
    ///
    /// # Errors
    /// It is the output.
    pub fn must_not_be_input(&self, input: &Path) -> Result<(), Failure> {
        self.output.as_ref().map_or(Ok(()), |output| must_not_be_input(output, input))
    }

    /// Columns of a line of results, which go to `otherwise` unless a file is named: those of a terminal; none where
    /// any line has room.
    pub fn width(&self, otherwise: impl AsFd) -> Option<usize> {
        let is_elsewhere = self.output.is_some() || self.log_fd.is_some();
        if is_elsewhere { None } else { width_of(otherwise) }
    }

    /// What numbers are added up over.
    pub const fn scope(&self) -> Scope {
        if self.per_unit {
            Scope::Instance
        } else if self.per_socket {
            Scope::Socket
        } else {
            Scope::System
        }
    }

    /// Prints of which units there are fewer than such a machine can have: in a table above it; JSON lines have fields for it, unless a line has
    /// several metrics. What has no room for it has it beside, on standard error.
    ///
    /// # Errors
    /// An output that cannot be written.
    pub fn print_fewer(&self, out: &mut dyn Write, layout: &Layout<'_>, by_columns: bool) -> Result<(), Failure> {
        let all = Fewer::of(layout);
        match self.form() {
            Form::Table => all.iter().try_for_each(|fewer| writeln!(out, " {fewer}"))?,
            Form::Json if !by_columns => {}
            Form::Json | Form::Separated(_) => all.iter().for_each(notice::warn),
        }
        Ok(())
    }

    /// Prints a report: an interval as a line of the sheet, if it is one.
    ///
    /// # Errors
    /// An output that cannot be written.
    pub fn print(
        &self,
        out: &mut dyn Write,
        report: &Report,
        style: Style<'_>,
        sheet: &mut Sheet,
    ) -> Result<(), Failure> {
        let mut text = Vec::new();
        form::print(&mut text, report, self.form(), style, sheet)?;
        out.write_all(&text)?;
        Ok(out.flush()?)
    }
}
