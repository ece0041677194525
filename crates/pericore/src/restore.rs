//! `pericore restore`: undoes a session that was killed, from its journal.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use pericore_emulation::start::cpus;
use pericore_observe::linux::Host;
pub use pericore_observe::linux::sessions::this_machine;
use pericore_observe::linux::sessions::{self, meeting_place, state_directory};
use pericore_observe::register_process::{Aftermath, RegisterProcess};
use pericore_observe::session::{Entrance, JournalError, Left, Neighbour, OtherSessions, Restored, Seen};
use pericore_text::printable;

use crate::confined::{ThreadPart, confine};
use crate::failure::Failure;
use crate::measure::{Interrupt, register_process};
use crate::{machine, notice, target};

/// What is missing where there is no directory for journals.
const NO_STATE: &str = "neither XDG_STATE_HOME nor HOME names a folder by an absolute path";

/// Arguments of `pericore restore`.
#[derive(Debug, Args)]
pub struct RestoreArgs {
    /// The journal of the killed session; without it, all in $XDG_STATE_HOME/pericore (~/.local/state/pericore)
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
pub fn run(args: &RestoreArgs) -> Result<ExitCode, Failure> {
    // Before a journal is parsed, which others may have written.
    let registers = match &args.machine {
        None => Some(registers(args.journal.as_deref()).map_err(|failure| failure.to_string())),
        Some(_) => None,
    };
    if registers.is_some() {
        confine(ThreadPart::Measuring, &folders_of_journals(args.journal.as_deref()));
    }
    // From here on no session begins or is put back, and no other `restore` is at work.
    let guard = Guard::new(args)?;
    // A signal that comes now takes its course when the registers hold their old values.
    let interrupt = Interrupt::watch()?;
    let journals = match &args.journal {
        Some(path) => vec![path.clone()],
        None => waiting(&needed_for_all()?)?,
    };
    if journals.is_empty() {
        writeln!(io::stdout(), "no session left anything to restore")?;
    }
    // One journal that cannot be used is no reason to leave the registers of the others as they are.
    let mut failures = Vec::new();
    for path in &journals {
        let mut said = String::new();
        if let Err(failure) = one(args, registers.as_ref(), &guard, path, &mut said) {
            failures.push(failure);
        }
        // A journal may name anything.
        if let Err(error) = io::stdout().write_all(printable(&said).as_bytes()) {
            failures.push(error.into());
        }
    }
    // What only their users can put back.
    for other in guard.sessions().unwrap_or_default().iter().filter(|other| !other.runs) {
        if let Some(user) = other.user {
            writeln!(
                io::stdout(),
                "process {} of user {user} was killed, too: that user puts its registers back",
                other.pid
            )?;
        }
    }
    let last = failures.pop();
    failures.iter().filter(|failure| !failure.is_quiet()).for_each(notice::warn);
    last.map_or_else(|| Ok(interrupt.exit(ExitCode::SUCCESS)), Err)
}

/// This machine, and the process that holds its registers.
struct Registers {
    host: Host,
    process: Arc<RegisterProcess>,
}

fn registers(journal: Option<&Path>) -> Result<Registers, Failure> {
    let host = target::host()?;
    Ok(Registers { process: register_process(&host, aftermath(journal))?, host })
}

/// What keeps sessions of ours away from the registers while they are put back.
struct Guard {
    other_sessions: Option<OtherSessions>,
    _entrance: Option<Entrance>,
}

impl Guard {
    /// Waits until nobody sets up or puts back. A journal that is named is put back also where there is no folder in
    /// which sessions know of each other.
    fn new(args: &RestoreArgs) -> Result<Self, Failure> {
        let all = other_sessions().ok();
        let Some(known) = all.as_ref().filter(|known| args.journal.is_some() || known.is_there()) else {
            return Ok(Self { other_sessions: all, _entrance: None });
        };
        let waiting = |holder: &str| notice::warn(format!("waiting for {holder} to set up or put back"));
        match known.enter_telling(waiting) {
            Ok(entrance) => Ok(Self { other_sessions: all, _entrance: Some(entrance) }),
            Err(error @ JournalError::Directory { .. }) if args.journal.is_some() => {
                notice::warn(error);
                Ok(Self { other_sessions: None, _entrance: None })
            }
            Err(error) => Err(Failure::failed(error)),
        }
    }

    /// The sessions that know of each other.
    fn sessions(&self) -> Result<Vec<Neighbour>, Failure> {
        self.other_sessions.as_ref().map_or(Ok(Vec::new()), |known| known.others().map_err(Failure::failed))
    }
}

/// Undoes one session. What is to be said comes after the registers: nothing about the output may keep them from being
/// put back.
fn one(
    args: &RestoreArgs,
    registers: Option<&Result<Registers, String>>,
    guard: &Guard,
    path: &Path,
    said: &mut String,
) -> Result<(), Failure> {
    let left = match Left::open(path) {
        Ok(Some(left)) => left,
        Ok(None) if args.journal.is_none() => return Ok(()),
        Ok(None) => return Err(Failure::failed(format!("there is no journal {}", path.display()))),
        Err(JournalError::Runs { pid, .. }) => {
            let what = "is still counting; it restores everything when it ends";
            let _ = writeln!(said, "{}: process {pid} {what}", path.display());
            return Ok(());
        }
        Err(error @ (JournalError::None { .. } | JournalError::Unsafe { .. })) if args.journal.is_none() => {
            let _ = writeln!(said, "{error}");
            return Ok(());
        }
        Err(error) => return Err(Failure::failed(error)),
    };
    let journal = &left.journal;
    let _ = writeln!(said, "{}: {} registers of {}", path.display(), journal.saved.len(), journal.machine);
    if journal.machine == this_machine()
        && let Some(other) = left.disturbs(&guard.sessions()?)
    {
        return Err(Failure::failed(format!(
            "{}: process {} has begun to count with these registers since, and puts them back when it ends; nothing was written, remove the journal",
            path.display(),
            other.pid
        )));
    }
    let outcome = match &args.machine {
        Some(machine) if *machine != journal.machine => {
            let named =
                if journal.machine == this_machine() { "leave out --machine" } else { "name that with --machine" };
            return Err(Failure::usage(format!("the journal is about {}, not {machine}: {named}", journal.machine)));
        }
        // Nothing runs on it: only the registers matter.
        Some(machine) => {
            let mut machine = machine::opened::machine(machine)?;
            let (family, cpus) = (machine.shape().family, cpus(machine.shape()));
            journal.restore(&mut machine, family, &cpus, &boot()?)
        }
        None if journal.machine == this_machine() => {
            let unknown = Err(String::new());
            let Registers { host, process } = registers.unwrap_or(&unknown).as_ref().map_err(Failure::failed)?;
            journal.restore(&mut process.connect(None), host.family().map_err(Failure::failed)?, &host.cpus, &boot()?)
        }
        None => {
            for saved in &journal.saved {
                let _ = writeln!(said, "  {saved}");
            }
            return Err(Failure::failed(format!(
                "the registers of {} are not reachable from here; name the software machine with --machine, or write these values by hand",
                journal.machine
            )));
        }
    };
    match outcome.map_err(|error| Failure::failed(format!("{}: {error}", path.display())))? {
        Restored::PutBack { registers, left: bits, others } => {
            // The note first: what it says is true as long as it is there.
            guard
                .other_sessions
                .as_ref()
                .map_or(Ok(()), |known| known.remove_note(journal))
                .map_err(Failure::failed)?;
            left.remove().map_err(Failure::failed)?;
            let undocumented = bits.iter().fold(String::new(), |text, (saved, bits)| {
                text + &format!("  but bits {bits:#x} of {saved} are in no document, and were not written\n")
            });
            let theirs = others.iter().fold(String::new(), |text, saved| {
                text + &format!("  but {saved} was left as another tool has written it since\n")
            });
            let done = format!("  restored {registers} registers and removed the journal\n");
            said.push_str(&(done + &undocumented + &theirs));
        }
        Restored::OtherBoot { found } => {
            let _ = writeln!(said, "  the machine was rebooted since; nothing was written. The registers hold:");
            for (saved, outcome) in found {
                let now = outcome.map_or_else(|error| error.to_string(), |value| format!("now {value:#x}"));
                let _ = writeln!(said, "  {saved}, {now}");
            }
            let _ = writeln!(said, "  if these values are as you want them, remove {}", path.display());
        }
    }
    Ok(())
}

/// What tells this boot from others.
///
/// # Errors
/// The system does not say.
pub fn boot() -> Result<String, Failure> {
    sessions::boot().map_err(unknown_boot)
}

fn unknown_boot(error: io::Error) -> Failure {
    Failure::failed(format!("cannot tell this boot from others: {error}"))
}

/// Where the sessions on this machine know of each other.
///
/// # Errors
/// No directory for state is known, or the system does not tell its boot.
pub fn other_sessions() -> Result<OtherSessions, Failure> {
    sessions::other_sessions(needed_state_directory()?).map_err(unknown_boot)
}

/// The sessions that this user's folder for journals tells of; nothing without it, or rights to it.
pub fn sessions_seen() -> Option<Seen> {
    other_sessions().ok()?.look().ok()
}

/// Where this process keeps its journal. The name is the process's own; who it is, the journal says.
///
/// # Errors
/// No directory for state is known.
pub fn journal_of_this_process() -> Result<PathBuf, Failure> {
    Ok(sessions::journal_of_this_process(&needed_state_directory()?, 0))
}

/// The same for a session, which cannot do without: --journal names another place for its own journal only.
fn needed_state_directory() -> Result<PathBuf, Failure> {
    let advice = "set XDG_STATE_HOME to a folder that this user can write; sessions find each other there";
    state_directory().ok_or_else(|| Failure::usage(format!("{NO_STATE}; {advice}")))
}

/// The same for the journals of all sessions.
fn needed_for_all() -> Result<PathBuf, Failure> {
    state_directory().ok_or_else(|| Failure::usage(format!("{NO_STATE}; name the journal with --journal")))
}

/// What putting back takes, should this process be killed.
pub fn aftermath(journal: Option<&Path>) -> Aftermath {
    Aftermath {
        folders: folders_of_journals(journal),
        other_sessions: other_sessions().ok(),
        machine: this_machine(),
        boot: boot().unwrap_or_default(),
    }
}

/// The folders in which journals are made and removed: that of all sessions, and that of a journal that is named.
pub fn folders_of_journals(named: Option<&Path>) -> Vec<PathBuf> {
    let folder = |journal: &Path| match journal.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    let meeting = meeting_place().map(|place| place.path().to_owned());
    state_directory().into_iter().chain(meeting).chain(named.map(folder)).collect()
}

/// The journals in a directory, the newest first: a later session may have saved what an earlier one had set.
fn waiting(directory: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
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

#[cfg(test)]
mod tests {
    use pericore_observe::session::Journal;

    use super::*;

    /// What one machine's registers held is not written to another's, whichever was named: the journal stays.
    #[test]
    fn a_journal_of_another_machine_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.journal");
        for (about, advice) in [("e5-2600", "name that with --machine"), (&this_machine(), "leave out --machine")] {
            let journal = Journal::of_this_process("boot".to_owned(), about.to_owned(), Vec::new());
            drop(journal.write(&path).unwrap());
            let args = RestoreArgs { journal: Some(path.clone()), machine: Some("nehalem".to_owned()) };
            let guard = Guard { other_sessions: None, _entrance: None };
            // While another test starts a process, that has the journal's lock for a moment, and the journal is in use.
            let tried = (0..1000).find_map(|_| {
                let refused = one(&args, None, &guard, &path, &mut String::new()).err();
                if refused.is_none() {
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
                refused
            });
            let refused = tried.expect("a journal of another machine is refused").to_string();
            let words = format!("the journal is about {about}, not nehalem: {advice}");
            assert!(refused.contains(&words), "{refused}");
            fs::remove_file(&path).unwrap();
        }
    }
}
