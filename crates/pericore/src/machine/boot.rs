//! `pericore machine boot`: Linux's own drivers, and any tool, in a guest on a software machine.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clap::Args;
use pericore_doors::guest::{self, Boot, GuestError, Hardware, Output, Prepared};

use super::live::LiveArgs;
use crate::failure::Failure;
use crate::measure::STANDS_IN;
use crate::notice;

/// Exit status of a run that took too long: what timeout(1) uses.
const TIMED_OUT: u8 = 124;

/// Without a command: the PMUs that the guest's kernel has found.
const DEFAULT: [&str; 3] = ["sh", "-c", "cd /sys/bus/event_source/devices && printf '%s\\n' uncore*"];

/// Arguments of `pericore machine boot`.
#[derive(Debug, Args)]
pub struct BootArgs {
    #[command(flatten)]
    live: LiveArgs,
    /// Log every register access, with its meaning, to this file
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Stop the guest after this many seconds, including its boot
    #[arg(long, default_value_t = 300, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,
    /// Copy a program of this machine into the guest, with its libraries; pericore is always copied
    #[arg(long, value_name = "PROGRAM")]
    bring: Vec<PathBuf>,
    /// Bring up every CPU, not only the first of each socket: slower, but some tools need it
    #[arg(long)]
    all_cpus: bool,
    /// Count instructions and cycles of the guest's CPUs, for `perf stat -e instructions` there: half as slow again
    #[arg(long)]
    core_pmu: bool,
    /// Model number that the processor reports, for tools that only know a predecessor
    #[arg(long, value_name = "N")]
    cpu_model: Option<u8>,
    /// Additional kernel parameters for the guest, such as `lockdown=integrity`
    #[arg(long, value_name = "ARGS", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    append: String,
    /// QEMU to use
    #[arg(long, default_value = "qemu-system-x86_64", value_name = "PROGRAM")]
    qemu: String,
    /// Command to run in the guest, and its arguments; without one, the guest's uncore PMUs are listed
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Boots and runs the command; its exit status is ours.
///
/// # Errors
/// A machine or signal that cannot be, a host that lacks something, a guest that does not come to its end.
pub fn run(args: &BootArgs) -> Result<ExitCode, Failure> {
    let (machine, traffic) = args.live.open()?;
    let mut boot = Boot::new(args.command.clone());
    if boot.command.is_empty() {
        boot.command = DEFAULT.map(str::to_owned).to_vec();
    }
    boot.environment.push((STANDS_IN.to_owned(), args.live.spec()?.preset().to_owned()));
    boot.programs.push(std::env::current_exe()?);
    boot.programs.extend_from_slice(&args.bring);
    boot.timeout = Duration::from_secs(args.timeout);
    boot.qemu.clone_from(&args.qemu);
    boot.cpu_model = args.cpu_model;
    boot.all_cpus = args.all_cpus;
    boot.core_pmu = args.core_pmu;
    boot.append.clone_from(&args.append);
    boot.check_qemu().map_err(Failure::failed)?;

    let ticks_per_second = machine.ticks_per_second();
    let mut hardware = Hardware::new(machine.into_chassis(), traffic, ticks_per_second);
    if let Some(log) = &args.log {
        hardware.log_to(log).map_err(Failure::failed)?;
    }
    let hardware = Arc::new(Mutex::new(hardware));
    let prepared = prepare().map_err(Failure::failed)?;
    let output = Output { out: Box::new(io::stdout()), errors: Box::new(io::stderr()) };
    let report = guest::run(&prepared, &boot, &hardware, output);
    // The log of a run that failed tells why.
    let mut hardware = hardware.lock().unwrap_or_else(PoisonError::into_inner);
    let uncounted: Vec<String> = hardware
        .uncounted_core_events()
        .map(|selected| format!("{:#04x} with umask {:#04x}", selected & 0xff, selected >> 8))
        .collect();
    if !uncounted.is_empty() {
        notice::warn(format!(
            "the guest's cores count instructions and cycles alone: its counts of these events are 0, whatever ran: {}",
            uncounted.join(", ")
        ));
    }
    let logged = hardware.finish_log();
    let report = report.map_err(|error| match error {
        GuestError::TimedOut { .. } => Failure::with_status(error, TIMED_OUT),
        _ => Failure::failed(error),
    })?;
    logged.map_err(Failure::failed)?;
    Ok(ExitCode::from(report.status))
}

fn prepare() -> Result<Prepared, GuestError> {
    let place = Prepared::place()?;
    if !place.exists() {
        notice::warn(format!("preparing a guest from Debian's packages, once: 110 MB, into {}", place.display()));
    }
    Prepared::at(place)
}
