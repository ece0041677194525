//! Pericore: observes the uncore of Intel Xeon servers, and can stand in for one.

// These end the program if nobody reads: results go through `writeln!`, words beside them through `notice`.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod completions;
mod config;
mod confined;
mod decode;
mod doctor;
mod encode;
mod event_files;
mod explain;
mod failure;
mod input;
mod job;
mod list;
mod machine;
mod measure;
mod notice;
mod own_data;
mod own_memory;
mod perf_options;
mod program;
mod record;
mod refused_file;
mod report;
mod restore;
mod results;
mod serve;
mod signals;
mod stat;
mod sweep;
mod target;
mod terminal;
mod top;
mod warm;
mod xdg;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use pericore_observe::linux::privileges::{self, Needs};

use config::Defaults;
use failure::{Failure, USAGE};

/// Observes the uncore of Intel Xeon servers, and can stand in for one.
#[derive(Debug, Parser)]
#[command(name = "pericore", version = version(), max_term_width = 80)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

/// The program's version, and which catalogue is in it: that decides what is counted under a name.
fn version() -> String {
    format!("{} (catalogue {})", env!("CARGO_PKG_VERSION"), pericore_catalog::REVISION)
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Count events and evaluate metrics
    Stat(Box<stat::StatArgs>),
    /// Measure into a file, sample by sample
    Record(Box<record::RecordArgs>),
    /// Show a recording
    Report(report::ReportArgs),
    /// Watch the uncore live: current value, mean, maximum and recent history of each row
    Top(Box<top::TopArgs>),
    /// Measure continuously and export to Prometheus
    Serve(Box<serve::ServeArgs>),
    /// Restore the registers that a killed session left modified
    Restore(restore::RestoreArgs),
    /// List events, registers or metrics (exit status 1 if nothing matches)
    List(list::ListArgs),
    /// Explain an event, metric, unit, register, field or value
    Explain(explain::ExplainArgs),
    /// Explain a register's value
    Decode(decode::DecodeArgs),
    /// Compose a register's value
    Encode(encode::EncodeArgs),
    /// Measure many software machines, workloads and parameters into a data set
    Sweep(sweep::SweepArgs),
    /// The software Xeon: its registers and its snapshots
    Machine(machine::MachineArgs),
    /// Report what can be counted on this machine, and how to fix what cannot (exit status 1)
    Doctor(doctor::DoctorArgs),
    /// Completions for shells, and man pages
    Completions(completions::CompletionsArgs),
}

/// Bytes of stack that the program needs at least, whatever the limit on that of its first thread.
const STACK: usize = 8 << 20;

fn main() -> ExitCode {
    if !stack_is_small() {
        return work();
    }
    // The first thread's stack is what `ulimit -s` says. It waits, and gives up every right: those of others stay.
    match std::thread::Builder::new().name("main".to_owned()).stack_size(STACK).spawn(work) {
        Ok(worker) => {
            if let Err(error) = privileges::keep_only(Needs::default()) {
                notice::warn(format!("the first thread cannot give up its rights: {error}"));
            }
            worker.join().unwrap_or_else(|_| ExitCode::from(failure::FAILED))
        }
        Err(error) => {
            notice::warn(format!("cannot allocate a stack of {} MB ({error}); raise ulimit -s or -v", STACK >> 20));
            ExitCode::from(failure::FAILED)
        }
    }
}

/// True if the first thread may not have the stack that the program needs.
fn stack_is_small() -> bool {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: room for the limit.
    let is_known = unsafe { libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit) } == 0;
    is_known && limit.rlim_cur < STACK as libc::rlim_t
}

/// All of the program.
fn work() -> ExitCode {
    if let Err(error) = signals::report_file_limits() {
        notice::warn(format!("cannot ignore SIGXFSZ, so a file at its size limit would end the program: {error}"));
    }
    let (command, line) = (Cli::command(), std::env::args_os().collect::<Vec<_>>());
    // Before anything looks a family up; what is wrong with it matters only to a command that runs.
    let own_data = own_data::load();
    let outcome = defaults(&command, &line).and_then(|defaults| match defaults.matches(&command, &line) {
        Ok(matches) => Cli::from_arg_matches(&matches).map_or_else(
            |refusal| told(&refusal),
            |cli| {
                usable(own_data, cli.command.as_ref())?;
                run(cli.command)
            },
        ),
        Err(refusal) => told(&refusal),
    });
    match outcome {
        Ok(status) => status,
        Err(failure) => {
            if !failure.is_quiet() {
                notice::warn(&failure);
            }
            ExitCode::from(failure.status())
        }
    }
}

/// The user's defaults. A mistake in these is no reason to leave registers as they are.
fn defaults(command: &clap::Command, line: &[OsString]) -> Result<Defaults, Failure> {
    match Defaults::read(command) {
        Err(failure) if line.get(1).is_some_and(|word| word == "restore") => {
            go_on_without(&failure);
            Ok(Defaults::default())
        }
        read => read,
    }
}

fn go_on_without(failure: &Failure) {
    notice::warn(failure);
}

/// The user's own catalogue data. A mistake in it is no reason to leave registers as they are.
fn usable(own_data: Result<(), Failure>, command: Option<&Command>) -> Result<(), Failure> {
    match (own_data, command) {
        (Err(failure), Some(Command::Restore(_) | Command::Completions(_)) | None) => {
            go_on_without(&failure);
            Ok(())
        }
        (loaded, _) => loaded,
    }
}

/// Help or version, which are results like any other, or what is wrong with the command line.
fn told(refusal: &clap::Error) -> Result<ExitCode, Failure> {
    if refusal.kind() == ErrorKind::InvalidUtf8 {
        return Err(Failure::usage(no_text(std::env::args_os())));
    }
    if let Some(words) = perf_options::advice(refusal, std::env::args_os().nth(1).as_deref()) {
        return Err(Failure::usage(words));
    }
    let printed = refusal.print();
    if refusal.use_stderr() {
        return Ok(ExitCode::from(USAGE));
    }
    printed?;
    Ok(ExitCode::SUCCESS)
}

/// Which arguments are no text: clap does not say.
fn no_text(arguments: impl Iterator<Item = OsString>) -> String {
    let words = arguments.filter(|word| word.to_str().is_none());
    let words: Vec<String> = words.map(|word| format!("{word:?}")).collect();
    format!(
        "{}: not UTF-8 text; write names in ASCII, and check that the terminal's encoding is UTF-8",
        words.join(", ")
    )
}

fn run(command: Option<Command>) -> Result<ExitCode, Failure> {
    match command {
        None => {
            writeln!(
                io::stdout(),
                "Three commands to start with:\n\n  \
                 pericore list --machine e5-2600 --metrics bandwidth\n  \
                 pericore stat --machine e5-2600 --workload stream\n  \
                 pericore stat --machine e5-2600 --workload random --truth -M LLC_DRD_MISS_RATIO\n\n\
                 pericore --help shows the rest."
            )?;
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Stat(args)) => stat::run(&args),
        Some(Command::Record(args)) => record::run(&args),
        Some(Command::Report(args)) => report::run(&args).map(|()| ExitCode::SUCCESS),
        Some(Command::Top(args)) => top::run(&args),
        Some(Command::Serve(args)) => serve::run(&args),
        Some(Command::Restore(args)) => restore::run(&args),
        Some(Command::List(args)) => list::run(&args),
        Some(Command::Explain(args)) => explain::run(&args).map(|()| ExitCode::SUCCESS),
        Some(Command::Decode(args)) => decode::run(&args).map(|()| ExitCode::SUCCESS),
        Some(Command::Encode(args)) => encode::run(&args).map(|()| ExitCode::SUCCESS),
        Some(Command::Sweep(args)) => sweep::run(&args),
        Some(Command::Machine(args)) => machine::run(&args),
        Some(Command::Doctor(args)) => doctor::run(&args),
        Some(Command::Completions(args)) => completions::run(&args).map(|()| ExitCode::SUCCESS),
    }
}
