//! Where a command that was started again on a live machine keeps its journal.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::failure::Failure;

/// How the names begin; the process's number and the nanoseconds since 1970 follow.
const PREFIX: &str = "pericore-";

/// Only its owner may look into it.
const MODE: u32 = 0o700;

/// A folder for the journal: the machine is the command's own, which has neither to spare others on this host nor to be restored after it.
/// Removed at the end.
#[derive(Debug)]
pub struct StateFolder(PathBuf);

impl StateFolder {
    /// A new one. Those of processes that were killed are removed: with their machines they are of no use any more.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new() -> Result<Self, Failure> {
        Self::in_folder(&std::env::temp_dir())
    }

    fn in_folder(folder: &Path) -> Result<Self, Failure> {
        abandoned(folder).iter().for_each(|path| {
            let _ = fs::remove_dir_all(path);
        });
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let path = folder.join(format!("{PREFIX}{}-{since}", std::process::id()));
        let made = DirBuilder::new().mode(MODE).create(&path);
        made.map_err(|error| Failure::failed(format!("cannot make the folder {}: {error}", path.display())))?;
        Ok(Self(path))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for StateFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The folders that killed processes of this user have left.
fn abandoned(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_abandoned = |path: &PathBuf| {
        let owner = path.file_name().and_then(|name| owner(name.to_str()?));
        owner.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists()) && is_ours(path)
    };
    entries.map(|entry| entry.path()).filter(is_abandoned).collect()
}

/// The process in a folder's name, if it is such a folder.
fn owner(name: &str) -> Option<u32> {
    let (process, since) = name.strip_prefix(PREFIX)?.split_once('-')?;
    since.parse::<u128>().ok()?;
    process.parse().ok()
}

/// Anybody can make something of that name where all may write: only what this user has made, and made like this, is removed. A link is no folder.
fn is_ours(path: &Path) -> bool {
    // SAFETY: no memory is involved, and it cannot fail.
    let user = unsafe { libc::geteuid() };
    fs::symlink_metadata(path)
        .is_ok_and(|found| found.is_dir() && found.uid() == user && found.permissions().mode() & 0o7777 == MODE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_the_killed_go_and_all_others_stay() {
        let folder = std::env::temp_dir().join(format!("pericore-state-folder-{}", std::process::id()));
        let make = |name: &str, mode: u32| {
            let path = folder.join(name);
            DirBuilder::new().mode(mode).recursive(true).create(&path).unwrap();
            fs::write(path.join("journal"), "").unwrap();
            path
        };
        fs::create_dir_all(&folder).unwrap();
        // No process has the highest number: Linux counts to 4194304 at most.
        let (dead, living) = (u32::MAX, std::process::id());
        let killed = make(&format!("pericore-{dead}-17"), MODE);
        let stay = [
            make(&format!("pericore-{living}-17"), MODE),
            make(&format!("pericore-{dead}-18"), 0o755),
            make(&format!("pericore-{dead}-name"), MODE),
            make(&format!("pericore-top-{dead}"), MODE),
        ];
        let link = folder.join(format!("pericore-{dead}-19"));
        std::os::unix::fs::symlink(&stay[0], &link).unwrap();
        let new = StateFolder::in_folder(&folder).unwrap();
        let (removed, kept) = (!killed.exists(), stay.iter().all(|path| path.join("journal").exists()));
        let (is_made, is_link) = (is_ours(new.path()), link.is_symlink());
        drop(new);
        fs::remove_dir_all(&folder).unwrap();
        assert!(removed && kept && is_made && is_link, "{removed} {kept} {is_made} {is_link}");
    }
}
