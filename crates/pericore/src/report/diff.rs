//! Two recordings beside each other.

use std::io::{self, Write as _};

use pericore_observe::results::Scope;
use pericore_report::compare::{self, ComparedRecording, pairs};
use pericore_report::figures::seconds;
use pericore_report::over_time::OverTime;
use pericore_report::{Report, rows};
use pericore_text::on_one_line;

use super::recording::{Interval, Recording};
use crate::failure::Failure;
use crate::results::output::OutputArgs;
use crate::terminal::title_lines;

/// Prints the rows of both, and how they changed.
///
/// # Errors
/// A recording that cannot be read, recordings that cannot be compared, or an output that cannot be written.
pub fn run(output: &OutputArgs, mut one: Recording, mut other: Recording) -> Result<(), Failure> {
    let names = (one.name().to_owned(), other.name().to_owned());
    let whole = |recording: &mut Recording| read(recording, output.scope(), &mut |_, _, _| ());
    let (one, other) = (whole(&mut one)?, whole(&mut other)?);
    let pairs = pairs(&one, &other);
    if pairs.is_empty() {
        return Err(Failure::failed(format!(
            "{} and {} have no row in common: leave out --per-socket and -A",
            names.0, names.1
        )));
    }
    let mut out = output.open_or(io::stdout())?;
    if output.is_for_people() {
        for (which, name, side) in [("first", &names.0, &one), ("second", &names.1, &other)] {
            let plural = if side.intervals == 1 { "" } else { "s" };
            let (title, length) = (title_lines(&side.title, 5), seconds(side.whole.seconds));
            writeln!(out, "\n {which}: {name}, {} interval{plural}, {length} s\n   {title}", side.intervals)?;
        }
    }
    compare::print(&mut out, output.form(), &pairs, &one, &other)?;
    Ok(out.flush()?)
}

/// Reads a recording to its end, and shows each interval to `each`.
///
/// # Errors
/// A damaged line, or no interval at all.
pub fn read(
    recording: &mut Recording,
    scope: Scope,
    each: &mut dyn FnMut(&Recording, &Interval, &Report),
) -> Result<ComparedRecording, Failure> {
    let rows = |recording: &Recording, interval: &Interval| {
        rows::report(&recording.layout(), &interval.sample, None, scope, interval.end)
    };
    let mut over_time = OverTime::default();
    let mut whole = Interval::default();
    while let Some(interval) = recording.next()? {
        let report = rows(recording, &interval);
        each(recording, &interval, &report);
        over_time.add(&report);
        whole.add(&interval);
    }
    recording.finish()?;
    let (title, emulated) = (on_one_line(&recording.about().title), recording.about().emulated.clone());
    Ok(ComparedRecording::new(title, emulated, rows(recording, &whole), &over_time))
}
