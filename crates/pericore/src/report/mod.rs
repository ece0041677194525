//! `pericore report`: what a recording has, as `stat` would have printed it, and over time.

mod convert;
mod diff;
mod html;
pub mod recording;
mod until;

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use pericore_observe::session::Sample;
use pericore_recordings::{Conversion, TimeSpan};
use pericore_report::figures::Digits;
use pericore_report::over_time::OverTime;
use pericore_report::sheet::Sheet;
use pericore_report::{Report, Style, rows};
use pericore_text::on_one_line;

use crate::failure::Failure;
use crate::measure::SelectionArgs;
use crate::record;
use crate::results::output::OutputArgs;
use crate::terminal::{is_unicode, title_lines};
use recording::{Interval, Recording, STANDARD_INPUT};
use until::Until;

/// Arguments of `pericore report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The recording; - is standard input
    #[arg(value_name = "FILE", default_value = record::FILE)]
    file: PathBuf,
    #[command(flatten)]
    wanted: SelectionArgs,
    #[command(flatten)]
    output: OutputArgs,
    /// Leave out samples whose midpoint is less than this many seconds after the start
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    from: Option<f64>,
    /// Leave out what is more than this many seconds after the start; or convert the recording, to standard output or
    /// the file of -o: jsonl, parquet, csv (with a header), trace (for Perfetto)
    #[arg(long, value_name = "SECONDS|FORM", allow_negative_numbers = true)]
    to: Vec<Until>,
    /// Print each interval, as `stat -I` does
    #[arg(short = 'I', long)]
    intervals: bool,
    /// Print statistics over all intervals for each metric and each event's rate: mean, minimum, median, 95th
    /// percentile, maximum and its time
    #[arg(long, conflicts_with_all = ["intervals", "truth"])]
    over_time: bool,
    /// Compare with another recording: both values, the spread of the intervals in each, and the change from FILE to
    /// OTHER
    #[arg(long, value_name = "OTHER", conflicts_with_all = ["intervals", "over_time", "truth"])]
    diff: Option<PathBuf>,
    /// Write a self-contained page for a browser to this file: summary, charts over time, a map of the units, and with
    /// --diff the changes. An existing file becomes FILE.old
    #[arg(long, value_name = "FILE", conflicts_with_all = ["intervals", "over_time", "truth", "json", "separator",
        "output", "log_fd", "per_socket", "per_unit"])]
    html: Option<PathBuf>,
    /// Print the model's ground truth and the difference beside each number
    #[arg(long)]
    truth: bool,
}

/// Runs the command.
///
/// # Errors
/// A recording that cannot be read, or that has not what is asked for; an output that cannot be written.
pub fn run(args: &ReportArgs) -> Result<(), Failure> {
    if !args.span().is_possible() {
        return Err(Failure::usage(
            "--from and --to: give seconds from the start of the recording, and --to a later time than --from",
        ));
    }
    if let Some(form) = args.conversion()? {
        let (file, name) = recording::file(&args.file)?;
        args.output.must_not_be(&name, &file.metadata()?)?;
        let out = args.output.open_or(io::stdout())?;
        return convert::run(form, file, &name, args.span(), out);
    }
    let mut recording = Recording::open(&args.file, &args.wanted, args.span())?;
    if args.truth && !recording.about().truth {
        return Err(Failure::usage(format!(
            "{}: recorded without --truth; record again with it, or leave it out",
            args.file.display()
        )));
    }
    args.output.must_not_be(recording.name(), recording.file())?;
    if let Some(other) = &args.diff {
        if [&args.file, other].iter().all(|file| file.as_os_str() == STANDARD_INPUT) {
            return Err(Failure::usage("standard input holds only one recording; name a file for the other"));
        }
        let other = recording.open_like(other)?;
        args.output.must_not_be(other.name(), other.file())?;
        if let Some(page) = &args.html {
            return html::write(page, recording, Some(other));
        }
        return diff::run(&args.output, recording, other);
    }
    if let Some(page) = &args.html {
        return html::write(page, recording, None);
    }
    let emulated = recording.about().emulated.clone();
    let mut out = args.output.open_or(io::stdout())?;
    if args.output.is_for_people() {
        writeln!(out, "\n {}", title_lines(&on_one_line(&recording.about().title), 3))?;
    }
    args.output.print_fewer(&mut out, &recording.layout(), args.over_time)?;
    if args.over_time {
        let mut over_time = OverTime::default();
        while let Some(interval) = recording.next()? {
            over_time.add(&args.report(&recording, &interval));
        }
        recording.finish()?;
        return Ok(over_time.print(args.output.form(), &mut out, emulated.as_deref())?);
    }
    let style =
        Style { truth: args.truth, emulated: emulated.as_deref(), digits: Digits::Grouped, unicode: is_unicode() };
    let mut sheet = Sheet::new(args.output.width(io::stdout()), true, style.digits);
    let mut print = |report: &Report| args.output.print(&mut out, report, style, &mut sheet);
    if args.intervals {
        while let Some(interval) = recording.next()? {
            print(&args.report(&recording, &interval))?;
        }
        return recording.finish();
    }
    let whole = recording.whole()?;
    print(&args.report(&recording, &whole))
}

impl ReportArgs {
    /// The part that is wanted.
    fn span(&self) -> TimeSpan {
        let seconds = |until: &Until| if let Until::Seconds(seconds) = until { Some(*seconds) } else { None };
        TimeSpan { from: self.from, to: self.to.iter().find_map(seconds) }
    }

    /// The form to convert to, if one is given.
    ///
    /// # Errors
    /// Two of a kind, or what only a report can be given.
    fn conversion(&self) -> Result<Option<Conversion>, Failure> {
        let form = |until: &Until| if let Until::Form(form) = until { Some(*form) } else { None };
        let forms: Vec<Conversion> = self.to.iter().filter_map(form).collect();
        if forms.len() > 1 || self.to.len() - forms.len() > 1 {
            return Err(Failure::usage("--to: give one time and one form at the most"));
        }
        let Some(form) = forms.first() else { return Ok(None) };
        let is_report = self.intervals || self.over_time || self.truth || self.diff.is_some() || self.html.is_some();
        if is_report || !self.wanted.is_empty() || !self.output.is_plain() {
            return Err(Failure::usage(
                "--to FORM writes all that was recorded: leave out what chooses and forms a report, but for --from, \
                 --to SECONDS and -o",
            ));
        }
        Ok(Some(*form))
    }

    /// The rows of an interval, or of the whole.
    fn report(&self, recording: &Recording, interval: &Interval) -> Report {
        let truth: Option<&Sample> = interval.truth.as_ref().filter(|_| self.truth);
        rows::report(&recording.layout(), &interval.sample, truth, self.output.scope(), interval.end)
    }
}
