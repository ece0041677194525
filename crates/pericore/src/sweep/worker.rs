//! A worker process: one run, from JSON on standard input to a table on standard output.

use std::io::{self, Read, Write};
use std::process::ExitCode;

use pericore_sweep::SweepRun;
use rustix::process::{Signal, set_parent_process_death_signal};

use crate::failure::Failure;

/// Carries out the run, and writes the digest of its table and the table.
///
/// # Errors
/// Input that is no run, or a run that fails.
pub fn run() -> Result<ExitCode, Failure> {
    // A worker without the process that started it would run for nobody. If the kernel refuses, it ends when it writes.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    let mut text = Vec::new();
    io::stdin().lock().read_to_end(&mut text).map_err(Failure::failed)?;
    let run: SweepRun = serde_json::from_slice(&text)
        .map_err(|error| Failure::usage(format!("--worker: no run on standard input: {error}; name a file instead")))?;
    let table = run.carry_out().map_err(Failure::failed)?;
    let mut out = io::stdout().lock();
    out.write_all(table.digest.as_bytes())?;
    out.write_all(&table.bytes)?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
