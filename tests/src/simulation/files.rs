//! The folder of journals, and what others have put into it.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::scenario::Litter;

/// What a file elsewhere holds.
const TREASURE: &str = "of somebody else";

/// Folders of a run, which go with it.
pub(super) struct Files {
    _folder: tempfile::TempDir,
    /// Where journals are.
    pub(super) state: PathBuf,
    elsewhere: PathBuf,
    litter: Vec<(Litter, PathBuf)>,
}

impl Files {
    /// Makes the folders, in memory if there is such a place.
    pub(super) fn new(litter: &[Litter], part: &str) -> io::Result<Self> {
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { tempfile::tempdir_in(memory)? } else { tempfile::tempdir()? };
        let (state, elsewhere) = (folder.path().join("state"), folder.path().join("elsewhere"));
        fs::create_dir(&state)?;
        fs::set_permissions(&state, PermissionsExt::from_mode(0o700))?;
        fs::write(&elsewhere, TREASURE)?;
        fs::set_permissions(&elsewhere, PermissionsExt::from_mode(0o600))?;
        let mut files = Self { _folder: folder, state, elsewhere, litter: Vec::new() };
        for kind in litter {
            let path = files.state.join(match kind {
                Litter::Link => "link.journal",
                Litter::LockLink => "lock",
                Litter::Garbage => "garbage.journal",
                Litter::Open => "open.journal",
                Litter::Folder => "folder.journal",
                Litter::Fifo => "fifo.journal",
                Litter::PartLink => part,
            });
            if fs::symlink_metadata(&path).is_err() {
                files.put(*kind, &path)?;
                files.litter.push((*kind, path));
            }
        }
        Ok(files)
    }

    fn put(&self, kind: Litter, path: &Path) -> io::Result<()> {
        match kind {
            Litter::Link | Litter::LockLink | Litter::PartLink => symlink(&self.elsewhere, path),
            Litter::Garbage => fs::write(path, [0xff, 0, 7]),
            Litter::Open => {
                fs::write(path, "pericore journal 2\n")?;
                fs::set_permissions(path, PermissionsExt::from_mode(0o666))
            }
            Litter::Folder => fs::create_dir(path),
            Litter::Fifo => {
                let mut name = path.as_os_str().as_bytes().to_vec();
                name.push(0);
                // SAFETY: a path that ends with a zero, which lives as long as the call.
                if unsafe { libc::mkfifo(name.as_ptr().cast(), 0o600) } == 0 {
                    Ok(())
                } else {
                    Err(io::Error::last_os_error())
                }
            }
        }
    }

    /// What is not as it was: nothing, if nobody touched what is not his.
    pub(super) fn touched(&self) -> Vec<String> {
        let mut touched = Vec::new();
        let known = fs::metadata(&self.elsewhere);
        let mode = known.map(|known| known.permissions().mode() & 0o7777).ok();
        if fs::read_to_string(&self.elsewhere).ok().as_deref() != Some(TREASURE) || mode != Some(0o600) {
            touched.push("the file that links lead to".to_owned());
        }
        for (kind, path) in &self.litter {
            let Ok(found) = fs::symlink_metadata(path) else {
                touched.push(format!("{kind:?} is gone"));
                continue;
            };
            let is_same = match kind {
                Litter::Link | Litter::LockLink | Litter::PartLink => found.is_symlink(),
                Litter::Folder => found.is_dir(),
                Litter::Garbage => fs::read(path).is_ok_and(|bytes| bytes == [0xff, 0, 7]),
                Litter::Open => fs::read_to_string(path).is_ok_and(|text| text == "pericore journal 2\n"),
                Litter::Fifo => !found.is_file() && !found.is_dir(),
            };
            if !is_same {
                touched.push(format!("{kind:?} is another"));
            }
        }
        touched
    }

    /// What is left of our own.
    pub(super) fn left(&self) -> Vec<String> {
        let litter: Vec<&Path> = self.litter.iter().map(|(_, path)| path.as_path()).collect();
        let entries = fs::read_dir(&self.state).into_iter().flatten().flatten();
        let left = entries.map(|entry| entry.path()).filter(|path| !litter.contains(&path.as_path()));
        left.map(|path| path.display().to_string()).collect()
    }
}
