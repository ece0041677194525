//! `pericore report`: what a recording has, as `stat` would have printed it, and over time.

mod diff;
mod over_time;
mod recording;

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use pericore_observe::session::Sample;

use crate::failure::Failure;
use crate::measure::SelectionArgs;
use crate::printable::on_one_line;
use crate::record;
use crate::results::output::{OutputArgs, Style};
use crate::results::table::Digits;
use crate::results::{Report, rows};
use over_time::OverTime;
use recording::{Interval, Recording, STANDARD_INPUT};

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
    #[command(flatten)]
    span: Span,
    /// Print each interval, as `stat -I` does
    #[arg(short = 'I', long)]
    intervals: bool,
    /// Print for each event (a second) and metric how it went over all intervals: mean, least, median, 95th
    /// percentile, most, and when that was
    #[arg(long, conflicts_with_all = ["intervals", "truth"])]
    over_time: bool,
    /// Compare with another recording: both values, how far the intervals lie apart in each, and the change from FILE
    /// to OTHER
    #[arg(long, value_name = "OTHER", conflicts_with_all = ["intervals", "over_time", "truth"])]
    diff: Option<PathBuf>,
    /// Print what the model knew, and the difference, beside each number
    #[arg(long)]
    truth: bool,
}

/// A part of a recording.
#[derive(Debug, Clone, Copy, Args)]
struct Span {
    /// Leave out what was before so many seconds from the start. Samples count whole: those whose middle is not before
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    from: Option<f64>,
    /// Leave out what was later than so many seconds from the start
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    to: Option<f64>,
}

/// Runs the command.
///
/// # Errors
/// A recording that cannot be read, or that has not what is asked for; an output that cannot be written.
pub fn run(args: &ReportArgs) -> Result<(), Failure> {
    args.span.check()?;
    let mut recording = Recording::open(&args.file, &args.wanted, args.span)?;
    if args.truth && !recording.about().truth {
        return Err(Failure::usage(format!(
            "{}: recorded without --truth; record again with it, or leave it out",
            args.file.display()
        )));
    }
    args.output.must_not_be(recording.name(), recording.file())?;
    if let Some(other) = &args.diff {
        if [&args.file, other].iter().all(|file| file.as_os_str() == STANDARD_INPUT) {
            return Err(Failure::usage("standard input has one recording only: name a file for the other"));
        }
        let other = recording.open_like(other)?;
        args.output.must_not_be(other.name(), other.file())?;
        return diff::run(args, recording, other);
    }
    let emulated = recording.about().emulated.clone();
    let mut out = args.output.open_or(io::stdout())?;
    if args.output.is_for_people() {
        writeln!(out, "\n {}", on_one_line(&recording.about().title))?;
    }
    args.output.print_fewer(&mut out, &recording.layout(), args.over_time)?;
    if args.over_time {
        let mut over_time = OverTime::default();
        while let Some(interval) = recording.next()? {
            over_time.add(&args.report(&recording, &interval));
        }
        recording.finish()?;
        return over_time.print(&args.output, &mut out, emulated.as_deref());
    }
    let style = Style { truth: args.truth, emulated: emulated.as_deref(), digits: Digits::Grouped };
    let mut print = |report: &Report| args.output.print(&mut out, report, style);
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
    /// The rows of an interval, or of the whole.
    fn report(&self, recording: &Recording, interval: &Interval) -> Report {
        let truth: Option<&Sample> = interval.truth.as_ref().filter(|_| self.truth);
        rows::report(&recording.layout(), &interval.sample, truth, self.output.scope(), interval.end)
    }
}

impl Span {
    fn check(self) -> Result<(), Failure> {
        let (from, to) = (self.from.unwrap_or(0.0), self.to.unwrap_or(f64::INFINITY));
        if from >= 0.0 && from < to {
            return Ok(());
        }
        Err(Failure::usage(
            "--from and --to: give seconds from the start of the recording, and --to a later time than --from",
        ))
    }

    /// True if a sample of so many seconds belongs to it that ended then.
    fn has(self, end: f64, seconds: f64) -> bool {
        let middle = end - seconds / 2.0;
        self.from.is_none_or(|from| middle >= from) && self.to.is_none_or(|to| middle < to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However a recording is cut, each sample is in one of the parts.
    #[test]
    fn parts_make_the_whole() {
        let ends = [0.5, 1.0, 1.5, 2.0];
        for cut in [0.1, 0.25, 0.3, 0.75, 1.0, 1.74, 1.76] {
            let (before, behind) = (Span { from: None, to: Some(cut) }, Span { from: Some(cut), to: None });
            for end in ends {
                assert_ne!(before.has(end, 0.5), behind.has(end, 0.5), "{end} at {cut}");
            }
        }
        assert!(Span { from: Some(0.2), to: Some(0.3) }.has(0.5, 0.5), "its middle is at 0.25");
        for (from, to) in [(1.0, 1.0), (2.0, 1.0), (-1.0, 1.0), (f64::NAN, 1.0), (0.0, f64::NAN)] {
            assert!(Span { from: Some(from), to: Some(to) }.check().is_err(), "{from} to {to}");
        }
    }
}
