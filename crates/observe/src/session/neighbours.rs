//! Other sessions of ours on the same machine: they know each other by their journals, and set up and put back one at a time.
//!
//! A session that freezes or resets a unit keeps it to itself, as does one that sets a filter; sessions that never freeze share a unit counter by counter.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use pericore_catalog::{Role, Unit};

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

/// The right to set up or put back, until it is dropped.
#[derive(Debug)]
pub struct Entrance {
    _file: File,
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

    /// Waits until no other session is being set up or put back.
    ///
    /// # Errors
    /// [`JournalError::Directory`] if the directory cannot be made or opened.
    pub fn enter(&self) -> Result<Entrance, JournalError> {
        let fail = |error: &io::Error| self.unusable(error);
        fs::create_dir_all(&self.directory).map_err(|error| fail(&error))?;
        let file = File::open(&self.directory).map_err(|error| fail(&error))?;
        hold(&file, Hold::Alone).map_err(|error| fail(&error))?;
        Ok(Entrance { _file: file })
    }

    fn unusable(&self, error: &io::Error) -> JournalError {
        JournalError::Directory { path: self.directory.display().to_string(), message: error.to_string() }
    }

    /// The sessions on this machine and in this boot that run or have left something behind, by process.
    ///
    /// # Errors
    /// [`JournalError`] if a journal cannot be read.
    pub fn others(&self) -> Result<Vec<Neighbour>, JournalError> {
        let entries = match fs::read_dir(&self.directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(self.unusable(&error)),
        };
        let mut found = Vec::new();
        for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
            if path.extension().is_none_or(|extension| extension != "journal") {
                continue;
            }
            // One that ends at this moment takes its file along.
            let Some(runs) = is_held(&path)? else { continue };
            let journal = Journal::read(&path)?;
            if journal.machine == self.machine && journal.boot == self.boot {
                found.push(Neighbour { pid: journal.pid, path, journal, runs });
            }
        }
        found.sort_by(|a, b| (a.pid, &a.path).cmp(&(b.pid, &b.path)));
        Ok(found)
    }
}

/// True if the session that wrote the journal still runs; nothing if there is no such file.
pub(super) fn is_held(path: &Path) -> Result<Option<bool>, JournalError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io_error("read", path, &error)),
    };
    let free = hold(&file, Hold::BesideOrNot).map_err(|error| io_error("lock", path, &error))?;
    Ok(Some(!free))
}

impl Neighbour {
    /// True once the session has ended.
    ///
    /// # Errors
    /// [`JournalError::Io`].
    pub fn has_ended(&self) -> Result<bool, JournalError> {
        Ok(is_held(&self.path)? != Some(true))
    }

    /// Waits until the session has ended.
    ///
    /// # Errors
    /// [`JournalError::Io`], also if a signal came in between.
    pub fn wait(&self) -> Result<(), JournalError> {
        match File::open(&self.path) {
            Ok(file) => hold(&file, Hold::Beside).map(|_| ()).map_err(|error| io_error("wait for", &self.path, &error)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(io_error("read", &self.path, &error)),
        }
    }

    /// Notes what the session uses and must not be disturbed in.
    pub fn claim(&self, topology: &Topology, occupied: &mut Occupied) {
        for saved in &self.journal.saved {
            let Some((unit, number)) = instance_of(topology, &saved.instance) else { continue };
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
fn instance_of(topology: &Topology, name: &str) -> Option<(&'static Unit, u16)> {
    topology.family.units.iter().find_map(|unit| {
        let rest = name.strip_prefix(unit.name)?;
        let number = if rest.is_empty() && unit.instances == 1 { 0 } else { rest.parse().ok()? };
        (number < unit.instances).then_some((*unit, number))
    })
}
