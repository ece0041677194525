//! `pericore restore`: undoes a session that was killed, from its journal.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use pericore_machine::workload::Workload;
use pericore_machine::{Machine, MachineSpec};
use pericore_observe::session::{Journal, Restored};

use crate::failure::Failure;

/// Arguments of `pericore restore`.
#[derive(Debug, Args)]
pub struct RestoreArgs {
    /// The journal of the killed session; without it, all in the state directory
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// The software machine whose registers the journal is about
    #[arg(long, value_name = "MACHINE")]
    machine: Option<String>,
}

/// Runs the command.
///
/// # Errors
/// A journal that cannot be read, or registers that cannot be reached.
pub fn run(args: &RestoreArgs) -> Result<(), Failure> {
    let journals = match &args.journal {
        Some(path) => vec![path.clone()],
        None => waiting(&state_directory()?)?,
    };
    if journals.is_empty() {
        println!("no session has left anything behind");
    }
    journals.iter().try_for_each(|path| one(args, path))
}

fn one(args: &RestoreArgs, path: &Path) -> Result<(), Failure> {
    let journal = Journal::read(path).map_err(Failure::failed)?;
    println!("{}: {} registers of {}", path.display(), journal.saved.len(), journal.machine);
    let Some(machine) = &args.machine else {
        for saved in &journal.saved {
            println!("  {saved}");
        }
        return Err(Failure::failed(format!(
            "the registers of {} are not reachable from here; name the software machine with --machine, or write these values by hand",
            journal.machine
        )));
    };
    if *machine != journal.machine {
        return Err(Failure::usage(format!(
            "the journal is about {}, not {machine}: name that with --machine",
            journal.machine
        )));
    }
    let spec = MachineSpec::parse(machine).map_err(Failure::usage)?;
    let limits = spec.limits().map_err(Failure::usage)?;
    // Nothing runs: only the registers matter.
    let workload = Workload::parse("stream", &limits).map_err(Failure::failed)?;
    let mut machine = Machine::new(&spec, &workload).map_err(Failure::usage)?;
    match journal.restore(&mut machine, &boot()?).map_err(Failure::failed)? {
        Restored::PutBack { registers } => {
            Journal::remove(path).map_err(Failure::failed)?;
            println!("  {registers} registers hold their old values again; the journal is removed");
        }
        Restored::OtherBoot { found } => {
            println!("  the machine was started anew since; nothing was written. The registers hold:");
            for (saved, outcome) in found {
                let now = outcome.map_or_else(|error| error.to_string(), |value| format!("now {value:#x}"));
                println!("  {saved}, {now}");
            }
            println!("  if nothing of this is in the way, remove {}", path.display());
        }
    }
    Ok(())
}

/// What tells this boot from others.
///
/// # Errors
/// The system does not say.
pub fn boot() -> Result<String, Failure> {
    const SOURCE: &str = "/proc/sys/kernel/random/boot_id";
    let text = fs::read_to_string(SOURCE)
        .map_err(|error| Failure::failed(format!("cannot tell this boot from others: {SOURCE}: {error}")))?;
    Ok(text.trim().to_owned())
}

/// Where journals are kept, by the XDG base directory rules.
fn state_directory() -> Result<PathBuf, Failure> {
    let of = |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = of("XDG_STATE_HOME").or_else(|| Some(of("HOME")?.join(".local/state")));
    let state =
        state.ok_or_else(|| Failure::usage("neither XDG_STATE_HOME nor HOME is set; name the file with --journal"))?;
    Ok(state.join("pericore"))
}

/// The journals in a directory, the newest first: a later session may have saved what an earlier one had set.
fn waiting(directory: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Failure::failed(format!("cannot look into {}: {error}", directory.display()))),
    };
    let mut found: Vec<_> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "journal"))
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    found.sort();
    Ok(found.into_iter().rev().map(|(_, path)| path).collect())
}
