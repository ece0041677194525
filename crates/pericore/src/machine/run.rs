//! `pericore machine run`: an unmodified program on a live software machine.

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
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

/// Set for a command that was started again on a live machine: there `--machine` is fulfilled already.
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
    on(&args.live, args.program.clone(), &[], &options)
}

/// True if this command was started by [`again`].
pub fn is_within() -> bool {
    std::env::var_os(WITHIN).is_some()
}

/// Runs this very command line again on a live software machine, whose time is that of the wall: there it finds registers as on a Xeon.
///
/// # Errors
/// As [`run`].
pub fn again(machine: &str, workload: Option<&str>) -> Result<ExitCode, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::failed(format!("cannot tell where this program is: {error}")))?;
    let words = std::iter::once(program.into_os_string()).chain(std::env::args_os().skip(1));
    let state = OwnState::new()?;
    let environment = [(WITHIN.into(), "1".into()), ("XDG_STATE_HOME".into(), state.0.clone().into_os_string())];
    on(&LiveArgs::named(machine, workload), words.collect(), &environment, &Options::default())
}

/// A folder for the journals of a machine that ends with us, so that a run that is killed is in nobody's way. It goes when it is dropped.
struct OwnState(PathBuf);

impl OwnState {
    fn new() -> Result<Self, Failure> {
        // A name of its own each time: one that is there already is somebody else's.
        for number in 0..1000 {
            let path = std::env::temp_dir().join(format!("pericore-within-{}-{number}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Failure::failed(format!("cannot make {}: {error}", path.display()))),
            }
        }
        Err(Failure::failed("there is no room for a folder of this run's own; name another place with TMPDIR"))
    }
}

impl Drop for OwnState {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn on(
    live: &LiveArgs,
    words: Vec<OsString>,
    environment: &[(OsString, OsString)],
    options: &Options,
) -> Result<ExitCode, Failure> {
    let (machine, traffic) = live.open()?;
    let stands_in = (STANDS_IN.into(), live.spec()?.preset().into());
    let mut words = words.into_iter();
    let command = Command {
        program: words.next().unwrap_or_default(),
        arguments: words.collect(),
        environment: environment.iter().cloned().chain([stands_in]).collect(),
        ..Command::default()
    };
    let finished = run_machine(machine, traffic, command, options).map_err(Failure::failed)?;
    Ok(ExitCode::from(finished.outcome.shell_status() as u8))
}
