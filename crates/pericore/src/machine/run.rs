//! `pericore machine run`: an unmodified program on a live software machine.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use pericore_doors::{Command, DoorsError, LiveMachine, Options, Traffic, run_machine};

use super::live::LiveArgs;
use super::relay::{self, Relay};
use super::state_folder::StateFolder;
use crate::failure::Failure;
use crate::measure::{Ender, STANDS_IN, WaitLine};
use crate::warm::WarmArgs;

/// Arguments of `pericore machine run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    live: LiveArgs,
    /// Log every access, with its meaning, to this file
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Fail if the accesses differ from those in this file
    #[arg(long, value_name = "FILE")]
    expect: Option<PathBuf>,
    /// Kill the program after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    /// Program and arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// Set for a command that was started again on a live machine: there `--machine` is fulfilled already. It says where to hear of the end.
const WITHIN: &str = "PERICORE_WITHIN";

/// Runs the program; its exit status is ours.
///
/// # Errors
/// A machine or signal that cannot be, a host that lacks something, accesses that are not as expected.
pub fn run(args: &RunArgs) -> Result<ExitCode, Failure> {
    let options = Options {
        log: args.log.clone(),
        expect: args.expect.clone(),
        timeout: args.timeout.map(Duration::from_secs),
        ..Options::default()
    };
    start(args.live.open()?, &args.live, args.program.clone(), &[], &options)
}

/// True if this command was started by [`again`].
pub fn is_within() -> bool {
    std::env::var_os(WITHIN).is_some()
}

/// Ends the measurement of a command that was started by [`again`] when that is asked to end.
///
/// # Errors
/// The system refuses a thread.
pub fn end_with_keeper(ender: &Ender) -> Result<(), Failure> {
    std::env::var(WITHIN).map_or(Ok(()), |address| relay::listen(&address, ender))
}

/// Runs this very command line again on a live software machine, whose time is that of the wall: there it finds registers as on a Xeon.
///
/// # Errors
/// As [`run`].
pub fn again(machine: &str, workload: Option<&str>, warm: &WarmArgs) -> Result<ExitCode, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::failed(format!("cannot tell where this program is: {error}")))?;
    let words = std::iter::once(program.into_os_string()).chain(std::env::args_os().skip(1));
    let live = LiveArgs::named(machine, workload, warm);
    let line = WaitLine::new("preparing the machine…");
    let opened = live.open();
    drop(line);
    let opened = opened?;
    // Not before: until here a signal may well end us at once.
    let relay = Relay::begin()?;
    let state = StateFolder::new()?;
    let environment = [(WITHIN.into(), relay.address().into()), ("XDG_STATE_HOME".into(), state.path().into())];
    let status = start(opened, &live, words.collect(), &environment, &Options::default());
    drop(state);
    Ok(relay.exit(status?))
}

fn start(
    (machine, traffic): (LiveMachine, Box<dyn Traffic>),
    live: &LiveArgs,
    words: Vec<OsString>,
    environment: &[(OsString, OsString)],
    options: &Options,
) -> Result<ExitCode, Failure> {
    let stands_in = (STANDS_IN.into(), live.spec()?.preset().into());
    let mut words = words.into_iter();
    let command = Command {
        program: words.next().unwrap_or_default(),
        arguments: words.collect(),
        environment: environment.iter().cloned().chain([stands_in]).collect(),
        ..Command::default()
    };
    let finished = run_machine(machine, traffic, command, options).map_err(|error| match &error {
        DoorsError::Program { source, .. } => Failure::not_started(&error, source.kind() != ErrorKind::NotFound),
        _ => Failure::failed(error),
    })?;
    Ok(ExitCode::from(finished.outcome.shell_status() as u8))
}
