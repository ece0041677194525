//! `pericore machine run`: an unmodified program on a live software machine.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use pericore_doors::{Command, Options, run_machine};

use super::live::LiveArgs;
use crate::failure::Failure;
use crate::measure::STANDS_IN;

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
    /// Kill the program after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    /// Program and arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// Runs the program; its exit status is ours.
///
/// # Errors
/// A machine or signal that cannot be, a host that lacks something, accesses that are not as expected.
pub fn run(args: &RunArgs) -> Result<ExitCode, Failure> {
    let (machine, traffic) = args.live.open()?;
    let mut words = args.program.iter().cloned();
    let command = Command {
        program: words.next().unwrap_or_default(),
        arguments: words.collect(),
        environment: vec![(STANDS_IN.into(), args.live.spec()?.preset().into())],
        ..Command::default()
    };
    let options = Options {
        log: args.log.clone(),
        expect: args.expect.clone(),
        timeout: args.timeout.map(Duration::from_secs),
        ..Options::default()
    };
    let finished = run_machine(machine, traffic, command, &options).map_err(Failure::failed)?;
    Ok(ExitCode::from(finished.outcome.shell_status() as u8))
}
