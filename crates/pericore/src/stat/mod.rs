//! `pericore stat`: counts events and evaluates metrics while a workload runs.

mod forecast;
mod printer;
mod repeat;
#[cfg(test)]
mod tests;

use std::process::ExitCode;

use clap::Args;

use crate::failure::Failure;
use crate::measure::{Course, MeasureArgs, Task};
use crate::results::output::OutputArgs;
use printer::Printer;

/// Arguments of `pericore stat`.
#[derive(Debug, Args)]
pub struct StatArgs {
    #[command(flatten)]
    measure: MeasureArgs,
    #[command(flatten)]
    output: OutputArgs,
    /// Print every so many milliseconds (virtual ones on a software machine)
    #[arg(short = 'I', long = "interval-print", value_name = "MS", allow_negative_numbers = true)]
    interval: Option<f64>,
    /// Print each time when the first event has been counted so many times: its overflow stops all counters of its socket in that very
    /// cycle (Nehalem, Emerald Rapids). Name one instance of its unit
    #[arg(
        short = 'c',
        long = "count",
        value_name = "N",
        value_parser = clap::value_parser!(u64).range(1..),
        conflicts_with_all = ["interval", "repeat", "truth", "no_freeze", "delay"]
    )]
    period: Option<u64>,
    /// Run the program, or the workload with one seed after the other, so many times; print means, and how far the runs lie apart
    #[arg(
        short = 'r',
        long,
        value_name = "N",
        default_value_t = 1,
        hide_default_value = true,
        value_parser = clap::value_parser!(u32).range(1..),
        conflicts_with = "interval"
    )]
    repeat: u32,
    /// Print what the model knows, and the difference, beside each number
    #[arg(long, requires = "machine")]
    truth: bool,
    /// Print the register accesses, in order, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Print what a sample costs, and do nothing
    #[arg(long, conflicts_with = "dry_run")]
    cost: bool,
}

/// Runs the command.
///
/// # Errors
/// A command line that cannot be carried out, or a run that failed.
pub fn run(args: &StatArgs) -> Result<ExitCode, Failure> {
    let course = args.course();
    let task = Task { args: &args.measure, course: &course };
    if !args.dry_run && !args.cost {
        return task.run(&mut Printer::new(args));
    }
    let plan = task.plan()?;
    let mut out = args.output.open()?;
    if args.dry_run {
        forecast::operations(&plan, &mut out)?;
    } else {
        forecast::cost(&plan, &mut out)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

impl StatArgs {
    /// When samples are taken.
    const fn course(&self) -> Course {
        Course { interval: self.interval, period: self.period, repeat: self.repeat, truth: self.truth }
    }
}
