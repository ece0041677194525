//! `pericore stat`: counts events and evaluates metrics while a workload runs.

mod child;
mod emulated;
mod forecast;
mod interrupt;
mod local;
mod machine_readable;
mod preparation;
mod progress;
mod repeat;
mod report;
mod rows;
mod table;
#[cfg(test)]
mod tests;
mod truth;
mod wakeup;

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use pericore_catalog::Family;
use pericore_observe::results::Scope;
use pericore_observe::selection::{Selection, SelectionError};

use crate::event_files::EventFilesArg;
use crate::failure::Failure;
use crate::notice;
use crate::program::ProgramArgs;
pub use local::STANDS_IN;
use report::Report;
pub use table::thousands;

/// A year: longer intervals are a slip.
const MOST_MILLISECONDS: f64 = 365.0 * 86_400e3;

/// Arguments of `pericore stat`.
#[derive(Debug, Args)]
pub struct StatArgs {
    /// Measure a software machine instead of this one: family or preset, `NAME[:key=value,…]`
    #[arg(long, value_name = "MACHINE")]
    machine: Option<String>,
    /// What the software machine runs: `NAME[:key=value,…]` (stream copy triad random chase mixed ntstore dma-read dma-write idle), or a FILE.scenario
    #[arg(long, value_name = "WORKLOAD")]
    workload: Option<String>,
    /// Events: `unit/EVENT.SUBEVENT,key=value/`, Intel's or perf's names; commas between, `{}` around groups
    #[arg(short = 'e', long = "event", value_name = "EVENTS")]
    events: Vec<String>,
    #[command(flatten)]
    files: EventFilesArg,
    /// Metrics: `METRIC` or `unit/METRIC`, commas between
    #[arg(short = 'M', long = "metrics", value_name = "METRICS")]
    metrics: Vec<String>,
    /// Count everywhere; the uncore knows no programs, so this is always so
    #[arg(short = 'a', long)]
    all_cpus: bool,
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
    /// End after so many milliseconds (virtual ones on a software machine)
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    timeout: Option<f64>,
    /// Measure nothing in the first so many milliseconds of the program or workload (virtual ones on a software machine): -I and --timeout count
    /// from there
    #[arg(short = 'D', long, value_name = "MS", allow_negative_numbers = true)]
    delay: Option<f64>,
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
    /// Print JSON lines
    #[arg(short = 'j', long = "json-output", conflicts_with = "separator")]
    json: bool,
    /// Print fields with this separator between (`\t` is a tab); one that has it inside stands in quotation marks
    #[arg(short = 'x', long = "field-separator", value_name = "SEP")]
    separator: Option<String>,
    /// Write to this file instead of standard error
    #[arg(short = 'o', long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print what the model knows, and the difference, beside each number
    #[arg(long, requires = "machine")]
    truth: bool,
    /// A line for each socket
    #[arg(long)]
    per_socket: bool,
    /// A line for each unit instance
    #[arg(short = 'A', long, visible_aliases = ["no-aggr", "no-merge"], conflicts_with = "per_socket")]
    per_unit: bool,
    /// Print the register accesses, in order, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Print what a sample costs, and do nothing
    #[arg(long, conflicts_with = "dry_run")]
    cost: bool,
    /// Change rounds every so many milliseconds, where events have to take turns: 10 unless given (on a software machine virtual
    /// ones, and 0.002 unless given: its registers cost no virtual time)
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    rotate: Option<f64>,
    /// Read all controls in use again with each sample, to notice changes by others at once
    #[arg(long)]
    guard: bool,
    /// Journal what is overwritten in this file until everything is put back; `pericore restore` undoes a killed run. Without it a file
    /// in $XDG_STATE_HOME/pericore (~/.local/state/pericore); none for a software machine, which ends with us
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// Use counters even if someone else has them running
    #[arg(long)]
    take_over: bool,
    /// Never stop counters for reading: they are read one after the other while they run, and a second such run can share units
    #[arg(long)]
    no_freeze: bool,
    /// If another run of pericore is in the way, begin when it has ended
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    program: ProgramArgs,
}

/// Runs the command.
///
/// # Errors
/// A command line that cannot be carried out, or a run that failed.
pub fn run(args: &StatArgs) -> Result<ExitCode, Failure> {
    for (name, value) in
        [("-I", args.interval), ("--timeout", args.timeout), ("--delay", args.delay), ("--rotate", args.rotate)]
    {
        if value.is_some_and(|value| !(0.0..=MOST_MILLISECONDS).contains(&value) || value == 0.0) {
            return Err(Failure::usage(format!(
                "{name}: give a number of milliseconds above 0, {MOST_MILLISECONDS} at the most"
            )));
        }
    }
    if args.separator.as_deref() == Some("") {
        return Err(Failure::usage("-x: give what is to stand between the fields, such as -x,"));
    }
    match &args.machine {
        Some(machine) => emulated::run(args, machine),
        None => local::run(args),
    }
}

/// Says why there are no numbers: the end came before the delay was over.
fn say_nothing_was_measured(delay: f64) {
    notice::say(format!("nothing was measured: the end came within the delay of {delay} ms; choose a shorter one"));
}

/// The error, with the place in the user's text.
fn pointed(error: &SelectionError) -> Failure {
    Failure::usage(format!("{error}\n{}", error.caret()))
}

impl StatArgs {
    /// What to count: what the user named, else the family's defaults.
    fn selection(&self, family: &'static Family) -> Result<Selection, Failure> {
        let family = self.files.extend(family)?.family;
        let mut selection = Selection::new(family);
        for events in &self.events {
            selection.add_events(events).map_err(|error| pointed(&error))?;
        }
        for metrics in &self.metrics {
            selection.add_metrics(metrics).map_err(|error| pointed(&error))?;
        }
        if self.events.is_empty() && self.metrics.is_empty() {
            if family.default_metrics.is_empty() {
                return Err(Failure::usage(format!("{} has no default metrics; name some with -e or -M", family.name)));
            }
            for metric in family.default_metrics {
                selection.add_metrics(metric).map_err(Failure::failed)?;
            }
        }
        Ok(selection)
    }

    /// True if a run is only to be foretold.
    const fn is_forecast(&self) -> bool {
        self.dry_run || self.cost
    }

    /// An option that only makes sense on a software machine, if one is given.
    fn only_for_software(&self) -> Option<&'static str> {
        if self.workload.is_some() { Some("--workload") } else { self.program.only_for_software() }
    }

    const fn scope(&self) -> Scope {
        if self.per_unit {
            Scope::Instance
        } else if self.per_socket {
            Scope::Socket
        } else {
            Scope::System
        }
    }

    /// Where results go: standard error unless `-o`.
    fn open_output(&self) -> Result<Box<dyn Write>, Failure> {
        Ok(match &self.output {
            None => Box::new(io::stderr()),
            Some(path) => {
                let refuse = |error| Failure::failed(format!("cannot create {}: {error}", path.display()));
                Box::new(File::create(path).map_err(refuse)?)
            }
        })
    }

    fn print(&self, out: &mut dyn Write, report: &Report, emulated: Option<&str>) -> Result<(), Failure> {
        let mut text = Vec::new();
        match (&self.separator, self.json) {
            (Some(separator), _) => {
                // As perf has it: shells make a tab a nuisance to type.
                let separator = if separator == "\\t" { "\t" } else { separator };
                machine_readable::separated(&mut text, report, separator, self.truth)
            }
            (None, true) => machine_readable::json(&mut text, report, emulated),
            (None, false) => table::print(&mut text, report, self.truth),
        }?;
        out.write_all(&text)?;
        Ok(out.flush()?)
    }
}
