//! Other sessions of ours on the same machine: they know each other by their journals, and set up and put back one at a time.
//!
//! A session that freezes or resets a unit keeps it to itself, as does one that sets a filter; sessions that never freeze share a unit counter by counter.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use pericore_catalog::{Family, Role, Unit};

use super::entrance::{Entrance, PATIENCE, PATIENCE_OF_PUTTING_BACK};
use super::files;
use super::hold::{Hold, hold};
use super::on_disk::{Journal, JournalError, JournalFile, io_error};
use crate::discover::Topology;
use crate::plan::Occupied;

/// Where the sessions on a machine keep their journals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neighbourhood {
    directory: PathBuf,
    machine: String,
    boot: String,
}

/// A session that runs, or that was killed and left its journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neighbour {
    /// Its process.
    pub pid: u32,
    /// Its journal file.
    pub path: PathBuf,
    /// What it overwrites.
    pub journal: Journal,
    /// False if it was killed.
    pub runs: bool,
}

impl Neighbourhood {
    /// Sessions on `machine` in this `boot`, with their journals in a directory.
    pub fn new(directory: impl Into<PathBuf>, machine: impl Into<String>, boot: impl Into<String>) -> Self {
        Self { directory: directory.into(), machine: machine.into(), boot: boot.into() }
    }

    /// True if a journal at this path is among those that others look at.
    pub(super) fn holds(&self, path: &Path) -> bool {
        path.parent() == Some(&self.directory) && path.extension().is_some_and(|extension| extension == "journal")
    }

    /// A journal of this process; `number` tells several apart.
    pub fn journal(&self, number: u32) -> JournalFile {
        let path = self.directory.join(format!("{}-{number}.journal", std::process::id()));
        JournalFile { path, boot: self.boot.clone(), machine: self.machine.clone() }
    }

    /// True if some session has made the directory.
    pub fn is_there(&self) -> bool {
        self.directory.is_dir()
    }

    /// Waits until no other session is being set up or put back, but not without limit.
    ///
    /// # Errors
    /// [`JournalError::Directory`] if the directory cannot be made or opened, [`JournalError::Unsafe`] if others can write there,
    /// [`JournalError::Occupied`] if another session takes too long.
    pub fn enter(&self) -> Result<Entrance, JournalError> {
        self.enter_telling(|_| {})
    }

    /// The same; `tell` hears once for whom it waits.
    ///
    /// # Errors
    /// As [`enter`](Self::enter).
    pub fn enter_telling(&self, tell: impl FnMut(&str)) -> Result<Entrance, JournalError> {
        Entrance::of(&self.directory, PATIENCE, tell)
    }

    /// The same for putting back, which cannot wait for long.
    pub(super) fn enter_to_put_back(&self) -> Result<Entrance, JournalError> {
        Entrance::of(&self.directory, PATIENCE_OF_PUTTING_BACK, |_| {})
    }

    fn unusable(&self, error: &io::Error) -> JournalError {
        JournalError::Directory { path: self.directory.display().to_string(), message: error.to_string() }
    }

    /// The sessions on this machine and in this boot that run or have left something behind, by process.
    ///
    /// # Errors
    /// [`JournalError`] if a journal cannot be read.
    pub fn others(&self) -> Result<Vec<Neighbour>, JournalError> {
        Ok(self.look()?.sessions)
    }

    /// The same, and what is in the directory under a journal's name and is none.
    ///
    /// # Errors
    /// [`JournalError`] if a journal cannot be read.
    pub fn look(&self) -> Result<Seen, JournalError> {
        let entries = match fs::read_dir(&self.directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Seen::default()),
            Err(error) => return Err(self.unusable(&error)),
        };
        let mut seen = Seen::default();
        for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
            if path.extension().is_none_or(|extension| extension != "journal") {
                continue;
            }
            match self.session_of(&path) {
                Ok(session) => seen.sessions.extend(session),
                Err(error @ (JournalError::Unsafe { .. } | JournalError::None { .. })) => seen.left_aside.push(error),
                Err(error) => return Err(error),
            }
        }
        seen.sessions.sort_by(|a, b| (a.pid, &a.path).cmp(&(b.pid, &b.path)));
        Ok(seen)
    }

    /// The session of a journal, if it is of this machine and boot.
    fn session_of(&self, path: &Path) -> Result<Option<Neighbour>, JournalError> {
        // One that ends at this moment takes its file along.
        let Some(file) = files::open_journal(path)? else { return Ok(None) };
        let journal = Journal::of_file(&file, path)?;
        let runs = is_locked(&file, path)?;
        let is_here = journal.machine == self.machine && journal.boot == self.boot;
        Ok(is_here.then(|| Neighbour { pid: journal.pid, path: path.to_owned(), journal, runs }))
    }
}

/// What lies in the directory of all journals.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// The sessions, by process.
    pub sessions: Vec<Neighbour>,
    /// Why each other file is no journal, or none that can be trusted. Nobody but this user and root made them.
    pub left_aside: Vec<JournalError>,
}

/// True if somebody holds a journal: its session, as long as it runs.
pub(super) fn is_locked(file: &File, path: &Path) -> Result<bool, JournalError> {
    let free = hold(file, Hold::BesideOrNot).map_err(|error| io_error("lock", path, &error))?;
    Ok(!free)
}

impl Neighbour {
    /// True once the session has ended.
    ///
    /// # Errors
    /// [`JournalError::Io`].
    pub fn has_ended(&self) -> Result<bool, JournalError> {
        files::open_journal(&self.path)?.map_or(Ok(true), |file| is_locked(&file, &self.path).map(|held| !held))
    }

    /// Waits until the session has ended.
    ///
    /// # Errors
    /// [`JournalError::Io`], also if a signal came in between.
    pub fn wait(&self) -> Result<(), JournalError> {
        let Some(file) = files::open_journal(&self.path)? else { return Ok(()) };
        hold(&file, Hold::Beside).map(|_| ()).map_err(|error| io_error("wait for", &self.path, &error))
    }

    /// Notes what the session uses and must not be disturbed in.
    pub fn claim(&self, topology: &Topology, occupied: &mut Occupied) {
        for saved in &self.journal.saved {
            let Some((unit, number)) = instance_of(topology.family, &saved.instance) else { continue };
            let named = unit.registers.iter().flat_map(|register| (0..register.count).map(move |n| (register, n)));
            let found = named.into_iter().find(|(register, member)| register.member_name(*member) == saved.register);
            let Some((register, member)) = found else { continue };
            match register.role {
                Role::Control => occupied.note(saved.socket, unit, number, Some(member)),
                Role::FixedControl => occupied.note(saved.socket, unit, number, None),
                // The socket's freeze stops everything in it.
                Role::GlobalControl if register.field("frz_all").is_some() => {
                    let socket = topology.sockets.iter().find(|socket| socket.number == saved.socket);
                    for unit in topology.family.units {
                        let present = socket.map_or_else(Vec::new, |socket| socket.present(unit));
                        present.into_iter().for_each(|number| occupied.note_whole(saved.socket, unit, number));
                    }
                }
                _ => occupied.note_whole(saved.socket, unit, number),
            }
        }
    }
}

/// The instance of a name as in `InstancePlan::name`: `cbo3`, or `ubox` where there is one.
pub(super) fn instance_of(family: &Family, name: &str) -> Option<(&'static Unit, u16)> {
    family.units.iter().find_map(|unit| {
        let rest = name.strip_prefix(unit.name)?;
        let number = if rest.is_empty() && unit.instances == 1 { 0 } else { rest.parse().ok()? };
        (number < unit.instances).then_some((*unit, number))
    })
}
