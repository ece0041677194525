//! The journal on disk: what a session overwrites, written and synced before the first write, so that even a killed
//! session can be undone.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use pericore_registers::Outcome;

use super::files;
use super::journal::Saved;
use super::part;
use crate::process;

/// What the first line of every journal begins with; the version of the format follows.
pub(super) const MARK: &str = "pericore journal ";

/// The version that is written: beside old values it has those that the session writes.
pub(super) const VERSION: &str = "2";

/// The version before, which is still read.
pub(super) const EARLIER: &str = "1";

/// Where a session keeps its journal, and what tells this machine and boot from others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalFile {
    /// The file; it must not exist yet.
    pub path: PathBuf,
    /// Identity of this boot, for example `/proc/sys/kernel/random/boot_id`.
    pub boot: String,
    /// The machine as the user names it; `local` for the one that this program runs on.
    pub machine: String,
}

/// A journal's contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Journal {
    /// The process of the session.
    pub pid: u32,
    /// When it was started, in clock ticks since boot: another process may get its number. 0 if that is not known.
    pub started: u64,
    /// The boot in which it was written.
    pub boot: String,
    /// The machine.
    pub machine: String,
    /// The registers that were to be overwritten, in the order of putting them back.
    pub saved: Vec<Saved>,
}

/// A journal that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JournalError {
    /// The file is there already.
    #[error(
        "{path} exists: a session that used it was killed, or still runs; end it, then put its registers back with `pericore restore --journal {path}`"
    )]
    Exists {
        /// File.
        path: String,
    },
    /// The file is there already, and is somebody else's.
    #[error("{path} exists and is no journal; name a file with --journal that is not there yet")]
    Taken {
        /// File.
        path: String,
    },
    /// Another process is at it.
    #[error("another process holds the lock of {path}, and is putting its registers back; try again when it has ended")]
    Restored {
        /// File.
        path: String,
    },
    /// The file is something else.
    #[error("{path} is no journal of pericore; remove it, or give it another name")]
    None {
        /// File.
        path: String,
    },
    /// Another session takes too long.
    #[error(
        "{holder} holds {path}, and has been setting up or putting back for long; look what it does, or end it, and try again"
    )]
    Occupied {
        /// The lock.
        path: String,
        /// Who has it.
        holder: String,
    },
    /// The session still runs.
    #[error("the session of {path} still runs, in process {pid}; end that process, it puts everything back itself")]
    Runs {
        /// File.
        path: String,
        /// The process.
        pid: u32,
    },
    /// The file cannot be written, read or removed.
    #[error("cannot {action} the journal {path}: {message}; name another with --journal FILE")]
    Io {
        /// What was tried.
        action: &'static str,
        /// File.
        path: String,
        /// The system's message.
        message: String,
    },
    /// The directory of all sessions' journals cannot be used.
    #[error(
        "cannot use {path}, where sessions know of each other: {message}; set XDG_STATE_HOME to a folder that this user can write"
    )]
    Directory {
        /// Directory.
        path: String,
        /// The system's message.
        message: String,
    },
    /// The folder in which sessions of all users know of each other cannot be used.
    #[error(
        "cannot use {path}, where sessions of all users know of each other: {message}; correct its owner and mode, or \
         remove it (root makes it anew)"
    )]
    Meeting {
        /// Directory.
        path: String,
        /// What is wrong.
        message: String,
    },
    /// Others could have written it.
    #[error(
        "{path} is not used: {why}; what a journal says is written to registers, so it and its folder must belong to this user or root, and be writable by nobody else; name a file in a folder of your own with --journal, or take the right away (chmod go-w)"
    )]
    Unsafe {
        /// File or folder.
        path: String,
        /// What is wrong.
        why: String,
    },
    /// It names what no session saves.
    #[error(
        "the journal names {entry}: {why}; no session of pericore saves that, so nothing was written; find out who wrote the journal, then remove it"
    )]
    Foreign {
        /// The entry.
        entry: String,
        /// What is wrong with it.
        why: String,
    },
    /// It cannot be told whether its entries are registers of PMON units.
    #[error("the journal cannot be checked against the machine's units, so nothing was written: {why}")]
    Unchecked {
        /// Why not.
        why: String,
    },
    /// The file is not a whole journal.
    #[error(
        "line {line} of {journal}: {what}; it was damaged, so its values cannot be trusted: nothing was written; compare by hand or restart the machine, then remove the file"
    )]
    Damaged {
        /// The file, or "the journal" for a text that is in none.
        journal: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
}

/// What `restore` did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Restored {
    /// All registers hold their old values again, but for bits that are in no document.
    PutBack {
        /// Number of registers.
        registers: usize,
        /// Registers with such bits, and those that differ from the old value.
        left: Vec<(Saved, u64)>,
        /// Registers that somebody else has written since: they stay as they are.
        others: Vec<Saved>,
    },
    /// The machine was started anew since: nothing was written. What the registers hold now.
    OtherBoot {
        /// Each register and its value.
        found: Vec<(Saved, Outcome<u64>)>,
    },
}

impl Journal {
    /// A journal of a session in this process.
    pub fn of_this_process(boot: String, machine: String, saved: Vec<Saved>) -> Self {
        let pid = process::id();
        Self { pid, started: process::start_time(pid).unwrap_or(0), boot, machine, saved }
    }

    /// Reads a journal.
    ///
    /// # Errors
    /// [`JournalError`] if the file cannot be read or is damaged.
    pub fn read(path: &Path) -> Result<Self, JournalError> {
        let missing = || io_error("read", path, &io::ErrorKind::NotFound.into());
        let file = files::open_journal(path)?.ok_or_else(missing)?;
        Self::of_file(&file, path)
    }

    /// Reads a journal that is open.
    pub(super) fn of_file(file: &File, path: &Path) -> Result<Self, JournalError> {
        let text = files::text_of(file, path)?;
        if !text.starts_with(MARK) {
            return Err(JournalError::None { path: path.display().to_string() });
        }
        Self::parse(&text).map_err(|error| match error {
            JournalError::Damaged { line, what, .. } => {
                JournalError::Damaged { journal: path.display().to_string(), line, what }
            }
            other => other,
        })
    }

    /// Writes the journal and waits until it is on disk. The file appears whole or not at all; as long as what is
    /// returned lives, others see that the session runs.
    ///
    /// # Errors
    /// [`JournalError`] if the file exists or cannot be written.
    pub fn write(&self, path: &Path) -> Result<File, JournalError> {
        let fail = |error: &io::Error| io_error("write", path, error);
        let folder = files::open_folder(path)?;
        let Some(name) = path.file_name() else { return Err(fail(&io::ErrorKind::IsADirectory.into())) };
        part::write_new(&folder.descriptor, name, &self.to_text(), part::OWN).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists if begins_as_journal(path) => {
                JournalError::Exists { path: path.display().to_string() }
            }
            io::ErrorKind::AlreadyExists => JournalError::Taken { path: path.display().to_string() },
            _ => fail(&error),
        })
    }

    /// Removes a journal whose registers are put back.
    ///
    /// # Errors
    /// [`JournalError`] if it cannot be removed.
    pub fn remove(path: &Path) -> Result<(), JournalError> {
        fs::remove_file(path).map_err(|error| io_error("remove", path, &error))
    }
}

/// The journals of a session that runs, whose open files tell others that it does, and what lies where users meet.
#[derive(Debug, Default)]
pub(crate) struct HeldJournals(Vec<(PathBuf, Option<File>)>);

impl HeldJournals {
    /// Writes what is about to be overwritten to each of the files.
    ///
    /// # Errors
    /// As [`Journal::write`]; none of the files is there then.
    pub(crate) fn write(files: impl IntoIterator<Item = JournalFile>, saved: &[Saved]) -> Result<Self, JournalError> {
        let mut held = Self::default();
        for JournalFile { path, boot, machine } in files {
            match Journal::of_this_process(boot, machine, saved.to_vec()).write(&path) {
                Ok(file) => held.0.push((path, Some(file))),
                Err(error) => {
                    // The first failure counts: what is said of it is why nothing began.
                    let _ = held.remove();
                    return Err(error);
                }
            }
        }
        Ok(held)
    }

    /// The first of them.
    pub(super) fn first(&self) -> Option<&Path> {
        self.0.first().map(|(path, _)| path.as_path())
    }

    /// The same, with the note that tells other users; if there is an error instead, none of the files is there.
    ///
    /// # Errors
    /// The one of the note.
    pub(super) fn with_note(mut self, note: Result<Vec<PathBuf>, JournalError>) -> Result<Self, JournalError> {
        match note {
            Ok(files) => {
                self.0.extend(files.into_iter().map(|path| (path, None)));
                Ok(self)
            }
            Err(error) => {
                let _ = self.remove();
                Err(error)
            }
        }
    }

    /// Removes them: everything is put back.
    ///
    /// # Errors
    /// As [`Journal::remove`].
    pub(crate) fn remove(self) -> Result<(), JournalError> {
        // The note first: what it says is true as long as it is there.
        self.0.iter().rev().try_for_each(|(path, _)| Journal::remove(path))
    }
}

/// True if the file may be a journal, whole or damaged.
fn begins_as_journal(path: &Path) -> bool {
    let mut start = [0; MARK.len()];
    let Ok(Some(mut file)) = files::open_journal(path) else { return false };
    file.read_exact(&mut start).is_ok() && start == MARK.as_bytes()
}

pub(super) fn io_error(action: &'static str, path: &Path, error: &io::Error) -> JournalError {
    JournalError::Io { action, path: path.display().to_string(), message: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::super::Left;
    use super::*;

    fn journal() -> Journal {
        let (boot, machine) = ("0f1e".to_owned(), "e5-2600:sockets=2".to_owned());
        Journal { pid: 4711, started: 0, boot, machine, saved: Vec::new() }
    }

    #[test]
    fn a_second_session_does_not_take_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("journals");
        let path = directory.join("journal");
        let missing = journal().write(&path).unwrap_err();
        assert!(matches!(&missing, JournalError::Io { action: "reach", .. }) && !directory.exists(), "{missing}");
        fs::create_dir(&directory).unwrap();
        let held = journal().write(&path).unwrap();
        assert!(matches!(Left::open(&path), Err(JournalError::Runs { pid: 4711, .. })));
        drop(held);
        assert_eq!(Left::open(&path).unwrap().unwrap().journal, journal());
        assert!(matches!(journal().write(&path), Err(JournalError::Exists { .. })));
        assert_eq!(Journal::read(&path), Ok(journal()));
        Journal::remove(&path).unwrap();
        fs::write(&path, "a letter").unwrap();
        assert!(matches!(journal().write(&path), Err(JournalError::Taken { .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), "a letter");
        fs::remove_file(&path).unwrap();
        assert!(matches!(journal().write(&directory), Err(JournalError::Taken { .. })));
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 0, "nothing is left behind");
    }

    /// Of several journals all are there or none, and what stands in the way is told: a journal of another session, or
    /// a file of somebody's.
    #[test]
    fn journals_are_written_all_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| JournalFile {
            path: folder.path().join(name),
            boot: "boot".to_owned(),
            machine: "local".to_owned(),
        };
        let held = HeldJournals::write([file("a"), file("b")], &[]).unwrap();
        assert_eq!(held.first(), Some(&*folder.path().join("a")));
        fs::write(folder.path().join("d"), "pericore").unwrap();
        for (taken, is_journal) in [("b", true), ("d", false)] {
            let refused = HeldJournals::write([file("c"), file(taken)], &[]).unwrap_err();
            assert_eq!(matches!(refused, JournalError::Exists { .. }), is_journal, "{refused}");
            assert_eq!(matches!(refused, JournalError::Taken { .. }), !is_journal, "{refused}");
            assert!(!folder.path().join("c").exists(), "the first one is gone again");
        }
        let note = folder.path().join("note");
        fs::write(&note, "").unwrap();
        let held = held.with_note(Ok(vec![note.clone()])).unwrap();
        held.remove().unwrap();
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["d"]);
        let held = HeldJournals::write([file("a")], &[]).unwrap();
        let refusal = JournalError::Unchecked { why: "no".to_owned() };
        assert_eq!(held.with_note(Err(refusal.clone())).map(|_| ()), Err(refusal));
        assert!(!folder.path().join("a").exists());
        assert_eq!(HeldJournals::default().first(), None);
    }
}
