//! `pericore serve`: measures all the time, and hands the numbers to whoever scrapes them.
//!
//! Samples are taken by the clock, never by a scrape: however many ask, and however often, no register is read for
//! it, and nobody gets other numbers because of others.

mod exporter;
#[cfg(feature = "tls")]
mod guard;
mod live;
#[cfg(feature = "otlp")]
mod push;
#[cfg(test)]
mod tests;

use std::process::ExitCode;

use clap::Args;
use pericore_exporter::{Hosts, Listen};
use pericore_observe::results::Scope;

use crate::failure::Failure;
use crate::measure::{Course, MeasureArgs, Task};
use crate::target;
use crate::warm::WarmArgs;
use exporter::Exporter;

/// Milliseconds: counters stand while they are read, and in a shorter interval that is much of the time.
const LEAST_INTERVAL: f64 = 10.0;

/// Arguments of `pericore serve`.
#[derive(Debug, Args)]
pub struct ServeArgs {
    #[command(flatten)]
    measure: MeasureArgs,
    /// Where to listen: `ADDR:PORT`, `:PORT` for all addresses, or `unix:/path` for a socket of mode 0660
    #[arg(long, value_name = "PLACE", default_value = "127.0.0.1:9988")]
    listen: Listen,
    /// Accept requests for this host name, besides the server's addresses, localhost and the machine's own name; others
    /// are refused, as protection against DNS rebinding. `*` accepts any; repeat the option for several
    #[arg(long, value_name = "NAME", value_parser = host_name)]
    host: Vec<String>,
    /// Sampling interval in milliseconds, at least 10; shorter if a counter could wrap within it
    #[arg(short = 'I', long, value_name = "MS", default_value_t = 10_000.0, allow_negative_numbers = true)]
    interval: f64,
    /// Export values of each unit instance instead of each socket
    #[arg(short = 'A', long)]
    per_unit: bool,
    #[command(flatten)]
    warm: WarmArgs,
    #[cfg(feature = "tls")]
    #[command(flatten)]
    guard: guard::GuardArgs,
    #[cfg(feature = "otlp")]
    #[command(flatten)]
    push: push::PushArgs,
}

/// Runs the command.
///
/// # Errors
/// A command line that cannot be carried out, a place where others listen, or a run that failed.
pub fn run(args: &ServeArgs) -> Result<ExitCode, Failure> {
    if args.interval > 0.0 && args.interval < LEAST_INTERVAL {
        return Err(Failure::usage(format!(
            "-I {}: reading would take much of so short an interval; give at least {LEAST_INTERVAL} ms, or count with pericore stat -I",
            args.interval
        )));
    }
    // What is wrong is said before a machine is set going.
    #[cfg(feature = "tls")]
    args.guard.read(&args.listen)?;
    #[cfg(feature = "otlp")]
    args.push.check()?;
    let course = args.course();
    Task { args: &args.measure, course: &course }.run_live(&args.warm, &mut Exporter::new(args))
}

/// A name that a request may have.
fn host_name(text: &str) -> Result<String, String> {
    if text.is_empty() || text.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err("give a name, such as monitor.example.org, or * for any".to_owned());
    }
    Ok(text.to_owned())
}

impl ServeArgs {
    /// The names that requests may call the server by.
    fn hosts(&self) -> Hosts {
        if matches!(self.listen, Listen::Unix(_)) {
            return Hosts::any();
        }
        let own = target::host_name().unwrap_or_default();
        let short = own.split('.').next().unwrap_or_default();
        let names = [&*own, short].into_iter().filter(|name| !name.is_empty()).map(str::to_owned);
        Hosts::named(names.chain(self.host.iter().cloned()))
    }

    /// When samples are taken.
    const fn course(&self) -> Course {
        Course {
            interval: Some(self.interval),
            intervals: None,
            period: None,
            repeat: 1,
            truth: false,
            is_sparing: true,
            sampling: None,
        }
    }

    /// What numbers are added up over.
    const fn scope(&self) -> Scope {
        if self.per_unit { Scope::Instance } else { Scope::Socket }
    }
}
