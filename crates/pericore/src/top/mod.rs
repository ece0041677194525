//! `pericore top`: the uncore live, on a terminal.

mod clock;
mod live;
mod pen;
mod play;
mod screen;
mod watch;

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use pericore_dashboard::{Look, State};
use pericore_observe::results::Scope;
use pericore_tracer::Tracer;

use crate::failure::Failure;
use crate::machine::run::is_within;
use crate::measure::{Course, MeasureArgs, Task};
use crate::terminal::{self, ColorArg};
use crate::warm::WarmArgs;
use screen::Screen;
use watch::Watch;

/// Milliseconds between two samples, unless the user says; in virtual time, in which workloads are over within a
/// millisecond.
const INTERVALS: (f64, f64) = (1000.0, 0.01);

/// Arguments of `pericore top`.
#[derive(Debug, Args)]
pub struct TopArgs {
    #[command(flatten)]
    measure: MeasureArgs,
    /// Sampling interval in milliseconds: 1000 by default (0.01 of virtual time for a scenario or with --cold). For a
    /// recording (`top FILE`), how long each sample is shown: by default as long as it took
    #[arg(short = 'I', long = "interval", value_name = "MS", allow_negative_numbers = true)]
    interval: Option<f64>,
    /// Stop after this many samples
    #[arg(short = 'n', long = "samples", value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    samples: Option<u64>,
    /// Print frames as plain text, one below the other (the default without a terminal)
    #[arg(short = 'b', long)]
    batch: bool,
    /// Start with a row for each socket (the default with several sockets)
    #[arg(long)]
    per_socket: bool,
    /// Start with a row for each unit instance
    #[arg(short = 'A', long, conflicts_with = "per_socket")]
    per_unit: bool,
    #[command(flatten)]
    warm: WarmArgs,
    #[command(flatten)]
    color: ColorArg,
}

/// Runs the command.
///
/// # Errors
/// A command line that cannot be carried out, or a run that failed.
pub fn run(args: &TopArgs) -> Result<ExitCode, Failure> {
    let fail = |error| Failure::failed(format!("cannot use the terminal: {error}"));
    let screen = if args.batch { None } else { Screen::of_this_process().map_err(fail)? };
    let look = Look { unicode: terminal::is_unicode(), colors: args.color.paint().is_on() };
    let is_virtual = args.measure.is_course() && !is_within();
    let interval = args.interval.unwrap_or(if is_virtual { INTERVALS.1 } else { INTERVALS.0 });
    let state = State::new(interval / 1e3, look, args.scope());
    args.refuse_words_that_nothing_takes()?;
    if let Some(file) = args.recording() {
        return play::run(&args.measure, file, args.interval, Watch::new(state, screen, args.samples));
    }
    if screen.is_some() && args.measure.has_program() {
        return Err(Failure::usage(
            "a program would share the terminal with the display: run it in another one; or add -b, or use `pericore stat -I 1000`",
        ));
    }
    let course = Course { interval: Some(interval), repeat: 1, ..Course::default() };
    let task = Task { args: &args.measure, course: &course };
    if is_virtual {
        args.warm.must_be_absent()?;
        return task.run(&mut Watch::new(state, screen, args.samples).staying());
    }
    task.run_live(&args.warm, &mut Watch::new(state, screen, args.samples))
}

impl TopArgs {
    /// Words behind a program are the program's own; a recording takes none. A word that is neither is most likely the
    /// mistyped name of one of them.
    fn refuse_words_that_nothing_takes(&self) -> Result<(), Failure> {
        let [word, rest @ ..] = self.measure.program_words() else { return Ok(()) };
        let is_recording = play::is_recording(Path::new(word));
        if is_recording && !rest.is_empty() {
            return Err(Failure::usage(format!(
                "{0} is a recording: options go in front of it, such as pericore top -b {0}",
                word.display()
            )));
        }
        let exists = || Path::new(word).exists() || Tracer::find(word).is_ok_and(|program| program.exists());
        if !is_recording && rest.is_empty() && !exists() {
            let word = word.display();
            return Err(Failure::failed(format!("cannot read {word}: there is no such file, and no such program")));
        }
        Ok(())
    }

    /// The recording to play, if a file of one stands where a program would.
    fn recording(&self) -> Option<&Path> {
        match self.measure.program_words() {
            [word] if play::is_recording(Path::new(word)) => Some(Path::new(word)),
            _ => None,
        }
    }

    /// What to add up over at first, if the user said it.
    const fn scope(&self) -> Option<Scope> {
        match (self.per_unit, self.per_socket) {
            (true, _) => Some(Scope::Instance),
            (false, true) => Some(Scope::Socket),
            (false, false) => None,
        }
    }
}
