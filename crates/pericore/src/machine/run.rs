//! `pericore machine run`: an unmodified program on a live software machine.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use pericore_catalog::Family;
use pericore_doors::{Command, ConstantRates, LiveMachine, Options, Traffic, run_machine};
use pericore_machine::MachineSpec;
use pericore_machine::steady::Pace;

use crate::failure::Failure;

/// Arguments of `pericore machine run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Family or preset
    #[arg(long, value_name = "MACHINE")]
    machine: String,
    /// Sockets
    #[arg(long, value_name = "N")]
    sockets: Option<u16>,
    /// Workload that goes on while the program runs, such as stream or random:footprint=1G,read=70; its steady phase is measured
    /// first, then repeated in real time
    #[arg(long, value_name = "NAME[:KEY=VALUE,...]", conflicts_with = "inject")]
    workload: Option<String>,
    /// Emit a signal at a constant rate in every instance of a unit; without any, only clocks count
    #[arg(long, value_name = "UNIT/EVENT[.SUBEVENT]=PER_SECOND")]
    inject: Vec<String>,
    /// Log every access, with its meaning, to this file
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Fail if the accesses differ from those in this file
    #[arg(long, value_name = "FILE")]
    expect: Option<PathBuf>,
    /// Kill the program after so many seconds
    #[arg(long, value_name = "SECONDS")]
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
    let spec = spec(args)?;
    let (machine, traffic): (LiveMachine, Box<dyn Traffic>) = match &args.workload {
        Some(workload) => {
            let (machine, steady) =
                LiveMachine::with_workload(&spec, workload, &Pace::default()).map_err(Failure::usage)?;
            (machine, Box::new(steady.replay()))
        }
        None => {
            let sockets = spec.shape().map_err(Failure::usage)?.sockets;
            let mut machine = LiveMachine::new(spec.family(), sockets).map_err(Failure::usage)?;
            let mut traffic = ConstantRates::new(machine.ticks_per_second());
            for text in &args.inject {
                inject(text, spec.family(), &mut machine, &mut traffic)?;
            }
            (machine, Box::new(traffic))
        }
    };
    let mut words = args.program.iter().cloned();
    let command =
        Command { program: words.next().unwrap_or_default(), arguments: words.collect(), ..Command::default() };
    let options = Options {
        log: args.log.clone(),
        expect: args.expect.clone(),
        timeout: args.timeout.map(Duration::from_secs),
        ..Options::default()
    };
    let finished = run_machine(machine, traffic, command, &options).map_err(Failure::failed)?;
    Ok(ExitCode::from(finished.outcome.shell_status() as u8))
}

/// The machine of the command line.
fn spec(args: &RunArgs) -> Result<MachineSpec, Failure> {
    let text = match args.sockets {
        Some(sockets) if args.machine.contains(':') => format!("{},sockets={sockets}", args.machine),
        Some(sockets) => format!("{}:sockets={sockets}", args.machine),
        None => args.machine.clone(),
    };
    MachineSpec::parse(&text).map_err(Failure::usage)
}

/// Adds the traffic that an `--inject` asks for.
///
/// # Errors
/// A text that is none, or names what the family does not have.
pub fn inject(
    text: &str,
    family: &Family,
    machine: &mut LiveMachine,
    traffic: &mut ConstantRates,
) -> Result<(), Failure> {
    let wrong = || {
        Failure::usage(format!(
            "{text:?}: give UNIT/EVENT[.SUBEVENT]=PER_SECOND, for example imc/CAS_COUNT.RD_REG=1000000"
        ))
    };
    let (name, rate) = text.split_once('=').ok_or_else(wrong)?;
    let (unit, event) = name.split_once('/').ok_or_else(wrong)?;
    let rate: u64 = rate.parse().map_err(|_| wrong())?;
    let instances = family.unit(unit).ok_or_else(wrong)?.instances;
    for instance in 0..instances {
        match event.split_once('.') {
            Some((event, subevent)) => traffic
                .subevent(&mut machine.wiring, (unit, instance), (event, subevent), rate)
                .map_err(Failure::usage)?,
            None => {
                for socket in 0..machine.wiring.sockets() {
                    let wire = machine.wiring.signal(socket, unit, instance, event).map_err(Failure::usage)?;
                    traffic.pulses(wire, 0, rate);
                }
            }
        }
    }
    Ok(())
}
