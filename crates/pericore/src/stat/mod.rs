//! `pericore stat`: counts events and evaluates metrics while a workload runs.

mod forecast;
mod printer;
#[cfg(test)]
mod tests;
mod verbose;

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use pericore_machine::workload::SampleRequest;
use pericore_report::figures::Digits;

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
    /// Print counts at this interval in milliseconds (virtual time on a software machine)
    #[arg(short = 'I', long = "interval-print", value_name = "MS", allow_negative_numbers = true)]
    interval: Option<f64>,
    /// Stop after this many intervals
    #[arg(long, value_name = "N", requires = "interval", value_parser = clap::value_parser!(u64).range(1..))]
    interval_count: Option<u64>,
    /// With -I, print the totals at the end
    #[arg(long, requires = "interval", overrides_with = "no_summary")]
    summary: bool,
    /// Print none
    #[arg(long, overrides_with = "summary", hide_short_help = true)]
    no_summary: bool,
    /// Print counts each time the first event has occurred this many times: its overflow stops all counters of the
    /// socket in the same cycle (Nehalem, Emerald Rapids). The event must name one instance of its unit
    #[arg(
        short = 'c',
        long = "count",
        value_name = "N",
        value_parser = clap::value_parser!(u64).range(1..),
        conflicts_with_all = ["interval", "repeat", "truth", "no_freeze", "delay"]
    )]
    period: Option<u64>,
    /// Run the program, or the workload with successive seeds, this many times; print means and their spread
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
    /// With -r, also print each run and its distance from the mean (only in the table form)
    #[arg(long, requires = "repeat")]
    table: bool,
    /// Print metrics only: a line for each interval and part of the machine, a column for each metric
    #[arg(long, conflicts_with_all = ["truth", "table"])]
    metric_only: bool,
    /// Print thousands separators (the default in tables; never with -x or -j)
    #[arg(short = 'B', long, overrides_with = "no_big_num", conflicts_with_all = ["separator", "json"])]
    big_num: bool,
    /// Print no thousands separators
    #[arg(long, overrides_with = "big_num")]
    no_big_num: bool,
    /// Print the model's ground truth and the difference beside each number
    #[arg(long, requires = "machine")]
    truth: bool,
    /// Model only this share of the run in detail, in windows, and scale numbers up, with half of their 95 % intervals:
    /// `1/50`. A program's other accesses go to the caches without time (`1/50,seed=2` for windows at other places); a
    /// workload goes on for --timeout, or for its requests=. `error=2%`: as much as it takes until every interval is so
    /// narrow, or the end is reached
    #[arg(
        long,
        value_name = "1/N|error=P%",
        requires = "machine",
        value_parser = SampleRequest::parse,
        conflicts_with_all = ["interval", "repeat", "period", "histogram", "delay"]
    )]
    sample: Option<SampleRequest>,
    /// Print how the latencies of reads from memory are spread, by the model's records: of loads that missed the LLC,
    /// in the table of requests; of Nehalem, of reads in the home logic
    #[arg(long, requires = "machine", conflicts_with_all = ["repeat", "separator"])]
    histogram: bool,
    /// First print on standard error which counter counts what, and its control value; --dry-run prints more
    #[arg(short = 'v', long)]
    verbose: bool,
    /// Print the register accesses in order, without making them
    #[arg(long, conflicts_with_all = ["json", "separator"])]
    dry_run: bool,
    /// Print what a sample costs, without measuring
    #[arg(long, conflicts_with_all = ["dry_run", "json", "separator"])]
    cost: bool,
}

/// Runs the command.
///
/// # Errors
/// A command line that cannot be carried out, or a run that failed.
pub fn run(args: &StatArgs) -> Result<ExitCode, Failure> {
    if args.metric_only && args.measure.wanted.names_no_metrics() {
        return Err(Failure::usage(
            "--metric-only: there are only events to count; name metrics with -M, or leave out -e for the default metrics",
        ));
    }
    args.measure.inputs().try_for_each(|input| args.output.must_not_be_input(input))?;
    let course = args.course();
    let task = Task { args: &args.measure, course: &course };
    if !args.dry_run && !args.cost {
        return task.run(&mut Printer::new(args));
    }
    let planned = task.plan()?;
    let mut out = args.output.open()?;
    if args.measure.machine.is_none() {
        planned.reasons.iter().try_for_each(|reason| writeln!(out, "{reason}"))?;
    }
    if let Some(plan) = &planned.kernel {
        if args.dry_run {
            forecast::requests(plan, &mut out)?;
        } else {
            forecast::kernel_cost(plan, &mut out)?;
        }
    }
    if let Some(plan) = &planned.registers {
        if args.dry_run {
            forecast::operations(plan, &mut out)?;
        } else {
            forecast::cost(plan, &mut out)?;
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

impl StatArgs {
    /// When samples are taken.
    const fn course(&self) -> Course {
        Course {
            interval: self.interval,
            intervals: self.interval_count,
            period: self.period,
            repeat: self.repeat,
            truth: self.truth,
            is_sparing: false,
            sampling: self.sample,
        }
    }

    /// How tables have whole numbers.
    const fn digits(&self) -> Digits {
        if self.no_big_num { Digits::Plain } else { Digits::Grouped }
    }
}
