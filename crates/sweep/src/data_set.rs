//! The folder of a sweep's tables.
//!
//! A table is `PARTITION/run-KEY-DIGEST.parquet`. The key tells whether it is of this run, the digest whether its bytes
//! are those that were written; so no list beside the tables can go wrong. A table is written under a hidden name,
//! which readers of data sets leave out, and renamed when it is on the disk.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use crate::key::digest;
use crate::run::{DIGITS, RunTable, SweepRun};

const LOCK: &str = ".pericore-sweep.lock";
const BEGIN: &str = "run-";
const ENDING: &str = ".parquet";
/// How the names of unfinished files begin and end.
const UNFINISHED: (&str, &str) = (".run-", ".part");

/// A folder that this process alone writes tables to.
#[derive(Debug)]
pub struct DataSet {
    root: PathBuf,
    /// Locked as long as it is open.
    _lock: File,
}

/// What a data set has of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartitionState {
    /// Its table.
    Whole,
    /// Nothing.
    Missing,
    /// A table of other parameters, or of another version of Pericore.
    Stale(PathBuf),
    /// A table that was cut or changed after it was written.
    Damaged(PathBuf),
}

/// Why a data set cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataSetError {
    /// Another process writes to it.
    #[error("another sweep is writing to {}; wait until it has ended, or name another folder", .0.display())]
    Busy(PathBuf),
    /// The system refuses.
    #[error("cannot write {}: {error}{}", .path.display(), advice(.error))]
    File {
        /// File or folder.
        path: PathBuf,
        /// What the system reports.
        error: io::Error,
    },
}

fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; make room and run the same command again (runs that are done are kept), or name a folder on another disk"
        }
        io::ErrorKind::FileTooLarge => "; the limit on a file's size is reached: raise it (ulimit -f)",
        io::ErrorKind::PermissionDenied => "; name a folder in which you may write",
        io::ErrorKind::ReadOnlyFilesystem => "; name a folder on a disk that can be written",
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => "; there is a file of that name: name a folder",
        _ => "",
    }
}

impl DataSet {
    /// Opens or makes the folder, for this process alone.
    ///
    /// # Errors
    /// [`DataSetError`] if it cannot be written, or another process writes to it.
    pub fn open(root: &Path) -> Result<Self, DataSetError> {
        let refused = |path: &Path| {
            let path = path.to_owned();
            move |error| DataSetError::File { path, error }
        };
        fs::create_dir_all(root).map_err(refused(root))?;
        let path = root.join(LOCK);
        let lock = File::options().create(true).append(true).open(&path).map_err(refused(&path))?;
        // Where file systems have no locks, there is none.
        if flock(&lock, FlockOperation::NonBlockingLockExclusive) == Err(rustix::io::Errno::WOULDBLOCK) {
            return Err(DataSetError::Busy(root.to_owned()));
        }
        Ok(Self { root: root.to_owned(), _lock: lock })
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What there is of a run. Unfinished files of processes that were killed are removed.
    ///
    /// # Errors
    /// The folder of the partition cannot be read.
    pub fn state(&self, run: &SweepRun) -> Result<PartitionState, DataSetError> {
        let folder = self.root.join(&run.partition);
        let mut found = PartitionState::Missing;
        for path in self.files(&folder)? {
            let name = name_of(&path);
            if name.starts_with(UNFINISHED.0) && name.ends_with(UNFINISHED.1) {
                let _ = fs::remove_file(&path);
                continue;
            }
            let Some((key, recorded)) = parts_of(name) else { continue };
            if key != run.key {
                found = PartitionState::Stale(path);
                break;
            }
            let is_whole = fs::read(&path).is_ok_and(|bytes| digest(&bytes) == recorded);
            if !is_whole {
                found = PartitionState::Damaged(path);
                break;
            }
            found = PartitionState::Whole;
        }
        Ok(found)
    }

    /// Puts a run's table in its place, and removes what was there of it.
    ///
    /// # Errors
    /// [`DataSetError::File`] if it cannot be written; then there is nothing of it.
    pub fn put(&self, run: &SweepRun, table: &RunTable) -> Result<PathBuf, DataSetError> {
        let folder = self.root.join(&run.partition);
        let name = format!("{BEGIN}{}-{}{ENDING}", run.key, table.digest);
        let (path, part) = (folder.join(&name), folder.join(format!(".{name}{}", UNFINISHED.1)));
        let outcome = fs::create_dir_all(&folder).and_then(|()| {
            let written = File::create(&part).and_then(|mut file| {
                file.write_all(&table.bytes)?;
                file.sync_data()
            });
            written.inspect_err(|_| {
                let _ = fs::remove_file(&part);
            })
        });
        outcome.map_err(|error| DataSetError::File { path: path.clone(), error })?;
        // Before the rename: readers never see two tables of a run.
        for old in self.files(&folder)? {
            if parts_of(name_of(&old)).is_some() && old != path {
                fs::remove_file(&old).map_err(|error| DataSetError::File { path: old, error })?;
            }
        }
        fs::rename(&part, &path).map_err(|error| DataSetError::File { path: path.clone(), error })?;
        Ok(path)
    }

    /// The tables of partitions that none of these runs has, such as those of a workload that the file no longer has.
    ///
    /// # Errors
    /// A folder cannot be read.
    pub fn others(&self, runs: &[SweepRun]) -> Result<Vec<PathBuf>, DataSetError> {
        let own: std::collections::HashSet<PathBuf> = runs.iter().map(|run| self.root.join(&run.partition)).collect();
        let (mut folders, mut others) = (vec![self.root.clone()], Vec::new());
        while let Some(folder) = folders.pop() {
            for path in self.files(&folder)? {
                if path.is_dir() {
                    folders.push(path);
                } else if name_of(&path).ends_with(ENDING)
                    && (!own.contains(&folder) || parts_of(name_of(&path)).is_none())
                {
                    others.push(path);
                }
            }
        }
        others.sort();
        Ok(others)
    }

    /// What is in a folder, in order of names; nothing if there is none.
    fn files(&self, folder: &Path) -> Result<Vec<PathBuf>, DataSetError> {
        let entries = match fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect()),
        };
        let mut paths: Vec<PathBuf> = entries.map_err(|error| DataSetError::File { path: folder.to_owned(), error })?;
        paths.sort();
        Ok(paths)
    }
}

fn name_of(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// Key and digest in the name of a table.
fn parts_of(name: &str) -> Option<(&str, &str)> {
    let (key, recorded) = name.strip_prefix(BEGIN)?.strip_suffix(ENDING)?.split_once('-')?;
    (key.len() == DIGITS && recorded.len() == DIGITS).then_some((key, recorded))
}
