//! `pericore machine`: the software Xeon by itself: its registers, its snapshots, and the doors through which other tools reach it.

mod boot;
mod curve;
mod live;
pub mod opened;
mod registers;
mod relay;
pub mod run;
mod state_folder;
mod true_rates;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::failure::Failure;

/// Arguments of `pericore machine`.
#[derive(Debug, Args)]
pub struct MachineArgs {
    #[command(subcommand)]
    command: MachineCommand,
}

#[derive(Debug, Subcommand)]
enum MachineCommand {
    /// Show a machine: sockets, buses, blocks, and registers that differ from their reset values
    Show {
        #[command(flatten)]
        target: Target,
    },
    /// Read registers by name, `[SOCKET/]UNIT[N]/REGISTER[M]`, or by address, `[SOCKET/]0xd10`, `ff:10.0+0xd8`, `mmio:mem0+0x22840`; what
    /// is left out means all
    Peek {
        #[command(flatten)]
        target: Target,
        /// Registers
        #[arg(required = true, value_name = "REGISTER")]
        names: Vec<String>,
    },
    /// Write registers as software would, in order, and print the machine's snapshot afterwards
    Poke {
        #[command(flatten)]
        target: Target,
        /// Writes
        #[arg(required = true, value_name = "REGISTER=VALUE")]
        writes: Vec<String>,
        /// Write the snapshot to this file instead of standard output
        #[arg(short = 'o', long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Print a machine's snapshot: shape and all PMON state, as text
    Dump {
        #[command(flatten)]
        target: Target,
        /// Write it to this file instead of standard output
        #[arg(short = 'o', long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Run an unmodified program against a live software machine
    Run(run::RunArgs),
    /// Boot Linux in QEMU on a software machine, and run a command there
    Boot(boot::BootArgs),
    /// Measure latency against bandwidth of a machine's memory, in rising load: 13 points, up to two minutes
    Curve(curve::CurveArgs),
    /// Check a snapshot file, and say what it holds
    Load {
        /// Snapshot
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

/// The machine that a command is about.
#[derive(Debug, Args)]
struct Target {
    /// Family, preset or snapshot file, `NAME[:sockets=N,cores=N,…]`
    #[arg(long, value_name = "MACHINE")]
    machine: String,
}

/// Runs the command.
///
/// # Errors
/// A machine, register or file that is not there, or not what it should be.
pub fn run(args: &MachineArgs) -> Result<ExitCode, Failure> {
    match &args.command {
        MachineCommand::Show { target } => registers::show(&mut opened::machine(&target.machine)?)?,
        MachineCommand::Peek { target, names } => registers::peek(&mut opened::machine(&target.machine)?, names)?,
        MachineCommand::Poke { target, writes, output } => {
            let mut machine = opened::machine(&target.machine)?;
            registers::poke(&mut machine, writes)?;
            opened::save(&mut machine, output.as_deref())?;
        }
        MachineCommand::Dump { target, output } => {
            opened::save(&mut opened::machine(&target.machine)?, output.as_deref())?;
        }
        MachineCommand::Run(args) => return run::run(args),
        MachineCommand::Boot(args) => return boot::run(args),
        MachineCommand::Curve(args) => return curve::run(args),
        MachineCommand::Load { file } => registers::show(&mut opened::snapshot(file)?)?,
    }
    Ok(ExitCode::SUCCESS)
}
