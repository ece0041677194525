//! `pericore record`: samples into a file, for `pericore report`.

mod parts;
mod recorder;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use pericore_recordings::{RecordingForm, is_object};

use crate::failure::Failure;
use crate::measure::{Course, MeasureArgs, Task};
use crate::results::output::{must_be_file, must_not_be_input};
use parts::PartArgs;
use recorder::Recorder;

/// Where recordings are, unless the user says.
pub const FILE: &str = "pericore.rec";

/// Milliseconds between two samples, unless the user says: on a real machine, and in virtual time.
const INTERVALS: (f64, f64) = (1000.0, 0.01);

/// Milliseconds of a table's row groups, in the same way: what a crash can cost.
const PACES: (f64, f64) = (10_000.0, 0.1);

/// Seconds of the parts of a recording in a store of objects, unless the user says: what a crash can cost.
const OBJECT: f64 = 60.0;

/// Arguments of `pericore record`.
#[derive(Debug, Args)]
pub struct RecordArgs {
    #[command(flatten)]
    measure: MeasureArgs,
    /// Write to this file, or to an object s3://BUCKET/NAME; an existing file becomes FILE.old
    #[arg(short = 'o', long, value_name = "FILE", default_value = FILE)]
    output: PathBuf,
    /// Format of the file; by default, Parquet for FILE.parquet and JSON lines for all others
    #[arg(long, value_name = "FORM")]
    format: Option<FormArg>,
    #[command(flatten)]
    parts: PartArgs,
    /// Sampling interval in milliseconds: 1000 by default (0.01 of virtual time on a software machine, where workloads
    /// often end within a millisecond)
    #[arg(short = 'I', long, value_name = "MS", allow_negative_numbers = true)]
    interval: Option<f64>,
    /// Record the model's ground truth beside each number
    #[arg(long, requires = "machine")]
    truth: bool,
}

/// `--format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormArg {
    /// JSON lines
    Jsonl,
    /// A Parquet table
    Parquet,
}

impl RecordArgs {
    /// Seconds of an object, which nobody can read before it is complete. A software machine's time is virtual.
    fn parts_of_objects(&self) -> Option<f64> {
        (is_object(&self.output) && self.measure.machine.is_none()).then_some(OBJECT)
    }

    /// The form of the file: by its name unless given.
    fn form(&self) -> RecordingForm {
        match self.format {
            Some(FormArg::Jsonl) => RecordingForm::Jsonl,
            Some(FormArg::Parquet) => RecordingForm::Parquet,
            None => RecordingForm::of(&self.output),
        }
    }
}

/// Runs the command.
///
/// # Errors
/// A command line that cannot be carried out, a run that failed, or a file that takes no more.
pub fn run(args: &RecordArgs) -> Result<ExitCode, Failure> {
    must_be_file("-o", &args.output)?;
    args.measure.inputs().try_for_each(|input| must_not_be_input(&args.output, input))?;
    let parts = args.parts.parts()?.or_by_time(args.parts_of_objects());
    let unless_given = if args.measure.machine.is_some() { INTERVALS.1 } else { INTERVALS.0 };
    let interval = Some(args.interval.unwrap_or(unless_given));
    let course = Course { interval, repeat: 1, truth: args.truth, ..Course::default() };
    let mut recorder = Recorder::new(args, parts);
    let status = Task { args: &args.measure, course: &course }.run(&mut recorder);
    status.map_err(|failure| recorder.fail(failure))
}
